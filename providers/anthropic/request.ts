// The request of the Anthropic Messages API: body, headers and address (providers section 4).

import { nearest } from "../../base/nearest.ts";
import { endpointUrl } from "../http/endpoint.ts";
import { type JsonValue, toJson, writeBody } from "../request/json.ts";
import type { Settings, ThinkingLevel } from "../../config/settings.ts";
import { findModel, type Model, modelsOf, takesPrefill, type ThinkingKind } from "../models.ts";
import { type RequestParameters, resolveMaxTokens, resolveParameters } from "../request/parameters.ts";
import { reusedIdWarnings } from "../request/pairing.ts";
import { levelOfBudget, resolveThinking } from "../request/thinking.ts";
import type { OfferedTool, ProviderRequest, RequestInput } from "../types.ts";
import { sortedTools, toolDescription, USER_AGENT, wireName } from "../request/wire.ts";
import { wireMessages } from "./messages.ts";

export const DEFAULT_MODEL = "claude-sonnet-4-6";

const LEAST_BUDGET = 1024;
const TRAILING_KEYS = ["system", "tools", "messages"] as const;

type Members = { readonly [key: string]: JsonValue | undefined };

/** Builds the request; a pure function of its input. */
export function buildRequest(input: RequestInput): { request: ProviderRequest; warnings: readonly string[] } {
  const { prompt, settings } = input;
  const parameters = resolveParameters(settings, "anthropic");
  const name = settings.model ?? DEFAULT_MODEL;
  const model = findModel("anthropic", name);
  const maxTokens = resolveMaxTokens(parameters.maxTokens, model);
  const thinking = thinkingMembers(parameters, name, model, maxTokens.tokens);
  const control = cacheControl(parameters.cacheRetention);
  const tools = wireTools(input.tools, control);
  const body: Members = {
    model: name,
    max_tokens: maxTokens.tokens,
    stream: true,
    temperature: parameters.temperature ?? undefined,
    cache_control: control,
    ...thinking,
    system: wireSystem(prompt.system, control),
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: tools.length === 0 ? undefined : { type: "auto" },
    messages: wireMessages(prompt, parameters.thinking.foreign).map(({ role, content }) => ({
      role,
      content,
    })),
  };
  return {
    request: {
      method: "POST",
      url: endpointUrl(input.baseUrl, "/v1/messages"),
      headers: {
        "x-api-key": input.key,
        "anthropic-version": "2023-06-01",
        "content-type": "application/json",
        "user-agent": USER_AGENT,
      },
      body: writeBody(body, TRAILING_KEYS),
    },
    warnings: [
      ...reusedIdWarnings(prompt),
      ...modelWarnings(name, model),
      ...maxTokens.warnings,
      ...temperatureWarnings(parameters.temperature, thinking.thinking !== undefined),
    ],
  };
}

/** Only models of before adaptive thinking go on from a turn of their own, and only while they do not think. */
export function goesOnFromItsTurn(settings: Settings): boolean {
  const name = settings.model ?? DEFAULT_MODEL;
  const model = findModel("anthropic", name);
  if (model === null || !takesPrefill(model)) return false;
  const parameters = resolveParameters(settings, "anthropic");
  const { tokens } = resolveMaxTokens(parameters.maxTokens, model);
  return thinkingMembers(parameters, name, model, tokens).thinking === undefined;
}

function modelWarnings(name: string, model: Model | null): readonly string[] {
  if (model !== null) return [];
  const near = nearest(name, modelsOf("anthropic").map((known) => known.name));
  const hint = near === null ? "" : ` Did you mean ${near}?`;
  return [`The model ${name} is not in the table of known Anthropic models; it is used as given.${hint}`];
}

function temperatureWarnings(temperature: number | null, thinks: boolean): readonly string[] {
  if (!thinks || temperature === null || temperature === 1) return [];
  return [
    `Anthropic refuses a temperature of ${temperature} while thinking is on; use 1, or switch thinking off.`,
  ];
}

function cacheControl(retention: RequestParameters["cacheRetention"]): Members | undefined {
  if (retention === "none") return undefined;
  return retention === "long" ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" };
}

function wireSystem(system: string | null, control: Members | undefined): JsonValue | undefined {
  if (system === null || system === "") return undefined;
  return control === undefined ? system : [{ type: "text", text: system, cache_control: control }];
}

/** The last tool carries the cache breakpoint of the whole list. */
function wireTools(offered: readonly OfferedTool[], control: Members | undefined): readonly Members[] {
  const tools = sortedTools(offered);
  return tools.map((tool, index) => ({
    name: wireName(tool.name),
    description: toolDescription(tool),
    input_schema: toJson(tool.input_schema),
    eager_input_streaming: true,
    cache_control: index === tools.length - 1 ? control : undefined,
  }));
}

/**
 * How a model that is not in the table thinks: one of Anthropic's own is new and therefore adaptive (all since Opus
 * 4.6 are, and refuse a budget); of any other nothing is known, so nothing is asked for that could be refused.
 */
function unknownThinking(name: string): ThinkingKind {
  return name.startsWith("claude-") ? "adaptive" : "none";
}

/** The effort that every adaptive model takes; those that are in the table have their own words. */
function unknownEffort(level: ThinkingLevel): string {
  const named = typeof level === "number" ? levelOfBudget(level) : level === false ? "high" : level;
  return named === "minimal" ? "low" : named;
}

/** `thinking` and `output_config` by the kind of model (providers section 4.3). */
function thinkingMembers(
  parameters: RequestParameters,
  name: string,
  model: Model | null,
  maxTokens: number,
): { readonly thinking?: Members; readonly output_config?: Members } {
  const kind = model?.thinking ?? unknownThinking(name);
  const wanted = resolveThinking(
    parameters.thinking.level,
    parameters.own.thinking_budget,
    model,
    LEAST_BUDGET,
  );
  if (kind === "adaptive") {
    const { effort: explicit } = parameters.own;
    const effort = typeof explicit === "string" && explicit !== ""
      ? explicit
      : wanted === null
      ? null
      : wanted.effort ?? unknownEffort(parameters.thinking.level);
    if (effort === null) return {};
    return { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort } };
  }
  if (kind === "none" || wanted === null) return {};
  if (kind === "budget+effort") {
    return {
      thinking: { type: "enabled", budget_tokens: wanted.budget },
      output_config: { effort: wanted.effort ?? "high" },
    };
  }
  const budget = wanted.budget >= maxTokens ? Math.max(LEAST_BUDGET, maxTokens - 1) : wanted.budget;
  return { thinking: { type: "enabled", budget_tokens: budget } };
}

// The request of OpenAI's Responses API: body, headers and URL.

import { endpointUrl } from "../http/endpoint.ts";
import { entryHeaders } from "../http/entry_headers.ts";
import { choiceOf } from "../models/choice.ts";
import { findModel } from "../models/find.ts";
import { effortsOf } from "../models/table.ts";
import type { Model, ModelThinking } from "../models/types.ts";
import { modelWarnings } from "../models/warnings.ts";
import { resolveEffort } from "../request/effort.ts";
import { withExtraBody } from "../request/extra_body.ts";
import { type JsonMembers, toJsonValue, writeBody } from "../request/json.ts";
import { withBody } from "../http/body.ts";
import {
  idleRetention,
  type RequestParameters,
  resolveMaxTokens,
  resolveParameters,
} from "../request/parameters.ts";
import { sentTemperature } from "../request/sampling.ts";
import { sortedTools, toolDescription, USER_AGENT, wireName } from "../request/wire.ts";
import type { BuiltRequest, OfferedTool, RequestInput, ServerTool } from "../types.ts";
import { inputItems } from "./items.ts";

const TRAILING_KEYS = ["tools", "input"] as const;

/** Matches the families whose models all reason. */
const REASONS = /^(?:gpt-(?:[5-9]|\d\d)|o\d)/;

/** Thinking assumed for a new model of such a family: efforts that every one of them accepts. */
const NEW_MODEL: ModelThinking = {
  kind: "effort",
  unasked: "on",
  words: ["low", "medium", "high"],
  efforts: effortsOf(["low", "medium", "high"]),
};

/** Builds the request; a pure function of its input. */
export function buildRequest(input: RequestInput, provider: string): BuiltRequest {
  const { prompt, settings, leftOut, fallbacks = new Set() } = input;
  const parameters = resolveParameters(settings, provider);
  const name = settings.model ?? choiceOf(provider)?.standard ?? "";
  const model = findModel(provider, name, settings);
  const maxTokens = resolveMaxTokens(parameters.maxTokens, model);
  const facts = model?.thinking ?? (REASONS.test(name) ? NEW_MODEL : null);
  const effort = resolveEffort(parameters.thinking.level, parameters.own.reasoning, facts, name);
  const sampling = sentTemperature(parameters.temperature, model, effort.thinks);
  const conversation = inputItems(prompt, {
    provider,
    foreign: parameters.thinking.foreign,
    phase: phaseWanted(parameters),
    leftOut,
    withoutIds: fallbacks.has("item-ids"),
    recall: input.recall ?? (() => null),
  });
  const { serverTools = [] } = input;
  const tools = [...sortedTools(input.tools).map(wireTool), ...serverTools.map(serverTool)];
  const reasoning = fallbacks.has("thinking")
    ? {}
    : reasoningMembers(effort, parameters, !fallbacks.has("summary"));
  const body: JsonMembers = {
    model: name,
    max_output_tokens: fallbacks.has("reply-limit") ? undefined : maxTokens.tokens,
    stream: true,
    store: false,
    temperature: fallbacks.has("sampling") ? undefined : sampling.temperature,
    ...reasoning,
    // Without this, a search names none of the pages that it found.
    ...(serverTools.length === 0 ? {} : {
      include: [...reasoning.include ?? [], "web_search_call.action.sources"],
      max_tool_calls: serverTools.reduce((sum, { maxUses }) => sum + maxUses, 0),
    }),
    ...cacheMembers(parameters.cacheRetention, model, input.cacheKey),
    ...(fallbacks.has("retention")
      ? { prompt_cache_retention: undefined, prompt_cache_options: undefined }
      : {}),
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: tools.length === 0 ? undefined : "auto",
    input: conversation.items,
  };
  return {
    request: withBody(
      {
        method: "POST",
        url: endpointUrl(input.baseUrl, "/v1/responses"),
        headers: {
          ...entryHeaders(settings, provider, { key: input.key, usual: "bearer" }),
          "content-type": "application/json",
          "user-agent": USER_AGENT,
        },
      },
      writeBody(withExtraBody(body, settings, provider), TRAILING_KEYS),
    ),
    warnings: [
      ...conversation.warnings,
      ...modelWarnings(provider, name, model, input.day),
      ...maxTokens.warnings,
      ...effort.warnings,
      ...sampling.warnings,
      // For a model without known facts, nothing is sent that it might refuse.
      ...(parameters.cacheRetention === "long" && (model?.refuses ?? null) === null &&
          model?.cacheTtl === undefined
        ? idleRetention(parameters.cacheRetention, name)
        : []),
    ],
    thinking: conversation.thinking,
  };
}

function phaseWanted({ own }: RequestParameters): boolean {
  const { experimental } = own;
  return typeof experimental !== "object" || experimental === null || !("phase" in experimental) ||
    experimental.phase !== false;
}

function wireTool(tool: OfferedTool, _at: number, offered: readonly OfferedTool[]): JsonMembers {
  return {
    type: "function",
    name: wireName(tool.name, offered),
    description: toolDescription(tool),
    parameters: toJsonValue(tool.input_schema),
    strict: tool.strict === true ? true : undefined,
  };
}

function serverTool({ name, allowed }: ServerTool): JsonMembers {
  return { type: name, filters: allowed === null ? undefined : { allowed_domains: allowed } };
}

/** Sets the effort, and requests encrypted reasoning for later requests, because the server stores nothing. */
function reasoningMembers(
  { effort, thinks }: { readonly effort: string | null; readonly thinks: boolean },
  { own }: RequestParameters,
  summarized: boolean,
): JsonMembers & { readonly include?: readonly string[] } {
  if (effort === null) return {};
  if (!thinks) return { reasoning: { effort } };
  const summary = typeof own.reasoning_summary === "string" ? own.reasoning_summary : "auto";
  return {
    reasoning: { effort, summary: summarized && summary !== "" ? summary : undefined },
    include: ["reasoning.encrypted_content"],
  };
}

/**
 * Sets the prompt cache key per document, and how long the cache is kept. Models since GPT-5.6 take a duration; those
 * before them a word.
 */
function cacheMembers(
  retention: RequestParameters["cacheRetention"],
  model: Model | null,
  cacheKey: string | null,
): JsonMembers {
  if (retention === "none") return {};
  const isLong = retention === "long";
  const word = model?.cacheTtl !== undefined || (model?.refuses?.shortRetention && !isLong)
    ? undefined
    : isLong
    ? "24h"
    : "in_memory";
  return {
    prompt_cache_key: cacheKey ?? undefined,
    prompt_cache_retention: (model?.refuses ?? null) === null ? undefined : word,
    prompt_cache_options: isLong && model?.cacheTtl !== undefined ? { ttl: model.cacheTtl } : undefined,
  };
}

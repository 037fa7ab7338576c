// The request of the Anthropic Messages API: body, headers and address (providers section 4).

import { endpointUrl } from "../http/endpoint.ts";
import { type JsonValue, toJson, writeBody } from "../request/json.ts";
import type { Settings } from "../../config/settings.ts";
import { choiceOf, findModel } from "../models/find.ts";
import type { Model } from "../models/types.ts";
import { modelWarnings } from "../models/warnings.ts";
import { type RequestParameters, resolveMaxTokens, resolveParameters } from "../request/parameters.ts";
import { reusedIdWarnings } from "../request/pairing.ts";
import type { OfferedTool, ProviderRequest, RequestInput } from "../types.ts";
import { sortedTools, toolDescription, USER_AGENT, wireName } from "../request/wire.ts";
import { type WireMessage, wireMessages } from "./messages.ts";
import { type AskedThinking, askThinking } from "./thinking.ts";

export const DEFAULT_MODEL = choiceOf("anthropic")!.standard;

const TRAILING_KEYS = ["system", "tools", "messages"] as const;

type Members = { readonly [key: string]: JsonValue | undefined };

/** Builds the request; a pure function of its input. */
export function buildRequest(input: RequestInput): { request: ProviderRequest; warnings: readonly string[] } {
  const { prompt, settings } = input;
  const parameters = resolveParameters(settings, "anthropic");
  const name = settings.model ?? DEFAULT_MODEL;
  const model = findModel("anthropic", name);
  const maxTokens = resolveMaxTokens(parameters.maxTokens, model);
  const messages = wireMessages(prompt, parameters.thinking.foreign);
  const asked = withoutBrokenLoop(askThinking(parameters, name, model, maxTokens.tokens), messages);
  const sampling = askTemperature(parameters.temperature, name, model, asked.thinks);
  const control = cacheControl(parameters.cacheRetention);
  const tools = wireTools(input.tools, control);
  const body: Members = {
    model: name,
    max_tokens: maxTokens.tokens,
    stream: true,
    temperature: sampling.temperature,
    cache_control: control,
    thinking: asked.thinking,
    output_config: asked.output_config,
    system: wireSystem(prompt.system, control),
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: tools.length === 0 ? undefined : { type: "auto" },
    messages: messages.map(({ role, content }) => ({ role, content })),
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
      ...modelWarnings("anthropic", name, model, input.day),
      ...maxTokens.warnings,
      ...asked.warnings,
      ...sampling.warnings,
    ],
  };
}

/** Only models of before adaptive thinking go on from a turn of their own, and only while they do not think. */
export function goesOnFromItsTurn(settings: Settings): boolean {
  const name = settings.model ?? DEFAULT_MODEL;
  const model = findModel("anthropic", name);
  if (model === null || model.refuses.prefill === "always") return false;
  const parameters = resolveParameters(settings, "anthropic");
  const { tokens } = resolveMaxTokens(parameters.maxTokens, model);
  return model.refuses.prefill === undefined || !askThinking(parameters, name, model, tokens).thinks;
}

/**
 * Models that are given a budget want the message whose calls were just answered to begin with their own thinking. One
 * that another model wrote, or that was edited, has none: then this request does without.
 */
function withoutBrokenLoop(asked: AskedThinking, messages: readonly WireMessage[]): AskedThinking {
  if (asked.thinking?.type !== "enabled") return asked;
  const [caller, answer] = messages.slice(-2);
  const isAnswer = answer?.role === "user" && answer.content.some(({ type }) => type === "tool_result");
  const first = caller?.role === "assistant" ? caller.content[0]?.type : undefined;
  if (!isAnswer || first === "thinking" || first === "redacted_thinking") return asked;
  const message =
    "The calls that were just answered have no thinking of this model before them; it goes on " +
    "without thinking until your next message.";
  return { thinks: false, warnings: [...asked.warnings, message] };
}

/** A temperature that the model would refuse is left out, and the person is told; 1 is what holds without any. */
function askTemperature(
  temperature: number | null,
  name: string,
  model: Model | null,
  thinks: boolean,
): { readonly temperature?: number; readonly warnings: readonly string[] } {
  if (temperature === null || temperature === 1) return { warnings: [] };
  const refused = model === null
    ? name.startsWith("claude-")
    : model.refuses.temperature === "always" || (model.refuses.temperature === "thinking" && thinks);
  if (!refused) return { temperature, warnings: [] };
  const why = model?.refuses.temperature === "thinking"
    ? `${name} takes no temperature while it thinks`
    : `${name} takes no temperature`;
  return { warnings: [`${why}; ${temperature} is left out.`] };
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

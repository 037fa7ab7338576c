// The request of the Anthropic Messages API: body, headers and URL.

import { endpointUrl } from "../http/endpoint.ts";
import { entryHeaders } from "../http/entry_headers.ts";
import type { KnownProvider } from "../known.ts";
import { type JsonMembers, type JsonValue, writeBody } from "../request/json.ts";
import { withExtraBody } from "../request/extra_body.ts";
import { withBody } from "../http/body.ts";
import type { Settings } from "../../config/settings.generated.ts";
import { findModel } from "../models/find.ts";
import type { Model } from "../models/types.ts";
import { modelWarnings } from "../models/warnings.ts";
import {
  type RequestParameters,
  resolveMaxTokens,
  resolveParameters,
  UNKNOWN_MODEL_TOKENS,
} from "../request/parameters.ts";
import { reusedIdWarnings } from "../request/pairing.ts";
import type { BuiltRequest, RequestInput, ThinkingPart } from "../types.ts";
import { USER_AGENT } from "../request/wire.ts";
import { typeOf, type WireMessage, wireMessages } from "./messages.ts";
import { type AskedThinking, askThinking } from "./thinking.ts";
import { wireTools } from "./tools.ts";
import { BINDING_BETA, bindingOf } from "./binding.ts";
import { isClaude, modelName } from "./names.ts";

const TRAILING_KEYS = ["system", "tools", "messages"] as const;

/** Builds the request; a pure function of its input. */
export function buildRequest(input: RequestInput, known: KnownProvider): BuiltRequest {
  const { prompt, settings, leftOut, fallbacks = NOTHING } = input;
  const { name: provider } = known;
  const parameters = resolveParameters(settings, provider);
  const name = modelName(settings, provider);
  const model = findModel(provider, name, settings);
  const limit = resolveMaxTokens(parameters.maxTokens, model);
  // The parameter is required, so a refused limit is replaced by one that every model accepts.
  const maxTokens = fallbacks.has("reply-limit")
    ? { tokens: Math.min(limit.tokens, UNKNOWN_MODEL_TOKENS), warnings: limit.warnings }
    : limit;
  const messages = wireMessages(prompt, {
    provider,
    foreign: parameters.thinking.foreign,
    leftOut: (part) => leftOut?.has(part) === true,
  });
  const asked = fallbacks.has("thinking")
    ? NO_WISH
    : withoutBrokenLoop(askThinking(parameters, name, model, maxTokens.tokens), messages);
  const sampling = fallbacks.has("sampling")
    ? { warnings: [] }
    : askTemperature(parameters.temperature, name, model, asked.thinks, versionOf(settings, provider));
  const sent = thinkingPlaces(messages);
  const binding = fallbacks.has("binding") || sent.size === 0
    ? undefined
    : wireBinding(settings, provider, asked);
  const control = cacheControl(parameters.cacheRetention);
  const tools = wireTools(input.tools, control, input.serverTools);
  const body: JsonMembers = {
    model: name,
    max_tokens: maxTokens.tokens,
    stream: true,
    temperature: sampling.temperature,
    cache_control: control,
    thinking: binding === undefined ? asked.thinking : { ...asked.thinking, block_binding: binding },
    output_config: asked.output_config,
    system: wireSystem(prompt.system, control),
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: tools.length === 0 ? undefined : { type: "auto" },
    messages: messages.map(({ role, content }) => ({ role, content })),
  };
  return {
    request: withBody(
      {
        method: "POST",
        url: endpointUrl(input.baseUrl, "/v1/messages"),
        headers: {
          ...messagesHeaders(settings, known, input.key, binding === undefined ? [] : [BINDING_BETA]),
          "content-type": "application/json",
          "user-agent": USER_AGENT,
        },
      },
      writeBody(withExtraBody(body, settings, provider), TRAILING_KEYS),
    ),
    warnings: [
      ...reusedIdWarnings(prompt),
      ...modelWarnings(provider, name, model, input.day),
      ...maxTokens.warnings,
      ...asked.warnings,
      ...sampling.warnings,
    ],
    thinking: sent,
  };
}

const NOTHING: ReadonlySet<never> = new Set();

/** Version of the API that requests name unless the settings name another. */
const VERSION = "2023-06-01";

/** First version of the API that refuses sampling parameters. */
const WITHOUT_SAMPLING = "2026-10-21";

function versionOf({ providers }: Pick<Settings, "providers">, provider: string): string {
  return providers[provider]?.api_version ?? VERSION;
}

/** Returns the headers of a request that depend on the entry. Betas of the person's own are joined with these. */
export function messagesHeaders(
  settings: Pick<Settings, "providers">,
  { name, vendor }: Pick<KnownProvider, "name" | "vendor">,
  key: string,
  betas: readonly string[],
): Readonly<Record<string, string>> {
  const own = entryHeaders(settings, name, { key, usual: vendor?.settings?.auth ?? "x-api-key" });
  const all = [own["anthropic-beta"] ?? "", ...betas].filter((beta) => beta !== "");
  return {
    ...own,
    "anthropic-version": versionOf(settings, name),
    ...(all.length === 0 ? {} : { "anthropic-beta": all.join(",") }),
  };
}

const NO_WISH: AskedThinking = { thinks: true, warnings: [] };

/** Maps paths in the body to the thinking of earlier replies. */
function thinkingPlaces(messages: readonly WireMessage[]): ReadonlyMap<string, ThinkingPart> {
  return new Map(
    messages.flatMap(({ content, thinking }, index) =>
      content.flatMap((block, at): [string, ThinkingPart][] => {
        const part = thinking.get(block);
        return part === undefined ? [] : [[`messages.${index}.content.${at}`, part]];
      })
    ),
  );
}

/**
 * Returns the member that says what happens to thinking that no longer matches its context. Only a request with
 * thinking may have this member.
 */
function wireBinding(
  settings: Settings,
  provider: string,
  asked: AskedThinking,
): JsonMembers | undefined {
  const binding = bindingOf(settings, provider);
  const says = asked.thinking?.type === "adaptive" || asked.thinking?.type === "enabled";
  if (!says || binding === null || binding === "off") return undefined;
  return { prefix_mismatch_behavior: binding === "drop" ? "drop_block" : "error" };
}

/**
 * True if the model continues a reply that the document begins. Only models older than adaptive thinking do so, and
 * only while they do not think.
 */
export function goesOnFromItsTurn(settings: Settings, provider: string): boolean {
  const name = modelName(settings, provider);
  const model = findModel(provider, name, settings);
  const refuses = model?.refuses ?? null;
  if (refuses === null || refuses.prefill === "always") return false;
  const parameters = resolveParameters(settings, provider);
  const { tokens } = resolveMaxTokens(parameters.maxTokens, model);
  return refuses.prefill === undefined || !askThinking(parameters, name, model, tokens).thinks;
}

/**
 * Switches thinking off if the message whose calls were just answered does not begin with its own thinking, as models
 * with a thinking budget require. The thinking is missing if another model wrote the message, or if the message was
 * edited.
 */
function withoutBrokenLoop(asked: AskedThinking, messages: readonly WireMessage[]): AskedThinking {
  if (asked.thinking?.type !== "enabled") return asked;
  const [caller, answer] = messages.slice(-2);
  const isAnswer = answer?.role === "user" && answer.content.some((block) => typeOf(block) === "tool_result");
  const first = caller?.role === "assistant" ? typeOf(caller.content[0]) : undefined;
  if (!isAnswer || first === "thinking" || first === "redacted_thinking") return asked;
  const message = "The calls just answered do not follow thinking by this model; it continues " +
    "without thinking until your next message.";
  return { thinks: false, warnings: [...asked.warnings, message] };
}

/** If the model would refuse the temperature, leaves it out and adds a warning. No model refuses 1, the default. */
function askTemperature(
  temperature: number | null,
  name: string,
  model: Model | null,
  thinks: boolean,
  version: string,
): { readonly temperature?: number; readonly warnings: readonly string[] } {
  if (temperature === null || temperature === 1) return { warnings: [] };
  if (version >= WITHOUT_SAMPLING) {
    return { warnings: [`Version ${version} of the API has no temperature; ${temperature} is ignored.`] };
  }
  const refuses = model?.refuses ?? null;
  const refused = refuses === null
    ? isClaude(name)
    : refuses.temperature === "always" || (refuses.temperature === "thinking" && thinks);
  if (!refused) return { temperature, warnings: [] };
  const why = refuses?.temperature === "thinking"
    ? `${name} does not accept a temperature while it thinks`
    : `${name} does not accept a temperature`;
  return { warnings: [`${why}; ${temperature} is ignored.`] };
}

function cacheControl(retention: RequestParameters["cacheRetention"]): JsonMembers | undefined {
  if (retention === "none") return undefined;
  return retention === "long" ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" };
}

function wireSystem(system: string | null, control: JsonMembers | undefined): JsonValue | undefined {
  if (system === null || system === "") return undefined;
  return control === undefined ? system : [{ type: "text", text: system, cache_control: control }];
}

// Moonshot (Kimi) as a provider, based on Chat Completions.

import type { JsonMembers } from "../request/json.ts";
import { choiceOf } from "../models/choice.ts";
import { findModel } from "../models/find.ts";
import type { Model } from "../models/types.ts";
import { modelWarnings } from "../models/warnings.ts";
import { entryHeaders } from "../http/entry_headers.ts";
import { keyHint } from "../keys/hint.ts";
import { KNOWN_PROVIDERS } from "../known.ts";
import { resolveEffort } from "../request/effort.ts";
import {
  idleRetention,
  type RequestParameters,
  resolveMaxTokens,
  resolveParameters,
} from "../request/parameters.ts";
import { sentTemperature } from "../request/sampling.ts";
import type { Provider, ProviderRequest, RequestInput } from "../types.ts";
import type { ChatDialect } from "./dialect.ts";
import { readChatError } from "./errors.ts";
import { chatFallbacks, chatRequest } from "./request.ts";
import { ChatReader } from "./stream.ts";

const { name: NAME, keyVariables } = KNOWN_PROVIDERS.moonshot;

const STANDARD = choiceOf(NAME)!.standard;

export const moonshot: Provider = {
  ...KNOWN_PROVIDERS.moonshot,
  defaultModel: STANDARD,
  outputIncludesThoughts: true,
  takesPrefill: () => false,
  modelList: (key, settings) => ({
    path: "/v1/models",
    headers: entryHeaders(settings, NAME, { key, usual: "bearer" }),
  }),
  buildRequest,
  fallbacks: chatFallbacks,
  reader: (offered = []) => new ChatReader({ provider: NAME, offered, readError }),
  readError,
};

function readError(body: unknown, headers: Headers | null, status?: number) {
  return readChatError(body, headers, status, keyHint(keyVariables));
}

function buildRequest(input: RequestInput): { request: ProviderRequest; warnings: readonly string[] } {
  const parameters = resolveParameters(input.settings, NAME);
  const name = input.settings.model ?? STANDARD;
  const model = findModel(NAME, name, input.settings);
  const maxTokens = resolveMaxTokens(parameters.maxTokens, model);
  const asked = askThinking(parameters, name, model);
  const sampling = sentTemperature(parameters.temperature, model, asked.thinks);
  const { prompt_cache_key: cacheKey } = parameters.own;
  return chatRequest(input, {
    provider: NAME,
    model: name,
    dialect: dialectOf(model, asked.thinks),
    foreign: parameters.thinking.foreign,
    maxTokens: maxTokens.tokens,
    temperature: sampling.temperature,
    thinking: asked.members,
    extra: {
      prompt_cache_key: typeof cacheKey === "string" && cacheKey !== "" ? cacheKey : undefined,
    },
    warnings: [
      ...modelWarnings(NAME, name, model, input.day),
      ...maxTokens.warnings,
      ...asked.warnings,
      ...sampling.warnings,
      ...idleRetention(parameters.cacheRetention, name),
    ],
  });
}

/**
 * Returns the dialect of a model. While a model thinks, each of its messages with calls needs `reasoning_content`,
 * even if it is empty. Models before K3 know only the older name of the token limit.
 */
function dialectOf(model: Model | null, thinks: boolean): ChatDialect {
  return {
    maxTokensKey: (model?.thinking ?? null) === null || model?.thinking?.kind === "effort"
      ? "max_completion_tokens"
      : "max_tokens",
    reasoningField: "reasoning_content",
    reasoningBack: "always",
    emptyReasoning: thinks,
    namesResults: true,
    saysToolChoice: true,
  };
}

interface Asked {
  readonly members: JsonMembers;
  readonly thinks: boolean;
  readonly warnings: readonly string[];
}

/**
 * Builds the thinking parameters. Models since K3 always think and take an effort; K2 models can be switched on and
 * off, or always think.
 */
function askThinking({ thinking: { level } }: RequestParameters, name: string, model: Model | null): Asked {
  // An unknown model is assumed to think, so that its reasoning is sent back to it.
  const facts = model?.thinking ?? null;
  if (facts === null) return { members: {}, thinks: true, warnings: [] };
  const { kind, unasked } = facts;
  if (kind === "effort") {
    const { effort, thinks, warnings } = resolveEffort(level, null, facts, name);
    return { members: { reasoning_effort: effort ?? undefined }, thinks, warnings };
  }
  if (kind !== "switch") return { members: {}, thinks: false, warnings: [] };
  const off = level === false || (typeof level === "number" && level <= 0);
  if (off && unasked !== "always") {
    return { members: { thinking: { type: "disabled" } }, thinks: false, warnings: [] };
  }
  const warnings = off ? [`Thinking cannot be switched off for ${name}.`] : [];
  return { members: { thinking: { type: "enabled" } }, thinks: true, warnings };
}

// Any Chat Completions server as a provider: Ollama, llama.cpp, vLLM, LM Studio, OpenRouter.

import type { ProviderSettings } from "../../config/settings.generated.ts";
import type { KnownProvider } from "../known.ts";
import { findModel } from "../models/find.ts";
import type { JsonMembers } from "../request/json.ts";
import {
  idleRetention,
  type RequestParameters,
  resolveMaxTokens,
  resolveParameters,
} from "../request/parameters.ts";
import { levelOfBudget } from "../request/thinking.ts";
import type { Provider, ProviderRequest, RequestInput } from "../types.ts";
import {
  type ChatDialect,
  IN_CONTENT,
  PLAIN_DIALECT,
  REASONS_IN_CONTENT,
  REFUSES_REASONING,
} from "./dialect.ts";
import { readChatError } from "./errors.ts";
import { chatFallbacks, chatRequest } from "./request.ts";
import { ChatReader, reasoningField } from "./stream.ts";

/** Creates the provider for a server that the settings define. */
export function chatProvider(known: KnownProvider): Provider {
  const [keyVariable = ""] = known.keyVariables;
  const readError = (body: unknown, headers: Headers | null, status?: number) =>
    readChatError(body, headers, status, { keyVariable });
  return {
    ...known,
    defaultModel: null,
    outputIncludesThoughts: true,
    // The vendor behind a gateway signs thinking, whatever the gateway's key.
    owner: () => null,
    // Whether a server can continue a reply that the document begins is unknown, so a request that asks for this is
    // sent.
    takesPrefill: () => true,
    buildRequest: (input) => buildRequest(known, input),
    fallbacks: chatFallbacks,
    reader: (offered = []) => new ChatReader({ provider: known.name, offered, readError }),
    readError,
  };
}

function buildRequest(
  { name }: KnownProvider,
  input: RequestInput,
): { request: ProviderRequest; warnings: readonly string[] } {
  const { settings } = input;
  const parameters = resolveParameters(settings, name);
  const server = settings.providers[name] ?? {};
  const model = settings.model ?? "";
  const maxTokens = resolveMaxTokens(parameters.maxTokens, findModel(name, model, settings));
  return chatRequest(input, {
    provider: name,
    model,
    dialect: dialectOf(server, input.recall?.(reasoningField(name)) ?? null, new URL(input.baseUrl).hostname),
    foreign: parameters.thinking.foreign,
    maxTokens: maxTokens.tokens,
    temperature: parameters.temperature ?? undefined,
    thinking: effortMembers(parameters, server),
    extra: {
      parallel_tool_calls: input.tools.length === 0 ? undefined : server.parallel_tool_calls ?? undefined,
    },
    warnings: [...maxTokens.warnings, ...idleRetention(parameters.cacheRetention, name)],
  });
}

/** Returns the dialect of a server; `seen` is the member in which this server has sent reasoning before. */
function dialectOf(server: ProviderSettings, seen: string | null, host: string): ChatDialect {
  const usual = REFUSES_REASONING.test(host) ? "never" : PLAIN_DIALECT.reasoningBack;
  return {
    ...PLAIN_DIALECT,
    maxTokensKey: server.max_tokens_key ?? PLAIN_DIALECT.maxTokensKey,
    reasoningField: server.reasoning_field ?? seen ??
      (REASONS_IN_CONTENT.test(host) ? IN_CONTENT : PLAIN_DIALECT.reasoningField),
    reasoningBack: server.reasoning_back ?? usual,
  };
}

/**
 * Returns an effort only if the person set one for this provider, because many servers and models refuse it, and the
 * default of a model is its maker's choice.
 */
function effortMembers(
  { own, thinking }: RequestParameters,
  { reasoning_key }: ProviderSettings,
): JsonMembers {
  const effort = typeof own.reasoning === "string" && own.reasoning !== ""
    ? own.reasoning
    : own.thinking === undefined
    ? null
    : effortOf(thinking.level);
  if (effort === null) return {};
  return reasoning_key === "reasoning" ? { reasoning: { effort } } : { reasoning_effort: effort };
}

/** Returns the effort for a level of the settings, in a word that all these servers accept. */
function effortOf(level: RequestParameters["thinking"]["level"]): string {
  if (level === false || level === 0) return "none";
  const named = typeof level === "number" ? levelOfBudget(level) : level;
  return named === "minimal" ? "low" : named === "max" ? "high" : named;
}

// Any Chat Completions server as a provider: a vendor, or a server of the person's own.

import type { ProviderSettings } from "../../config/settings.generated.ts";
import { entryHeaders } from "../http/entry_headers.ts";
import { keyHint } from "../keys/hint.ts";
import type { KnownProvider } from "../known.ts";
import { findModel } from "../models/find.ts";
import { effortsOf } from "../models/table.ts";
import type { JsonMembers } from "../request/json.ts";
import {
  idleRetention,
  type RequestParameters,
  resolveMaxTokens,
  resolveParameters,
} from "../request/parameters.ts";
import { levelOfBudget } from "../request/thinking.ts";
import type { Provider, ProviderRequest, RequestInput, ServerToolAbilities } from "../types.ts";
import { vendorAt } from "../vendors.ts";
import { type ChatDialect, PLAIN_DIALECT } from "./dialect.ts";
import { readChatError } from "./errors.ts";
import { chatFallbacks, chatRequest } from "./request.ts";
import { ChatReader, reasoningField } from "./stream.ts";

/** The tools that OpenRouter runs, with the engines that requests name. */
const GATEWAY_TOOLS: ServerToolAbilities = {
  tag: "openrouter",
  web_search: { price: 0.007, allows: true, blocks: true },
  web_fetch: { price: 0, allows: true, blocks: true },
  returnsCitations: false,
};

/** Creates the provider for a vendor, or for a server that the settings define. */
export function chatProvider(known: KnownProvider): Provider {
  const { name, keyVariables, vendor } = known;
  const readError = (body: unknown, headers: Headers | null, status?: number) =>
    readChatError(body, headers, status, keyHint(keyVariables, vendor?.keyHint));
  return {
    ...known,
    defaultModel: null,
    outputIncludesThoughts: true,
    ...(name === "openrouter" ? { serverTools: GATEWAY_TOOLS } : {}),
    // The vendor behind a gateway signs thinking, whatever the gateway's key.
    owner: () => null,
    // Whether a server can continue a reply that the document begins is unknown, so a request that asks for this is
    // sent.
    takesPrefill: () => true,
    modelList: (key, settings) => ({
      path: "/v1/models",
      headers: entryHeaders(settings, name, { key, usual: "bearer" }),
    }),
    buildRequest: (input) => buildRequest(known, input),
    fallbacks: chatFallbacks,
    reader: (offered = []) => new ChatReader({ provider: name, offered, readError }),
    readError,
  };
}

function buildRequest(
  { name, vendor }: KnownProvider,
  given: RequestInput,
): { request: ProviderRequest; warnings: readonly string[] } {
  const { settings } = given;
  const own = stated(settings.providers[name]);
  // An entry of the settings may name the address of a vendor.
  const there = vendor ?? vendorAt(new URL(given.baseUrl).hostname);
  const known = (there?.refuses ?? []).filter((rule) =>
    rule === "long-ids" || own.reasoning_back === undefined
  );
  const input = { ...given, fallbacks: new Set([...given.fallbacks ?? [], ...known]) };
  const parameters = resolveParameters(settings, name);
  const server: ProviderSettings = { ...vendor?.settings, ...own };
  const seen = own.reasoning_field ?? input.recall?.(reasoningField(name)) ?? null;
  const model = settings.model ?? "";
  const maxTokens = resolveMaxTokens(parameters.maxTokens, findModel(name, model, settings));
  return chatRequest(input, {
    provider: name,
    model,
    dialect: dialectOf(server, seen ?? server.reasoning_field ?? there?.settings?.reasoning_field ?? null),
    foreign: parameters.thinking.foreign,
    maxTokens: maxTokens.tokens,
    temperature: parameters.temperature ?? undefined,
    thinking: effortMembers(parameters, server, vendor?.efforts),
    extra: {
      parallel_tool_calls: input.tools.length === 0 ? undefined : server.parallel_tool_calls ?? undefined,
    },
    warnings: [...maxTokens.warnings, ...idleRetention(parameters.cacheRetention, name)],
  });
}

/** Returns the members of an entry that have a value. */
function stated(entry: ProviderSettings = {}): ProviderSettings {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== null));
}

/**
 * Returns the dialect of a server. `field` is the member for reasoning, if it is known.
 */
function dialectOf(server: ProviderSettings, field: string | null): ChatDialect {
  return {
    ...PLAIN_DIALECT,
    maxTokensKey: server.max_tokens_key ?? PLAIN_DIALECT.maxTokensKey,
    reasoningField: field ?? PLAIN_DIALECT.reasoningField,
    reasoningBack: server.reasoning_back ?? PLAIN_DIALECT.reasoningBack,
  };
}

/**
 * Returns the members about thinking only if the person set an effort for this provider, because many servers and models
 * refuse them, and the default of a model is its maker's choice.
 */
function effortMembers(
  { own, thinking }: RequestParameters,
  { reasoning_key: key }: ProviderSettings,
  efforts: readonly string[] = ["low", "medium", "high"],
): JsonMembers {
  const effort = typeof own.reasoning === "string" && own.reasoning !== ""
    ? own.reasoning
    : own.thinking === undefined
    ? null
    : effortOf(thinking.level, efforts);
  if (effort === null) return {};
  const isOn = effort !== "none";
  switch (key) {
    case "reasoning":
      return { reasoning: { effort } };
    case "thinking":
      return { thinking: { type: isOn ? "enabled" : "disabled" } };
    case "thinking_and_effort":
      return isOn
        ? { thinking: { type: "enabled" }, reasoning_effort: effort }
        : { thinking: { type: "disabled" } };
    case "enable_thinking":
      return { enable_thinking: isOn };
    default:
      return { reasoning_effort: effort };
  }
}

/** Returns the effort for a level of the settings, in a word that the server accepts. */
function effortOf(level: RequestParameters["thinking"]["level"], efforts: readonly string[]): string {
  if (level === false || level === 0) return "none";
  return effortsOf(efforts)[typeof level === "number" ? levelOfBudget(level) : level];
}

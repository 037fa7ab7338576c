// Token counting by the provider: builds the request and parses its response.

import { isObject } from "../../base/is_object.ts";
import type { ProviderRequest } from "../types.ts";
import { bodyBytes } from "../http/body.ts";

interface Counter {
  /** Derives the method's path from that of the request to count. */
  path(path: string): string;
  /** Derives the body from that of the request to count. */
  body(body: Readonly<Record<string, unknown>>, path: string): unknown;
  /** Reads the count from the response; undefined if it is missing. */
  tokens(answer: Readonly<Record<string, unknown>>): unknown;
}

function without(body: Readonly<Record<string, unknown>>, ...names: readonly string[]): unknown {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
}

const GOOGLE_PATH = (path: string) => path.replace(/:streamGenerateContent$/, ":countTokens");

const COUNTERS: Readonly<Record<string, Counter>> = {
  anthropic: {
    path: (path) => `${path}/count_tokens`,
    body: (body) => without(body, "max_tokens", "stream", "temperature"),
    tokens: (answer) => answer.input_tokens,
  },
  openai: {
    path: (path) => `${path}/input_tokens`,
    body: (body) =>
      without(
        body,
        ...["stream", "store", "max_output_tokens", "temperature", "include"],
        ...["prompt_cache_key", "prompt_cache_retention", "prompt_cache_options"],
      ),
    tokens: (answer) => answer.input_tokens,
  },
  vertex: {
    path: GOOGLE_PATH,
    body: (body) => without(body, "generationConfig", "toolConfig"),
    tokens: (answer) => answer.totalTokens,
  },
  gemini: {
    path: GOOGLE_PATH,
    // The Gemini API counts system prompt and tools only if the complete request is nested.
    body: (body, path) => ({
      generateContentRequest: {
        ...without(body, "generationConfig", "toolConfig") as object,
        model: /models\/[^/:]+/.exec(path)?.[0] ?? "",
      },
    }),
    tokens: (answer) => answer.totalTokens,
  },
  moonshot: {
    path: (path) => path.replace(/\/chat\/completions$/, "/tokenizers/estimate-token-count"),
    body: (body) =>
      without(
        body,
        ...["stream", "stream_options", "max_tokens", "max_completion_tokens", "temperature", "thinking"],
        "reasoning_effort",
      ),
    tokens: ({ data }) => isObject(data) ? data.total_tokens : undefined,
  },
};

/** Creates the request that counts another one's tokens; null for a provider that cannot count. */
export function countRequest(provider: string, request: ProviderRequest): ProviderRequest | null {
  const counter = COUNTERS[provider];
  if (counter === undefined) return null;
  const url = new URL(request.url);
  const { pathname } = url;
  url.pathname = counter.path(pathname);
  // The parameter selects streaming, which counting does not support.
  if (url.searchParams.get("alt") === "sse") url.searchParams.delete("alt");
  const body = JSON.parse(request.body) as Record<string, unknown>;
  return { ...request, url: url.href, body: JSON.stringify(counter.body(body, pathname)) };
}

/** Reads the token count from a response; null if it is missing. */
export function countedTokens(provider: string, answer: unknown): number | null {
  const tokens = isObject(answer) ? COUNTERS[provider]?.tokens(answer) : undefined;
  return typeof tokens === "number" && Number.isInteger(tokens) && tokens >= 0 ? tokens : null;
}

/** Approximate bytes per token, for providers that cannot count. */
const BYTES_PER_TOKEN = 4;

export function estimateRequestTokens(request: ProviderRequest): number {
  return Math.ceil(bodyBytes(request).length / BYTES_PER_TOKEN);
}

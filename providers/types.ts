// A provider as a pair of pure functions: prompt to request, stream event to effects (design: one file per API).

import type { Problem } from "../base/problem.ts";
import type { Settings } from "../config/settings.ts";
import type { Prompt } from "../prompt/types.ts";

/** What a tool looks like to a provider. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: Readonly<Record<string, unknown>>;
  readonly output_schema?: Readonly<Record<string, unknown>>;
  readonly strict?: boolean;
}

export interface ProviderRequest {
  readonly method: "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The exact bytes of the body, as text. */
  readonly body: string;
}

export interface RequestInput {
  readonly prompt: Prompt;
  readonly tools: readonly OfferedTool[];
  readonly settings: Settings;
  /** Absolute path of the document, or null. */
  readonly document: string | null;
  readonly key: string;
  readonly baseUrl: string;
}

/** Token counts of one request; each report replaces the earlier one. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly thoughts: number;
  readonly cache_read: number;
  readonly cache_write: number;
}

/** What one stream event means, in the order it happened. */
export type Effect =
  | { readonly kind: "text"; readonly text: string }
  | {
    readonly kind: "thinking";
    readonly content: string;
    readonly signature?: { readonly provider: string; readonly value: string };
  }
  | { readonly kind: "redacted"; readonly data: string }
  | { readonly kind: "tool_use"; readonly id: string; readonly name: string; readonly inputText: string }
  | { readonly kind: "usage"; readonly usage: Partial<Usage> }
  | {
    readonly kind: "stop";
    readonly outcome: "normal" | "truncated" | "blocked";
    readonly reason: string | null;
  }
  | { readonly kind: "error"; readonly error: ProviderError };

export type ErrorClass =
  | "context_overflow"
  | "authentication"
  | "rate_limit"
  | "network"
  | "timeout"
  | "blocked"
  | "cancelled"
  | "other";

export interface ProviderError extends Problem {
  readonly class: ErrorClass;
  /** Lines to show below the message, e.g. rate-limit headers. */
  readonly details: readonly string[];
}

/** Reads one streamed reply; holds the blocks that are still open. */
export interface StreamReader {
  /** The effects of one event's data; `headers` of the answer tell more about an error event. */
  event(data: unknown, headers?: Headers | null): Effect[];
  /** True once the closing event was seen. */
  readonly closed: boolean;
}

export interface Provider {
  readonly name: string;
  /** Shown to people, e.g. `Anthropic`. */
  readonly display: string;
  readonly defaultBaseUrl: string;
  /** Environment variables that may hold the key, in order. */
  readonly keyVariables: readonly string[];
  readonly defaultModel: string;
  buildRequest(input: RequestInput): { request: ProviderRequest; warnings: readonly string[] };
  /** A reader for one reply; `offered` lets it give tools their own names back. */
  reader(offered?: readonly OfferedTool[]): StreamReader;
  /**
   * The error that a non-stream body or an error event stands for. `body` is decoded JSON or, when it is none,
   * text. `status` is the HTTP status of an answer that failed as a whole.
   */
  readError(body: unknown, headers: Headers | null, status?: number): ProviderError;
  /** True when the output count of a usage report holds the thinking tokens already. */
  readonly outputIncludesThoughts: boolean;
}

// A provider as a pair of pure functions: prompt to request, stream event to effects (design: one file per API).

import type { Problem } from "../base/problem.ts";
import type { Settings } from "../config/settings.ts";
import type { Prompt } from "../prompt/types.ts";

/** What a tool looks like to a provider. */
export interface OfferedTool {
  /** The name the model calls. */
  readonly name: string;
  /** What it is good for, for the model. */
  readonly description: string;
  /** JSON Schema of its input. */
  readonly input_schema: Readonly<Record<string, unknown>>;
  /** JSON Schema of its output. */
  readonly output_schema?: Readonly<Record<string, unknown>>;
  /** Whether the provider holds inputs to the schema. */
  readonly strict?: boolean;
}

/** A request, ready to be posted. */
export interface ProviderRequest {
  /** The method of HTTP. */
  readonly method: "POST";
  /** The whole address. */
  readonly url: string;
  /** Header lines, the key among them. */
  readonly headers: Readonly<Record<string, string>>;
  /** The exact bytes of the body, as text. */
  readonly body: string;
}

/** What a request is made from. */
export interface RequestInput {
  /** The conversation. */
  readonly prompt: Prompt;
  /** The tools that are offered. */
  readonly tools: readonly OfferedTool[];
  /** What holds for the document. */
  readonly settings: Settings;
  /** Absolute path of the document, or null. */
  readonly document: string | null;
  /** The secret. */
  readonly key: string;
  /** Where the provider is reached, without a slash at the end. */
  readonly baseUrl: string;
  /** The day of the request in UTC, as `2026-11-28`: models end. */
  readonly day: string;
}

/** Token counts of one request; each report replaces the earlier one. */
export interface Usage {
  /** Tokens that were sent. */
  readonly input: number;
  /** Tokens of the reply. */
  readonly output: number;
  /** Tokens of thinking. */
  readonly thoughts: number;
  /** Tokens that the provider had at hand. */
  readonly cache_read: number;
  /** Tokens that the provider keeps at hand from now on. */
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
  /** A block that is written when it is whole has grown: what it is, and how many characters of it have come. */
  | {
    readonly kind: "progress";
    readonly block: "thinking" | "call";
    readonly name?: string;
    readonly characters: number;
  }
  | { readonly kind: "usage"; readonly usage: Partial<Usage> }
  /** Something of the reply that cannot stand in the document; one sentence for the person. */
  | { readonly kind: "notice"; readonly message: string }
  | {
    readonly kind: "stop";
    readonly outcome: "normal" | "truncated" | "blocked";
    readonly reason: string | null;
  }
  | { readonly kind: "error"; readonly error: ProviderError };

/** What kind of thing went wrong. */
export type ErrorClass =
  | "context_overflow"
  | "authentication"
  | "rate_limit"
  | "network"
  | "timeout"
  | "blocked"
  | "cancelled"
  | "other";

/** What went wrong between us and a provider. */
export interface ProviderError extends Problem {
  /** The kind of error. */
  readonly class: ErrorClass;
  /** Lines to show below the message, e.g. rate-limit headers. */
  readonly details: readonly string[];
}

/** Reads one streamed reply; holds the blocks that are still open. */
export interface StreamReader {
  /** The effects of one event's data; `headers` of the answer tell more about an error event. */
  event(data: unknown, headers?: Headers | null): Effect[];
  /** Says that a line of the stream could not be read: what is open now must not count as whole. */
  damaged(): void;
  /** The effects of the word that ends some streams, `[DONE]`; a stream whose end is an event of its own has none. */
  done?(): Effect[];
  /** True once the closing event was seen. */
  readonly closed: boolean;
}

/** One provider's API. */
export interface Provider {
  /** The name that settings use. */
  readonly name: string;
  /** Shown to people, e.g. `Anthropic`. */
  readonly display: string;
  /** Where it is reached unless settings say otherwise. */
  readonly defaultBaseUrl: string;
  /** Environment variables that may hold the key, in order; none for a provider that takes no key. */
  readonly keyVariables: readonly string[];
  /** Whether it is asked without a key where none is found. */
  readonly keyOptional?: boolean;
  /** The model unless settings name one; null where nobody can know one. */
  readonly defaultModel: string | null;
  /** Where it is reached by these settings unless they name an address; absent where that is `defaultBaseUrl`. */
  regionalBaseUrl?(settings: Settings): string;
  /** What these settings lack for a request, or null. */
  obstacle?(settings: Settings): Problem | null;
  /** Whether the model of the settings goes on from a turn of its own (prefill). */
  takesPrefill(settings: Settings): boolean;
  /** The request for a conversation, and what had to be left out or changed, in sentences. */
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

// A provider as a pair of pure functions: prompt to request, stream event to effects (design: one file per API).

import type { Problem } from "../base/problem.ts";
import type { Settings } from "../config/settings.generated.ts";
import type { Part, Prompt } from "../prompt/types.ts";
import type { LongText } from "../base/text/long_text.ts";

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
  /** Thinking of the document that is not sent. @default all is sent */
  readonly leftOut?: ReadonlySet<ThinkingPart>;
  /** What the provider refused in an earlier try. @default nothing */
  readonly fallbacks?: ReadonlySet<RequestFallback>;
  /** What was noted of earlier replies, by what it is about; null for what was not. @default nothing was */
  readonly recall?: (about: string) => string | null;
}

/** Thinking as it stands in a document. */
export type ThinkingPart = Extract<Part, { kind: "thinking" }>;

/** What a request can do without when the provider refuses it. */
export type RequestFallback =
  /** All thinking of earlier replies. */
  | "earlier-thinking"
  /** The word about what becomes of thinking that no longer fits. */
  | "binding"
  /** Temperature and other sampling values. */
  | "sampling"
  /** Messages with calls that lack their reasoning: it goes back with each, be it empty. */
  | "bare-calls"
  /** A system message: its text goes in front of the person's first words. */
  | "system-role"
  /** Ids of calls as they are: nine letters and digits take their place. */
  | "long-ids"
  /** Images and documents in results: the model gets the text about them. */
  | "result-files"
  /** The wish how the model shall think. */
  | "thinking"
  /** The wish for words about its thinking. */
  | "summary"
  /** How long the prompt is kept at hand. */
  | "retention"
  /** The limit of the reply. */
  | "reply-limit"
  /** The wish to hear how many tokens it took. */
  | "token-counts";

/** One piece of what a reply comes from. */
export interface PrefixPiece {
  /** Which part of a request it is. */
  readonly what: "system" | "tools" | "user" | "assistant";
  /** 1-based line of the document where it begins; null for what stands in none. */
  readonly line: number | null;
  /** Its content without thinking and without marks for a cache; empty for what is sent for its thinking only. */
  readonly text: string;
  /** The signed thinking in it, in order. */
  readonly thinking: readonly ThinkingPart[];
}

/** What a request will be made of, as far as it decides which thinking of earlier replies still counts. */
export interface Outline {
  /** In the order in which the provider reads them. */
  readonly pieces: readonly PrefixPiece[];
  /** From this piece on thinking is sent whole or not at all: it is of the last reply, or of a loop of calls. */
  readonly whole: number;
  /**
   * What becomes of thinking when something before it has changed: it is left out, nothing is sent, or it is sent as
   * ever. Null for a model that does not look.
   */
  readonly mismatch: "drop" | "error" | "off" | null;
  /** Whether the model that is asked can read thinking of another one; what it cannot is passed over without a word. */
  canRead(writer: string): boolean;
}

/** Thinking that the provider did not use, told with its answer. */
export interface DroppedThinking {
  /** Where it stands in the request, such as `messages.3.content.0`. */
  readonly path: string;
  /** What before it has changed, or who may not read it. */
  readonly why: "prefix" | "model" | "account" | "other";
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
    /** A long one is taken by whoever writes it. */
    readonly content: string | LongText;
    readonly signature?: { readonly provider: string; readonly value: string };
  }
  | { readonly kind: "redacted"; readonly data: string }
  | {
    readonly kind: "tool_use";
    readonly id: string;
    readonly name: string;
    /** JSON of an object. A long one is taken by whoever writes it. */
    readonly inputText: string | LongText;
  }
  /** A block that is written when it is whole has grown: what it is, and how many characters of it have come. */
  | {
    readonly kind: "progress";
    readonly block: "thinking" | "call";
    readonly name?: string;
    readonly characters: number;
  }
  /** Something that the document cannot hold and that has to come back with it; the model's name without a value. */
  | { readonly kind: "note"; readonly about: string; readonly value?: string }
  | { readonly kind: "usage"; readonly usage: Partial<Usage> }
  /** Which model answers, as the provider names it. */
  | { readonly kind: "answering"; readonly model: string }
  /** The server is of a kind that leaves out what does not fit its window, and says nothing. */
  | { readonly kind: "trims" }
  | { readonly kind: "dropped"; readonly dropped: readonly DroppedThinking[] }
  /** Something of the reply that cannot stand in the document; one sentence for the person. */
  | { readonly kind: "notice"; readonly message: string }
  | {
    readonly kind: "stop";
    /** `paused`: the provider wants the reply back as it is, and goes on with it. */
    readonly outcome: "normal" | "truncated" | "blocked" | "paused";
    /** The provider's own word. */
    readonly reason: string | null;
    /** What the provider says about it, for a person: a category, an explanation. */
    readonly details?: string;
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
  /**
   * Present when the same request may succeed later: the seconds that the provider asked to wait, or null when it
   * named none.
   */
  readonly retry?: { readonly after: number | null };
}

/** Reads one streamed reply; holds the blocks that are still open. */
export interface StreamReader {
  /**
   * The effects of one event's data; `headers` of the answer tell more about an error event. `source` is the text of the
   * data, in which numbers are as the provider spelled them.
   */
  event(data: unknown, headers?: Headers | null, source?: string): Effect[];
  /** Says that a line of the stream could not be read: what is open now must not count as whole. */
  damaged(): void;
  /** The effects of the word that ends some streams, `[DONE]`; a stream whose end is an event of its own has none. */
  done?(): Effect[];
  /** True once the closing event was seen. */
  readonly closed: boolean;
}

/** A request, and what is to be known of it. */
export interface BuiltRequest {
  /** The request. */
  readonly request: ProviderRequest;
  /** What had to be left out or changed, in sentences. */
  readonly warnings: readonly string[];
  /** The thinking of earlier replies that is in it, by its place in the body. @default none */
  readonly thinking?: ReadonlyMap<string, ThinkingPart>;
}

/** How a provider is asked for the list of its models. */
export interface ListRequest {
  /** Below the address of the API. */
  readonly path: string;
  /** The query of the address. */
  readonly query?: string;
  /** Header lines, the key among them. */
  readonly headers: Readonly<Record<string, string>>;
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
  /** What its key is: one that holds until it is taken back, or a token that ends by itself. @default "api_key" */
  readonly keyKind?: "api_key" | "access_token";
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
  buildRequest(input: RequestInput): BuiltRequest;
  /** How its list of models is asked for; null where a key opens none. @default `/v1/models`, the key as a bearer */
  modelList?(key: string): ListRequest | null;
  /** What the request will be made of; absent for a provider to which changes of earlier text make no difference. */
  outline?(input: RequestInput): Outline;
  /** What a request that was refused may do without in another try, or null. */
  fallback?(error: ProviderError): RequestFallback | null;
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

// The interface of a provider: builds a request from a prompt, and turns stream events into effects.

import type { Problem } from "../base/problem.ts";
import type { Settings } from "../config/settings.generated.ts";
import type { Part, Prompt } from "../prompt/types.ts";
import type { LongText } from "../base/text/long_text.ts";

/** A tool as the provider sees it. */
export interface OfferedTool {
  /** Name that the model calls. */
  readonly name: string;
  /** Description for the model. */
  readonly description: string;
  /** JSON Schema of the tool's input. */
  readonly input_schema: Readonly<Record<string, unknown>>;
  /** JSON Schema of the tool's output. */
  readonly output_schema?: Readonly<Record<string, unknown>>;
  /** True if the provider enforces the schema on inputs. */
  readonly strict?: boolean;
}

/** A request, ready to be posted. */
export interface ProviderRequest {
  /** HTTP method. */
  readonly method: "POST";
  /** Full URL. */
  readonly url: string;
  /** Request headers, including the API key. */
  readonly headers: Readonly<Record<string, string>>;
  /** The exact bytes of the body, as text. */
  readonly body: string;
}

/** Everything that a request is built from. */
export interface RequestInput {
  /** The conversation. */
  readonly prompt: Prompt;
  /** The tools offered to the model. */
  readonly tools: readonly OfferedTool[];
  /** The effective settings of the document. */
  readonly settings: Settings;
  /** Random id of the document, under which the provider caches it; null if there is none. */
  readonly cacheKey: string | null;
  /** The API key; empty if the provider takes none. */
  readonly key: string;
  /** Base URL of the provider, without a trailing slash. */
  readonly baseUrl: string;
  /** Day of the request in UTC, such as `2026-11-28`; decides whether a model is past its end date. */
  readonly day: string;
  /** Thinking blocks of the document to leave out. @default none */
  readonly leftOut?: ReadonlySet<ThinkingPart>;
  /** Tools that the provider runs itself. @default none */
  readonly serverTools?: readonly ServerTool[];
  /** Reductions to apply, because the provider refused an earlier attempt. @default none */
  readonly fallbacks?: ReadonlySet<RequestFallback>;
  /** Returns what was noted about an earlier reply under this key; null if nothing was. @default nothing was noted */
  readonly recall?: (about: string) => string | null;
}

/** A thinking block of a document. */
export type ThinkingPart = Extract<Part, { kind: "thinking" }>;

/** A block of a provider's tool, or citations, of a document. */
export type ServerToolPart = Extract<Part, { kind: "server_tool" }>;

/** Tools that a provider can run itself. */
export type ServerToolName = "web_search" | "web_fetch";

/** A tool for the provider to run. */
export interface ServerTool {
  /** Name of the tool in the settings. */
  readonly name: ServerToolName;
  /** Maximum number of uses in one request. */
  readonly maxUses: number;
  /** The only domains that it may use; null for all. */
  readonly allowed: readonly string[] | null;
  /** Domains that it may not use; empty if `allowed` is set. */
  readonly blocked: readonly string[];
}

/** What a provider's own tool can do. */
export interface ServerToolAbility {
  /** Dollars for one use, in addition to its tokens; null if unknown. */
  readonly price: number | null;
  /** True if the tool can be limited to domains. */
  readonly allows: boolean;
  /** True if the tool can be kept from domains. */
  readonly blocks: boolean;
  /** Returns why the tool cannot be offered in a request, as a sentence; null if it can. */
  obstacle?(request: { readonly model: string; readonly hasTools: boolean }): string | null;
}

/** The tools that a provider can run itself. */
export interface ServerToolAbilities {
  /** The provider, as tags in documents name it. */
  readonly tag: string;
  /** Search of the web. @default the provider has no such tool */
  readonly web_search?: ServerToolAbility;
  /** Fetching of pages by their address. @default the provider has no such tool */
  readonly web_fetch?: ServerToolAbility;
  /** True if citations go back with the text that they belong to. */
  readonly returnsCitations: boolean;
}

/** Part of a request that is left out or rewritten after the provider refused it. */
export type RequestFallback =
  /** All thinking of earlier replies is left out. */
  | "earlier-thinking"
  /** The blocks of earlier thinking that a refusal is about are left out. */
  | "some-thinking"
  /** Reasoning of earlier replies is left out, because the server has no field for it. */
  | "reasoning-field"
  /** Reasoning items are sent without their ids. */
  | "item-ids"
  /** The instruction about thinking that no longer matches its context is left out. */
  | "binding"
  /** Temperature and other sampling parameters are left out. */
  | "sampling"
  /** Messages with calls but no reasoning get a reasoning field, which may be empty. */
  | "bare-calls"
  /** The system message is left out, and its text goes in front of the first user message. */
  | "system-role"
  /** Each call id is replaced with an id that consists of nine letters and digits. */
  | "long-ids"
  /** Images and documents in results are replaced with a text about them. */
  | "result-files"
  /** The parameter that configures thinking is left out. */
  | "thinking"
  /** The request for a summary of the thinking is left out. */
  | "summary"
  /** The parameter for prompt cache retention is left out. */
  | "retention"
  /** The token limit of the reply is left out. */
  | "reply-limit"
  /** The request for token counts is left out. */
  | "token-counts"
  /** The request not to store anything is left out. */
  | "store"
  /** The tools that the provider runs itself are left out. */
  | "server-tools"
  /** Blocks of such tools in earlier replies are sent as text. */
  | "server-blocks"
  /** The tool of that name is left out, because its schema is refused. */
  | `tool ${string}`;

/** One piece of the context that a reply depends on. */
export interface PrefixPiece {
  /** The part of a request that the piece belongs to. */
  readonly what: "system" | "tools" | "user" | "assistant";
  /** 1-based line of the document on which the piece begins; null if it is not part of the document. */
  readonly line: number | null;
  /** Content of the piece without thinking and cache marks; empty if the piece is sent only for its thinking. */
  readonly text: string;
  /** The signed thinking in the piece, in order. */
  readonly thinking: readonly ThinkingPart[];
}

/** Summary of a request that decides which thinking of earlier replies is still valid. */
export interface Outline {
  /** Pieces in the order in which the provider reads them. */
  readonly pieces: readonly PrefixPiece[];
  /**
   * Index of the first piece of the last reply, or of the open loop of calls. From there on, either all thinking is
   * sent or none.
   */
  readonly whole: number;
  /**
   * What happens to thinking when something before it has changed: it is left out (`drop`), the request is not sent
   * (`error`), or it is sent unchanged (`off`). Null for a model that does not check.
   */
  readonly mismatch: "drop" | "error" | "off" | null;
  /**
   * True if the requested model can read thinking by the model `writer`. The API silently skips thinking that it
   * cannot read.
   */
  canRead(writer: string): boolean;
}

/** Thinking that the provider reported as unused. */
export interface DroppedThinking {
  /** Name of the thinking in the request: its path, such as `messages.3.content.0`, or its id. */
  readonly name: string;
  /**
   * Reason why the thinking was not used. `prefix`: the text before it has changed. `model`, `account`: the thinking is
   * from another model or account, and may not be read by this one. `turn`: the model uses only the thinking of the
   * current turn. `other`: the provider gives another reason.
   */
  readonly why: "prefix" | "model" | "account" | "turn" | "other";
}

/** Token counts of one request; each report replaces the earlier one. */
export interface Usage {
  /** Input tokens, without those of the cache. */
  readonly input: number;
  /** Tokens of the reply. */
  readonly output: number;
  /** Tokens of thinking. */
  readonly thoughts: number;
  /** Input tokens read from the prompt cache. */
  readonly cache_read: number;
  /** Input tokens written to the prompt cache. */
  readonly cache_write: number;
  /** Searches that the provider ran; absent if it names none. */
  readonly searches?: number;
  /** Service tier that answered, in the provider's word; absent if the provider names none. */
  readonly tier?: string;
}

/** The meaning of one stream event. Effects are listed in the order in which they happened. */
export type Effect =
  | { readonly kind: "text"; readonly text: string }
  | {
    readonly kind: "thinking";
    /** A `LongText` can be taken only once, by the writer of the document. */
    readonly content: string | LongText;
    readonly signature?: { readonly provider: string; readonly value: string };
  }
  | { readonly kind: "redacted"; readonly data: string }
  | {
    /** The provider ran a tool of its own, or names the sources of the text before. */
    readonly kind: "server_tool";
    readonly what: "blocks" | "citations";
    /** The provider, as tags name it. */
    readonly provider: string;
    /** JSON text to send back; empty if nothing goes back. */
    readonly json: string;
    /** Rendering for readers. */
    readonly rendering: string;
  }
  | {
    readonly kind: "tool_use";
    readonly id: string;
    readonly name: string;
    /** JSON of an object. A `LongText` can be taken only once, by the writer of the document. */
    readonly inputText: string | LongText;
  }
  /**
   * More of a block arrived that is written only when it is complete. The effect names the kind of block, and the
   * number of characters that arrived so far.
   */
  | {
    readonly kind: "progress";
    readonly block: "thinking" | "call";
    readonly name?: string;
    readonly characters: number;
  }
  /**
   * A note that later requests need, for which the document has no place. It is stored by key. If `value` is absent,
   * the name of the model is stored.
   */
  | { readonly kind: "note"; readonly about: string; readonly value?: string }
  | { readonly kind: "usage"; readonly usage: Partial<Usage> }
  /** The model that answers, as the provider names it. */
  | { readonly kind: "answering"; readonly model: string }
  /** The server belongs to a kind that silently drops text beyond its context window. */
  | { readonly kind: "trims" }
  | { readonly kind: "dropped"; readonly dropped: readonly DroppedThinking[] }
  /**
   * A part of the reply cannot be written to the document, or its end is unclear; the message says so to the person, in
   * one sentence. `isAside` is true for something that is not part of the reply.
   */
  | { readonly kind: "notice"; readonly message: string; readonly isAside?: true }
  | {
    readonly kind: "stop";
    /**
     * How the reply ended. `paused` means that the provider expects the reply back unchanged, and then continues it.
     */
    readonly outcome: "normal" | "truncated" | "blocked" | "paused";
    /** The provider's own stop reason. */
    readonly reason: string | null;
    /** The provider's explanation for a person, such as a category. */
    readonly details?: string;
  }
  | { readonly kind: "error"; readonly error: ProviderError };

/** Kind of provider error. */
export type ErrorClass =
  | "context_overflow"
  | "authentication"
  | "rate_limit"
  | "network"
  | "timeout"
  | "blocked"
  | "cancelled"
  | "other";

/**
 * Why a provider could not answer, if not because of the request: the account's rate limit, too much load, or a fault
 * of the server.
 */
export type Trouble = "limited" | "overloaded" | "unavailable";

/** An error of a request to a provider. */
export interface ProviderError extends Problem {
  /** Kind of error. */
  readonly class: ErrorClass;
  /** Lines to show below the message, such as rate limit headers. */
  readonly details: readonly string[];
  /**
   * Set if the same request may succeed later. `after` is the number of seconds that the provider asks to wait; null if
   * it names none.
   */
  readonly retry?: {
    readonly after: number | null;
    /**
     * Most retries, also if the provider began to think, as long as nothing of the reply is written. @default retries
     * end by the general limits, and once the reply has begun
     */
    readonly most?: number;
    /** Why the provider could not answer. @default the connection failed, or the reply was unusable */
    readonly trouble?: Trouble;
  };
  /** Time in UTC until which the provider wants no request, such as `2026-11-28T12:30:00Z`. @default unknown */
  readonly retry_at?: string;
  /** Codes and names of parameters in the error, which identify it in any language. @default none */
  readonly codes?: readonly string[];
}

/** Reads one streamed reply, and keeps the blocks that are still open. */
export interface StreamReader {
  /**
   * Returns the effects of one event's data. `headers` of the response add details to an error event. `source` is the
   * JSON text of the data, where numbers keep the provider's spelling.
   */
  event(data: unknown, headers?: Headers | null, source?: string): Effect[];
  /**
   * Call this after an unreadable line of the stream: the blocks that are open at that time are then treated as
   * incomplete.
   */
  damaged(): void;
  /** Returns the effects of a whole reply that came instead of a stream; null if a body is not a reply. */
  whole(body: unknown): Effect[] | null;
  /** Some streams end with `[DONE]`. If so, returns the effects of that end; absent if an event ends the stream. */
  done?(): Effect[];
  /** True once the closing event was read. */
  readonly closed: boolean;
}

/** A request and facts about how it was built. */
export interface BuiltRequest {
  /** The request. */
  readonly request: ProviderRequest;
  /** Sentences about what was left out or changed. */
  readonly warnings: readonly string[];
  /**
   * Thinking of earlier replies in the request, by the name under which the provider reports it: its path in the body,
   * or its id. @default the provider does not name thinking
   */
  readonly thinking?: ReadonlyMap<string, ThinkingPart>;
}

/** How to request a provider's list of models. */
export interface ListRequest {
  /** Path below the base URL. If the base URL names a version, that version replaces the one of the path. */
  readonly path: string;
  /** Query string of the URL. */
  readonly query?: string;
  /** Request headers, including the API key. */
  readonly headers: Readonly<Record<string, string>>;
}

/** One provider's API. */
export interface Provider {
  /** Name in the settings. */
  readonly name: string;
  /** Display name, such as `Anthropic`. */
  readonly display: string;
  /** API of a vendor or of an entry in the settings. @default the provider has an API of its own */
  readonly kind?: "anthropic" | "openai" | "openai_chat";
  /** The tools that the provider can run itself. @default it has none that settings can offer */
  readonly serverTools?: ServerToolAbilities;
  /** Base URL that is used unless the settings name another. */
  readonly defaultBaseUrl: string;
  /** Environment variables that may hold the key, in order; empty for a provider that takes no key. */
  readonly keyVariables: readonly string[];
  /** Kind of key: an API key valid until revoked, or an access token that expires. @default "api_key" */
  readonly keyKind?: "api_key" | "access_token";
  /** True if requests are sent without a key if none is found. */
  readonly keyOptional?: boolean;
  /** True if requests name the document's cache key. */
  readonly usesCacheKey?: boolean;
  /** Model that is used unless the settings name one; null if there is no sensible default. */
  readonly defaultModel: string | null;
  /**
   * If the settings name no base URL, returns the one that follows from other settings. Absent if this is always
   * `defaultBaseUrl`.
   */
  regionalBaseUrl?(settings: Settings): string;
  /**
   * Returns what signed thinking belongs to if this is not the key, such as a project; null if nobody knows. Absent if
   * it is the key.
   */
  owner?(settings: Settings): string | null;
  /** Returns the problem if the settings lack something a request needs, else null. */
  obstacle?(settings: Settings): Problem | null;
  /** True if the model of the settings can continue a reply that the document begins (prefill). */
  takesPrefill(settings: Settings): boolean;
  /** Builds the request for a conversation, with sentences about what was left out or changed. */
  buildRequest(input: RequestInput): BuiltRequest;
  /**
   * Returns how to request the model list; null if a key gives no access to one. @default `/v1/models` with a bearer
   * key
   */
  modelList?(key: string, settings?: Pick<Settings, "providers">): ListRequest | null;
  /** Summarizes the request to be built; absent if changes of earlier text do not matter to the provider. */
  outline?(input: RequestInput): Outline;
  /** Returns what to leave out of a refused request before a retry, the likeliest first. */
  fallbacks?(error: ProviderError): readonly RequestFallback[];
  /** Creates a reader for one reply; `offered` maps the names in a reply back to the tools' own names. */
  reader(offered?: readonly OfferedTool[]): StreamReader;
  /**
   * Reads an error from a response body that is not a stream, or from an error event. `body` is decoded JSON, or text if
   * it is not JSON. `status` is the HTTP status of a response that failed as a whole.
   */
  readError(body: unknown, headers: Headers | null, status?: number): ProviderError;
  /** True if the output count of a usage report already includes thinking tokens. */
  readonly outputIncludesThoughts: boolean;
}

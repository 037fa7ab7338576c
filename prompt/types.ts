// The conversation for a provider: evaluated parts, independent of any API.

import type { Diagnostic } from "../parser/types.ts";

/** Lines that exist, by their numbers, beginning with 1. */
export interface Lines {
  /** Number of the first line. */
  readonly first: number;
  /** Number of the last line, which is included. */
  readonly last: number;
}

/** One piece of a message for the model. */
export type Part =
  | { readonly kind: "text"; readonly text: string }
  | {
    readonly kind: "thinking";
    readonly content: string;
    readonly signature?: { readonly provider: string; readonly value: string };
    readonly redacted: boolean;
    /** 1-based line of the part's tag in the document. */
    readonly line?: number;
  }
  | {
    /** A tool that a provider ran, or the citations of the text before it. */
    readonly kind: "server_tool";
    readonly what: "blocks" | "citations";
    /** The provider, as tags name it. */
    readonly provider: string;
    /** Value of the tag's attribute; empty if nothing goes back. */
    readonly value: string;
    /** The lines between the tags. */
    readonly content: string;
    /** 1-based line of the part's tag in the document. */
    readonly line: number;
    /** JSON that goes back to the provider. @default it is not known yet */
    readonly json?: string;
  }
  | {
    readonly kind: "tool_use";
    readonly id: string;
    readonly name: string;
    readonly input: Readonly<Record<string, unknown>>;
    /** JSON text as the model wrote it; sent compacted, never reordered. */
    readonly inputText: string;
  }
  | {
    readonly kind: "tool_result";
    readonly toolUseId: string;
    readonly name?: string;
    readonly isError: boolean;
    readonly parts: readonly Part[];
  }
  | {
    readonly kind: "text_file";
    readonly mimeType: string;
    readonly text: string;
    readonly filename: string;
    /** The lines that the text contains, if it is an excerpt. */
    readonly lines?: Lines;
  }
  | {
    readonly kind: "image" | "pdf";
    readonly mimeType: string;
    /** Content of the file in Base64. */
    readonly data: string;
    readonly filename: string;
    /** Path as in the reference; absent for a file that a tool returned. */
    readonly path?: string;
    /** Set for a file that a tool returned. The text of the result already mentions the file. */
    readonly attached?: true;
  }
  | {
    readonly kind: "unsupported_file";
    readonly filename: string;
    /** Path as in the reference. The model sees only this path, not the person's folders. */
    readonly path: string;
  };

/** One message for the model. */
export interface PromptMessage {
  /** Role of the author. */
  readonly role: "user" | "assistant";
  /** Parts of the message, in order. */
  readonly parts: readonly Part[];
  /** 1-based line of the document on which the message begins. */
  readonly line?: number;
}

/** A file whose content is part of a prompt. */
export interface FileRead {
  /** Absolute path of the file. */
  readonly path: string;
  /** SHA-256 of the bytes read, 64 hexadecimal digits. */
  readonly hash: string;
}

/** A conversation, ready for a provider. */
export interface Prompt {
  /** System prompt; null if the document has no `@System:` message. */
  readonly system: string | null;
  /** 1-based line of the `@System:` message. */
  readonly systemLine?: number;
  /** All messages in order; roles alternate. */
  readonly history: readonly PromptMessage[];
  /** Calls without a final result; the provider adds a synthetic error result for each. */
  readonly unresolved: readonly { readonly id: string; readonly name: string }[];
  /** Problems found during evaluation. */
  readonly diagnostics: readonly Diagnostic[];
  /** True if a diagnostic has severity `error`. */
  readonly blocked: boolean;
  /** Files read by references and includes: the last read of each file, sorted by path. */
  readonly files: readonly FileRead[];
  /** Day that a generated system prompt names, such as `2026-11-28`; the document keeps it from then on. */
  readonly day?: string;
}

/** Input for generated system prompts, in addition to the project's files. */
export interface PersonalityFacts {
  /** Returns the offered tools in the order of the request. Their descriptions are those for the named personality. */
  tools(personality: string): readonly {
    readonly name: string;
    /** Purpose of the tool in one line; may be empty. */
    readonly snippet: string;
    /** Advice on how to use the tool well, one line each. */
    readonly guidelines: readonly string[];
  }[];
  /** Day that the prompt names, such as `2026-11-28`; empty if it names none. */
  readonly day: string;
}

// The conversation as a provider needs it: evaluated parts, independent of any API.

import type { Diagnostic } from "../parser/types.ts";

/** One piece of a message as the model gets it. */
export type Part =
  | { readonly kind: "text"; readonly text: string }
  | {
    readonly kind: "thinking";
    readonly content: string;
    readonly signature?: { readonly provider: string; readonly value: string };
    readonly redacted: boolean;
    /** 1-based line of its tag in the document. */
    readonly line?: number;
  }
  | {
    readonly kind: "tool_use";
    readonly id: string;
    readonly name: string;
    readonly input: Readonly<Record<string, unknown>>;
    /** The model's own JSON text; sent compacted, never re-ordered. */
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
  }
  | {
    readonly kind: "image" | "pdf";
    readonly mimeType: string;
    /** Base64. */
    readonly data: string;
    readonly filename: string;
    /** Set for one that a tool gave back: the text of its result has a line about it already. */
    readonly attached?: true;
  }
  | {
    readonly kind: "unsupported_file";
    readonly filename: string;
    /** As the reference has it; the model is told this one, and nothing of the person's folders. */
    readonly path: string;
  };

/** One message as the model gets it. */
export interface PromptMessage {
  /** Whose message it is. */
  readonly role: "user" | "assistant";
  /** What it is made of, in order. */
  readonly parts: readonly Part[];
  /** 1-based line of the document where it begins. */
  readonly line?: number;
}

/** A file whose content went into a prompt. */
export interface FileRead {
  /** Absolute. */
  readonly path: string;
  /** SHA-256 of the bytes that were read, 64 hexadecimal digits. */
  readonly hash: string;
}

/** A conversation, ready for a provider. */
export interface Prompt {
  /** Null when the document has no `@System:` message. */
  readonly system: string | null;
  /** 1-based line of that message. */
  readonly systemLine?: number;
  /** All messages in order; roles alternate. */
  readonly history: readonly PromptMessage[];
  /** Calls without a final result; the provider adds a synthetic error result for each. */
  readonly unresolved: readonly { readonly id: string; readonly name: string }[];
  /** What was found while it was made. */
  readonly diagnostics: readonly Diagnostic[];
  /** True when a diagnostic has severity `error`. */
  readonly blocked: boolean;
  /** What references and includes read, the last reading of each file, sorted by path. */
  readonly files: readonly FileRead[];
  /** The day that a generated system prompt names, as `2026-11-28`; it stays the document's from then on. */
  readonly day?: string;
}

/** What generated system prompts are made from beside the files of the project. */
export interface PersonalityFacts {
  /** The tools that are offered, in the order of the request, as the personality of that name lists them. */
  tools(personality: string): readonly {
    readonly name: string;
    /** One line on what it is for; may be empty. */
    readonly snippet: string;
    /** How it is used well, a line each. */
    readonly guidelines: readonly string[];
  }[];
  /** The day that is named, as `2026-11-28`; empty for none. */
  readonly day: string;
}

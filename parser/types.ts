// The typed view of a document: what every other room knows of the format. Values are computed when asked for.

import type { Tree } from "@lezer/common";

/** Severity of a diagnostic. An `error` blocks sending. */
export type Severity = "error" | "warning";

/** Codes of the diagnostics that a parse can give. All of them are warnings. */
export type ParseCode =
  | "tool_use_missing_fence"
  | "tool_use_unclosed_fence"
  | "tool_use_unknown_language"
  | "tool_use_invalid_input"
  | "tool_result_missing_fence"
  | "tool_result_unclosed_fence"
  | "thinking_unclosed"
  | "fence_unclosed"
  | "role_unknown"
  | "text_before_first_message"
  | "result_orphan"
  | "result_duplicate"
  | "frontmatter_unclosed"
  | "template_unclosed"
  | "system_repeated"
  | "legacy_form"
  | "call_hidden_in_fence";

/** A finding about the document. Lines are 1-based and inclusive, columns are 1-based bytes. */
export interface Diagnostic {
  /** Stable name from the table of chat-format section 11, e.g. `tool_use_missing_fence`. */
  readonly code: string;
  /** The family: `tool_use`, `tool_result`, `parse`, `frontmatter`, `template`, `file`, … */
  readonly type: string;
  readonly severity: Severity;
  /** One full sentence for a person. */
  readonly message: string;
  readonly start?: number;
  readonly end?: number;
  readonly startCol?: number;
  readonly endCol?: number;
  /** The call or result id the finding is about, where there is one. */
  readonly id?: string;
}

/**
 * A half-open range of byte offsets into the document, with the lines it covers (1-based, inclusive).
 *
 * Blocks (frontmatter, calls, results, thinking, abort markers) go from their first line to the end of the text of
 * their last one: the line end behind them is not theirs. Only a message's place holds its last line end.
 */
export interface Place {
  readonly from: number;
  readonly to: number;
  readonly start: number;
  readonly end: number;
}

/** Text before the first message that belongs to no first block and is never sent. */
export interface Preamble {
  readonly text: string;
  /** Line of its first character, 1-based. */
  readonly start: number;
}

/** The first block of a document. */
export interface Frontmatter extends Place {
  readonly language: string;
  readonly code: string;
}

/** Status words of a result (tool-cycle section 1.1). `null` means final and successful. */
export type Status = "pending" | "approved" | "rejected" | "denied" | "aborted" | "error";

/** The states in which work is still to be done: the block is a placeholder. */
export type Lifecycle = Exclude<Status, "error">;

/** How a placeholder spells its status. */
export type StatusStyle = "fence" | "header" | "pending-fence";

/** Extra tokens of a result header, kept for round trips: an array when all were positional. */
export type Meta = readonly MetaValue[] | { readonly [key: string]: MetaValue };
export type MetaValue = string | number | boolean | null | readonly MetaValue[];

export interface TextSegment {
  readonly kind: "text";
  readonly value: string;
  /** Absent for the one empty text of an empty message. */
  readonly place?: Place;
}

/** `{{ … }}` (expression) or `{% … %}` (code); `code` is everything between the delimiters. */
export interface TemplateSegment {
  readonly kind: "expression" | "code";
  readonly code: string;
  readonly trimBefore: boolean;
  readonly trimAfter: boolean;
  readonly place: Place;
  readonly startCol: number;
  readonly endCol: number;
}

export interface ThinkingSegment {
  readonly kind: "thinking";
  /** Raw lines between the tags; `unescape` of parser/edits/escape.ts gives what is sent (S1). */
  readonly content: string;
  readonly signature?: { readonly provider: string; readonly value: string };
  readonly redacted: boolean;
  readonly place: Place;
}

export interface AbortSegment {
  readonly kind: "aborted";
  readonly message: string;
  readonly place: Place;
}

/** A `**Tool Use:**` block with a readable body. */
export interface Call {
  readonly kind: "tool_use";
  readonly id: string;
  readonly name: string;
  /** The decoded JSON object. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The body exactly as it stands in the document. */
  readonly inputText: string;
  readonly turn: Turn;
  readonly place: Place;
}

/** A `**Tool Result:**` block with a closed fence. */
export interface Result {
  readonly kind: "tool_result";
  /** The id of the call it answers. */
  readonly id: string;
  readonly status: Status | null;
  /** The spelling the status was read from; `null` when there is no status. */
  readonly style: StatusStyle | null;
  readonly meta: Meta | null;
  /** The lines between the fences joined by LF, nothing trimmed. Empty means no byte. */
  readonly content: string;
  /** The body parsed for templates; empty for lifecycle states. */
  readonly segments: readonly (TextSegment | TemplateSegment)[];
  readonly turn: Turn;
  readonly place: Place;
  /** The header line without its line end. */
  readonly header: Place;
  /** The opening fence line without its line end. */
  readonly opener: Place;
  /** Number of backticks of the opening fence. */
  readonly ticks: number;
}

export type Segment = TextSegment | TemplateSegment | ThinkingSegment | AbortSegment | Call | Result;

/** One message: a role marker and what follows it up to the next marker outside a fence. */
export interface Turn {
  /** `System`, `You`, `Assistant`, or any other word (an unknown role). */
  readonly role: string;
  /** Position in `Chat.turns`. */
  readonly index: number;
  /** From the marker to the last byte before the next marker, stripped blank lines included. */
  readonly place: Place;
  readonly segments: readonly Segment[];
  readonly calls: readonly Call[];
  readonly results: readonly Result[];
}

/** A parsed document. Immutable; `update` of parser/mod.ts makes the next one. */
export interface Chat {
  /** All bytes in one piece; after an update they are joined when this is first asked for. */
  readonly bytes: Uint8Array;
  /** Number of bytes. */
  readonly byteLength: number;
  readonly tree: Tree;
  readonly lineCount: number;
  /** CR LF only when every line of the document ends so. */
  readonly eol: "\n" | "\r\n";
  readonly bom: boolean;
  readonly frontmatter: Frontmatter | null;
  /** What stands before the first message beside the first block; null when there is nothing but blank lines. */
  readonly preamble: Preamble | null;
  readonly turns: readonly Turn[];
  /** Number of messages. */
  readonly turnCount: number;
  /** The message that holds a byte offset; `undefined` before the first. Costs no look at the others. */
  turnAt(offset: number): Turn | undefined;
  /** Every readable call, in document order. */
  readonly calls: readonly Call[];
  /** Every readable result, in document order. */
  readonly results: readonly Result[];
  /** Result headers without a readable body: a person may be at work there (tool-cycle 3.1). */
  readonly brokenResults: readonly { readonly id: string; readonly line: number }[];
  readonly diagnostics: readonly Diagnostic[];
  /** The last call with this id. */
  call(id: string): Call | undefined;
  /** The last result with this id. */
  result(id: string): Result | undefined;
  /** 1-based line of a byte offset. */
  lineAt(offset: number): number;
  /** Byte offset of the first byte of a 1-based line; the document's length past the last line. */
  lineStart(line: number): number;
  /** Byte offset just past the last byte of a line, its line end excluded. */
  lineEnd(line: number): number;
  /** The text of a line without its line end. */
  lineText(line: number): string;
  /** Decoded text of a byte range. */
  text(from: number, to: number): string;
  /** The bytes of a range. Costs only them, where `bytes` may have to join the whole document. */
  slice(from: number, to: number): Uint8Array;
}

// A parsed document as plain JSON values, for `flemma parse --json`.

import type { Chat, Diagnostic, Meta, Segment, Severity, Status } from "./types.ts";

/** A range of lines, 1-based and inclusive. */
export interface LinesJson {
  /** First line, 1-based. */
  readonly start: number;
  /** Last line, 1-based and included. */
  readonly end: number;
}

/** Text of a message between its blocks; an empty message has one empty text without lines. */
export interface TextJson extends Partial<LinesJson> {
  /** Distinguishes the parts of a message. */
  readonly kind: "text";
  /** The text, with its original line ends. */
  readonly value: string;
}

/** A template tag: `{{ … }}` (expression) or `{% … %}` (code). */
export interface TemplateJson extends LinesJson {
  /** The kind of tag: `expression` for `{{ … }}`, `code` for `{% … %}`. */
  readonly kind: "expression" | "code";
  /** The text between the delimiters. */
  readonly code: string;
  /** Present if the tag removes blank text before it (`{{-`). */
  readonly trim_before?: true;
  /** Present if the tag removes blank text after it (`-}}`). */
  readonly trim_after?: true;
  /** Column of the tag's first byte, 1-based. */
  readonly start_col: number;
  /** Column of the tag's last byte, 1-based. */
  readonly end_col: number;
}

/** Thinking of the model, between its tags. */
export interface ThinkingJson extends LinesJson {
  /** Distinguishes the parts of a message. */
  readonly kind: "thinking";
  /** The lines between the tags. */
  readonly content: string;
  /** The provider's proof that it wrote the text. */
  readonly signature?: { readonly provider: string; readonly value: string };
  /** Present if the provider withholds the text. */
  readonly redacted?: true;
}

/** A tool that the provider ran, or the citations of the text before it. */
export interface ServerToolJson extends LinesJson {
  /** Distinguishes the parts of a message. */
  readonly kind: "server_tool";
  /** What the tag names: the provider's blocks, or citations of the text before. */
  readonly what: "blocks" | "citations";
  /** The provider, as the tag names it. */
  readonly provider: string;
  /** Base64 of JSON, or `sha256:` and the digest of stored JSON. */
  readonly value: string;
  /** The lines between the tags. */
  readonly content: string;
}

/** A tool call. */
export interface CallJson extends LinesJson {
  /** Distinguishes the parts of a message. */
  readonly kind: "tool_use";
  /** Id of the call. */
  readonly id: string;
  /** Name of the tool. */
  readonly name: string;
  /** The decoded input. */
  readonly input: Readonly<Record<string, unknown>>;
}

/** The result block of a call. */
export interface ResultJson extends LinesJson {
  /** Distinguishes the parts of a message. */
  readonly kind: "tool_result";
  /** Id of the answered call. */
  readonly tool_use_id: string;
  /** State of the block; `error` and null (success) are final. */
  readonly status: Status | null;
  /** Extra tokens of the result's header. */
  readonly meta?: Meta;
  /** The lines between the fences. */
  readonly content: string;
  /** What a server asks, with the answers so far; absent in most blocks. */
  readonly questions?: string;
  /** The content split into text and template tags, in order; empty for a placeholder. */
  readonly segments: readonly SegmentJson[];
}

/** The marker below a reply that was cut short. */
export interface AbortJson extends LinesJson {
  /** Distinguishes the parts of a message. */
  readonly kind: "aborted";
  /** Reason why the reply was cut short. */
  readonly message: string;
}

/** A part of a message. */
export type SegmentJson =
  | TextJson
  | TemplateJson
  | ThinkingJson
  | ServerToolJson
  | CallJson
  | ResultJson
  | AbortJson;

/** A message: a role marker and the text after it, up to the next marker. */
export interface MessageJson extends LinesJson {
  /** The role in the message's marker. */
  readonly role: string;
  /** Parts of the message, in order. */
  readonly segments: readonly SegmentJson[];
}

/** A finding about a document. A member is absent if it does not apply to the finding. */
export interface DiagnosticJson extends Partial<LinesJson> {
  /** Stable name of the finding, such as `tool_use_missing_fence`. */
  readonly code: string;
  /** The family of the code, such as `tool_use` or `parse`. */
  readonly type: string;
  /** Severity of the finding; an `error` blocks sending. */
  readonly severity: Severity;
  /** One full sentence for the user. */
  readonly message: string;
  /** First column, in bytes, 1-based. */
  readonly start_col?: number;
  /** Last column, in bytes, 1-based. */
  readonly end_col?: number;
  /** Id of the call or result that the finding is about. */
  readonly id?: string;
}

/** A document as `flemma parse --json` prints it. */
export interface ChatJson {
  /** Number of lines of the document. */
  readonly line_count: number;
  /** The frontmatter; null if there is none. */
  readonly frontmatter: LinesJson & { readonly language: string; readonly code: string } | null;
  /** The messages, in order. */
  readonly messages: readonly MessageJson[];
  /** The findings, in document order. */
  readonly diagnostics: readonly DiagnosticJson[];
}

/** Converts a document to plain values for `JSON.stringify`. */
export function toJson(chat: Chat): ChatJson {
  const { frontmatter } = chat;
  return {
    line_count: chat.lineCount,
    frontmatter: frontmatter && {
      language: frontmatter.language,
      code: frontmatter.code,
      start: frontmatter.start,
      end: frontmatter.end,
    },
    messages: chat.turns.map((turn) => ({
      role: turn.role,
      start: turn.place.start,
      end: turn.place.end,
      segments: turn.segments.map(segmentJson),
    })),
    diagnostics: chat.diagnostics.map(diagnosticJson),
  };
}

function segmentJson(segment: Segment): SegmentJson {
  const { kind } = segment;
  switch (kind) {
    case "text":
      return { kind, value: segment.value, ...(segment.place === undefined ? {} : linesOf(segment.place)) };
    case "expression":
    case "code":
      return {
        kind,
        code: segment.code,
        ...(segment.trimBefore ? { trim_before: true } : {}),
        ...(segment.trimAfter ? { trim_after: true } : {}),
        start: segment.place.start,
        start_col: segment.startCol,
        end: segment.place.end,
        end_col: segment.endCol,
      };
    case "thinking":
      return {
        kind,
        content: segment.content,
        ...(segment.signature ? { signature: segment.signature } : {}),
        ...(segment.redacted ? { redacted: true } : {}),
        ...linesOf(segment.place),
      };
    case "server_tool": {
      const { what, provider, value, content, place } = segment;
      return { kind, what, provider, value, content, ...linesOf(place) };
    }
    case "tool_use":
      return { kind, id: segment.id, name: segment.name, input: segment.input, ...linesOf(segment.place) };
    case "tool_result":
      return {
        kind,
        tool_use_id: segment.id,
        status: segment.status,
        ...(segment.meta ? { meta: segment.meta } : {}),
        ...(segment.attachments.length > 0 ? { attachments: segment.attachments } : {}),
        content: segment.content,
        ...(segment.questions === null ? {} : { questions: segment.questions }),
        segments: segment.segments.map(segmentJson),
        ...linesOf(segment.place),
      };
    case "aborted":
      return { kind, message: segment.message, ...linesOf(segment.place) };
  }
}

function linesOf({ start, end }: LinesJson): LinesJson {
  return { start, end };
}

/** Converts a diagnostic to the member names of the JSON output; absent members stay absent. */
export function diagnosticJson(diagnostic: Diagnostic): DiagnosticJson {
  const { code, type, severity, message, start, end, startCol, endCol, id } = diagnostic;
  return {
    code,
    type,
    severity,
    message,
    ...(start === undefined ? {} : { start }),
    ...(end === undefined ? {} : { end }),
    ...(startCol === undefined ? {} : { start_col: startCol }),
    ...(endCol === undefined ? {} : { end_col: endCol }),
    ...(id === undefined ? {} : { id }),
  };
}

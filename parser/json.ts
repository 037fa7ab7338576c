// A parsed document as plain JSON values, for `flemma parse --json`.

import type { Chat, Diagnostic, Meta, Segment, Severity, Status } from "./types.ts";

/** Lines of a document, 1-based, both of them in it. */
export interface LinesJson {
  /** First line. */
  readonly start: number;
  /** Last line. */
  readonly end: number;
}

/** Text as it stands; without lines where an empty message has it. */
export interface TextJson extends Partial<LinesJson> {
  /** Tells it from the other parts. */
  readonly kind: "text";
  /** The text. */
  readonly value: string;
}

/** `{{ … }}` (expression) or `{% … %}` (code). */
export interface TemplateJson extends LinesJson {
  /** Tells it from the other parts. */
  readonly kind: "expression" | "code";
  /** What stands between the delimiters, or the name of a finding. */
  readonly code: string;
  /** Whether blank text before it is taken away. */
  readonly trim_before?: true;
  /** Whether blank text behind it is taken away. */
  readonly trim_after?: true;
  /** Column of its first byte, 1-based. */
  readonly start_col: number;
  /** Column behind its last byte. */
  readonly end_col: number;
}

/** What the model thought. */
export interface ThinkingJson extends LinesJson {
  /** Tells it from the other parts. */
  readonly kind: "thinking";
  /** What stands between its marks. */
  readonly content: string;
  /** The provider's proof that the text is its own. */
  readonly signature?: { readonly provider: string; readonly value: string };
  /** Whether the provider keeps the text to itself. */
  readonly redacted?: true;
}

/** A call. */
export interface CallJson extends LinesJson {
  /** Tells it from the other parts. */
  readonly kind: "tool_use";
  /** The id of the call. */
  readonly id: string;
  /** The tool. */
  readonly name: string;
  /** The decoded input. */
  readonly input: Readonly<Record<string, unknown>>;
}

/** The block of a call's result; its status is null once it is final and went well. */
export interface ResultJson extends LinesJson {
  /** Tells it from the other parts. */
  readonly kind: "tool_result";
  /** The call that it answers. */
  readonly tool_use_id: string;
  /** What it waits for; `error` and null are final. */
  readonly status: Status | null;
  /** Extra tokens of its header. */
  readonly meta?: Meta;
  /** What stands between its marks. */
  readonly content: string;
  /** What it is made of, in order. */
  readonly segments: readonly SegmentJson[];
}

/** The marker below a reply that was cut short. */
export interface AbortJson extends LinesJson {
  /** Tells it from the other parts. */
  readonly kind: "aborted";
  /** A sentence about it. */
  readonly message: string;
}

/** A part of a message. */
export type SegmentJson = TextJson | TemplateJson | ThinkingJson | CallJson | ResultJson | AbortJson;

/** A message. */
export interface MessageJson extends LinesJson {
  /** The word of its marker. */
  readonly role: string;
  /** What it is made of, in order. */
  readonly segments: readonly SegmentJson[];
}

/** Something in a document that is wrong or doubtful; members that do not apply are absent. */
export interface DiagnosticJson extends Partial<LinesJson> {
  /** What stands between the delimiters, or the name of a finding. */
  readonly code: string;
  /** The family of the code. */
  readonly type: string;
  /** How bad it is. */
  readonly severity: Severity;
  /** A sentence about it. */
  readonly message: string;
  /** First column, in bytes, 1-based. */
  readonly start_col?: number;
  /** Column behind its last byte. */
  readonly end_col?: number;
  /** The call or result that it is about. */
  readonly id?: string;
}

/** A document as `flemma parse --json` prints it. */
export interface ChatJson {
  /** How many lines the document has. */
  readonly line_count: number;
  /** The first block; null without one. */
  readonly frontmatter: LinesJson & { readonly language: string; readonly code: string } | null;
  /** Its messages, in order. */
  readonly messages: readonly MessageJson[];
  /** What is wrong or doubtful. */
  readonly diagnostics: readonly DiagnosticJson[];
}

/** A document, ready for `JSON.stringify`. */
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

/** A diagnostic with the field names of the JSON output; absent members stay absent. */
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

// A parsed document as plain JSON values, for `flemma parse --json`.

import type { Chat, Diagnostic, Segment } from "./types.ts";

/** `line_count`, `frontmatter`, `messages` and `diagnostics` of a document, ready for `JSON.stringify`. */
export function toJson(chat: Chat): unknown {
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

function segmentJson(segment: Segment): unknown {
  const { kind } = segment;
  const lines = segment.place && { start: segment.place.start, end: segment.place.end };
  switch (kind) {
    case "text":
      return { kind, value: segment.value, ...lines };
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
        ...lines,
      };
    case "tool_use":
      return { kind, id: segment.id, name: segment.name, input: segment.input, ...lines };
    case "tool_result":
      return {
        kind,
        tool_use_id: segment.id,
        status: segment.status,
        ...(segment.meta ? { meta: segment.meta } : {}),
        ...(segment.attachments.length > 0 ? { attachments: segment.attachments } : {}),
        content: segment.content,
        segments: segment.segments.map(segmentJson),
        ...lines,
      };
    case "aborted":
      return { kind, message: segment.message, ...lines };
  }
}

/** A diagnostic with the field names of the JSON output; absent members stay absent. */
export function diagnosticJson(diagnostic: Diagnostic): Record<string, unknown> {
  const { code, type, severity, message, start, end, startCol, endCol, id } = diagnostic;
  const entries = { code, type, severity, message, start, end, start_col: startCol, end_col: endCol, id };
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined));
}

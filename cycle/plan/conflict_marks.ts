// Finds the conflict markers of an unresolved merge. While there are any, nothing runs and nothing is sent.

import type { Chat, Diagnostic } from "../../parser/types.ts";

const LESS = 0x3c;
const GREATER = 0x3e;
const BLANK = 0x20;
const LINE_FEED = 0x0a;

/** Minimum length of a marker; git can be configured to make them longer. */
const LENGTH = 7;

/**
 * Returns the conflicts that span several messages. A conflict within a single message, call or result counts as quoted
 * text.
 */
export function conflictMarks(chat: Chat): readonly Diagnostic[] {
  const { bytes } = chat;
  const found: Diagnostic[] = [];
  for (let at = markFrom(bytes, 0, LESS); at >= 0; at = markFrom(bytes, at + LENGTH, LESS)) {
    const end = markFrom(bytes, at, GREATER);
    if (end < 0) break;
    const turn = chat.turnAt(at);
    if (turn === chat.turnAt(end) && turn !== undefined) continue;
    const quoted = turn?.segments.some((segment) =>
      (segment.kind === "tool_use" || segment.kind === "tool_result") && segment.place.from < at &&
      at < segment.place.to
    );
    if (quoted === true) continue;
    const line = lineAt(bytes, at);
    found.push({
      code: "conflict_marks",
      type: "parse",
      severity: "error",
      message:
        "A merge left both versions here, between <<<<<<< and >>>>>>>. Keep the right one and delete the marks.",
      start: line,
      end: lineAt(bytes, end),
    });
  }
  return found;
}

/** Returns the offset of the next line that is a conflict marker; -1 if there is none. */
function markFrom(bytes: Uint8Array, from: number, character: number): number {
  for (let at = bytes.indexOf(character, from); at >= 0; at = bytes.indexOf(character, at + 1)) {
    if (at > 0 && bytes[at - 1] !== LINE_FEED) continue;
    let length = 1;
    while (bytes[at + length] === character) length++;
    if (length >= LENGTH && bytes[at + length] === BLANK) return at;
  }
  return -1;
}

function lineAt(bytes: Uint8Array, offset: number): number {
  let line = 1;
  for (let at = bytes.indexOf(LINE_FEED); at >= 0 && at < offset; at = bytes.indexOf(LINE_FEED, at + 1)) {
    line++;
  }
  return line;
}

// Template tags in text: `{{ expression }}` and `{% code %}`, their closers found past Lua strings and comments.

import { kindAt, tagCloser, tagOpener } from "../text/tags.ts";
import type { Text } from "../text/text.ts";
import type { TemplateSegment, TextSegment } from "../types.ts";

const DASH = 0x2d;
const LF = 0x0a;

/** How much of the text behind an opener is looked at first for its closer. */
const WINDOW = 4096;

/**
 * The segments of the bytes `from..to` (chat-format 8.1). Texts next to each other stay apart when the second begins
 * at an opener that is never closed. An empty run has no segments.
 */
export function readTemplate(text: Text, from: number, to: number): (TextSegment | TemplateSegment)[] {
  const segments: (TextSegment | TemplateSegment)[] = [];
  const bytes = text.slice(from, to);
  const { length } = bytes;
  let read = 0;
  let at = tagOpener(bytes, 0, length);
  while (at >= 0) {
    const kind = kindAt(bytes, at);
    const trimBefore = bytes[at + 2] === DASH;
    const inside = at + (trimBefore ? 3 : 2);
    const closer = tagCloser(bytes, inside, length, kind);
    if (read < at) segments.push(textSegment(text, from + read, from + at));
    if (closer < 0) {
      segments.push(textSegment(text, from + at, to));
      return segments;
    }
    const trimAfter = closer > inside && bytes[closer - 1] === DASH;
    const end = closer + 2;
    const first = text.lineOf(from + at);
    const last = text.lineOf(from + end - 1);
    segments.push({
      kind,
      code: text.text(from + inside, from + (trimAfter ? closer - 1 : closer)),
      trimBefore,
      trimAfter,
      place: { from: from + at, to: from + end, start: first + 1, end: last + 1 },
      startCol: from + at - text.start(first) + 1,
      endCol: from + end - text.start(last),
    });
    read = end;
    at = tagOpener(bytes, end, length);
  }
  if (read < length) segments.push(textSegment(text, from + read, to));
  return segments;
}

/**
 * Offset of the opener in `from..to` that has no closer, or -1. It and the rest of the run are text. Looks into a
 * chunk only where a tag may go on beyond it.
 */
export function unclosedTag(text: Text, from: number, to: number): number {
  let at = from;
  for (let index = text.chunkAt(from); index < text.chunks.length && text.offsets[index]! < to; index++) {
    const { bytes, tags } = text.chunks[index]!;
    if (tags === "none") continue;
    const base = text.offsets[index]!;
    const end = Math.min(bytes.length, to - base);
    if (tags === "closed" && at <= base && end === bytes.length) continue;
    for (;;) {
      const within = tagOpener(bytes, Math.max(0, at - base), end);
      if (within < 0) break;
      const closed = tagEnd(text, base + within, to);
      if (closed < 0) return base + within;
      at = closed;
      if (at >= base + end) break;
    }
  }
  return -1;
}

/** False when no template tag opens in the lines `from..to`. */
export function mayHoldTags(text: Text, from: number, to: number): boolean {
  for (let index = text.chunkAt(from); index < text.chunks.length && text.offsets[index]! < to; index++) {
    if (text.chunks[index]!.tags !== "none") return true;
  }
  return false;
}

/** Offset behind the tag that opens at `at`, -1 when it is not closed before `to`. */
function tagEnd(text: Text, at: number, to: number): number {
  for (let size = WINDOW;; size *= 8) {
    const bytes = text.slice(at, Math.min(to, at + size));
    const inside = bytes[2] === DASH ? 3 : 2;
    const closer = tagCloser(bytes, inside, bytes.length, kindAt(bytes, 0));
    if (closer >= 0) return at + closer + 2;
    if (at + size >= to) return -1;
  }
}

/** A text segment over whole or part lines; it ends on the line that its last line feed leads to. */
export function textSegment(text: Text, from: number, to: number): TextSegment {
  const start = text.lineOf(from) + 1;
  // Behind the document's last line feed no line begins, yet the text says that one does.
  const beyond = to === text.length && text.byte(to - 1) === LF ? 2 : 1;
  return {
    kind: "text",
    value: text.text(from, to),
    place: { from, to, start, end: text.lineOf(to) + beyond },
  };
}

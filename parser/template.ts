// Template tags in text: `{{ expression }}` and `{% code %}`, their closers found past Lua strings and comments.

import { templateOpener } from "./chunk.ts";
import type { Text } from "./text.ts";
import type { TemplateSegment, TextSegment } from "./types.ts";

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const PERCENT = 0x25;
const DASH = 0x2d;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const EQUALS = 0x3d;
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
  let at = templateOpener(bytes, 0, length);
  while (at >= 0) {
    const kind = kindAt(bytes, at);
    const trimBefore = bytes[at + 2] === DASH;
    const inside = at + (trimBefore ? 3 : 2);
    const closer = findCloser(bytes, inside, length, kind);
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
    at = templateOpener(bytes, end, length);
  }
  if (read < length) segments.push(textSegment(text, from + read, to));
  return segments;
}

/**
 * Offset of the opener in `from..to` that has no closer, or -1. It and the rest of the run are text. Looks only at
 * the chunks in which tags begin.
 */
export function unclosedTag(text: Text, from: number, to: number): number {
  let at = from;
  for (let index = text.chunkAt(from); index < text.chunks.length && text.offsets[index]! < to; index++) {
    const { bytes, hasTemplates } = text.chunks[index]!;
    if (!hasTemplates) continue;
    const base = text.offsets[index]!;
    const end = Math.min(bytes.length, to - base);
    for (;;) {
      const within = templateOpener(bytes, Math.max(0, at - base), end);
      if (within < 0) break;
      const closed = tagEnd(text, base + within, to);
      if (closed < 0) return base + within;
      at = closed;
      if (at >= base + end) break;
    }
  }
  return -1;
}

/** Offset behind the tag that opens at `at`, -1 when it is not closed before `to`. */
function tagEnd(text: Text, at: number, to: number): number {
  for (let size = WINDOW;; size *= 8) {
    const bytes = text.slice(at, Math.min(to, at + size));
    const inside = bytes[2] === DASH ? 3 : 2;
    const closer = findCloser(bytes, inside, bytes.length, kindAt(bytes, 0));
    if (closer >= 0) return at + closer + 2;
    if (at + size >= to) return -1;
  }
}

function kindAt(bytes: Uint8Array, at: number): "expression" | "code" {
  return bytes[at + 1] === PERCENT ? "code" : "expression";
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

/** Offset of the two closing bytes, or -1. Reads Lua just far enough to skip strings and comments. */
function findCloser(bytes: Uint8Array, from: number, to: number, kind: "expression" | "code"): number {
  let depth = 0;
  let at = from;
  while (at < to) {
    const byte = bytes[at];
    const next = at + 1 < to ? bytes[at + 1] : undefined;
    if (byte === 0x22 || byte === 0x27) {
      at = skipQuoted(bytes, at, to);
    } else if (byte === DASH && next === DASH) {
      at = skipComment(bytes, at, to);
    } else if (byte === OPEN_BRACKET) {
      at = skipLong(bytes, at, to) ?? at + 1;
    } else if (kind === "code") {
      if (byte === PERCENT && next === CLOSE_BRACE) return at;
      at++;
    } else if (byte === OPEN_BRACE) {
      depth++;
      at++;
    } else if (byte === CLOSE_BRACE) {
      if (depth === 0 && next === CLOSE_BRACE) return at;
      if (depth > 0) depth--;
      at++;
    } else {
      at++;
    }
  }
  return -1;
}

function skipQuoted(bytes: Uint8Array, from: number, to: number): number {
  const quote = bytes[from];
  for (let at = from + 1; at < to; at++) {
    if (bytes[at] === BACKSLASH) at++;
    else if (bytes[at] === quote) return at + 1;
  }
  return to;
}

function skipComment(bytes: Uint8Array, from: number, to: number): number {
  const long = skipLong(bytes, from + 2, to);
  if (long !== null) return long;
  const feed = bytes.indexOf(LF, from);
  return feed < 0 || feed >= to ? to : feed + 1;
}

/** Skips `[[ … ]]` or `[=[ … ]=]`; `null` when no long bracket begins at `from`. */
function skipLong(bytes: Uint8Array, from: number, to: number): number | null {
  if (from >= to || bytes[from] !== OPEN_BRACKET) return null;
  let level = from + 1;
  while (level < to && bytes[level] === EQUALS) level++;
  if (level >= to || bytes[level] !== OPEN_BRACKET) return null;
  const equals = level - from - 1;
  for (let at = bytes.indexOf(CLOSE_BRACKET, level + 1); at >= 0 && at < to;) {
    let close = at + 1;
    while (close < to && bytes[close] === EQUALS) close++;
    if (close < to && bytes[close] === CLOSE_BRACKET && close - at - 1 === equals) return close + 1;
    // The bracket that stopped this try may begin the next one.
    at = bytes.indexOf(CLOSE_BRACKET, close);
  }
  return to;
}

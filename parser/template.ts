// Template tags in text: `{{ expression }}` and `{% code %}`, their closers found past Lua strings and comments.

import type { Source } from "./source.ts";
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

/** A run of text read for template tags. */
export interface Template {
  readonly segments: (TextSegment | TemplateSegment)[];
  /** Offset of an opener without closer; it and the rest of the run are text. */
  readonly unclosed: number | null;
}

/**
 * Reads the bytes `from..to` for template tags (chat-format 8.1). Texts next to each other stay apart when the
 * second begins at an opener that is never closed. An empty run has no segments.
 */
export function readTemplate(source: Source, from: number, to: number): Template {
  const segments: (TextSegment | TemplateSegment)[] = [];
  let text = from;
  let at = nextOpener(source.bytes, from, to);
  while (at >= 0) {
    const kind = source.bytes[at + 1] === PERCENT ? "code" : "expression";
    const trimBefore = source.bytes[at + 2] === DASH && at + 2 < to;
    const inside = at + (trimBefore ? 3 : 2);
    const closer = findCloser(source.bytes, inside, to, kind);
    if (text < at) segments.push(textSegment(source, text, at));
    if (closer < 0) {
      segments.push(textSegment(source, at, to));
      return { segments, unclosed: at };
    }
    const trimAfter = closer > inside && source.bytes[closer - 1] === DASH;
    const end = closer + 2;
    const first = source.lineOf(at);
    const last = source.lineOf(end - 1);
    segments.push({
      kind,
      code: source.text(inside, trimAfter ? closer - 1 : closer),
      trimBefore,
      trimAfter,
      place: { from: at, to: end, start: first + 1, end: last + 1 },
      startCol: at - source.start(first) + 1,
      endCol: end - source.start(last),
    });
    text = end;
    at = nextOpener(source.bytes, end, to);
  }
  if (text < to) segments.push(textSegment(source, text, to));
  return { segments, unclosed: null };
}

/** A text segment over whole or part lines; it ends on the line that its last line feed leads to. */
export function textSegment(source: Source, from: number, to: number): TextSegment {
  const start = source.lineOf(from) + 1;
  const value = source.text(from, to);
  let end = start;
  for (let at = value.indexOf("\n"); at >= 0; at = value.indexOf("\n", at + 1)) end++;
  return { kind: "text", value, place: { from, to, start, end } };
}

function nextOpener(bytes: Uint8Array, from: number, to: number): number {
  for (
    let at = bytes.indexOf(OPEN_BRACE, from);
    at >= 0 && at + 1 < to;
    at = bytes.indexOf(OPEN_BRACE, at + 1)
  ) {
    const next = bytes[at + 1];
    if (next === OPEN_BRACE || next === PERCENT) return at;
  }
  return -1;
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

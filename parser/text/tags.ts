// Finds where template tags, `{{ expression }}` and `{% code %}`, begin and end. Parses only as much Lua as that needs.

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const PERCENT = 0x25;
const DASH = 0x2d;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const EQUALS = 0x3d;
const LF = 0x0a;

const RAW = "raw";
const END_RAW = "endraw";

export type TagKind = "expression" | "code";

/** Returns the offset of the first `{{` or `{%` in `from..to`; -1 if there is none. */
export function tagOpener(bytes: Uint8Array, from: number, to: number): number {
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

/** A complete tag: its delimiters with their trim marks, and its content. */
export interface Tag {
  readonly kind: TagKind;
  /** Offsets at which the content between the delimiters begins and ends. */
  readonly inside: number;
  readonly closer: number;
  readonly trimBefore: boolean;
  readonly trimAfter: boolean;
  /** Offset directly after the tag. */
  readonly end: number;
}

/** Returns the tag that opens at an offset; null if it is not closed before `to`. */
export function readTag(bytes: Uint8Array, at: number, to: number): Tag | null {
  const kind = bytes[at + 1] === PERCENT ? "code" : "expression";
  const trimBefore = bytes[at + 2] === DASH;
  const inside = trimBefore ? at + 3 : at + 2;
  const closer = tagCloser(bytes, inside, to, kind);
  if (closer < 0) return null;
  const trimAfter = closer > inside && bytes[closer - 1] === DASH;
  return { kind, inside, closer: trimAfter ? closer - 1 : closer, trimBefore, trimAfter, end: closer + 2 };
}

/** True if a tag is `{% raw %}`, after which everything is text up to `{% endraw %}`. */
export function isRaw(bytes: Uint8Array, { kind, inside, closer }: Tag): boolean {
  return kind === "code" && isWord(bytes, inside, closer, RAW);
}

/** Returns the first `{% endraw %}` in `from..to`, and its offset; null if there is none. */
export function endOfRaw(bytes: Uint8Array, from: number, to: number): { at: number; tag: Tag } | null {
  for (let at = tagOpener(bytes, from, to); at >= 0; at = tagOpener(bytes, at + 1, to)) {
    if (bytes[at + 1] !== PERCENT) continue;
    const inside = bytes[at + 2] === DASH ? at + 3 : at + 2;
    let closer = bytes.indexOf(PERCENT, inside);
    if (closer < 0 || closer + 1 >= to || bytes[closer + 1] !== CLOSE_BRACE) continue;
    const end = closer + 2;
    const trimAfter = closer > inside && bytes[closer - 1] === DASH;
    if (trimAfter) closer--;
    if (!isWord(bytes, inside, closer, END_RAW)) continue;
    return { at, tag: { kind: "code", inside, closer, trimBefore: inside === at + 3, trimAfter, end } };
  }
  return null;
}

/**
 * Returns the offset directly after the tag at `at`; for `{% raw %}`, directly after its `{% endraw %}`. Returns -1 if
 * the tag is not closed.
 */
export function openedEnd(bytes: Uint8Array, at: number, to: number): number {
  const tag = readTag(bytes, at, to);
  return tag === null ? -1 : endOfOpened(bytes, tag, to);
}

/** Returns the same as `openedEnd` for a tag that was already read. */
export function endOfOpened(bytes: Uint8Array, tag: Tag, to: number): number {
  if (!isRaw(bytes, tag)) return tag.end;
  return endOfRaw(bytes, tag.end, to)?.tag.end ?? -1;
}

/** True if the bytes are one word with optional blanks around it. */
function isWord(bytes: Uint8Array, from: number, to: number, word: string): boolean {
  while (from < to && isBlank(bytes[from])) from++;
  while (from < to && isBlank(bytes[to - 1])) to--;
  if (to - from !== word.length) return false;
  for (let at = 0; at < word.length; at++) {
    if (bytes[from + at] !== word.charCodeAt(at)) return false;
  }
  return true;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === LF || byte === 0x0d;
}

/**
 * State of the template tags in some bytes: there is none, all are closed, or the last one continues after the bytes.
 */
export type Tags = "none" | "closed" | "open";

export function tagsIn(bytes: Uint8Array): Tags {
  let tags: Tags = "none";
  for (let at = tagOpener(bytes, 0, bytes.length); at >= 0;) {
    const end = openedEnd(bytes, at, bytes.length);
    if (end < 0) return "open";
    tags = "closed";
    at = tagOpener(bytes, end, bytes.length);
  }
  return tags;
}

/** Returns the offset of the two closing bytes, or -1. Parses Lua just enough to skip strings and comments. */
function tagCloser(bytes: Uint8Array, from: number, to: number, kind: TagKind): number {
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

/** Skips `[[ … ]]` or `[=[ … ]=]`; null if no long bracket begins at `from`. */
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
    // The bracket that ended this attempt may begin the next one.
    at = bytes.indexOf(CLOSE_BRACKET, close);
  }
  return to;
}

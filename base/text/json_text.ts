// Reads or changes JSON as text, without decoding it, in one pass even if its strings are very long.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** True if a character is JSON whitespace. */
function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** Returns the offset directly after the string that begins at `from`; the text's length if it is not closed. */
function stringEnd(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at + 1;
  }
  return text.length;
}

/** Removes whitespace outside strings from JSON text and changes nothing else. */
export function compactJson(text: string): string {
  const pieces: string[] = [];
  let kept = 0;
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = stringEnd(text, at);
    } else if (isBlank(code)) {
      pieces.push(text.slice(kept, at));
      while (at < text.length && isBlank(text.charCodeAt(at))) at++;
      kept = at;
    } else {
      at++;
    }
  }
  if (pieces.length === 0) return text;
  pieces.push(text.slice(kept));
  return pieces.join("");
}

/** Returns the nesting depth of arrays and objects: 0 for a plain value, 1 for `{}`. The text must be valid JSON. */
export function nestingDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at) - 1;
    else if (code === 0x7b || code === 0x5b) deepest = Math.max(deepest, ++depth);
    else if (code === 0x7d || code === 0x5d) depth--;
  }
  return deepest;
}

/**
 * Returns the first duplicate key of an object in the text, decoded; null if there is none. JSON parsers silently keep
 * one of the two values, and they do not agree which one. The text must be valid JSON.
 */
export function repeatedKey(text: string): string | null {
  /** The keys so far of each enclosing object, null for an array. */
  const open: (Set<string> | null)[] = [];
  let atKey = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = stringEnd(text, at);
      if (atKey) {
        const key: string = JSON.parse(text.slice(at, end));
        const keys = open.at(-1);
        if (keys?.has(key)) return key;
        keys?.add(key);
        atKey = false;
      }
      at = end - 1;
    } else if (code === 0x7b || code === 0x5b) {
      open.push(code === 0x7b ? new Set() : null);
      atKey = code === 0x7b;
    } else if (code === 0x7d || code === 0x5d) {
      open.pop();
      atKey = false;
    } else if (code === 0x2c) atKey = (open.at(-1) ?? null) !== null;
  }
  return null;
}

/**
 * Returns the text of one value inside JSON, unchanged, including number formats and member order. `way` is the path
 * to it: keys of objects and indexes of arrays. Null if there is no such value. The text must be valid JSON.
 */
export function valueText(text: string, way: readonly (string | number)[]): string | null {
  let at: number | null = afterBlanks(text, 0);
  for (const step of way) {
    if (at === null) return null;
    at = typeof step === "string" ? memberAt(text, at, step) : itemAt(text, at, step);
  }
  return at === null ? null : text.slice(at, valueEnd(text, at));
}

/** Returns the text of each item of a JSON array, unchanged; empty for any other value. The text must be valid JSON. */
export function itemTexts(text: string): readonly string[] {
  const items: string[] = [];
  const from = afterBlanks(text, 0);
  if (text.charCodeAt(from) !== 0x5b) return items;
  for (let at = afterBlanks(text, from + 1); at < text.length && text.charCodeAt(at) !== 0x5d;) {
    items.push(text.slice(at, valueEnd(text, at)));
    at = afterNext(text, at);
  }
  return items;
}

/** Returns JSON text of an object with another text as the value of a key; null if the object has no such key. */
export function replaceMember(text: string, key: string, value: string): string | null {
  const at = memberAt(text, afterBlanks(text, 0), key);
  return at === null ? null : text.slice(0, at) + value + text.slice(valueEnd(text, at));
}

function afterBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && isBlank(text.charCodeAt(at))) at++;
  return at;
}

/** Returns the offset directly after the value that begins at `from`. */
function valueEnd(text: string, from: number): number {
  const first = text.charCodeAt(from);
  if (first === QUOTE) return stringEnd(text, from);
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at) - 1;
    else if (code === 0x7b || code === 0x5b) depth++;
    else if (code === 0x7d || code === 0x5d) {
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (depth === 0 && (code === 0x2c || isBlank(code))) return at;
  }
  return text.length;
}

/** Returns the offset of the value of a key in the object at `from`; null if there is none. */
function memberAt(text: string, from: number, key: string): number | null {
  if (text.charCodeAt(from) !== 0x7b) return null;
  for (let at = afterBlanks(text, from + 1); text.charCodeAt(at) === QUOTE;) {
    const end = stringEnd(text, at);
    const value = afterBlanks(text, afterBlanks(text, end) + 1);
    if (JSON.parse(text.slice(at, end)) === key) return value;
    at = afterNext(text, value);
  }
  return null;
}

/** Returns the offset of the item with an index in the array at `from`; null if there is none. */
function itemAt(text: string, from: number, place: number): number | null {
  if (text.charCodeAt(from) !== 0x5b) return null;
  let at = afterBlanks(text, from + 1);
  for (let index = 0; at < text.length && text.charCodeAt(at) !== 0x5d; index++) {
    if (index === place) return at;
    at = afterNext(text, at);
  }
  return null;
}

/**
 * Returns the offset after the value at `from` and its comma. At that offset the next item or member begins, or the
 * closing bracket is there.
 */
function afterNext(text: string, from: number): number {
  const end = afterBlanks(text, valueEnd(text, from));
  return text.charCodeAt(end) === 0x2c ? afterBlanks(text, end + 1) : end;
}

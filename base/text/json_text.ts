// JSON as text: what can be told or changed without decoding it, in one pass however long its strings are.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Whether a character is one that JSON allows between its tokens. */
function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** The place just past the string that begins at `from`; the text's length for one that never ends. */
function stringEnd(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at + 1;
  }
  return text.length;
}

/** Takes the blanks outside strings out of JSON text and changes nothing else. */
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

/** Levels of lists and objects within each other: 0 for a plain value, 1 for `{}`. The text must be valid JSON. */
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
 * The first key that an object of the text holds twice, decoded; null when there is none. Readers of JSON keep one of the
 * two values in silence, and not all the same one. The text must be valid JSON.
 */
export function repeatedKey(text: string): string | null {
  /** The keys so far of each object around, null for a list. */
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
 * The text of one value inside of JSON, as it stands: numbers and the order of members are those of whoever wrote it. The
 * way to it are keys of objects and places in lists; null when it leads nowhere. The text must be valid JSON.
 */
export function valueText(text: string, way: readonly (string | number)[]): string | null {
  let at: number | null = afterBlanks(text, 0);
  for (const step of way) {
    if (at === null) return null;
    at = typeof step === "string" ? memberAt(text, at, step) : itemAt(text, at, step);
  }
  return at === null ? null : text.slice(at, valueEnd(text, at));
}

function afterBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && isBlank(text.charCodeAt(at))) at++;
  return at;
}

/** The place just past the value that begins at `from`. */
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

/** Where the value of a key begins in the object at `from`; null when there is none. */
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

/** Where the item of a place begins in the list at `from`; null when it has none there. */
function itemAt(text: string, from: number, place: number): number | null {
  if (text.charCodeAt(from) !== 0x5b) return null;
  let at = afterBlanks(text, from + 1);
  for (let index = 0; at < text.length && text.charCodeAt(at) !== 0x5d; index++) {
    if (index === place) return at;
    at = afterNext(text, at);
  }
  return null;
}

/** The beginning of whatever follows the value at `from` in its list or object. */
function afterNext(text: string, from: number): number {
  const end = afterBlanks(text, valueEnd(text, from));
  return text.charCodeAt(end) === 0x2c ? afterBlanks(text, end + 1) : end;
}

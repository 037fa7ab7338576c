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

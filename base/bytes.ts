// Functions for byte arrays: joining, comparing, sorting names by bytes, and lengths.

/** Maximum number of bytes of a document, a question or a body, because the runtime supports no longer string. */
export const MOST_TEXT_BYTES = 2 ** 29 - 24;

/** True if an exception says that a string would exceed the maximum length. */
export function isTooLong(thrown: unknown): boolean {
  return thrown instanceof RangeError && /string length/i.test(thrown.message);
}

/** Returns all parts joined. A single part is returned as it is, not copied. */
export function concat(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  return commonPrefix(a, b) === a.length;
}

/** Returns the number of equal leading bytes. */
export function commonPrefix(a: Uint8Array, b: Uint8Array): number {
  const end = Math.min(a.length, b.length);
  let at = equalWords(a, b, end >> 2) * 4;
  while (at < end && a[at] === b[at]) at++;
  return at;
}

/**
 * Returns the number of equal groups of four bytes at the beginning, at most `count`; 0 if either array is not aligned
 * to four bytes.
 */
function equalWords(a: Uint8Array, b: Uint8Array, count: number): number {
  if (a.byteOffset % 4 !== 0 || b.byteOffset % 4 !== 0) return 0;
  const left = new Int32Array(a.buffer, a.byteOffset, count);
  const right = new Int32Array(b.buffer, b.byteOffset, count);
  let at = 0;
  while (at < count && left[at] === right[at]) at++;
  return at;
}

/** Compares by UTF-8 bytes. JavaScript's own order differs beyond the basic plane. */
export function byBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/**
 * Returns the sort key of a UTF-16 unit. Surrogates represent code points above every other unit, so they sort last.
 */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** Returns the length of a text in UTF-8. A lone surrogate counts as the replacement character. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes++;
    else if (unit < 0xd800 || unit > 0xdbff || !isLowHalf(text.charCodeAt(at + 1))) bytes += 2;
    else {
      // A surrogate pair has two units and four bytes.
      bytes += 2;
      at++;
    }
  }
  return bytes;
}

function isLowHalf(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** True if a text ends with the first half of a surrogate pair. */
export function endsInHalf(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}

/** Decodes Base64; throws if the text is not valid Base64. */
export function fromBase64(base64: string): Uint8Array<ArrayBuffer> {
  // Node 22 and older Denos do not have this method yet, and the loop costs some milliseconds.
  if (typeof Uint8Array.fromBase64 === "function") return Uint8Array.fromBase64(base64);
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

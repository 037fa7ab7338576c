// Bytes as they lie in memory: joined, compared, and the order they put names in.

/** Most bytes of a document, a question or a body: the runtime holds no longer text than this in one piece. */
export const MOST_TEXT_BYTES = 2 ** 29 - 24;

/** Whether something was thrown because a text would have become longer than that. */
export function isTooLong(thrown: unknown): boolean {
  return thrown instanceof RangeError && /string length/i.test(thrown.message);
}

/** All parts in one piece. A single part is answered as it is, not copied. */
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

/** Whether two pieces hold the same bytes. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  return commonPrefix(a, b) === a.length;
}

/** Number of equal leading bytes. */
export function commonPrefix(a: Uint8Array, b: Uint8Array): number {
  const end = Math.min(a.length, b.length);
  let at = equalWords(a, b, end >> 2) * 4;
  while (at < end && a[at] === b[at]) at++;
  return at;
}

/** How many of the first `count` groups of four bytes are equal; 0 where they do not lie at whole words in memory. */
function equalWords(a: Uint8Array, b: Uint8Array, count: number): number {
  if (a.byteOffset % 4 !== 0 || b.byteOffset % 4 !== 0) return 0;
  const left = new Int32Array(a.buffer, a.byteOffset, count);
  const right = new Int32Array(b.buffer, b.byteOffset, count);
  let at = 0;
  while (at < count && left[at] === right[at]) at++;
  return at;
}

/** Order of the UTF-8 bytes. JavaScript's own order differs beyond the basic plane. */
export function byBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above every other UTF-16 unit. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** How many bytes a text has in UTF-8; half a character counts as the mark that stands for it there. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes++;
    else if (unit < 0xd800 || unit > 0xdbff || !isLowHalf(text.charCodeAt(at + 1))) bytes += 2;
    else {
      // Two units, four bytes.
      bytes += 2;
      at++;
    }
  }
  return bytes;
}

function isLowHalf(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** True when the last thing in a text is the first half of a character whose second half is still to come. */
export function endsInHalf(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}

/** The bytes that Base64 stands for; throws where it is none. */
export function fromBase64(base64: string): Uint8Array<ArrayBuffer> {
  // Node 22 and older Denos have no such method yet, and the loop costs some milliseconds.
  if (typeof Uint8Array.fromBase64 === "function") return Uint8Array.fromBase64(base64);
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

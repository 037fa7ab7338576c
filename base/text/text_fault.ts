// Finds where bytes are not text, and how to convert them to text.

import { operands, shellWord } from "../shell_word.ts";

/** The first byte that makes bytes invalid as text for this program. */
export interface TextFault {
  readonly kind: "nul" | "not-utf8";
  /** Line of the byte, 1-based. */
  readonly line: number;
  /** Column of the byte, in bytes, 1-based. */
  readonly column: number;
  readonly byte: number;
  /** The probable encoding of the bytes; null if unknown. */
  readonly encoding: string | null;
}

/** Number of bytes that are examined to detect two-byte encodings. */
const SAMPLE = 200;
/** Minimum number of bytes for detecting a two-byte encoding; fewer bytes do not prove anything. */
const LEAST_SAMPLE = 8;

/** Finds the first invalid byte: NUL, or one that is not UTF-8; null if all bytes are text. */
export function textFault(bytes: Uint8Array): TextFault | null {
  const wide = wideEncoding(bytes)?.name ?? null;
  const nul = bytes.indexOf(0);
  const text = nul < 0 ? bytes : bytes.subarray(0, nul);
  const bad = isUtf8(text) ? -1 : firstBadByte(text);
  const at = bad >= 0 ? bad : nul;
  if (at < 0) return null;
  const lineStart = at === 0 ? 0 : bytes.lastIndexOf(0x0a, at - 1) + 1;
  let line = 1;
  for (let end = bytes.indexOf(0x0a); end >= 0 && end < at; end = bytes.indexOf(0x0a, end + 1)) line++;
  const kind = bad >= 0 || wide !== null ? "not-utf8" : "nul";
  return {
    kind,
    line,
    column: at - lineStart + 1,
    byte: bytes[at]!,
    encoding: kind === "nul" ? null : wide ?? narrowEncoding(bytes),
  };
}

/** Returns what is wrong and where, as a sentence without its full stop. */
export function faultWords({ kind, byte, line, column }: TextFault): string {
  const place = `line ${line}, column ${column}`;
  if (kind === "nul") return `${place}: the text contains a NUL byte`;
  return `${place}: the text is not valid UTF-8 (byte 0x${byte.toString(16).padStart(2, "0").toUpperCase()})`;
}

/** Returns how to convert the file to text, with the command if there is a file (`path` is not null). */
export function textRemedy({ encoding }: TextFault, path: string | null): string {
  if (path === null) return encoding === null ? "Check that this is the right text." : "Save it as UTF-8.";
  const target = `> ${shellWord(`${path}.utf8`)}`;
  if (encoding !== null) {
    return `Save it as UTF-8, for example: iconv -f ${encoding} -t UTF-8 ${operands(path)} ${target}`;
  }
  return `Check that this is the right file. To remove NUL bytes: tr -d '\\000' < ${
    shellWord(path)
  } ${target}`;
}

/**
 * Returns Windows-1252 if any byte is one that stands for a control character in Latin-1, but for a letter or quote in
 * Windows-1252. Else returns Latin-1.
 */
export function narrowEncoding(bytes: Uint8Array): string {
  return bytes.some((byte) => byte >= 0x80 && byte < 0xa0) ? WINDOWS : "ISO-8859-1";
}

/** Name of the encoding that Windows programs use for Western languages. */
export const WINDOWS = "WINDOWS-1252";

/**
 * Returns the probable text of bytes with a fault; null if they are not text. Two-byte encodings are decoded as such.
 * If valid non-ASCII UTF-8 characters occur too, only the invalid bytes are lost, each replaced by U+FFFD. All other
 * bytes are most probably in a Western one-byte encoding, as editors assume.
 */
export function faultyText(
  bytes: Uint8Array,
  { kind, encoding }: TextFault,
): { readonly text: string; readonly readAs: string } | null {
  if (kind === "nul" || encoding === null) return null;
  if (encoding.startsWith("UTF-16")) {
    const label = encoding === "UTF-16BE" || bytes[0] === 0xfe ? "utf-16be" : "utf-16le";
    return { text: new TextDecoder(label).decode(bytes), readAs: encoding };
  }
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  if (bytes.includes(0)) return null;
  // deno-lint-ignore no-control-regex -- ASCII says nothing about the encoding
  if (/[^\x00-\x7f\ufffd]/.test(text)) return { text, readAs: DAMAGED };
  return { text: new TextDecoder("windows-1252").decode(bytes), readAs: encoding };
}

/** Value of `readAs` of `faultyText` for a text that is UTF-8 except for some bytes. */
export const DAMAGED = "damaged UTF-8";

/** An encoding with two or four bytes for each unit. */
export interface WideEncoding {
  /** Name for reading: with it, iconv and editors remove a byte order mark. */
  readonly name: string;
  /** Name with the order of the bytes. */
  readonly exact: string;
  /** The byte order mark that the text has; null if it has none. */
  readonly mark: readonly number[] | null;
}

/** Byte order marks. That of UTF-32LE begins with that of UTF-16LE, so it comes first. */
const MARKS: readonly (readonly [string, string, readonly number[]])[] = [
  ["UTF-32", "UTF-32LE", [0xff, 0xfe, 0, 0]],
  ["UTF-32", "UTF-32BE", [0, 0, 0xfe, 0xff]],
  ["UTF-16", "UTF-16LE", [0xff, 0xfe]],
  ["UTF-16", "UTF-16BE", [0xfe, 0xff]],
];

/**
 * Detects UTF-16 and UTF-32 by the byte order mark, and UTF-16 also by a NUL in every other byte, which ASCII characters
 * have in UTF-16.
 */
export function wideEncoding(bytes: Uint8Array): WideEncoding | null {
  for (const [name, exact, mark] of MARKS) {
    if (mark.every((byte, at) => bytes[at] === byte)) return { name, exact, mark };
  }
  const sample = bytes.subarray(0, SAMPLE);
  if (sample.length < LEAST_SAMPLE) return null;
  const nuls = [0, 0];
  sample.forEach((byte, at) => {
    if (byte === 0) nuls[at % 2]!++;
  });
  const [even = 0, odd = 0] = nuls;
  const most = sample.length / 3;
  const exact = odd > most && even === 0 ? "UTF-16LE" : even > most && odd === 0 ? "UTF-16BE" : null;
  return exact === null ? null : { name: exact, exact, mark: null };
}

/**
 * True if the bytes are UTF-8. The bytes are checked in blocks, because a large document as one string would take
 * twice its length, and the largest would not fit.
 */
function isUtf8(bytes: Uint8Array): boolean {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    for (let at = 0; at < bytes.length; at += BLOCK) {
      decoder.decode(bytes.subarray(at, at + BLOCK), { stream: true });
    }
    decoder.decode();
    return true;
  } catch {
    // The decoder throws for bytes that are not UTF-8.
    return false;
  }
}

/** Number of bytes in a block in the search for the first fault. */
const BLOCK = 64 * 1024;

/** Returns the offset of the first byte that does not begin a valid character; there must be one. */
function firstBadByte(bytes: Uint8Array): number {
  let at = soundPart(bytes);
  for (let length = 1; length > 0; at += length) length = characterLength(bytes, at);
  return at;
}

/** Returns an offset at a character boundary, with valid text before it, and close to the first fault. */
function soundPart(bytes: Uint8Array): number {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let sound = 0;
  try {
    for (; sound < bytes.length; sound += BLOCK) {
      decoder.decode(bytes.subarray(sound, sound + BLOCK), { stream: true });
    }
  } catch {
    // The fault is in this block, or in a character that began in the previous one.
  }
  let at = Math.max(0, Math.min(sound, bytes.length) - LONGEST_CHARACTER);
  while (at > 0 && (bytes[at]! & 0xc0) === 0x80) at--;
  return at;
}

const LONGEST_CHARACTER = 4;

/** Returns the length in bytes of the character at an offset; 0 if there is no valid one. */
function characterLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0xff;
  if (first < 0x80) return 1;
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return isUtf8(bytes.subarray(at, at + length)) ? length : 0;
}

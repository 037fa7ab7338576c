// Where bytes that should be text are none, and how to make text of them.

import { operands, shellWord } from "../shell_word.ts";

/** The first byte that keeps bytes from being a text of this program. */
export interface TextFault {
  readonly kind: "nul" | "not-utf8";
  /** 1-based. */
  readonly line: number;
  /** In bytes, 1-based. */
  readonly column: number;
  readonly byte: number;
  /** What the bytes are probably written in; null when that cannot be told. */
  readonly encoding: string | null;
}

/** Bytes that are looked at to tell two-byte encodings. */
const SAMPLE = 200;
/** Fewer tell nothing. */
const LEAST_SAMPLE = 8;

/** Finds the first byte at fault: NUL, or one that is not UTF-8; null when all is text. */
export function textFault(bytes: Uint8Array): TextFault | null {
  const wide = wideEncoding(bytes);
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

/** What is wrong and where, as a sentence without its full stop. */
export function faultWords({ kind, byte, line, column }: TextFault): string {
  const place = `line ${line}, column ${column}`;
  if (kind === "nul") return `${place}: the text holds a NUL byte`;
  return `${place}: the text is not valid UTF-8 (byte 0x${byte.toString(16).padStart(2, "0").toUpperCase()})`;
}

/** What makes a text of the file, with the command where there is a file (`path` is not null). */
export function textRemedy({ encoding }: TextFault, path: string | null): string {
  if (path === null) return encoding === null ? "Look whether this is the right text." : "Save it as UTF-8.";
  const target = `> ${shellWord(`${path}.utf8`)}`;
  if (encoding !== null) {
    return `Save it as UTF-8, for instance: iconv -f ${encoding} -t UTF-8 ${operands(path)} ${target}`;
  }
  return `Look whether this is the right file; to take NUL bytes out: tr -d '\\000' < ${
    shellWord(path)
  } ${target}`;
}

/** The one-byte encoding of the West; where it has letters and quotes in place of control characters, that of Windows. */
function narrowEncoding(bytes: Uint8Array): string {
  return bytes.some((byte) => byte >= 0x80 && byte < 0xa0) ? "WINDOWS-1252" : "ISO-8859-1";
}

/**
 * The text of bytes with a fault, as nearly as it can be told; null for what is no text. Two-byte encodings are read as what
 * they are. Where whole characters of UTF-8 stand too, only the bytes that are none are lost, each to U+FFFD; everything else
 * is most probably in the one-byte encoding of the West, as editors take it.
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

/** What `faultyText` says of a text that is UTF-8 but for some bytes. */
export const DAMAGED = "damaged UTF-8";

/** UTF-16 by its mark, or by a NUL in every other byte as ASCII text has it there. */
function wideEncoding(bytes: Uint8Array): string | null {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return "UTF-16";
  const sample = bytes.subarray(0, SAMPLE);
  if (sample.length < LEAST_SAMPLE) return null;
  const nuls = [0, 0];
  sample.forEach((byte, at) => {
    if (byte === 0) nuls[at % 2]!++;
  });
  const [even = 0, odd = 0] = nuls;
  const most = sample.length / 3;
  return odd > most && even === 0 ? "UTF-16LE" : even > most && odd === 0 ? "UTF-16BE" : null;
}

/** Looked at in blocks: as one text a large document would take twice its length, and the largest would not fit. */
function isUtf8(bytes: Uint8Array): boolean {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    for (let at = 0; at < bytes.length; at += BLOCK) {
      decoder.decode(bytes.subarray(at, at + BLOCK), { stream: true });
    }
    decoder.decode();
    return true;
  } catch {
    // That is the answer.
    return false;
  }
}

/** Bytes that are looked at together for the first fault. */
const BLOCK = 64 * 1024;

/** The first byte that begins no whole character; only asked where there is one. */
function firstBadByte(bytes: Uint8Array): number {
  let at = soundPart(bytes);
  for (let length = 1; length > 0; at += length) length = characterLength(bytes, at);
  return at;
}

/** An offset at which a character begins, before which all is well, and not far from the first fault. */
function soundPart(bytes: Uint8Array): number {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let sound = 0;
  try {
    for (; sound < bytes.length; sound += BLOCK) {
      decoder.decode(bytes.subarray(sound, sound + BLOCK), { stream: true });
    }
  } catch {
    // In this block, or in a character that began in the one before.
  }
  let at = Math.max(0, Math.min(sound, bytes.length) - LONGEST_CHARACTER);
  while (at > 0 && (bytes[at]! & 0xc0) === 0x80) at--;
  return at;
}

const LONGEST_CHARACTER = 4;

/** Bytes of the character that begins here; 0 when none does. */
function characterLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0xff;
  if (first < 0x80) return 1;
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return isUtf8(bytes.subarray(at, at + length)) ? length : 0;
}

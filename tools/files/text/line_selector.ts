// Selects a range of lines of a file of any size in one pass, within the limits, and counts the other lines.

import { DAMAGED, narrowEncoding, textFault, WINDOWS } from "../../../base/text/text_fault.ts";

export interface LineRange {
  /** First wanted line, from 1. */
  readonly offset: number;
  /** Maximum number of wanted lines; Infinity for all. */
  readonly count: number;
  readonly maxLines: number;
  /** Maximum of UTF-8 bytes of the kept text, including line feeds between its lines. */
  readonly maxBytes: number;
}

export interface LineSelection {
  /** Kept lines joined by LF, without a CR before the LF and without a byte order mark. */
  readonly text: string;
  /** Number of kept lines. */
  readonly kept: number;
  /** Lines of the whole file; a final LF ends the last line. */
  readonly total: number;
  /** The limit that ended the selection, if one did. */
  readonly cutBy: "lines" | "bytes" | null;
  /**
   * If the first wanted line alone exceeds the byte limit, the length of this line in bytes; no line is selected then.
   * Otherwise null.
   */
  readonly firstLineBytes: number | null;
  /**
   * If kept lines have bytes that are not UTF-8, the probable one-byte encoding, or `DAMAGED` if there is UTF-8 too.
   * Otherwise null.
   */
  readonly encoding: string | null;
}

const LF = 10;
/**
 * If a line exceeds the limit by this many bytes, it also exceeds the limit after its CR and byte order mark are
 * removed.
 */
const SLACK = 8;

const encoder = new TextEncoder();

/** Takes the bytes of a file in order; `finish` returns the selection. */
export class LineSelector {
  readonly #range: LineRange;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #lines: string[] = [];
  #keptBytes = 0;
  #cutBy: "lines" | "bytes" | null = null;
  #firstLineBytes: number | null = null;
  /** Probable encoding of the kept lines that are not UTF-8, as far as they tell. */
  #encoding: string | null = null;
  /** True if a kept line has characters that only UTF-8 can mean. */
  #hasUtf8 = false;
  /** Number of the current line, from 1. */
  #number = 1;
  /** The beginning of the current line, while it may be wanted. */
  #parts: Uint8Array[] = [];
  #buffered = 0;
  /** All bytes of the current line. */
  #lineBytes = 0;

  constructor(range: LineRange) {
    this.#range = range;
  }

  push(chunk: Uint8Array): void {
    let from = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, from)) {
      this.#take(chunk.subarray(from, end));
      this.#endLine();
      from = end + 1;
    }
    this.#take(chunk.subarray(from));
  }

  finish(): LineSelection {
    if (this.#lineBytes > 0) this.#endLine();
    return {
      text: this.#lines.join("\n"),
      kept: this.#lines.length,
      total: this.#number - 1,
      cutBy: this.#cutBy,
      firstLineBytes: this.#firstLineBytes,
      encoding: this.#encoding !== null && this.#hasUtf8 ? DAMAGED : this.#encoding,
    };
  }

  get #isWanted(): boolean {
    const { offset, count } = this.#range;
    return this.#cutBy === null && this.#number >= offset && this.#number - offset < count;
  }

  #take(part: Uint8Array): void {
    this.#lineBytes += part.length;
    const room = this.#range.maxBytes + SLACK - this.#buffered;
    if (part.length === 0 || room <= 0 || !this.#isWanted) return;
    // The piece is copied, because the caller may reuse its buffer.
    const piece = part.slice(0, room);
    this.#parts.push(piece);
    this.#buffered += piece.length;
  }

  #endLine(): void {
    if (this.#isWanted) this.#keep();
    this.#parts = [];
    this.#buffered = 0;
    this.#lineBytes = 0;
    this.#number++;
  }

  #keep(): void {
    const { maxLines, maxBytes } = this.#range;
    if (this.#lines.length >= maxLines) {
      this.#cutBy = "lines";
      return;
    }
    const { line, encoding } = this.#decoded();
    const bytes = this.#buffered < this.#lineBytes ? this.#lineBytes : encoder.encode(line).length;
    const separator = this.#lines.length === 0 ? 0 : 1;
    if (this.#keptBytes + separator + bytes > maxBytes) {
      this.#cutBy = "bytes";
      if (this.#lines.length === 0) this.#firstLineBytes = this.#lineBytes;
      return;
    }
    // A byte that only Windows-1252 has decides for all lines.
    if (this.#encoding === null || encoding === WINDOWS) this.#encoding = encoding ?? this.#encoding;
    this.#hasUtf8 ||= /[\u00a0-\ufefe\uff00-\ufffc\u{10000}-\u{10ffff}]/u.test(line);
    this.#lines.push(line);
    this.#keptBytes += separator + bytes;
  }

  #decoded(): { readonly line: string; readonly encoding: string | null } {
    const bytes = new Uint8Array(this.#buffered);
    let at = 0;
    for (const part of this.#parts) {
      bytes.set(part, at);
      at += part.length;
    }
    let line = this.#decoder.decode(bytes);
    if (this.#number === 1 && line.startsWith("\ufeff")) line = line.slice(1);
    const encoding = line.includes("\ufffd") && textFault(bytes) !== null ? narrowEncoding(bytes) : null;
    return { line: line.endsWith("\r") ? line.slice(0, -1) : line, encoding };
  }
}

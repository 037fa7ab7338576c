// Finds matching lines of one open file in constant memory.

import { concat } from "../../../base/bytes.ts";
import { textFault, type WideEncoding, wideEncoding } from "../../../base/text/text_fault.ts";
import type { LinePattern } from "./line_pattern.ts";

/** A matching line. */
export interface FittingLine {
  /** Line number, from 1. */
  readonly number: number;
  readonly text: string;
  /** True if U+FFFD in the text stands for bytes that are not UTF-8. */
  readonly isBroken: boolean;
}

const CHUNK = 256 * 1024;
/** Maximum number of bytes of a line that are searched. */
const MOST_LINE_BYTES = 1024 * 1024;
const LF = 10;

/** Shared by all searches of this process: its content is processed before any other task gets a turn. */
const buffer = new Uint8Array(CHUNK);

/**
 * Returns the first `most` matching lines of a file, without line ends and byte order mark. If the file contains a
 * NUL or is in UTF-16 or UTF-32, returns its encoding instead, or null if it is not text.
 *
 * @param check called from time to time; ends the search by throwing
 */
export async function searchLines(
  file: Deno.FsFile,
  pattern: LinePattern,
  most: number,
  check: () => Promise<void>,
): Promise<FittingLine[] | WideEncoding | null> {
  const search = new Search(pattern, most);
  for (let isFirst = true;; isFirst = false) {
    const count = file.readSync(buffer);
    if (count === null) break;
    const chunk = buffer.subarray(0, count);
    const wide = isFirst ? wideEncoding(chunk) : null;
    if (wide !== null || chunk.includes(0)) return wide;
    search.push(chunk);
    await check();
  }
  return search.finish();
}

class Search {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #found: FittingLine[] = [];
  /** The beginning of the unfinished line. */
  #open: Uint8Array[] = [];
  #openBytes = 0;
  /** Number of finished lines. */
  #ended = 0;
  /** True if bytes that are not UTF-8 were read. */
  #isBroken = false;

  constructor(readonly pattern: LinePattern, readonly most: number) {}

  push(chunk: Uint8Array): void {
    if (this.#found.length >= this.most) return;
    const end = chunk.lastIndexOf(LF) + 1;
    if (end > 0) {
      this.#hold(chunk.subarray(0, chunk.indexOf(LF) + 1), true);
      const first = this.#take();
      this.#lines(first + this.#decode(chunk.subarray(chunk.indexOf(LF) + 1, end)));
    }
    this.#hold(chunk.subarray(end), false);
  }

  finish(): FittingLine[] {
    if (this.#openBytes > 0 && this.#found.length < this.most) this.#lines(`${this.#take()}\n`);
    return this.#found;
  }

  /**
   * Adds a part of a line to the buffer. If the line is too long, the buffer contains only the searchable beginning of
   * the line, and its line end.
   */
  #hold(part: Uint8Array, ends: boolean): void {
    const room = MOST_LINE_BYTES - this.#openBytes;
    if (part.length <= room) {
      if (part.length > 0) this.#open.push(part.slice());
      this.#openBytes += part.length;
      return;
    }
    if (room > 0) this.#open.push(part.slice(0, room));
    this.#openBytes = MOST_LINE_BYTES;
    if (ends) this.#open.push(new Uint8Array([LF]));
  }

  #take(): string {
    const parts = this.#open;
    this.#open = [];
    this.#openBytes = 0;
    const text = this.#decode(concat(parts));
    return this.#ended === 0 ? text.replace(/^\ufeff/, "") : text;
  }

  #decode(bytes: Uint8Array): string {
    const text = this.#decoder.decode(bytes);
    this.#isBroken ||= text.includes("\ufffd") && textFault(bytes) !== null;
    return text;
  }

  /** Searches the lines of a text. Every line in it has a line end. */
  #lines(text: string): void {
    const lines = text.split("\n");
    lines.pop();
    if (this.pattern.mayFit(text)) {
      for (const [at, line] of lines.entries()) {
        const bare = line.endsWith("\r") ? line.slice(0, -1) : line;
        if (!this.pattern.fits(bare)) continue;
        const isBroken = this.#isBroken && bare.includes("\ufffd");
        this.#found.push({ number: this.#ended + at + 1, text: bare, isBroken });
        if (this.#found.length >= this.most) return;
      }
    }
    this.#ended += lines.length;
  }
}

// Finds matching lines of one open file in constant memory.

import type { LinePattern } from "./line_pattern.ts";

/** A matching line. */
export interface FittingLine {
  /** Line number, from 1. */
  readonly number: number;
  readonly text: string;
}

const CHUNK = 256 * 1024;
/** Maximum number of bytes of a line that are searched. */
const MOST_LINE_BYTES = 1024 * 1024;
const LF = 10;

/** Shared by all searches of this process: its content is processed before any other task gets a turn. */
const buffer = new Uint8Array(CHUNK);

/**
 * Returns the first `most` matching lines of a file, without line ends and byte order mark. Null if the file contains a
 * NUL, because then it is not text.
 *
 * @param check called from time to time; ends the search by throwing
 */
export async function searchLines(
  file: Deno.FsFile,
  pattern: LinePattern,
  most: number,
  check: () => Promise<void>,
): Promise<FittingLine[] | null> {
  const search = new Search(pattern, most);
  for (;;) {
    const count = file.readSync(buffer);
    if (count === null) break;
    const chunk = buffer.subarray(0, count);
    if (chunk.includes(0)) return null;
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

  constructor(readonly pattern: LinePattern, readonly most: number) {}

  push(chunk: Uint8Array): void {
    if (this.#found.length >= this.most) return;
    const end = chunk.lastIndexOf(LF) + 1;
    if (end > 0) {
      this.#hold(chunk.subarray(0, chunk.indexOf(LF) + 1), true);
      const first = this.#take();
      this.#lines(first + this.#decoder.decode(chunk.subarray(chunk.indexOf(LF) + 1, end)));
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
    const text = parts.map((part) => this.#decoder.decode(part, { stream: true })).join("") +
      this.#decoder.decode();
    return this.#ended === 0 ? text.replace(/^\ufeff/, "") : text;
  }

  /** Searches the lines of a text. Every line in it has a line end. */
  #lines(text: string): void {
    const lines = text.split("\n");
    lines.pop();
    if (this.pattern.mayFit(text)) {
      for (const [at, line] of lines.entries()) {
        const bare = line.endsWith("\r") ? line.slice(0, -1) : line;
        if (!this.pattern.fits(bare)) continue;
        this.#found.push({ number: this.#ended + at + 1, text: bare });
        if (this.#found.length >= this.most) return;
      }
    }
    this.#ended += lines.length;
  }
}

// Keeps the first or last bytes of a stream in bounded memory, and counts over the whole stream.

import { concat } from "../../base/bytes.ts";

const LF = 10;

/** The last bytes of a stream, and counts over the whole stream. */
export class TailBuffer {
  readonly #limit: number;
  #chunks: Uint8Array[] = [];
  #buffered = 0;
  /** Number of bytes so far. */
  total = 0;
  lineFeeds = 0;
  /** Number of bytes since the last line feed. */
  lastLineBytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#count(chunk.length, countLineFeeds(chunk), chunk.length - 1 - chunk.lastIndexOf(LF));
    this.#hold(chunk);
  }

  /** Appends the content of another tail, of which only the end may be in memory. */
  pushAll(other: TailBuffer): void {
    if (other.total === 0) return;
    this.#count(other.total, other.lineFeeds, other.lastLineBytes);
    // If the other tail dropped its beginning, it still has as many bytes as this tail can hold, and these replace all
    // earlier bytes here.
    for (const chunk of other.#chunks) this.#hold(chunk);
  }

  clear(): void {
    this.#chunks = [];
    this.#buffered =
      this.total =
      this.lineFeeds =
      this.lastLineBytes =
        0;
  }

  bytes(): Uint8Array {
    const all = concat(this.#chunks);
    return all.subarray(Math.max(0, all.length - this.#limit));
  }

  #count(bytes: number, lineFeeds: number, lastLineBytes: number): void {
    this.total += bytes;
    this.lineFeeds += lineFeeds;
    this.lastLineBytes = lineFeeds === 0 ? this.lastLineBytes + bytes : lastLineBytes;
  }

  #hold(chunk: Uint8Array): void {
    // The piece is copied, so that it does not keep the large buffer that it was read into in memory.
    this.#chunks.push(chunk.slice());
    this.#buffered += chunk.length;
    for (
      let first = this.#chunks[0];
      first && this.#buffered - first.length >= this.#limit;
      first = this.#chunks[0]
    ) {
      this.#buffered -= first.length;
      this.#chunks.shift();
    }
    // Many tiny chunks take more memory than their bytes, so they are joined.
    if (this.#chunks.length > 1024) this.#chunks = [concat(this.#chunks)];
  }
}

/** The first bytes of a stream, and counts over the whole stream. */
export class HeadBuffer {
  readonly #limit: number;
  #chunks: Uint8Array[] = [];
  #buffered = 0;
  /** Number of bytes so far. */
  total = 0;
  lineFeeds = 0;
  /** Number of bytes before the first line feed. */
  firstLineBytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Uint8Array): void {
    if (this.lineFeeds === 0) {
      const end = chunk.indexOf(LF);
      this.firstLineBytes += end === -1 ? chunk.length : end;
    }
    this.total += chunk.length;
    this.lineFeeds += countLineFeeds(chunk);
    const taken = chunk.slice(0, Math.max(0, this.#limit - this.#buffered));
    if (taken.length === 0) return;
    this.#chunks.push(taken);
    this.#buffered += taken.length;
    // Many tiny chunks take more memory than their bytes, so they are joined.
    if (this.#chunks.length > 1024) this.#chunks = [concat(this.#chunks)];
  }

  bytes(): Uint8Array {
    return concat(this.#chunks);
  }
}

export function countLineFeeds(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) count++;
  return count;
}

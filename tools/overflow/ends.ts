// The first or the last bytes of a stream, with counts of all of it: what shortening needs to know, in bounded memory.

import { concat } from "../../base/bytes.ts";

const LF = 10;

/** The last bytes of a stream, and counts of all of it. */
export class Tail {
  readonly #limit: number;
  #chunks: Uint8Array[] = [];
  #buffered = 0;
  /** Bytes since the beginning. */
  total = 0;
  lineFeeds = 0;
  /** Bytes since the last line feed. */
  lastLineBytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#count(chunk.length, countLineFeeds(chunk), chunk.length - 1 - chunk.lastIndexOf(LF));
    this.#hold(chunk);
  }

  /** Appends what another tail saw, of which only the end may be left. */
  pushAll(other: Tail): void {
    if (other.total === 0) return;
    this.#count(other.total, other.lineFeeds, other.lastLineBytes);
    // If it forgot its beginning it holds a whole window, which pushes out all that came before.
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
    // A small piece must not keep the large buffer it was read into alive.
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
    // Many tiny chunks cost more than their bytes.
    if (this.#chunks.length > 1024) this.#chunks = [concat(this.#chunks)];
  }
}

/** The first bytes of a stream, and counts of all of it. */
export class Head {
  readonly #limit: number;
  #chunks: Uint8Array[] = [];
  #buffered = 0;
  /** Bytes since the beginning. */
  total = 0;
  lineFeeds = 0;
  /** Bytes before the first line feed. */
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
    // Many tiny chunks cost more than their bytes.
    if (this.#chunks.length > 1024) this.#chunks = [concat(this.#chunks)];
  }

  bytes(): Uint8Array {
    return concat(this.#chunks);
  }
}

/** How many lines end in these bytes. */
export function countLineFeeds(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) count++;
  return count;
}

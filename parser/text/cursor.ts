// A position in the list of marks (headers, fences and other special lines), and the searches that move it.

import { STRIDE } from "./chunk.ts";
import { BARE, NEEDS_CRLF } from "./line_kinds.ts";
import type { Text } from "./text.ts";

const NONE = new Int32Array(0);

/**
 * Walks marks in order. After the last mark, `at` is the length of the document. Searches skip whole chunks without a
 * match, so a long body costs one check per chunk.
 */
export class Cursor {
  /** Offset of the line of the current mark. */
  at = 0;
  /** Offset of the line after the current one. */
  next = 0;
  /** Meaning of the line, as in line_kinds.ts; 0 after the last mark. */
  bits = 0;
  /** Number of the current mark: a count of backticks, or the role of a marker. */
  number = 0;
  readonly #text: Text;
  /** True if marks with the bit `NEEDS_CRLF` are valid in this document. */
  readonly #crlf: boolean;
  #chunk = 0;
  #marks: Int32Array = NONE;
  #mark = 0;
  #base = 0;

  constructor(text: Text) {
    this.#text = text;
    this.#crlf = text.crlf;
  }

  /** Moves to the first mark at `offset` or later. */
  seek(offset: number): void {
    const { chunks, offsets } = this.#text;
    const chunk = this.#text.chunkAt(offset);
    const { marks } = chunks[chunk]!;
    const within = offset - offsets[chunk]!;
    let low = 0;
    let high = marks.length / STRIDE;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (marks[middle * STRIDE]! < within) low = middle + 1;
      else high = middle;
    }
    this.#chunk = chunk;
    this.#marks = marks;
    this.#base = offsets[chunk]!;
    this.#mark = low * STRIDE;
    this.#settle();
  }

  /** Moves to the position of another cursor. */
  follow(other: Cursor): void {
    this.#chunk = other.#chunk;
    this.#marks = other.#marks;
    this.#mark = other.#mark;
    this.#base = other.#base;
    this.at = other.at;
    this.next = other.next;
    this.bits = other.bits;
    this.number = other.number;
  }

  step(): void {
    this.#mark += STRIDE;
    this.#settle();
  }

  /** Moves forward to the first mark at `offset` or later. */
  reach(offset: number): void {
    if (this.at >= offset) return;
    if (offset >= this.#text.offsets[this.#chunk + 1]!) return this.seek(offset);
    while (this.at < offset) this.step();
  }

  /** True if the current line is one of `kinds` in this document. */
  is(kinds: number): boolean {
    return (this.bits & kinds) !== 0 && (this.#crlf || (this.bits & NEEDS_CRLF) === 0);
  }

  /** Moves forward to the first line of one of `kinds` before `end`. The current line counts too. */
  find(kinds: number, end: number): boolean {
    while (this.at < end) {
      if (this.is(kinds)) return true;
      this.#mark += STRIDE;
      while (this.#mark >= this.#marks.length && this.#nextChunk()) {
        if ((this.#text.chunks[this.#chunk]!.kinds & kinds) === 0) this.#marks = NONE;
      }
      this.#load();
    }
    return false;
  }

  /** Moves forward to a line before `end` that closes a fence of `ticks` backticks. The current line counts too. */
  findClosing(ticks: number, end: number): boolean {
    while (this.at < end) {
      if ((this.bits & BARE) !== 0 && this.number >= ticks) return true;
      this.#mark += STRIDE;
      while (this.#mark >= this.#marks.length && this.#nextChunk()) {
        if (this.#text.chunks[this.#chunk]!.longestBare < ticks) this.#marks = NONE;
      }
      this.#load();
    }
    return false;
  }

  /** Moves to the next chunk with marks if the current one has no more. */
  #settle(): void {
    while (this.#mark >= this.#marks.length && this.#nextChunk());
    this.#load();
  }

  /** Moves to the beginning of the next chunk, if there is one. */
  #nextChunk(): boolean {
    const { chunks, offsets } = this.#text;
    if (this.#chunk + 1 >= chunks.length) return false;
    this.#chunk++;
    this.#marks = chunks[this.#chunk]!.marks;
    this.#base = offsets[this.#chunk]!;
    this.#mark = 0;
    return true;
  }

  #load(): void {
    const marks = this.#marks;
    const mark = this.#mark;
    if (mark < marks.length) {
      this.at = this.#base + marks[mark]!;
      this.next = this.#base + marks[mark + 1]!;
      this.bits = marks[mark + 2]!;
      this.number = marks[mark + 3]!;
    } else {
      this.at = this.next = this.#text.length;
      this.bits = this.number = 0;
    }
  }
}

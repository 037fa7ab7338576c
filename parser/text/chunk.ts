// A chunk: some whole lines of a document, and all facts known about them. Chunks are immutable; an edit replaces a few
// of them.

import { BARE, bitsOf, classifyLine, numberOf } from "./line_kinds.ts";
import { scanLines, scanMarks } from "../scan/scanner.ts";
import { type Tags, tagsIn } from "./tags.ts";

const LF = 0x0a;

/**
 * Target size of chunks. A chunk ends after the first line feed at or after this many bytes. A longer line is a
 * separate chunk.
 */
const TARGET = 1 << 14;

/**
 * Number of entries of a mark in `Chunk.marks`: the offset of the mark's line, the offset of the next line, the bits,
 * and the number.
 */
export const STRIDE = 4;

// Keeps a byte order mark, because inside the text it is a character like any other.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Some whole lines. Only the last chunk of a document may lack the final line feed. */
export class Chunk {
  readonly bytes: Uint8Array;
  readonly length: number;
  readonly feeds: number;
  /** Line feeds with a carriage return before them. */
  readonly crFeeds: number;
  /** The lines that may begin or end structure, `STRIDE` numbers each. */
  readonly marks: Int32Array;
  /** The bits of all marks combined, so that searches can skip the chunk. */
  readonly kinds: number;
  /** The most backticks of a line that can close a fence. */
  readonly longestBare: number;
  #lines: Uint32Array | null = null;
  #units = -1;
  #tags: Tags | null = null;

  constructor(bytes: Uint8Array) {
    const { feeds, crFeeds, count, lines } = scanMarks(bytes);
    while (count * STRIDE > scratch.length) scratch = new Int32Array(scratch.length * 2);
    let kinds = 0;
    let longest = 0;
    let filled = 0;
    for (let index = 0; index < 2 * count; index += 2) {
      const at = lines[index]!;
      const next = lines[index + 1]!;
      const feed = bytes[next - 1] === LF;
      const end = feed ? next - 1 : next;
      const code = classifyLine(bytes, at, end, feed);
      if (code === 0) continue;
      const bits = bitsOf(code);
      const number = numberOf(code);
      scratch[filled] = at;
      scratch[filled + 1] = next;
      scratch[filled + 2] = bits;
      scratch[filled + 3] = number;
      filled += STRIDE;
      kinds |= bits;
      if ((bits & BARE) !== 0 && number > longest) longest = number;
    }
    this.bytes = bytes;
    this.length = bytes.length;
    this.feeds = feeds;
    this.crFeeds = crFeeds;
    this.marks = filled === 0 ? NO_MARKS : scratch.slice(0, filled);
    this.kinds = kinds;
    this.longestBare = longest;
  }

  /** Offsets at which the chunk's lines begin, plus one for the line after a final line feed. */
  get lines(): Uint32Array {
    return this.#lines ??= scanLines(this.bytes, this.feeds);
  }

  /** Length of the chunk's text in UTF-16 code units. */
  get units(): number {
    if (this.#units < 0) this.#units = decoder.decode(this.bytes).length;
    return this.#units;
  }

  /** State of the template tags in the chunk. Correct only if the chunk does not begin inside a tag. */
  get tags(): Tags {
    return this.#tags ??= tagsIn(this.bytes);
  }
}

/** Number of bytes up to which `cutApart` copies the pieces. */
const COPIED = 16 * TARGET;

/** Cuts whole lines into chunks, without copying them. */
export function cut(bytes: Uint8Array): Chunk[] {
  return cutBy(bytes, (from, to) => bytes.subarray(from, to));
}

/**
 * Cuts inserted text into chunks. Short text is copied for each chunk: text that grows replaces its last chunk
 * repeatedly, and bytes that chunks share stay in memory as long as any of these chunks.
 */
export function cutApart(bytes: Uint8Array): Chunk[] {
  return bytes.length > COPIED ? cut(bytes) : cutBy(bytes, (from, to) => bytes.slice(from, to));
}

function cutBy(bytes: Uint8Array, part: (from: number, to: number) => Uint8Array): Chunk[] {
  const chunks: Chunk[] = [];
  let from = 0;
  while (bytes.length - from > 2 * TARGET) {
    const feed = bytes.indexOf(LF, from + TARGET);
    if (feed < 0 || feed + 1 === bytes.length) break;
    chunks.push(new Chunk(part(from, feed + 1)));
    from = feed + 1;
  }
  chunks.push(new Chunk(from === 0 ? bytes : part(from, bytes.length)));
  return chunks;
}

/** True if two neighbours together are small enough for one chunk. */
export function fitsOne(length: number, other: number): boolean {
  return length + other <= TARGET;
}

const NO_MARKS = new Int32Array(0);
let scratch = new Int32Array(1 << 12);

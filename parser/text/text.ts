// The bytes of a document as a list of chunks, with lines, look-ups, and edits that keep unchanged chunks.
//
// The list is flat. A document of 10 MB has about 640 chunks, so a new list per edit costs a few microseconds; a tree
// of chunks would save nothing measurable.

import { concat } from "../../base/bytes.ts";
import { Chunk, cut, cutApart, fitsOne } from "./chunk.ts";
import type { ByteReplacement } from "./replacement.ts";
import type { Span } from "./lines.ts";

/** A text with at least this many bytes is appended to a document without copying. */
const LONG = 1 << 13;

const LF = 0x0a;
const CR = 0x0d;
const NOTHING = new Uint8Array(0);
// A byte order mark inside the text is a character like any other, so the decoder must not drop it.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** An immutable document at byte level. Line numbers are 0-based here; the typed view counts from 1. */
export class Text {
  readonly chunks: readonly Chunk[];
  /** Offset of each chunk's first byte, and the length of the document. */
  readonly offsets: Float64Array;
  readonly length: number;
  readonly lineCount: number;
  /** True if every line of the document ends with CR LF. A last line without any line end does not count. */
  readonly crlf: boolean;
  /** Offset of the first line: 3 after a byte order mark, else 0. */
  readonly origin: number;
  /** The number of the first line of each chunk. */
  readonly #firstLines: Float64Array;
  #bytes: Uint8Array | null;

  private constructor(chunks: readonly Chunk[], origin: number, bytes: Uint8Array | null) {
    const offsets = new Float64Array(chunks.length + 1);
    const firstLines = new Float64Array(chunks.length);
    let length = origin;
    let feeds = 0;
    let crFeeds = 0;
    for (let index = 0; index < chunks.length; index++) {
      const chunk = chunks[index]!;
      offsets[index] = length;
      firstLines[index] = feeds;
      length += chunk.length;
      feeds += chunk.feeds;
      crFeeds += chunk.crFeeds;
    }
    offsets[chunks.length] = length;
    const last = chunks[chunks.length - 1]!;
    this.chunks = chunks;
    this.offsets = offsets;
    this.#firstLines = firstLines;
    this.length = length;
    this.lineCount = Math.max(1, feeds + (last.length > 0 && last.bytes[last.length - 1] !== LF ? 1 : 0));
    this.crlf = feeds > 0 && feeds === crFeeds;
    this.origin = origin;
    this.#bytes = bytes;
  }

  static of(bytes: Uint8Array): Text {
    const origin = hasBom(bytes) ? 3 : 0;
    return new Text(cut(origin === 0 ? bytes : bytes.subarray(origin)), origin, bytes);
  }

  /** All bytes in one array; joined on first use, in time proportional to their length. */
  get bytes(): Uint8Array {
    if (this.#bytes === null) {
      const joined = new Uint8Array(this.length);
      if (this.origin === 3) joined.set([0xef, 0xbb, 0xbf]);
      for (let index = 0; index < this.chunks.length; index++) {
        joined.set(this.chunks[index]!.bytes, this.offsets[index]!);
      }
      this.#bytes = joined;
    }
    return this.#bytes;
  }

  /** Returns the text after replacements, which are ascending, do not overlap and lie inside the document. */
  edited(replacements: readonly ByteReplacement[]): Text {
    // Only an edit of the first three bytes can add or remove a byte order mark.
    if (replacements[0]!.from < 3) {
      let reach = 3;
      for (const { from, to } of replacements) if (from <= reach) reach = Math.max(reach, to + 3);
      const begin = concat(this.#spliced(replacements, 0, Math.min(this.length, reach)));
      if (this.origin === 3 || hasBom(begin)) {
        return Text.of(concat(this.#spliced(replacements, 0, this.length)));
      }
    }
    const [first] = replacements;
    if (replacements.length === 1 && first!.insert.length > LONG && this.#isBehindLines(first!)) {
      return new Text([...this.chunks, ...cutApart(first!.insert)], this.origin, null);
    }
    const chunks: Chunk[] = [];
    let next = 0;
    for (let done = 0; done < replacements.length;) {
      const begin = Math.max(next, this.chunkAt(replacements[done]!.from));
      for (; next < begin; next++) chunks.push(this.chunks[next]!);
      let stop = done;
      let end = begin + 1;
      let parts: Uint8Array[] = [];
      for (;;) {
        // Adds chunks until no further replacement begins or ends in them.
        while (stop < replacements.length && replacements[stop]!.from < this.offsets[end]!) {
          const { to } = replacements[stop++]!;
          while (end < this.chunks.length && this.offsets[end]! < to) end++;
        }
        if (stop < replacements.length && end === this.chunks.length) stop = replacements.length;
        parts = this.#spliced(replacements.slice(done, stop), this.offsets[begin]!, this.offsets[end]!);
        // A chunk has whole lines, so a chunk that lost its final line feed is joined with the next one.
        if (end === this.chunks.length || endsWithFeed(parts)) break;
        end++;
      }
      next = end;
      done = stop;
      let length = parts.reduce((sum, part) => sum + part.length, 0);
      if (length === 0) continue;
      const before = chunks.at(-1);
      if (before !== undefined && fitsOne(before.length, length)) {
        parts.unshift(chunks.pop()!.bytes);
        length += before.length;
      }
      chunks.push(...cutApart(concat(parts)));
    }
    for (; next < this.chunks.length; next++) chunks.push(this.chunks[next]!);
    if (chunks.length === 0) chunks.push(new Chunk(NOTHING));
    return new Text(chunks, this.origin, null);
  }

  /** True if a text is appended after a complete last line, so that nothing needs to be joined. */
  #isBehindLines({ from }: ByteReplacement): boolean {
    return from === this.length && this.length > this.origin && this.byte(from - 1) === LF;
  }

  /** Applies the replacements that begin in `from..to`, and returns the resulting text of this range in pieces. */
  #spliced(replacements: readonly ByteReplacement[], from: number, to: number): Uint8Array[] {
    const parts: Uint8Array[] = [];
    let at = from;
    for (const { from: cutFrom, to: cutTo, insert } of replacements) {
      if (cutFrom > at) this.#pieces(at, Math.min(cutFrom, to), parts);
      if (cutFrom > to) return parts;
      if (insert.length > 0) parts.push(insert);
      at = Math.max(at, cutTo);
    }
    if (at < to) this.#pieces(at, to, parts);
    return parts;
  }

  /** Returns the index of the chunk that contains an offset; an offset at the end belongs to the last chunk. */
  chunkAt(offset: number): number {
    let low = 0;
    let high = this.chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.offsets[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Returns the line that contains an offset; an offset past the end belongs to the last line. */
  lineOf(offset: number): number {
    const index = this.chunkAt(offset);
    const { lines } = this.chunks[index]!;
    const within = offset - this.offsets[index]!;
    let low = 0;
    let high = lines.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (lines[middle]! <= within) low = middle;
      else high = middle - 1;
    }
    return Math.min(this.#firstLines[index]! + low, this.lineCount - 1);
  }

  /** Returns the offset of the first byte of a line; the document's length for a line past the last one. */
  start(line: number): number {
    if (line >= this.lineCount) return this.length;
    let low = 0;
    let high = this.chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#firstLines[middle]! <= line) low = middle;
      else high = middle - 1;
    }
    return this.offsets[low]! + this.chunks[low]!.lines[line - this.#firstLines[low]!]!;
  }

  /** Returns the offset directly after the last byte of a line's text, without its line end. */
  end(line: number): number {
    return this.textEnd(this.start(line), this.start(line + 1));
  }

  /** Returns the offset directly after the text of the lines `from..next`, without the line end of the last one. */
  textEnd(from: number, next: number): number {
    if (next === from || this.byte(next - 1) !== LF) return next;
    const feed = next - 1;
    return this.crlf && feed > from && this.byte(feed - 1) === CR ? feed - 1 : feed;
  }

  /** Returns the byte at an offset of the lines; `undefined` outside. */
  byte(offset: number): number | undefined {
    const index = this.chunkAt(offset);
    return this.chunks[index]!.bytes[offset - this.offsets[index]!];
  }

  /** Returns the existing bytes of a range: a view if a single chunk contains them, else a copy. */
  slice(from: number, until: number): Uint8Array {
    if (this.#bytes !== null) return this.#bytes.subarray(from, until);
    const to = Math.min(until, this.length);
    if (from >= to) return NOTHING;
    const index = this.chunkAt(from);
    const base = this.offsets[index]!;
    if (from >= base && to <= this.offsets[index + 1]!) {
      return this.chunks[index]!.bytes.subarray(from - base, to - base);
    }
    return concat(this.parts(from, to));
  }

  /** Returns the bytes of a range in their stored pieces, without copying. */
  parts(from: number, to: number): Uint8Array[] {
    return this.#pieces(from, to, []);
  }

  #pieces(from: number, to: number, parts: Uint8Array[]): Uint8Array[] {
    if (from < this.origin) parts.push(BOM.subarray(from, Math.min(to, this.origin)));
    let at = Math.max(from, this.origin);
    for (let index = this.chunkAt(at); at < to; index++) {
      const base = this.offsets[index]!;
      const end = Math.min(to, this.offsets[index + 1]!);
      parts.push(this.chunks[index]!.bytes.subarray(at - base, end - base));
      at = end;
    }
    return parts;
  }

  /** Returns the decoded text of a byte range, with its line ends. */
  decode(from: number, to: number): string {
    return decodeBytes(this.slice(from, to));
  }

  /** Returns the decoded text of a byte range with lines joined by LF, as the format joins them. */
  text(from: number, to: number): string {
    const text = this.decode(from, to);
    return this.crlf ? text.replaceAll("\r\n", "\n") : text;
  }
}

/** Returns the decoded text of a span of some bytes. */
export function spanText(bytes: Uint8Array, span: Span): string {
  return decodeBytes(bytes.subarray(span.from, span.to));
}

/**
 * Decodes short ASCII texts, such as ids and names, without the decoder, because a call of the decoder takes longer.
 */
function decodeBytes(bytes: Uint8Array): string {
  if (bytes.length > 24) return decoder.decode(bytes);
  let text = "";
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte >= 0x80) return decoder.decode(bytes);
    text += String.fromCharCode(byte);
  }
  return text;
}

const BOM = Uint8Array.of(0xef, 0xbb, 0xbf);

function hasBom(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

function endsWithFeed(parts: readonly Uint8Array[]): boolean {
  const last = parts.at(-1);
  return last === undefined || last[last.length - 1] === LF;
}

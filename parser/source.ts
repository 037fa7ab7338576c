// The bytes of a document with their lines and outer shape: what tokenizers and typed view read from.

import { frontmatterOpen, type Span } from "./lines.ts";
import { firstAtLeast, indexAtOrBefore, rescan, type Scan, scan } from "./scan.ts";
import { type Split, split } from "./split.ts";

const CR = 0x0d;
const LF = 0x0a;
// A byte order mark inside the text is a character like any other, so the decoder must not drop it.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** An immutable document at byte level. Line numbers are 0-based here; the typed view counts from 1. */
export class Source {
  readonly bytes: Uint8Array;
  readonly scan: Scan;
  readonly split: Split;
  readonly lineCount: number;
  /** Every line of the document ends with CR LF. A last line without any line end does not count. */
  readonly crlf: boolean;

  private constructor(bytes: Uint8Array, lines: Scan) {
    this.bytes = bytes;
    this.scan = lines;
    this.lineCount = lines.starts.length;
    this.crlf = lines.feeds > 0 && lines.feeds === lines.crFeeds;
    const opener = frontmatterOpen(bytes, this.start(0), this.end(0));
    this.split = split(lines, opener !== null);
  }

  static of(bytes: Uint8Array): Source {
    return new Source(bytes, scan(bytes));
  }

  /** The source after the bytes `from..to` were replaced, giving `bytes`. */
  edited(bytes: Uint8Array, from: number, to: number): Source {
    return new Source(bytes, rescan(this.scan, this.bytes, bytes, from, to));
  }

  /** The line that holds an offset; an offset past the end belongs to the last line. */
  lineOf(offset: number): number {
    return indexAtOrBefore(this.scan.starts, offset);
  }

  /** First byte of a line; the length past the last line. */
  start(line: number): number {
    return line < this.lineCount ? this.scan.starts[line]! : this.bytes.length;
  }

  /** Just past the last byte of a line's text, its line end excluded. */
  end(line: number): number {
    const next = this.start(line + 1);
    const from = this.start(line);
    if (next === from || this.bytes[next - 1] !== LF) return next;
    const feed = next - 1;
    return this.crlf && feed > from && this.bytes[feed - 1] === CR ? feed - 1 : feed;
  }

  isEmpty(line: number): boolean {
    return this.start(line) === this.end(line);
  }

  /** Index into the marks of the first one on `line` or later. */
  markFrom(line: number): number {
    return firstAtLeast(this.scan.marks, line);
  }

  /** The code of a line's mark, 0 when the line is no mark. */
  codeOf(line: number): number {
    const index = this.markFrom(line);
    return this.scan.marks[index] === line ? this.scan.codes[index]! : 0;
  }

  /** Position in the list of messages of the one that holds a line; -1 before the first. */
  turnOf(line: number): number {
    return firstAtLeast(this.split.turns, line + 1) - 1;
  }

  /** The line after the last one of a message. */
  turnEnd(turn: number): number {
    return this.split.turns[turn + 1] ?? this.lineCount;
  }

  isMarker(line: number): boolean {
    return this.split.turns[firstAtLeast(this.split.turns, line)] === line;
  }

  /**
   * What the splitting of messages carries over the beginning of a line: how many backticks the open fence of rule
   * (a) has, 0 for none, -1 before the first message, -2 inside frontmatter. From two equal values and equal bytes
   * on, two documents are split alike.
   */
  stateBefore(line: number): number {
    const { frontmatter, turns, fences } = this.split;
    if (frontmatter !== null && line <= frontmatter.close) return -2;
    if (turns.length === 0 || line <= turns[0]!) return -1;
    let low = 0;
    let high = fences.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (fences[middle]!.open < line) low = middle + 1;
      else high = middle;
    }
    const fence = fences[low - 1];
    return fence !== undefined && line <= fence.close ? fence.ticks : 0;
  }

  /** Decoded text of a byte range, as it stands. */
  decode(from: number, to: number): string {
    return decoder.decode(this.bytes.subarray(from, to));
  }

  /** Decoded text of a byte range with lines joined by LF, as the format joins them (chat-format 1). */
  text(from: number, to: number): string {
    const text = this.decode(from, to);
    return this.crlf ? text.replaceAll("\r\n", "\n") : text;
  }

  spanText(span: Span): string {
    return this.decode(span.from, span.to);
  }
}

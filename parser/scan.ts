// Stage one of parsing: where lines begin, and which lines can matter at all.
//
// Most lines of a document are prose or code. Only lines whose first byte is one of four can begin or end
// structure; everything later works on those alone, and so never looks at the bytes of plain lines.

import { bareTicks, fenceOpen, markerRole } from "./lines.ts";

const LF = 0x0a;
const CR = 0x0d;

/** What is known of all lines of a document. Line numbers are 0-based here. */
export interface Scan {
  /** Offset of the first byte of each line; a byte order mark stands before the first. */
  readonly starts: Uint32Array;
  /** The lines that begin with a backtick, `@`, `*` or `<`, ascending. */
  readonly marks: Uint32Array;
  /** For each mark what it means to fences and markers: see `MARKER`, `fenceTicks`, `opensFence`, `isBare`. */
  readonly codes: Int32Array;
  readonly bom: boolean;
  /** Number of line feeds, and of those with a CR before them. */
  readonly feeds: number;
  readonly crFeeds: number;
}

/** Code of a mark that is a role marker line. */
export const MARKER = -1;
const OPENS = 1;
const BARE = 2;

/** Number of backticks that a mark begins with, when the line is a fence of rule (a) or a bare run; else 0. */
export function fenceTicks(code: number): number {
  return code > 0 ? code >> 2 : 0;
}

/** The mark opens a fence under rule (a). */
export function opensFence(code: number): boolean {
  return code > 0 && (code & OPENS) !== 0;
}

/** The mark is only backticks and whitespace, so it can close a fence. */
export function isBare(code: number): boolean {
  return code > 0 && (code & BARE) !== 0;
}

/** Scans a whole document. */
export function scan(bytes: Uint8Array): Scan {
  const bom = hasBom(bytes);
  const found = new Collector();
  collect(bytes, bom ? 3 : 0, bytes.length, found);
  return found.finish(bom);
}

/**
 * Scans again after the bytes `from..to` of the old document became `from..toNew` of the new one.
 * Gives what `scan` would.
 */
export function rescan(old: Scan, oldBytes: Uint8Array, bytes: Uint8Array, from: number, to: number): Scan {
  const delta = bytes.length - oldBytes.length;
  if (from < 3 || bytes.length === 0 || oldBytes.length === 0) return scan(bytes);
  const first = indexAtOrBefore(old.starts, from);
  const regionFrom = old.starts[first] ?? 0;
  const next = indexAtOrBefore(old.starts, to) + 1;
  const regionTo = next < old.starts.length ? old.starts[next]! : oldBytes.length;
  const marksFrom = firstAtLeast(old.marks, first);
  const marksTo = firstAtLeast(old.marks, next);

  const found = new Collector();
  found.take(old, first, marksFrom);
  collect(bytes, regionFrom, regionTo + delta, found, first > 0);
  const gone = countFeeds(oldBytes, regionFrom, regionTo);
  found.feeds += old.feeds - gone.feeds;
  found.crFeeds += old.crFeeds - gone.crFeeds;
  found.append(old, next, marksTo, delta);
  return found.finish(old.bom);
}

function hasBom(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** Records the lines that begin in `from..to`, which is a line start and a line start or the end. */
function collect(bytes: Uint8Array, from: number, to: number, found: Collector, later = false): void {
  let start = from;
  // The first line of a document exists even when it is empty; later ones only when something is there.
  if (start === to && !later) found.line(start);
  while (start < to) {
    const feed = bytes.indexOf(LF, start);
    const end = feed < 0 || feed >= to ? to : feed;
    found.line(start);
    const first = bytes[start];
    if (first === 0x60 || first === 0x40) found.mark(code(bytes, start, end));
    else if (first === 0x2a || first === 0x3c) found.mark(0);
    if (end < to) {
      found.feeds++;
      if (end > start && bytes[end - 1] === CR) found.crFeeds++;
    }
    start = end + 1;
  }
}

function code(bytes: Uint8Array, from: number, to: number): number {
  if (bytes[from] === 0x40) return markerRole(bytes, from, to) === null ? 0 : MARKER;
  const opening = fenceOpen(bytes, from, to);
  const bare = bareTicks(bytes, from, to);
  return (Math.max(opening, bare) << 2) | (opening > 0 ? OPENS : 0) | (bare > 0 ? BARE : 0);
}

function countFeeds(bytes: Uint8Array, from: number, to: number): { feeds: number; crFeeds: number } {
  let feeds = 0;
  let crFeeds = 0;
  for (let at = bytes.indexOf(LF, from); at >= 0 && at < to; at = bytes.indexOf(LF, at + 1)) {
    feeds++;
    if (at > from && bytes[at - 1] === CR) crFeeds++;
  }
  return { feeds, crFeeds };
}

/** Index of the last entry that is not greater than `value`; 0 when all are greater. */
export function indexAtOrBefore(sorted: Uint32Array, value: number): number {
  return Math.max(0, firstAtLeast(sorted, value + 1) - 1);
}

/** Index of the first entry that is at least `value`; the length when there is none. */
export function firstAtLeast(sorted: Uint32Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Growing arrays of lines and marks. */
class Collector {
  feeds = 0;
  crFeeds = 0;
  #starts = new Uint32Array(1024);
  #marks = new Uint32Array(256);
  #codes = new Int32Array(256);
  #lineCount = 0;
  #markCount = 0;

  line(start: number): void {
    if (this.#lineCount === this.#starts.length) this.#growLines(this.#lineCount + 1);
    this.#starts[this.#lineCount++] = start;
  }

  /** Marks the line recorded last. */
  mark(code: number): void {
    if (this.#markCount === this.#marks.length) this.#growMarks(this.#markCount + 1);
    this.#marks[this.#markCount] = this.#lineCount - 1;
    this.#codes[this.#markCount++] = code;
  }

  /** Begins with the first lines and marks of another scan. */
  take(old: Scan, lines: number, marks: number): void {
    this.#growLines(lines);
    this.#growMarks(marks);
    this.#starts.set(old.starts.subarray(0, lines));
    this.#marks.set(old.marks.subarray(0, marks));
    this.#codes.set(old.codes.subarray(0, marks));
    this.#lineCount = lines;
    this.#markCount = marks;
  }

  /** Ends with the last lines and marks of another scan, moved by `delta` bytes. */
  append(old: Scan, line: number, mark: number, delta: number): void {
    const lineDelta = this.#lineCount - line;
    this.#growLines(this.#lineCount + old.starts.length - line);
    this.#growMarks(this.#markCount + old.marks.length - mark);
    for (let index = line; index < old.starts.length; index++) {
      this.#starts[this.#lineCount++] = old.starts[index]! + delta;
    }
    for (let index = mark; index < old.marks.length; index++) {
      this.#marks[this.#markCount] = old.marks[index]! + lineDelta;
      this.#codes[this.#markCount++] = old.codes[index]!;
    }
  }

  finish(bom: boolean): Scan {
    return {
      starts: this.#starts.subarray(0, this.#lineCount),
      marks: this.#marks.subarray(0, this.#markCount),
      codes: this.#codes.subarray(0, this.#markCount),
      bom,
      feeds: this.feeds,
      crFeeds: this.crFeeds,
    };
  }

  #growLines(least: number): void {
    if (least <= this.#starts.length) return;
    const grown = new Uint32Array(Math.max(least, this.#starts.length * 2));
    grown.set(this.#starts);
    this.#starts = grown;
  }

  #growMarks(least: number): void {
    if (least <= this.#marks.length) return;
    const size = Math.max(least, this.#marks.length * 2);
    const marks = new Uint32Array(size);
    marks.set(this.#marks);
    this.#marks = marks;
    const codes = new Int32Array(size);
    codes.set(this.#codes);
    this.#codes = codes;
  }
}

// A block that grows at one place of a document, such as a streamed reply, while other programs save the document.

import { concat } from "../../base/bytes.ts";
import { LongText } from "../../base/text/long_text.ts";
import { abortMarkerBelow } from "../../parser/edits/abort_marker.ts";
import { type ByteEdit, type Edit, growth } from "../../parser/edits/edit.ts";
import { parse, update } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";
import type { Piece } from "../types.ts";
import { addLineEnds, difference, type Hunk, joinLines, lineKey, splitLines } from "./lines.ts";
import { sameAuthority } from "./merge.ts";
import { checkText } from "./read.ts";

/** The range of a growing block in a text, in bytes. */
export interface BlockPlace {
  readonly start: number;
  readonly end: number;
}

/** A text with a growing block in it. */
export interface GrowingText {
  readonly text: Uint8Array;
  readonly block: BlockPlace;
}

/** The place for text that is inserted exactly at the start of a block: above the block, or in the block. */
export type AtStart = "above" | "into";

/**
 * Returns the range of a block after edits. Text inserted exactly at the block's end is below the block. A deletion
 * across a border moves the border to the cut.
 */
export function shiftBlock({ start, end }: BlockPlace, edits: readonly Edit[], atStart: AtStart): BlockPlace {
  let [first, last] = [start, end];
  for (const edit of edits) {
    const { from, to } = edit;
    const inserts = from === to;
    if (to < start || (to === start && (!inserts || atStart === "above"))) first += growth(edit);
    else if (from < start) first += from - start;
    if (to < end || (to === end && !inserts)) last += growth(edit);
    else if (from < end) last += from - end;
  }
  return { start: Math.min(first, last), end: last };
}

/**
 * Returns the document with pieces appended to a block that ends at byte `end`. They replace `replace` bytes before
 * that offset.
 */
export function grow(chat: Chat, end: number, replace: number, pieces: readonly Piece[]): Chat {
  let grown = chat;
  let from = end - replace;
  let to = end;
  let edits: ByteEdit[] = [];
  const apply = () => {
    if (edits.length === 0) return;
    const before = grown.byteLength;
    grown = update(grown, edits);
    from = to = to + grown.byteLength - before;
    edits = [];
  };
  for (const piece of pieces) {
    if (typeof piece === "string") edits.push({ from: edits.length === 0 ? from : to, to, insert: piece });
    else {
      apply();
      // Text that was taken is inserted before more is taken, so that a long piece is not in memory twice.
      for (const insert of linesTogether(bytesOf(piece))) {
        edits.push({ from, to, insert });
        apply();
      }
    }
  }
  apply();
  return grown;
}

/** Number of bytes that are read from the end to see whether the last line is blank. */
const LAST_LINE = 4096;

/** Message of the abort marker in a reply that the end of the program cut off. */
const CUT = "The program ended before the reply was complete.";

/** Returns the marker that goes below an incomplete block, to leave behind if the program ends now. */
export function cutMarker(chat: Chat, { start, end }: BlockPlace, eol = chat.eol): string {
  const tail = new TextDecoder().decode(chat.slice(Math.max(start, end - LAST_LINE), end));
  return abortMarkerBelow(tail, CUT).replaceAll("\n", eol);
}

function* bytesOf(piece: Iterable<string>): Generator<Uint8Array> {
  if (piece instanceof LongText) yield* piece.taken();
  else for (const part of piece) yield new TextEncoder().encode(part);
}

/** Number of bytes of a long line that are inserted together, because the line is copied each time it grows. */
const TOGETHER = 1 << 22;

const LF = 0x0a;

/** Returns the parts of a piece, joined until a line ends or `TOGETHER` is reached. */
function* linesTogether(parts: Iterable<Uint8Array>): Generator<Uint8Array> {
  let open: Uint8Array[] = [];
  let length = 0;
  for (const part of parts) {
    open.push(part);
    length += part.length;
    if (length < TOGETHER && part.at(-1) !== LF) continue;
    yield concat(open);
    open = [];
    length = 0;
  }
  if (length > 0) yield concat(open);
}

export interface Grown extends GrowingText {
  /** False if statuses or settings changed, so that the run must not continue automatically. */
  readonly sameAuthority: boolean;
}

/**
 * Merges another writer's text with a block that grew. `ours` is the document with the whole block so far; `unfinished`
 * says whether its last line will continue. Their text may contain the block as it was at any earlier moment, or not at
 * all; a part that it lacks did not exist when they read the file. All their lines stay, and the block goes where it
 * began. Text that they wrote below the block stays below it. If they changed the unfinished line, their version of
 * that line goes below the block too. Returns null if their version is not text, or if it is too different.
 */
export function mergeGrowing(ours: GrowingText, theirs: Uint8Array, unfinished: boolean): Grown | null {
  if (checkText(theirs, "") !== null) return null;
  const known = asLines(ours);
  const their = splitLines(theirs);
  const base = nearestBase(known, their, unfinished);
  if (base === null) return null;
  const { hunks, seen, part } = base;
  const end = known.from + seen;
  // If the other writer changed the unfinished line, the closest text normally does not contain that line. If the
  // closest text contains the line after all, the change has no definite place.
  if (part && hunks.some(({ from, to }) => from <= end && end < to)) return null;
  const head = part ? theirIndex(hunks, end) : cutAt(hunks, end);
  const rest = known.lines.slice(end, known.to);
  const eol = parse(ours.text).eol;
  const lines = addLineEnds([...their.slice(0, head), ...rest, ...their.slice(part ? head + 1 : head)], eol);
  const from = Math.min(head, cutAt(hunks, known.from));
  return {
    text: joinLines(lines),
    block: placeOf(lines, from, head + rest.length),
    sameAuthority: sameAuthority(parse(joinLines(base.lines)), parse(theirs), []),
  };
}

/** Returns the text that theirs most likely started from: `known` with the whole block, a part of it, or without it. */
export function startedFrom(known: GrowingText, theirs: Uint8Array): Uint8Array {
  const base = nearestBase(asLines(known), splitLines(theirs), false);
  return base === null ? known.text : joinLines(base.lines);
}

function placeOf(lines: readonly string[], from: number, to: number): BlockPlace {
  const bytes = (count: number) => joinLines(lines.slice(0, count)).length;
  return { start: bytes(from), end: bytes(to) };
}

/** A text as lines, with the block in lines `from` (inclusive) to `to` (exclusive). */
interface BlockLines {
  readonly lines: readonly string[];
  readonly from: number;
  readonly to: number;
}

function asLines({ text, block }: GrowingText): BlockLines {
  return {
    lines: splitLines(text),
    from: splitLines(text.subarray(0, block.start)).length,
    to: splitLines(text.subarray(0, block.end)).length,
  };
}

/** How much of the block another writer had read: `seen` whole lines, and the beginning of the next line. */
interface Seen {
  readonly seen: number;
  readonly beginning: string | null;
}

/**
 * A text that the other writer may have started from: the document with the first `seen` lines of the block. If `part`
 * is true, the text also contains the beginning of the next line.
 */
interface Base {
  readonly lines: readonly string[];
  readonly seen: number;
  readonly part: boolean;
  readonly hunks: readonly Hunk[];
}

/** Among texts that contain different amounts of the block, returns the one that is closest to their text. */
function nearestBase(known: BlockLines, theirs: readonly string[], unfinished: boolean): Base | null {
  let best: Base | null = null;
  let least = Infinity;
  const size = known.to - known.from;
  const last = unfinished && size > 0 ? { seen: size - 1, beginning: known.lines[known.to - 1]! } : null;
  const all: Seen = last ?? { seen: size, beginning: null };
  const candidates = [...beginnings(known, theirs), ...seenParts(known, theirs), all, {
    seen: 0,
    beginning: null,
  }];
  for (const { seen, beginning } of candidates) {
    const lines = [
      ...known.lines.slice(0, known.from + seen),
      ...beginning === null ? [] : [beginning],
      ...known.lines.slice(known.to),
    ];
    const hunks = difference(lines, theirs);
    if (hunks === null) continue;
    // A writer who kept part of the block kept its first line, which identifies the block.
    const first = known.lines.findIndex((line, at) => at >= known.from && lineKey(line) !== "");
    if (seen > 0 && hunks.some(({ from, to }) => from <= first && first < to)) continue;
    const far = changedText(lines, hunks);
    if (far >= least) continue;
    least = far;
    best = { lines, seen, part: beginning !== null, hunks };
  }
  return best;
}

/** Returns the number of different lines, ignoring blank lines, which are the same everywhere. */
function changedText(lines: readonly string[], hunks: readonly Hunk[]): number {
  const texts = (some: readonly string[]) => some.filter((line) => lineKey(line) !== "").length;
  return hunks.reduce(
    (sum, { from, to, lines: added }) => sum + texts(lines.slice(from, to)) + texts(added),
    0,
  );
}

/** Number of the other text's last lines that are compared with beginnings of lines of the block. */
const MAX_COMPARED = 300;
const MAX_BEGINNINGS = 6;

/**
 * For each line of their text that is only the beginning of a line of the block, returns what the other writer had read
 * when that line had just begun.
 */
function beginnings(known: BlockLines, theirs: readonly string[]): Seen[] {
  const found: Seen[] = [];
  for (const line of theirs.slice(-MAX_COMPARED).reverse()) {
    for (let at = known.to - 1; at >= known.from; at--) {
      if (!isBeginningOf(line, known.lines[at]!)) continue;
      found.push({ seen: at - known.from, beginning: line });
      if (found.length >= MAX_BEGINNINGS) return found;
    }
  }
  return found;
}

/**
 * Returns how much of the block the other writer had probably read. One guess ends at the last line of the block that
 * their text still has; the other ends where their text stops matching the block.
 */
function seenParts(known: BlockLines, theirs: readonly string[]): Seen[] {
  const found: Seen[] = [];
  const add = (seen: number, next: string | undefined) => {
    const line = known.lines[known.from + seen];
    if (known.from + seen >= known.to || line === undefined) return;
    if (next !== undefined && isBeginningOf(next, line)) found.push({ seen, beginning: next });
    found.push({ seen, beginning: null });
  };
  const hunks = difference(known.lines, theirs);
  if (hunks !== null) {
    const last = lastSurvivor(known, hunks);
    add(last + 1 - known.from, theirs[theirIndex(hunks, last) + 1]);
  }
  for (const { seen, next } of longestRun(known, theirs)) add(seen, next);
  return found;
}

/** Returns the last non-blank line of the block that their text still has; if none, the line before the block. */
function lastSurvivor(known: BlockLines, hunks: readonly Hunk[]): number {
  for (let at = known.to - 1; at >= known.from; at--) {
    if (lineKey(known.lines[at]!) === "") continue;
    if (!hunks.some(({ from, to }) => from <= at && at < to)) return at;
  }
  return known.from - 1;
}

/**
 * Returns how many lines at the beginning of the block occur in their text without a gap, and the line that follows
 * them there.
 */
function longestRun(
  known: BlockLines,
  theirs: readonly string[],
): { seen: number; next: string | undefined }[] {
  const block = known.lines.slice(known.from, known.to).map(lineKey);
  const keys = theirs.map(lineKey);
  const first = block.findIndex((key) => key !== "");
  if (first < 0) return [];
  const runs: { seen: number; next: string | undefined }[] = [];
  for (let at = keys.indexOf(block[first]!); at >= 0; at = keys.indexOf(block[first]!, at + 1)) {
    let run = 0;
    while (first + run < block.length && keys[at + run] === block[first + run]) run++;
    runs.push({ seen: first + run, next: theirs[at + run] });
  }
  return runs.sort((a, b) => b.seen - a.seen).slice(0, 1);
}

/** True if a line is a proper prefix of another. */
function isBeginningOf(line: string, whole: string): boolean {
  const key = lineKey(line);
  return key !== "" && key !== lineKey(whole) && whole.startsWith(key);
}

/** Returns the index in their text of a line that both texts have. */
function theirIndex(hunks: readonly Hunk[], at: number): number {
  const before = hunks.filter(({ to }) => to <= at);
  return before.reduce((index, { from, to, lines }) => index + lines.length - (to - from), at);
}

/**
 * Returns the line at which to cut their text, so that everything before line `at` of the base stays before the cut. If
 * they replaced lines on both sides of that border, at most as many of their new lines stay before the cut as they
 * replaced there. Lines that they inserted exactly at the border come after the cut.
 */
function cutAt(hunks: readonly Hunk[], at: number): number {
  let cut = at;
  for (const { from, to, at: there, lines } of hunks) {
    if (from >= at) break;
    if (to >= at) return there + Math.min(lines.length, at - from);
    cut += lines.length - (to - from);
  }
  return cut;
}

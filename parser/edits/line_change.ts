// Finds what changed between two versions of a text, as whole lines, so that an editor can apply the change.

import { commonPrefix } from "../../base/bytes.ts";

/** A change of a text: some lines, and the lines that they replaced. */
export interface LineChange {
  /** The first affected line of the old text, 1-based; one past its last line if lines are added at the end. */
  readonly line: number;
  /** Number of replaced lines of the old text. */
  readonly removed: number;
  /** The new lines, without their line feeds. */
  readonly lines: readonly string[];
}

const LF = 10;

/**
 * Returns the smallest run of whole lines by which two texts differ. A line ends with a line feed or at the end of the
 * text; a carriage return belongs to its line. Compares both texts without copying them.
 * @param before the old text
 * @param after the new text
 * @returns the change; null if the lines are the same, whether or not the last of them ends with a line feed
 */
export function lineChange(before: Uint8Array, after: Uint8Array): LineChange | null {
  const same = commonPrefix(before, after);
  if (same === before.length && same === after.length) return null;
  const start = lineStart(before, same);
  const kept = commonSuffix(before.subarray(start), after.subarray(start));
  const old = linesOf(before.subarray(start, before.length - kept));
  const now = linesOf(after.subarray(start, after.length - kept));
  // A last line that only gained or lost its line feed counts as the same line.
  let alike = 0;
  while (alike < old.length && alike < now.length && old[alike] === now[alike]) alike++;
  if (alike === old.length && alike === now.length) return null;
  const line = countLines(before.subarray(0, start)) + alike + 1;
  return { line, removed: old.length - alike, lines: now.slice(alike) };
}

/** Returns the offset of the first byte of the line that contains byte `at`. */
function lineStart(text: Uint8Array, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf(LF, at - 1) + 1;
}

/** Returns the length in bytes of the equal whole lines at the end of both texts. */
function commonSuffix(a: Uint8Array, b: Uint8Array): number {
  const most = Math.min(a.length, b.length);
  let same = 0;
  while (same < most && a[a.length - 1 - same] === b[b.length - 1 - same]) same++;
  const begins = (text: Uint8Array) => same === text.length || text[text.length - 1 - same] === LF;
  while (same > 0 && !(begins(a) && begins(b))) same--;
  return same;
}

function linesOf(text: Uint8Array): string[] {
  if (text.length === 0) return [];
  const lines = new TextDecoder("utf-8", { ignoreBOM: true }).decode(text).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function countLines(text: Uint8Array): number {
  let count = 0;
  for (let at = text.indexOf(LF); at >= 0; at = text.indexOf(LF, at + 1)) count++;
  return count;
}

// Three-way merge by lines of our text with another writer's change of the file; may end in a conflict.

import { parse } from "../../parser/mod.ts";
import type { Chat, Result } from "../../parser/types.ts";
import {
  addLineEnds,
  countChangedLines,
  difference,
  type Hunk,
  joinLines,
  pickLine,
  splitLines,
} from "./lines.ts";
import { checkText } from "./read.ts";

/**
 * Merges a foreign change with ours. `bases` are texts of this run that the writer may have started from, newest
 * first: an editor that missed a change writes back an older one. The base that is nearest to the other writer's text
 * is used. Returns null when merging would be unsafe, as for `mergeDocuments`.
 */
export function mergeFrom(
  bases: readonly Uint8Array[],
  ours: Uint8Array,
  theirs: Uint8Array,
): Uint8Array | null {
  const lines = splitLines(theirs);
  const far = (base: Uint8Array): number => {
    const hunks = difference(splitLines(base), lines);
    return hunks === null ? Infinity : countChangedLines(hunks);
  };
  const nearest = bases.map((base) => ({ base, far: far(base) })).sort((a, b) => a.far - b.far);
  for (const { base } of nearest) {
    const merged = mergeDocuments(base, ours, theirs);
    if (merged !== null) return merged;
  }
  return null;
}

/**
 * Merges another writer's change with ours, both relative to `base`. Returns null if that would be unsafe: their change
 * touches our lines or lines next to them, any status, the frontmatter, or the call that a block of ours answers. A run
 * never follows statuses or settings that another writer changes during the run.
 */
export function mergeDocuments(base: Uint8Array, ours: Uint8Array, theirs: Uint8Array): Uint8Array | null {
  if (checkText(theirs, "") !== null) return null;
  const before = parse(base);
  const touched = touchedCalls(before, parse(ours));
  if (!sameAuthority(before, parse(theirs), touched)) return null;
  const lines = splitLines(base);
  const theirLines = splitLines(theirs);
  const ourLines = splitLines(ours);
  const their = difference(lines, theirLines);
  const our = difference(lines, ourLines);
  if (their === null || our === null) return null;
  // A minimal diff may skip lines of one of our blocks, so the whole block counts as touched.
  const blocks = touched.flatMap((id) => before.result(id)?.place ?? [])
    .map((place) => ({ from: place.start - 1, to: place.end }));
  if ([...our, ...blocks].some((mine) => their.some((other) => touch(mine, other)))) return null;
  return joinLines(addLineEnds(combined(lines, ourLines, our, theirLines, their), before.eol));
}

/** True if the other writer's text leaves everything that decides about tools unchanged. */
export function sameAuthority(base: Chat, theirs: Chat, touched: readonly string[]): boolean {
  if (base.frontmatter?.code !== theirs.frontmatter?.code) return false;
  if (base.frontmatter?.language !== theirs.frontmatter?.language) return false;
  const state = (chat: Chat) => JSON.stringify(chat.results.map(({ id, status }) => [id, status]));
  if (state(base) !== state(theirs)) return false;
  return touched.every((id) =>
    base.call(id)?.inputText === theirs.call(id)?.inputText && base.call(id)?.name === theirs.call(id)?.name
  );
}

/** Returns the ids of calls whose result we add or change. */
function touchedCalls(base: Chat, ours: Chat): string[] {
  const same = (a: Result | undefined, b: Result) => a?.status === b.status && a?.content === b.content;
  return ours.results.filter((result) => !same(base.result(result.id), result)).map(({ id }) => id);
}

/** True if no unchanged line lies between two ranges. */
function touch(a: { from: number; to: number }, b: { from: number; to: number }): boolean {
  return a.from <= b.to && b.from <= a.to;
}

/** Applies both changes. None of their ranges may touch. */
function combined(
  base: readonly string[],
  ours: readonly string[],
  our: readonly Hunk[],
  theirs: readonly string[],
  their: readonly Hunk[],
): string[] {
  const result: string[] = [];
  const hunks = [
    ...our.map((hunk) => ({ hunk, mine: true })),
    ...their.map((hunk) => ({ hunk, mine: false })),
  ].sort((a, b) => a.hunk.from - b.hunk.from);
  // Offset in lines of each side relative to the base.
  let ourShift = 0;
  let theirShift = 0;
  let at = 0;
  const copyTo = (end: number) => {
    for (; at < end; at++) result.push(pickLine(base[at]!, ours[at + ourShift]!, theirs[at + theirShift]!));
  };
  for (const { hunk, mine } of hunks) {
    copyTo(hunk.from);
    for (const line of hunk.lines) result.push(line);
    at = hunk.to;
    const shift = hunk.lines.length - (hunk.to - hunk.from);
    if (mine) ourShift += shift;
    else theirShift += shift;
  }
  copyTo(base.length);
  return result;
}

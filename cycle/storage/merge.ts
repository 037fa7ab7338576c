// Three-way merge by lines of our text with another writer's change of the file; may end in a conflict.

import { sameBytes } from "../../base/bytes.ts";
import { insertBlocks } from "../../parser/edits/placement.ts";
import { setStatus } from "../../parser/edits/result_block.ts";
import { parse, update } from "../../parser/mod.ts";
import { isLifecycle } from "../../parser/text/status_words.ts";
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
 * Merges a foreign change with ours. `bases` are texts of this run that the writer may have started from, newest first:
 * an editor that missed a change writes back an older text. The base that is nearest to the other writer's text is
 * used. Returns null when merging would be unsafe, as for `mergeDocuments`.
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
 * Merges another writer's change with ours, both relative to `base`. Returns null if that would lose something: their
 * change touches our lines or lines next to them, or the call that a block of ours answers. Our results of calls are
 * put into their text, whatever else they changed, unless they wrote a text into the block of the call. If they changed
 * other calls, the caller decides about those again.
 */
export function mergeDocuments(base: Uint8Array, ours: Uint8Array, theirs: Uint8Array): Uint8Array | null {
  if (checkText(theirs, "") !== null) return null;
  const [before, now, other] = [parse(base), parse(ours), parse(theirs)];
  const touched = touchedCalls(before, now);
  if (!sameCalls(before, other, touched)) return null;
  const merged = mergeLines(before, { base, ours, theirs }, touched);
  // Their text around a block of ours, such as an open fence, may have changed what the block means.
  if (merged !== null && haveSameResults(parse(merged), now, touched)) return merged;
  return graftResults(before, now, other)?.bytes ?? null;
}

interface Versions {
  readonly base: Uint8Array;
  readonly ours: Uint8Array;
  readonly theirs: Uint8Array;
}

/** Merges by lines; null if both sides changed the same lines, or if they changed a line in one of our blocks. */
function mergeLines(
  before: Chat,
  { base, ours, theirs }: Versions,
  touched: readonly string[],
): Uint8Array | null {
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

/**
 * Puts our blocks into their text. Null if ours changed more than blocks, if they changed a call that a block answers, or
 * if they wrote a text into such a block.
 *
 * @param before the text that both started from
 */
export function graftResults(before: Chat, ours: Chat, theirs: Chat): Chat | null {
  const touched = touchedCalls(before, ours);
  if (touched.length === 0 || !sameCalls(before, theirs, touched)) return null;
  let replayed = before;
  let grafted = theirs;
  for (const id of touched) {
    const content = theirs.result(id)?.content ?? "";
    if (content !== "" && content !== before.result(id)?.content) return null;
    // A block without a call is not ours.
    if (theirs.call(id) === undefined) return null;
    replayed = withBlock(replayed, ours, id);
    grafted = withBlock(grafted, ours, id);
  }
  return sameBytes(replayed.bytes, ours.bytes) ? grafted : null;
}

/** Returns `chat` with the result block of one call taken from another document. */
function withBlock(chat: Chat, from: Chat, id: string): Chat {
  const { place } = from.result(id)!;
  const lines = from.text(place.from, place.to).split(/\r?\n/);
  const there = chat.result(id);
  if (there === undefined) return update(chat, insertBlocks(chat, [{ call: chat.call(id)!, lines }]));
  const [start, end] = [chat.lineStart(there.place.start), chat.lineEnd(there.place.end)];
  return update(chat, [{ from: start, to: end, insert: lines.join(chat.eol) }]);
}

/**
 * Returns the merged document without approvals that their text no longer contains. If a person undoes an approval in
 * an editor, the editor writes back an older text, which looks as if it only lacked the approval.
 *
 * @param ids calls whose approval came from a text of others
 */
export function withoutWithdrawn(merged: Chat, theirs: Chat, ids: Iterable<string>): Chat {
  let chat = merged;
  for (const id of ids) {
    const result = chat.result(id);
    if (result?.status !== "approved" || result.content !== "") continue;
    const status = theirs.result(id)?.status ?? null;
    if (status === "approved") continue;
    chat = update(chat, setStatus(chat, result, isLifecycle(status) ? status : "pending", "fence"));
  }
  return chat;
}

/** True if their text leaves everything that decides about tools unchanged. */
export function sameAuthority(base: Chat, theirs: Chat, touched: readonly string[]): boolean {
  if (base.frontmatter?.code !== theirs.frontmatter?.code) return false;
  if (base.frontmatter?.language !== theirs.frontmatter?.language) return false;
  const state = (chat: Chat) => JSON.stringify(chat.results.map(({ id, status }) => [id, status]));
  return state(base) === state(theirs) && sameCalls(base, theirs, touched);
}

/** True if these calls exist in their text, with the same tool and input. */
function sameCalls(base: Chat, theirs: Chat, touched: readonly string[]): boolean {
  return touched.every((id) =>
    base.call(id)?.inputText === theirs.call(id)?.inputText && base.call(id)?.name === theirs.call(id)?.name
  );
}

function haveSameResults(merged: Chat, ours: Chat, ids: readonly string[]): boolean {
  return ids.every((id) => {
    const [a, b] = [merged.result(id), ours.result(id)];
    return b === undefined ? a === undefined : isSameResult(a, b);
  });
}

/** Ids of calls whose result we add or change. */
function touchedCalls(base: Chat, ours: Chat): string[] {
  return ours.results.filter((result) => !isSameResult(base.result(result.id), result)).map(({ id }) => id);
}

function isSameResult(a: Result | undefined, b: Result): boolean {
  return a?.status === b.status && a.content === b.content && a.questions === b.questions;
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
  // For each side, the number of lines by which its lines are shifted relative to the base.
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

// Edits between two versions of a text. They are as small as the changed lines permit, and are rebased over the edits
// of others.

import { commonPrefix } from "../../base/bytes.ts";
import { difference, joinLines, splitLines } from "../../cycle/storage/lines.ts";
import { type Edit, growth } from "../../parser/edits/edit.ts";
import type { Chat } from "../../parser/types.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();

/** Returns the edits that turn `before` into `after`; empty if they are the same. */
export function editsBetween(before: Uint8Array, after: Uint8Array): Edit[] {
  const start = wholeCharacters(before, commonPrefix(before, after));
  const end = commonSuffix(before, after, start);
  const old = before.subarray(start, before.length - end);
  const now = after.subarray(start, after.length - end);
  if (old.length === 0 && now.length === 0) return [];
  const lines = splitLines(old);
  const hunks = difference(lines, splitLines(now), (line) => line);
  if (hunks === null) return [{ from: start, to: start + old.length, insert: decoder.decode(now) }];
  const starts = [0];
  for (const line of lines) starts.push(starts.at(-1)! + encoder.encode(line).length);
  return hunks.map(({ from, to, lines: added }) =>
    trimmed(before, {
      from: start + starts[from]!,
      to: start + starts[to]!,
      insert: decoder.decode(joinLines(added)),
    })
  );
}

/**
 * Rebases edits over other edits of the same text; null if both change the same bytes. Text that others insert at the
 * exact place of our edit stays after it.
 */
export function movedPast(edits: readonly Edit[], others: readonly Edit[]): Edit[] | null {
  const moved: Edit[] = [];
  for (const edit of edits) {
    let by = 0;
    for (const other of others) {
      const before = other.to < edit.from ||
        (other.to === edit.from && (other.from < other.to || edit.from < edit.to));
      if (before) by += growth(other);
      else if (other.from < edit.to && other.to > edit.from) return null;
    }
    moved.push({ from: edit.from + by, to: edit.to + by, insert: edit.insert });
  }
  return moved;
}

/** Trims equal characters from both ends of an edit and of the text that it replaces. */
function trimmed(text: Uint8Array, { from, to, insert }: Edit): Edit {
  const old = text.subarray(from, to);
  const now = encoder.encode(insert);
  const head = wholeCharacters(old, commonPrefix(old, now));
  const tail = commonSuffix(old, now, head);
  return { from: from + head, to: to - tail, insert: decoder.decode(now.subarray(head, now.length - tail)) };
}

/** Returns the longest common suffix of two texts that begins with a whole character, after byte `start` of both. */
function commonSuffix(a: Uint8Array, b: Uint8Array, start: number): number {
  const most = Math.min(a.length, b.length) - start;
  let count = 0;
  while (count < most && a[a.length - 1 - count] === b[b.length - 1 - count]) count++;
  while (count > 0 && isInside(a[a.length - count]!)) count--;
  return count;
}

/** Shortens a common prefix so that it does not end inside a character; returns its length. */
function wholeCharacters(text: Uint8Array, prefix: number): number {
  let at = prefix;
  while (at > 0 && at < text.length && isInside(text[at]!)) at--;
  return at;
}

function isInside(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** True if two versions have the same bytes. The comparison joins no more of the bytes than needed. */
export function sameText(a: Chat, b: Chat): boolean {
  if (a === b) return true;
  if (a.byteLength !== b.byteLength) return false;
  const [first, second] = [a.bytes, b.bytes];
  return commonPrefix(first, second) === first.length;
}

// What becomes of our text when somebody else changed the file meanwhile: a three-way merge by lines, or a conflict.

import { commonPrefix } from "../../base/bytes.ts";
import { parse } from "../../parser/mod.ts";
import type { Chat, Result } from "../../parser/types.ts";
import { checkText } from "./read.ts";

/** Base lines `from` to `to` (0-based, half-open) became the lines `lines`. */
interface Hunk {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
}

/**
 * Merges a foreign change with ours, both relative to `base`. Answers null when that would be unsafe (cli 4.3,
 * S11): the foreign change touches lines of ours or next to them, any status, the frontmatter, or the call that a
 * block of ours answers. Nobody else's statuses or settings are ever obeyed in the middle of a run.
 */
export function mergeDocuments(base: Uint8Array, ours: Uint8Array, theirs: Uint8Array): Uint8Array | null {
  if (checkText(theirs, "") !== null) return null;
  const before = parse(base);
  const touched = touchedCalls(before, parse(ours));
  if (!sameAuthority(before, parse(theirs), touched)) return null;
  const lines = splitLines(base);
  const their = difference(lines, splitLines(theirs));
  const our = difference(lines, splitLines(ours));
  if (their === null || our === null) return null;
  // The smallest difference may spare lines of a block of ours; the whole block counts as touched.
  const blocks = touched.flatMap((id) => before.result(id)?.place ?? [])
    .map((place) => ({ from: place.start - 1, to: place.end }));
  if ([...our, ...blocks].some((mine) => their.some((other) => touch(mine, other)))) return null;
  return joinLines(applyHunks(lines, [...our, ...their].sort((a, b) => a.from - b.from)));
}

/** Whether the foreign text leaves everything that decides about tools as it was. */
function sameAuthority(base: Chat, theirs: Chat, touched: readonly string[]): boolean {
  if (base.frontmatter?.code !== theirs.frontmatter?.code) return false;
  if (base.frontmatter?.language !== theirs.frontmatter?.language) return false;
  const state = (chat: Chat) => JSON.stringify(chat.results.map(({ id, status }) => [id, status]));
  if (state(base) !== state(theirs)) return false;
  return touched.every((id) =>
    base.call(id)?.inputText === theirs.call(id)?.inputText && base.call(id)?.name === theirs.call(id)?.name
  );
}

/** Ids of calls whose result we add or change. */
function touchedCalls(base: Chat, ours: Chat): string[] {
  const same = (a: Result | undefined, b: Result) => a?.status === b.status && a?.content === b.content;
  return ours.results.filter((result) => !same(base.result(result.id), result)).map(({ id }) => id);
}

/** Ranges with no unchanged line between them. */
function touch(a: { from: number; to: number }, b: { from: number; to: number }): boolean {
  return a.from <= b.to && b.from <= a.to;
}

function applyHunks(base: readonly string[], hunks: readonly Hunk[]): string[] {
  const result: string[] = [];
  let at = 0;
  for (const hunk of hunks) {
    for (; at < hunk.from; at++) result.push(base[at]!);
    for (const line of hunk.lines) result.push(line);
    at = hunk.to;
  }
  for (; at < base.length; at++) result.push(base[at]!);
  return result;
}

/** Lines with their line ends, so that joining gives the same bytes and a missing last line end is a difference. */
function splitLines(bytes: Uint8Array): string[] {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes).split(/(?<=\n)/);
}

function joinLines(lines: readonly string[]): Uint8Array {
  return new TextEncoder().encode(lines.join(""));
}

/** Edit steps after which two texts count as too different to be merged. */
const MAX_STEPS = 1000;

/** Smallest changed line ranges from `a` to `b` (Myers' greedy algorithm); null past `MAX_STEPS`. */
export function difference(a: readonly string[], b: readonly string[]): Hunk[] | null {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const pairs = commonLines(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
  if (pairs === null) return null;
  const anchors = [
    ...pairs.map(([x, y]) => [x + head, y + head] as const),
    [a.length - tail, b.length - tail] as const,
  ];
  const hunks: Hunk[] = [];
  let fromA = head;
  let fromB = head;
  for (const [x, y] of anchors) {
    if (x > fromA || y > fromB) hunks.push({ from: fromA, to: x, lines: b.slice(fromB, y) });
    fromA = x + 1;
    fromB = y + 1;
  }
  return hunks;
}

/** Pairs of equal lines of a longest common subsequence. */
function commonLines(a: readonly string[], b: readonly string[]): [number, number][] | null {
  const trace: Map<number, number>[] = [];
  let reach = new Map<number, number>([[1, 0]]);
  for (let steps = 0; steps <= MAX_STEPS; steps++) {
    const next = new Map<number, number>();
    for (let k = -steps; k <= steps; k += 2) {
      const down = k === -steps || (k !== steps && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
      let x = down ? reach.get(k + 1) ?? 0 : (reach.get(k - 1) ?? 0) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      next.set(k, x);
      if (x >= a.length && x - k >= b.length) return backtrack(a, b, [...trace, next]);
    }
    trace.push(next);
    reach = next;
  }
  return null;
}

function backtrack(
  a: readonly string[],
  b: readonly string[],
  trace: readonly Map<number, number>[],
): [number, number][] {
  const pairs: [number, number][] = [];
  let x = a.length;
  let y = b.length;
  for (let steps = trace.length - 1; steps >= 0; steps--) {
    const k = x - y;
    const before = trace[steps - 1];
    const down = k === -steps ||
      (k !== steps && (before?.get(k - 1) ?? -1) < (before?.get(k + 1) ?? -1));
    const previousK = down ? k + 1 : k - 1;
    const startX = steps === 0 ? 0 : before?.get(previousK) ?? 0;
    const startY = steps === 0 ? 0 : startX - previousK;
    while (x > startX && y > startY && a[x - 1] === b[y - 1]) pairs.push([--x, --y]);
    x = startX;
    y = startY;
  }
  return pairs.reverse();
}

/** Whether `text` only continues `base`. */
export function continues(base: Uint8Array, text: Uint8Array): boolean {
  return text.length > base.length && commonPrefix(base, text) === base.length;
}

// Returns the difference between two texts as a unified diff for a person.

import { difference, type Hunk } from "../../cycle/storage/lines.ts";

/** Number of context lines around a change. */
const AROUND = 3;

/**
 * Writes a unified diff like `diff -u`, without the times.
 *
 * @param path the file name in its header
 * @param before the lines with their ends; null for a new file
 * @param after the lines with their ends
 * @param most number of diff lines to show; the number of omitted lines follows them
 * @returns the diff; null if both texts are the same
 */
export function formatUnifiedDiff(
  path: string,
  before: readonly string[] | null,
  after: readonly string[],
  most = Infinity,
): string | null {
  const old = before ?? [];
  // If the texts differ too much, the diff shows all old lines as replaced by all new lines.
  const hunks = difference(old, after, (line) => line) ?? [{ from: 0, to: old.length, at: 0, lines: after }];
  if (hunks.length === 0) return null;
  const out = [`--- ${before === null ? "/dev/null" : path}\n`, `+++ ${path}\n`];
  for (const group of grouped(hunks)) out.push(...passage(group, old, after));
  const shown = out.slice(0, most);
  if (out.length > most) shown.push(`… ${out.length - most} more lines\n`);
  return shown.join("");
}

/** Groups hunks whose context lines overlap or touch. */
function grouped(hunks: readonly Hunk[]): Hunk[][] {
  const groups: Hunk[][] = [];
  for (const hunk of hunks) {
    const last = groups.at(-1)?.at(-1);
    if (last !== undefined && hunk.from - last.to <= 2 * AROUND) groups.at(-1)!.push(hunk);
    else groups.push([hunk]);
  }
  return groups;
}

function passage(group: readonly Hunk[], old: readonly string[], after: readonly string[]): string[] {
  const first = group[0]!;
  const last = group.at(-1)!;
  const from = Math.max(0, first.from - AROUND);
  const to = Math.min(old.length, last.to + AROUND);
  const at = first.at - (first.from - from);
  const end = last.at + last.lines.length + (to - last.to);
  const lines: string[] = [`@@ -${range(from, to)} +${range(at, end)} @@\n`];
  const put = (sign: string, line: string) =>
    lines.push(`${sign}${line.endsWith("\n") ? line : `${line}\n\\ No newline at end of file\n`}`);
  let reached = from;
  for (const hunk of group) {
    for (; reached < hunk.from; reached++) put(" ", old[reached]!);
    for (; reached < hunk.to; reached++) put("-", old[reached]!);
    for (let line = hunk.at; line < hunk.at + hunk.lines.length; line++) put("+", after[line]!);
  }
  for (; reached < to; reached++) put(" ", old[reached]!);
  return lines;
}

/**
 * Returns the line range of a hunk header: the first line and the number of lines. If the range is empty, the first
 * number is the line before the range.
 */
function range(from: number, to: number): string {
  const count = to - from;
  return `${count === 0 ? from : from + 1}${count === 1 ? "" : `,${count}`}`;
}

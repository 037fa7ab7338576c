// Two texts as a unified diff, for a person who looks at a change.

import { difference, type Hunk } from "../../cycle/storage/lines.ts";

/** Lines around a change. */
const AROUND = 3;

/**
 * A unified diff, as `diff -u` writes it but for the times.
 *
 * @param path the name in its head
 * @param before the lines with their ends; null for a new file
 * @param after the lines with their ends
 * @param most how many lines of the diff are shown at most; of the others the number is told
 * @returns null where both are the same
 */
export function unified(
  path: string,
  before: readonly string[] | null,
  after: readonly string[],
  most = Infinity,
): string | null {
  const old = before ?? [];
  // What is too different is shown as what it is: one text for another.
  const hunks = difference(old, after, (line) => line) ?? [{ from: 0, to: old.length, at: 0, lines: after }];
  if (hunks.length === 0) return null;
  const out = [`--- ${before === null ? "/dev/null" : path}\n`, `+++ ${path}\n`];
  for (const group of grouped(hunks)) out.push(...passage(group, old, after));
  const shown = out.slice(0, most);
  if (out.length > most) shown.push(`… ${out.length - most} more lines\n`);
  return shown.join("");
}

/** Hunks whose surroundings touch stand in one passage. */
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

/** Lines as the head of a passage counts them: the first and how many; of none the line before. */
function range(from: number, to: number): string {
  const count = to - from;
  return `${count === 0 ? from : from + 1}${count === 1 ? "" : `,${count}`}`;
}

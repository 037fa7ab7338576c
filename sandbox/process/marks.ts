// A mark in the environment of a command, by which its descendants are known wherever they went: one that leads a session of
// its own and whose parent has ended is told from everybody else's processes by nothing but this.

import { type ProcessEntry, processEntry } from "./process_table.ts";

/** The variable that holds the mark. */
export const MARK = "FLEMMA_COMMAND";

/** Stands between the two parts of a mark. */
const SINCE = ".";

/** A mark that no other command has; it says since when there can be processes with it. */
export function newMark(): string {
  return `${crypto.randomUUID()}${SINCE}${processEntry(Deno.pid)?.started ?? 0}`;
}

/**
 * The living processes of a table with a mark, as far as this user may look. What a command put into the environment of
 * somebody else's process cannot be seen here, for that is fixed when a program begins.
 */
export function marked(mark: string, table: readonly ProcessEntry[]): number[] {
  const entry = `${MARK}=${mark}`;
  const since = Number(mark.split(SINCE)[1] ?? 0);
  // Most processes of a machine are older than the program that made the mark, and looking into each costs.
  return table.filter(({ pid, alive, started }) => {
    return alive && Number(started) >= since && environmentOf(pid).includes(entry);
  }).map(({ pid }) => pid);
}

/** What a process was started with; empty when it has ended or belongs to somebody else. */
function environmentOf(pid: number): readonly string[] {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/environ`).split("\0");
  } catch {
    // Not ours to look into, and so not ours to end.
    return [];
  }
}

// A mark in the environment of a command that identifies its descendants. Nothing else identifies a process that leads
// its own session and whose parent has ended.

import { type ProcessEntry, processEntry } from "./process_table.ts";

export const MARK = "FLEMMA_COMMAND";

/** Separates the two parts of a mark. */
const SINCE = ".";

/** A unique mark. It contains the start time of this process; no process with the mark can be older. */
export function newMark(): string {
  return `${crypto.randomUUID()}${SINCE}${processEntry(Deno.pid)?.started ?? 0}`;
}

/**
 * Returns the living processes with a mark, as far as this user may read their environment. A command cannot fake this
 * for processes of others: the environment visible here is fixed when a program begins.
 */
export function findMarked(mark: string, table: readonly ProcessEntry[]): number[] {
  const entry = `${MARK}=${mark}`;
  const since = Number(mark.split(SINCE)[1] ?? 0);
  // Reading the environment of a process is slow. Most processes are older than the program that created the mark, so
  // they are not read.
  return table.filter(({ pid, alive, started }) => {
    return alive && Number(started) >= since && environmentOf(pid).includes(entry);
  }).map(({ pid }) => pid);
}

/** The initial environment of a process; empty if it has ended or belongs to another user. */
function environmentOf(pid: number): readonly string[] {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/environ`).split("\0");
  } catch {
    // The file is not readable for this user, so the process is not ours to end.
    return [];
  }
}

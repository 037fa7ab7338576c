// Ending a command with everything that came of it: its process group, and descendants that left the group.

import { type ProcessEntry, processEntry, processTable } from "./process_table.ts";

/** Milliseconds between the polite signal and the final one. */
const GRACE = 2000;

/** Milliseconds before the first look at whether those that were told to end are gone; doubles up to the last. */
const FIRST_LOOK = 5;
const LAST_LOOK = 250;

/**
 * Tells the group of process `leader` and its descendants in groups of their own to end, waits for it, and kills what
 * then still runs. Answers when nothing of it is left that this user may signal.
 *
 * A descendant is told by its parent, so it is looked for while its parent lives, before the first signal: the first
 * process of a bubblewrap container leads a session of its own and asks to be ended with its parent only after the command
 * has begun, and commands without a sandbox may start what they like with `setsid`.
 */
export async function endFamily(leader: number): Promise<void> {
  // A group that is empty has no descendants that could still be told from others; most commands end so.
  if (!signal(-leader, 0)) return;
  const others = new Map<number, ProcessEntry>();
  meet(leader, others);
  if (!signalAll(leader, others, "SIGTERM")) return;
  const deadline = performance.now() + GRACE;
  for (let pause = FIRST_LOOK; performance.now() < deadline; pause = Math.min(2 * pause, LAST_LOOK)) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (!meet(leader, others)) return;
  }
  signalAll(leader, others, "SIGKILL");
}

/** Notes the descendants outside the group; whether any process of the family lives. */
function meet(leader: number, others: Map<number, ProcessEntry>): boolean {
  const table = processTable();
  // Where there is no list of processes, the group itself is all that can be asked.
  if (table.length === 0) return signal(-leader, 0);
  const family = new Set<number>();
  let alive = false;
  for (const entry of table) {
    if (entry.group !== leader && others.get(entry.pid)?.started !== entry.started) continue;
    family.add(entry.pid);
    alive ||= entry.alive;
  }
  for (let before = 0; before !== family.size;) {
    before = family.size;
    for (const entry of table) {
      if (family.has(entry.pid) || !family.has(entry.parent)) continue;
      family.add(entry.pid);
      others.set(entry.pid, entry);
      alive ||= entry.alive;
    }
  }
  return alive;
}

/** Signals the group and the others; false when nothing is left that this user may signal. */
function signalAll(leader: number, others: ReadonlyMap<number, ProcessEntry>, name: Deno.Signal): boolean {
  let reached = signal(-leader, name);
  for (const { pid, started } of others.values()) {
    // The number may belong to another process by now.
    if (processEntry(pid)?.started === started) reached = signal(pid, name) || reached;
  }
  return reached;
}

/** Signals a process, or a group by its negative number; false where there is none that this user may signal. */
function signal(target: number, name: Deno.Signal | 0): boolean {
  try {
    Deno.kill(target, name);
    return true;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound || thrown instanceof Deno.errors.PermissionDenied) {
      return false;
    }
    throw thrown;
  }
}

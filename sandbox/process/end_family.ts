// Ending a command with everything that came of it: its process group, and descendants that left the group.

import { after } from "../../base/system/timer.ts";
import { marked } from "./marks.ts";
import { type ProcessEntry, processEntry, processTable } from "./process_table.ts";

/** Milliseconds between the polite signal and the final one. */
const GRACE = 2000;

/** Milliseconds before the first look at whether those that were told to end are gone; doubles up to the last. */
const FIRST_CHECK = 5;
const LAST_CHECK = 250;

/** How often what is left is killed. */
const ROUNDS = 5;

/**
 * Tells the group of process `leader`, if there is one, its descendants in groups of their own and whatever carries its `mark` to end, waits
 * for them, and kills what then still runs. Answers when nothing of it is left that this user may signal.
 *
 * A descendant is told by its parent, so it is looked for while its parent lives, before the first signal: the first
 * process of a bubblewrap container leads a session of its own and asks to be ended with its parent only after the command
 * has begun. What a command without a sandbox started with `setsid` may have lost its parent long ago; it has the mark.
 */
export async function endFamily(leader: number | null, mark?: string): Promise<void> {
  const family = new Family(leader, mark);
  // A group that is empty has no descendants that could still be told from others; most commands end so.
  if (mark === undefined && (leader === null || !signal(-leader, 0))) return;
  if (!family.meet() || !family.signal("SIGTERM")) return;
  const deadline = performance.now() + GRACE;
  for (let pause = FIRST_CHECK; performance.now() < deadline; pause = Math.min(2 * pause, LAST_CHECK)) {
    await new Promise<void>((resolve) => after(pause, resolve));
    if (!family.meet()) return;
  }
  // Whoever forks all the time may have a child that no look has met.
  for (let round = 0; round < ROUNDS && family.meet(); round++) {
    family.signal("SIGKILL");
    await new Promise<void>((resolve) => after(FIRST_CHECK, resolve));
  }
}

/** The same at once and without a polite signal, for a program that is about to end. */
export function killFamily(leader: number | null, mark?: string): void {
  const family = new Family(leader, mark);
  for (let round = 0; round < ROUNDS && family.meet(); round++) family.signal("SIGKILL");
}

/** The processes that came of one command. */
class Family {
  /** Null where its group is over and the number another one's. */
  readonly #leader: number | null;
  readonly #mark: string | undefined;
  /** Those outside the group. */
  readonly #others = new Map<number, ProcessEntry>();

  constructor(leader: number | null, mark: string | undefined) {
    this.#leader = leader;
    this.#mark = mark;
  }

  /** Looks who belongs to it; whether any process of the family lives. */
  meet(): boolean {
    const table = processTable();
    // Where there is no list of processes, the group itself is all that can be asked.
    if (table.length === 0) return this.#signalGroup(0);
    const carriers = new Set(this.#mark === undefined ? [] : marked(this.#mark, table));
    const family = new Set<number>();
    let alive = false;
    const take = (entry: ProcessEntry) => {
      family.add(entry.pid);
      if (entry.group !== this.#leader) this.#others.set(entry.pid, entry);
      alive ||= entry.alive;
    };
    for (const entry of table) {
      const known = this.#others.get(entry.pid)?.started === entry.started;
      if (entry.group === this.#leader || known || carriers.has(entry.pid)) take(entry);
    }
    for (let before = 0; before !== family.size;) {
      before = family.size;
      for (const entry of table) {
        if (!family.has(entry.pid) && family.has(entry.parent)) take(entry);
      }
    }
    return alive;
  }

  /** Signals the group and the others; false when nothing is left that this user may signal. */
  signal(name: Deno.Signal): boolean {
    let reached = this.#signalGroup(name);
    for (const { pid, started } of this.#others.values()) {
      // The number may belong to another process by now.
      if (processEntry(pid)?.started === started) reached = signal(pid, name) || reached;
    }
    return reached;
  }

  #signalGroup(name: Deno.Signal | 0): boolean {
    return this.#leader !== null && signal(-this.#leader, name);
  }
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

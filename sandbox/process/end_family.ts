// Ends a command with everything it started: its process group, and descendants that left the group.

import { after } from "../../base/system/timer.ts";
import { findMarked } from "./marks.ts";
import { type ProcessEntry, processEntry, processTable } from "./process_table.ts";

/** Milliseconds between SIGTERM and SIGKILL. */
const GRACE = 2000;

/**
 * First and longest wait, in milliseconds, between two checks whether the processes are gone. The wait doubles each
 * time.
 */
const FIRST_CHECK = 5;
const LAST_CHECK = 250;

/** Number of SIGKILL rounds. */
const ROUNDS = 5;

/**
 * Sends SIGTERM to the process group of `leader`, if there is one, to its descendants in other groups and to every
 * process that carries its `mark`. Waits, then kills what still runs. Resolves when nothing is left that this user may
 * signal.
 *
 * A descendant is found through its parent, so the search happens while the parent lives, before the first signal. This
 * matters because the first process of a bubblewrap container leads its own session and asks to die with its parent
 * only after the command has begun. What a command without a sandbox started with `setsid` may have lost its parent
 * long ago; it has the mark.
 */
export async function endFamily(leader: number | null, mark?: string): Promise<void> {
  const family = new Family(leader, mark);
  // The group is empty, as after most commands. Its descendants cannot be distinguished from other processes.
  if (mark === undefined && (leader === null || !signal(-leader, 0))) return;
  if (!family.meet() || !family.signal("SIGTERM")) return;
  const deadline = performance.now() + GRACE;
  for (let pause = FIRST_CHECK; performance.now() < deadline; pause = Math.min(2 * pause, LAST_CHECK)) {
    await new Promise<void>((resolve) => after(pause, resolve));
    if (!family.meet()) return;
  }
  // A process that forks all the time may have a child that the scan missed, so scanning is repeated.
  for (let round = 0; round < ROUNDS && family.meet(); round++) {
    family.signal("SIGKILL");
    await new Promise<void>((resolve) => after(FIRST_CHECK, resolve));
  }
}

/** Milliseconds for which SIGTERM goes only to processes without children. */
const LEAVES_FIRST = 1000;

/**
 * Sends SIGTERM to every process of the family but those of the sandbox around the command, whose end would end all
 * others. Waits until none of the others lives, or until the time is over.
 *
 * A process gets the signal after its children: a shell that ended first would take them along. Until then it is
 * stopped, because a shell would otherwise begin its next command.
 *
 * @param wrapped true if the leader belongs to the sandbox
 */
export async function endGently(
  leader: number,
  { mark, wrapped, milliseconds }: {
    readonly mark: string | undefined;
    readonly wrapped: boolean;
    readonly milliseconds: number;
  },
): Promise<void> {
  const began = performance.now();
  const family = new Family(leader, mark);
  const signaled = new Set<string>();
  for (
    let pause = FIRST_CHECK;
    performance.now() - began < milliseconds;
    pause = Math.min(2 * pause, LAST_CHECK)
  ) {
    if (!family.meet()) return;
    const commands = family.members.filter(({ pid }) => pid === leader ? !wrapped : !isFirstInside(pid));
    if (commands.length === 0) return;
    const parents = new Set(
      performance.now() - began < LEAVES_FIRST ? commands.map(({ parent }) => parent) : [],
    );
    for (const { pid, started } of commands) {
      const key = `${pid} ${started}`;
      if (signaled.has(key)) continue;
      if (parents.has(pid)) {
        signal(pid, "SIGSTOP");
        continue;
      }
      signal(pid, "SIGTERM");
      signal(pid, "SIGCONT");
      signaled.add(key);
    }
    await new Promise<void>((resolve) => after(pause, resolve));
  }
}

/** True for the first process of a process namespace. If it ends, the kernel ends all others. */
function isFirstInside(pid: number): boolean {
  try {
    const ids = /^NSpid:\t(.*)$/m.exec(Deno.readTextFileSync(`/proc/${pid}/status`))?.[1]?.split("\t") ?? [];
    return ids.length > 1 && ids.at(-1) === "1";
  } catch {
    return true; // It has ended, or it belongs to another user.
  }
}

/** Kills the family immediately, without SIGTERM, for a program that is about to exit. */
export function killFamily(leader: number | null, mark?: string): void {
  const family = new Family(leader, mark);
  for (let round = 0; round < ROUNDS && family.meet(); round++) family.signal("SIGKILL");
}

/** The processes that one command started, directly or not. */
class Family {
  /** Id of the leader; null if the group of the leader is gone, and another process has this id now. */
  readonly #leader: number | null;
  readonly #mark: string | undefined;
  /** Members outside the group. */
  readonly #others = new Map<number, ProcessEntry>();
  #members: ProcessEntry[] = [];

  constructor(leader: number | null, mark: string | undefined) {
    this.#leader = leader;
    this.#mark = mark;
  }

  /** Scans for members. Returns whether any of them lives. */
  meet(): boolean {
    const table = processTable();
    // Without a process table, only the group itself can be checked.
    if (table.length === 0) return this.#signalGroup(0);
    const carriers = new Set(this.#mark === undefined ? [] : findMarked(this.#mark, table));
    const family = new Set<number>();
    let alive = false;
    this.#members = [];
    const take = (entry: ProcessEntry) => {
      family.add(entry.pid);
      if (entry.alive) this.#members.push(entry);
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

  /** The living members that the last `meet` found. Empty without a process table. */
  get members(): readonly ProcessEntry[] {
    return this.#members;
  }

  /** Signals the group and the other members. Returns false if nothing is left that this user may signal. */
  signal(name: Deno.Signal): boolean {
    let reached = this.#signalGroup(name);
    for (const { pid, started } of this.#others.values()) {
      // The id may belong to another process by now.
      if (processEntry(pid)?.started === started) reached = signal(pid, name) || reached;
    }
    return reached;
  }

  #signalGroup(name: Deno.Signal | 0): boolean {
    return this.#leader !== null && signal(-this.#leader, name);
  }
}

/** Signals a process, or a group by its negative id. Returns false if there is none that this user may signal. */
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

// A launcher that is started before the next command is known, because its start takes longer than everything else. A
// process of flemma has at most one.

import { after } from "../../base/system/timer.ts";
import type { PrivateFiles } from "../process/private_files.ts";
import { startProcess } from "../process/spawn.ts";

/** A launcher that waits for a plan on its standard input. */
export interface WaitingLauncher {
  readonly child: Deno.ChildProcess;
  /** File of its report. */
  readonly status: string;
  readonly files: PrivateFiles;
}

/** How to start a launcher that waits. */
export interface Ahead extends Omit<WaitingLauncher, "child"> {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

interface Kept extends WaitingLauncher {
  /** Launchers with the same key can stand in for each other. */
  readonly key: string;
  ended: boolean;
}

let kept: Kept | null = null;

/** Milliseconds after a command in which its result is completed. Starting a process takes some of them. */
const RESULT_FIRST = 5;

/** Cancels the start that is due; null if none is. */
let cancelStart: (() => void) | null = null;

/** Like `startAhead`, but shortly later, so that the result of the command before does not wait for it. */
export function startAheadLater(...given: Parameters<typeof startAhead>): void {
  cancelStart?.();
  cancelStart = after(RESULT_FIRST, () => {
    cancelStart = null;
    startAhead(...given);
  });
}

/** Starts a launcher that waits, unless one with this key does. */
export function startAhead(key: string, ahead: () => Ahead | null): void {
  if (kept?.key === key && !kept.ended) return;
  endWaiting();
  const given = ahead();
  if (given === null) return;
  const { argv, env, status, files } = given;
  const child = startProcess(argv, { cwd: "/", env }, "piped");
  // If this process ends, so does the launcher, because its input ends.
  child.unref();
  const started: Kept = { child, status, files, key, ended: false };
  child.status.then(() => started.ended = true);
  kept = started;
}

/** Takes the launcher with this key; null if none waits. It belongs to the caller then. */
export function takeWaiting(key: string): WaitingLauncher | null {
  if (kept === null || kept.key !== key || kept.ended) return null;
  const taken = kept;
  kept = null;
  taken.child.ref();
  return taken;
}

/** Ends the launcher that waits, or that is about to be started. It exits when its input ends. */
export function endWaiting(): void {
  cancelStart?.();
  cancelStart = null;
  if (kept === null) return;
  const { child: { stdin, stdout, stderr }, files } = kept;
  kept = null;
  for (const closing of [stdin.close(), stdout.cancel(), stderr.cancel()]) closing.catch(() => {});
  files.remove();
}

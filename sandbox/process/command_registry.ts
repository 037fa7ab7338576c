// Registry of the live commands of all runs on this machine, with the paths they can write to. Code of this program
// checks the registry before it writes files, because a command could replace a folder during the write.

import type { Environment } from "../../base/environment.ts";
import { closeLocked, writeAllSync } from "../../base/files.ts";
import { isInside } from "../../base/paths.ts";
import { stateFolder } from "../../base/folders.ts";
import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";
import { pause } from "../../base/system/timer.ts";

/** Milliseconds between two attempts to get a lock that another process holds. */
const POLL = 20;

/** Seconds that a command waits while another run writes a file. */
const PATIENCE = 30;

export interface LivingCommand {
  release(): void;
}

/**
 * Registers a command that can write below these real paths. Until the command is released, or this process ends, no
 * run on this machine writes there. If a run is writing now, waits for it. Fails with `files-busy` and
 * `state-unwritable`.
 */
export async function announceCommand(
  writable: readonly string[],
  environment: Environment,
): Promise<Outcome<LivingCommand>> {
  try {
    const gate = await passGate(environment, performance.now() + PATIENCE * 1000);
    if (gate === null) {
      return failure(
        "files-busy",
        `Another run has been writing a file for ${PATIENCE} seconds, so the command was not started.`,
        "Check that run, end it if it hangs, and try again.",
      );
    }
    try {
      const path = `${livingFolder(environment)}/${crypto.randomUUID()}`;
      const file = Deno.openSync(path, { write: true, createNew: true, mode: 0o600 });
      file.tryLockSync(true);
      writeAllSync(file, new TextEncoder().encode(writable.join("\n")));
      return success({
        release() {
          closeLocked(file);
          removeQuietly(path);
        },
      });
    } finally {
      closeLocked(gate);
    }
  } catch (thrown) {
    return unwritable(environment, thrown);
  }
}

/**
 * Runs `work` if no command of any run can write to the real paths that `paths` returns. No such command can start
 * until `work` is done. Returns null if such a command lives, or another process has the lock. Fails with
 * `state-unwritable`.
 */
export async function tryBetweenCommands<T>(
  environment: Environment,
  paths: () => readonly string[],
  work: () => Promise<T>,
): Promise<Outcome<{ readonly value: T } | null>> {
  let gate: Deno.FsFile | null;
  let roots: readonly string[];
  try {
    gate = await passGate(environment, performance.now());
    roots = gate === null ? [] : livingRoots(environment);
  } catch (thrown) {
    return unwritable(environment, thrown);
  }
  if (gate === null) return success(null);
  try {
    const reached = paths().some((path) => roots.some((root) => isInside(path, root)));
    return success(reached ? null : { value: await work() });
  } finally {
    closeLocked(gate);
  }
}

/** Takes the lock for registering a command or writing a file; null if the time limit passes first. */
async function passGate(environment: Environment, until: number): Promise<Deno.FsFile | null> {
  const gate = openGate(livingFolder(environment));
  for (;;) {
    if (gate.tryLockSync(true)) return gate;
    if (performance.now() >= until) {
      gate.close();
      return null;
    }
    await waitForPoll();
  }
}

function openGate(folder: string): Deno.FsFile {
  const open = () => Deno.openSync(`${folder}/.gate`, { create: true, write: true, mode: 0o600 });
  try {
    return open();
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
    Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
    return open();
  }
}

/**
 * Returns the paths that all live commands together can write to. Removes entries of dead processes, whose locks the
 * system released.
 */
function livingRoots(environment: Environment): string[] {
  const folder = livingFolder(environment);
  const roots: string[] = [];
  for (const { name } of Deno.readDirSync(folder)) {
    if (name.startsWith(".")) continue;
    const path = `${folder}/${name}`;
    try {
      using file = Deno.openSync(path, { read: true, write: true });
      if (file.tryLockSync(true)) Deno.removeSync(path);
      else roots.push(...Deno.readTextFileSync(path).split("\n"));
    } catch (thrown) {
      // The command ended after the folder was listed.
      if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
    }
  }
  return roots;
}

function livingFolder(environment: Environment): string {
  return `${stateFolder(environment)}/commands`;
}

/** Waits for one polling interval, or until the signal aborts. */
export function waitForPoll(signal?: AbortSignal): Promise<void> {
  return pause(POLL, signal);
}

function removeQuietly(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // The file could not be removed, but its lock is released, which is enough. The next scan removes the file.
  }
}

function unwritable(environment: Environment, thrown: unknown): Outcome<never> {
  return failure(
    "state-unwritable",
    `Running commands cannot be announced to other runs, so they could replace files that those runs write: ` +
      `${thrownText(thrown)}.`,
    `Make ${livingFolder(environment)} writable, or set XDG_STATE_HOME to another folder.`,
  );
}

// Cache for the result that no sandbox can work here, valid until the machine changes.

import type { Problem } from "../../base/problem.ts";
import { makeRuntimeFolder, runtimeFolders } from "../process/runtime_folders.ts";
import type { Host, SetupFailure } from "../types.ts";
import { type KernelFacts, readMachine } from "./machine.ts";

/** What the result depends on: boot, user, program and kernel settings. */
interface MachineState {
  readonly boot: string;
  readonly user: number | null;
  readonly path: string;
  readonly dev: number;
  readonly ino: number | null;
  readonly mtime: number | null;
  readonly machine: KernelFacts;
}

/** Returns the path of the program that a backend runs. If this is null, nothing is cached. */
export type ProgramOf = () => Promise<string | null>;

/** Reads the cached failure of a backend; null if none is cached, or if it is no longer valid. */
export async function readCachedFailure(
  backend: string,
  programOf: ProgramOf,
  host: Host,
): Promise<Problem | null> {
  for (const folder of runtimeFolders(host.environment)) {
    const text = ownText(fileOf(folder, backend));
    if (text === null) continue;
    const machine = readMachineState(await programOf());
    const cached = parsed(text);
    if (machine !== null && cached !== null && cached.machine === JSON.stringify(machine)) {
      return cached.problem;
    }
  }
  return null;
}

/**
 * Writes the failure of a backend to the cache. If the cache cannot be written, the next run finds the failure again.
 */
export async function saveFailure(
  backend: string,
  programOf: ProgramOf,
  problem: Problem & Pick<SetupFailure, "cause">,
  host: Host,
): Promise<void> {
  const folder = makeRuntimeFolder(host.environment);
  const machine = readMachineState(await programOf());
  if (folder === null || machine === null) return;
  const { code, message, cause, next } = problem;
  const text = JSON.stringify({ machine: JSON.stringify(machine), problem: { code, message, cause, next } });
  const file = fileOf(folder, backend);
  const draft = `${file}.${crypto.randomUUID()}`;
  try {
    await Deno.writeTextFile(draft, text, { createNew: true, mode: 0o600 });
    await Deno.rename(draft, file);
  } catch {
    // Without the file, the next run probes again, which costs a few milliseconds. The missing file is not a reason to
    // fail.
  }
}

/** Removes the cached failure, after a new attempt succeeded. */
export async function forgetFailure(backend: string, host: Host): Promise<void> {
  for (const folder of runtimeFolders(host.environment)) {
    try {
      await Deno.remove(fileOf(folder, backend));
    } catch {
      // The folder has no cached failure that could be removed.
    }
  }
}

/**
 * Returns the text of the file if only this user can have written it; otherwise null. No other user may disable the
 * sandbox through this file.
 */
function ownText(file: string): string | null {
  try {
    const { isFile, uid, mode } = Deno.lstatSync(file);
    if (!isFile || uid !== Deno.uid() || ((mode ?? 0o777) & 0o022) !== 0) return null;
    return Deno.readTextFileSync(file);
  } catch {
    return null;
  }
}

function parsed(text: string): { machine: string; problem: Problem } | null {
  try {
    const { machine, problem } = JSON.parse(text);
    return typeof machine === "string" && typeof problem?.message === "string" ? { machine, problem } : null;
  } catch {
    return null; // The file is truncated or damaged, so the backend is probed again.
  }
}

function readMachineState(path: string | null): MachineState | null {
  if (path === null) return null;
  try {
    const boot = Deno.readTextFileSync("/proc/sys/kernel/random/boot_id").trim();
    const { dev, ino, mtime } = Deno.statSync(path);
    return {
      boot,
      user: Deno.uid(),
      path,
      dev,
      ino,
      mtime: mtime?.getTime() ?? null,
      machine: readMachine(),
    };
  } catch {
    return null;
  }
}

function fileOf(folder: string, backend: string): string {
  return `${folder}/none-${encodeURIComponent(backend)}`;
}

// A group of processes with a limit on their number, for the superuser, whom the usual limit does not bind (12.3).

import { after } from "../../base/system/timer.ts";
import type { PrivateFiles } from "../process/private_files.ts";

export interface ProcessGroup {
  /** The file a process writes its own number to, to become a member with all it starts. */
  readonly members: string;
  remove(): Promise<void>;
}

/** The hierarchy that counts processes: of the first kind a folder of its own, of the second the only one. */
const HIERARCHIES: readonly string[] = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"];

/** Makes a group of at most `processes`; null where this system does not let us. */
export function makeProcessGroup(processes: number, files: PrivateFiles): ProcessGroup | null {
  const name = files.fresh("flemma").split("/").at(-1);
  for (const hierarchy of HIERARCHIES) {
    const folder = `${hierarchy}/${name}`;
    try {
      removeLeftGroups(hierarchy);
      Deno.mkdirSync(folder);
    } catch {
      continue;
    }
    try {
      Deno.writeTextFileSync(`${folder}/pids.max`, String(processes), { create: false });
      return { members: `${folder}/cgroup.procs`, remove: () => removeGroup(folder) };
    } catch {
      Deno.removeSync(folder);
    }
  }
  return null;
}

/** Milliseconds before a group that is still busy is tried again; doubles up to the last. */
const FIRST_TRY = 1;
const LAST_TRY = 256;

/**
 * A group whose last process has just ended is busy until the kernel has let go of it, so it is tried again for half a
 * second. What is left even then is empty, and a later run takes it away.
 */
export async function removeGroup(folder: string): Promise<void> {
  for (let wait = FIRST_TRY;; wait *= 2) {
    try {
      Deno.removeSync(folder);
      return;
    } catch (thrown) {
      if (thrown instanceof Deno.errors.NotFound || wait > LAST_TRY) return;
      await new Promise<void>((resolve) => after(wait, resolve));
    }
  }
}

/** Milliseconds after which a group that is empty is no longer one that a process is about to join. */
const OLD = 60_000;

/** Removes empty groups that runs which were killed left behind; one that is in use cannot be removed. */
export function removeLeftGroups(hierarchy: string): void {
  for (const { name } of Deno.readDirSync(hierarchy)) {
    if (!name.startsWith("flemma-")) continue;
    const folder = `${hierarchy}/${name}`;
    try {
      if (Date.now() - (Deno.statSync(folder).mtime?.getTime() ?? Infinity) > OLD) Deno.removeSync(folder);
    } catch {
      // Of a command that runs.
    }
  }
}

// A control group that limits the number of processes, because the usual limit does not bind the superuser.

import { after } from "../../base/system/timer.ts";
import type { PrivateFiles } from "../process/private_files.ts";

export interface ProcessGroup {
  /** The file a process writes its id to, to join the group with all its children. */
  readonly members: string;
  remove(): Promise<void>;
}

/** Folders of the control groups that count processes: cgroup v1 has a separate hierarchy for them, v2 a single one. */
const HIERARCHIES: readonly string[] = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"];

/** Creates a group of at most `processes`; null if the system does not allow it. */
export function makeProcessGroup(
  processes: number,
  files: PrivateFiles,
  hierarchies = HIERARCHIES,
): ProcessGroup | null {
  const name = files.fresh("flemma").split("/").at(-1);
  for (const hierarchy of hierarchies) {
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

/** First and longest wait before a busy group is removed, in milliseconds. The wait doubles each time. */
const FIRST_TRY = 1;
const LAST_TRY = 256;

/**
 * Removes a group. It stays busy until the kernel releases its last process, so removal is retried for half a second.
 * If the group still exists after that, it is empty, and a later run removes it.
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

/** Age in milliseconds of an empty group. No process is about to join a group that is older. */
const OLD = 60_000;

/** Removes empty groups that killed runs left behind. Groups in use cannot be removed. */
export function removeLeftGroups(hierarchy: string): void {
  for (const { name } of Deno.readDirSync(hierarchy)) {
    if (!name.startsWith("flemma-")) continue;
    const folder = `${hierarchy}/${name}`;
    try {
      if (Date.now() - (Deno.statSync(folder).mtime?.getTime() ?? Infinity) > OLD) Deno.removeSync(folder);
    } catch {
      // The group belongs to a running command.
    }
  }
}

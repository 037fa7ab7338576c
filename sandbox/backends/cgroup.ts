// A group of processes with a limit on their number, for the superuser, whom the usual limit does not bind (12.3).

import type { PrivateFiles } from "../process/private_files.ts";

export interface ProcessGroup {
  /** The file a process writes its own number to, to become a member with all it starts. */
  readonly members: string;
  remove(): void;
}

/** The hierarchy that counts processes: of the first kind a folder of its own, of the second the only one. */
const HIERARCHIES: readonly string[] = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"];

/** Makes a group of at most `processes`; null where this system does not let us. */
export function makeProcessGroup(processes: number, files: PrivateFiles): ProcessGroup | null {
  const name = files.fresh("flemma").split("/").at(-1);
  for (const hierarchy of HIERARCHIES) {
    const folder = `${hierarchy}/${name}`;
    try {
      Deno.mkdirSync(folder);
    } catch {
      continue;
    }
    try {
      Deno.writeTextFileSync(`${folder}/pids.max`, String(processes), { create: false });
      return { members: `${folder}/cgroup.procs`, remove: () => removeGroup(folder) };
    } catch {
      removeGroup(folder);
    }
  }
  return null;
}

/** A group whose last process has just ended may be busy for a moment; then it stays behind, empty and harmless. */
function removeGroup(folder: string): void {
  try {
    Deno.removeSync(folder);
  } catch {
    // See above.
  }
}

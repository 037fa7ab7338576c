// Names of files that belong to one process, and the removal of those whose process was killed before it could.

import { processEntry } from "./process_table.ts";

/** `KIND-PID.STARTED.NAMESPACE-RANDOM`, numbers in base 36 so that the path of a socket stays short. */
const OWNED = /^[a-z]+-([0-9a-z]+)\.([0-9a-z]+)\.([0-9a-z]+)-[0-9a-f]+$/;

/** A name that nothing has yet, which tells whose it is. `digits`: of the random end, at most 32. */
export function ownedName(kind: string, digits = 32): string {
  const random = crypto.randomUUID().replaceAll("-", "").slice(0, digits);
  const owner = thisOwner();
  return owner === null ? `${kind}-${random}` : `${kind}-${owner}-${random}`;
}

/** Folders that were looked through by this process. */
const swept = new Set<string>();

/**
 * Removes what processes that are gone left in a folder; once for each folder. Processes that cannot be seen from here
 * (of another container that shares the folder) may live, so theirs stays.
 */
export function sweep(folder: string): void {
  if (swept.has(folder)) return;
  swept.add(folder);
  for (const { name } of Deno.readDirSync(folder)) {
    if (!isAbandoned(name)) continue;
    try {
      Deno.removeSync(`${folder}/${name}`, { recursive: true });
    } catch {
      // Another run was quicker, or it cannot be removed: then it is in nobody's way, and the next run tries again.
    }
  }
}

/** Whether a name says whose it is, and that process is over. */
export function isAbandoned(name: string): boolean {
  const [, pid, started, namespace] = OWNED.exec(name) ?? [];
  if (pid === undefined || started === undefined || namespace !== namespaceNumber()) return false;
  const entry = processEntry(parseInt(pid, 36));
  return entry === null || !entry.alive || Number(entry.started).toString(36) !== started;
}

let owner: string | null | undefined;

/** This process, as names tell it; null where the system does not list processes. */
function thisOwner(): string | null {
  if (owner === undefined) {
    const started = processEntry(Deno.pid)?.started ?? "";
    const namespace = namespaceNumber();
    owner = started === "" || namespace === null
      ? null
      : [Deno.pid.toString(36), Number(started).toString(36), namespace].join(".");
  }
  return owner;
}

/** Numbers of processes mean something within this namespace. */
function namespaceNumber(): string | null {
  try {
    const number = /\d+/.exec(Deno.readLinkSync("/proc/self/ns/pid"))?.[0];
    return number === undefined ? null : Number(number).toString(36);
  } catch {
    return null;
  }
}

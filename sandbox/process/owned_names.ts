// Gives files names that identify the process they belong to, and removes the files of killed processes.

import { processEntry } from "./process_table.ts";

/** Form of the names: `KIND-PID.STARTED.NAMESPACE-RANDOM`, with numbers in base 36 to keep socket paths short. */
const OWNED = /^[a-z]+-([0-9a-z]+)\.([0-9a-z]+)\.([0-9a-z]+)-[0-9a-f]+$/;

/** An unused name that identifies this process. `digits` is the length of the random part, at most 32. */
export function ownedName(kind: string, digits = 32): string {
  const random = crypto.randomUUID().replaceAll("-", "").slice(0, digits);
  const owner = thisOwner();
  return owner === null ? `${kind}-${random}` : `${kind}-${owner}-${random}`;
}

/** Folders that this process has already cleaned up. */
const swept = new Set<string>();

/**
 * Removes the files that dead processes left in a folder, once per folder. A process in another container that shares
 * the folder is not visible from here and may live, so its files stay.
 */
export function sweep(folder: string): void {
  if (swept.has(folder)) return;
  swept.add(folder);
  for (const { name } of Deno.readDirSync(folder)) {
    if (!isAbandoned(name)) continue;
    try {
      Deno.removeSync(`${folder}/${name}`, { recursive: true });
    } catch {
      // Another run removed the file first, or the file cannot be removed. A leftover file does no harm, and the next
      // run tries again.
    }
  }
}

/** True if a name identifies a process that is dead. */
export function isAbandoned(name: string): boolean {
  const [, pid, started, namespace] = OWNED.exec(name) ?? [];
  if (pid === undefined || started === undefined || namespace !== namespaceNumber()) return false;
  const entry = processEntry(parseInt(pid, 36));
  return entry === null || !entry.alive || Number(entry.started).toString(36) !== started;
}

let owner: string | null | undefined;

/** Identity of this process as it appears in names; null if the system does not list processes. */
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

/** Number of the process namespace. Process ids are comparable only within one namespace. */
function namespaceNumber(): string | null {
  try {
    const number = /\d+/.exec(Deno.readLinkSync("/proc/self/ns/pid"))?.[0];
    return number === undefined ? null : Number(number).toString(36);
  } catch {
    return null;
  }
}

// Lets only one run of this program write a file at a time. The system releases the advisory lock when its holder dies;
// the lock file records what the holder left behind.

import type { Environment } from "../../base/environment.ts";
import { isWriteTemporary, removeIfThere, writeAllSync, writeTemporary } from "../../base/files.ts";
import { FileFailure } from "../../base/disk/failures.ts";
import { stateFolder, StateUnwritable } from "../../base/folders.ts";
import { sha256 } from "../../base/hash.ts";
import { baseName } from "../../base/paths.ts";

const POLL_MILLISECONDS = 10;

/** A lock that this process holds. */
export interface WriteLock {
  /** Records a temporary file, for cleanup after a crash. */
  note(temporary: string): void;
  release(): void;
}

/**
 * Waits for the lock of the file at a real path and takes it. Rejects with the signal's reason if it aborts, and with a
 * FileFailure that names the state folder if the lock cannot be taken. Temporary files of dead holders are removed first.
 */
export async function lockForWriting(
  real: string,
  environment: Environment,
  signal: AbortSignal,
): Promise<WriteLock> {
  try {
    return await lockIn(locksFolder(environment), real, signal);
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const { message } = new StateUnwritable(environment, thrown);
    throw new FileFailure(`The file was not changed, because ${message}.`);
  }
}

async function lockIn(folder: string, real: string, signal: AbortSignal): Promise<WriteLock> {
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  const path = `${folder}/${(await sha256(real)).slice(0, 32)}`;
  for (;;) {
    const file = await tryLock(path);
    if (file !== null) {
      // Leftovers of the previous holder of this lock are removed here, because `sweep` skips locks that are held.
      await removeNoted(await textOf(path));
      await sweep(folder);
      return createLock(file, path);
    }
    signal.throwIfAborted();
    await new Promise((done) => setTimeout(done, POLL_MILLISECONDS));
  }
}

/** Opens and locks a free lock file; null if another process holds it. */
async function tryLock(path: string): Promise<Deno.FsFile | null> {
  const file = await Deno.open(path, { create: true, read: true, write: true, mode: 0o600 });
  // A process that releases a lock removes the lock file. So the file that was locked here may no longer be the one at
  // the path.
  if (file.tryLockSync(true) && isAt(file, path)) return file;
  file.close();
  return null;
}

function isAt(file: Deno.FsFile, path: string): boolean {
  try {
    return Deno.statSync(path).ino === file.statSync().ino;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return false;
    throw thrown;
  }
}

function createLock(file: Deno.FsFile, path: string): WriteLock {
  return {
    note(temporary) {
      file.truncateSync(0);
      file.seekSync(0, Deno.SeekMode.Start);
      writeAllSync(file, new TextEncoder().encode(temporary));
    },
    release() {
      try {
        // The file is removed before the lock is released, so that a process that waits for the lock sees that the file
        // is no longer at the path.
        Deno.removeSync(path);
      } catch {
        // The change of the file succeeded, so this error must not look like a failure. Nobody holds the remaining lock
        // file; the next writer removes it.
      }
      file.close();
    },
  };
}

/** Removes temporary files and lock files of processes that have ended. */
async function sweep(folder: string): Promise<void> {
  for (const { name } of [...Deno.readDirSync(folder)]) {
    const path = `${folder}/${name}`;
    const text = await textOf(path);
    if (text === null || text === "") continue;
    const file = await tryLock(path);
    if (file === null) continue;
    await removeNoted(text);
    createLock(file, path).release();
  }
}

async function removeNoted(text: string | null): Promise<void> {
  if (text === null || !isTemporary(text)) return;
  try {
    await removeIfThere(text);
  } catch {
    // The leftover of another write may be in a folder that is no longer accessible. This must not prevent the present
    // write.
  }
}

async function textOf(path: string): Promise<string | null> {
  try {
    return await Deno.readTextFile(path);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return null;
    throw thrown;
  }
}

/** A unique name for a temporary file of this program in a folder. */
export function temporaryIn(folder: string): string {
  return `${folder === "/" ? "" : folder}/${writeTemporary()}`;
}

function isTemporary(path: string): boolean {
  return path.startsWith("/") && isWriteTemporary(baseName(path));
}

/** State folders whose leftovers this process has removed. */
const swept = new Set<string>();

/** Removes the temporary files of killed runs, once per process, so that commands do not see them. */
export async function removeLeftTemporaries(environment: Environment): Promise<void> {
  const folder = locksFolder(environment);
  if (swept.has(folder)) return;
  swept.add(folder);
  try {
    await sweep(folder);
  } catch {
    // Without the folder nothing is left. An unreadable one is reported by the next write.
  }
}

function locksFolder(environment: Environment): string {
  return `${stateFolder(environment)}/locks/files`;
}

// Lets only one run of this program write a file at a time. The system releases the advisory lock when its holder dies;
// the lock file records what the holder left behind.

import type { Environment } from "../../base/environment.ts";
import { removeIfThere, writeAllSync } from "../../base/files.ts";
import { stateFolder } from "../../base/folders.ts";
import { sha256 } from "../../base/hash.ts";

const POLL_MILLISECONDS = 10;

/** A lock that this process holds. */
export interface WriteLock {
  /** Records a temporary file, for cleanup after a crash. */
  note(temporary: string): void;
  release(): void;
}

/**
 * Waits for the lock of the file at a real path and takes it. Rejects with the signal's reason if it aborts. Temporary
 * files of dead holders are removed first.
 */
export async function lockForWriting(
  real: string,
  environment: Environment,
  signal: AbortSignal,
): Promise<WriteLock> {
  const folder = `${stateFolder(environment)}/locks/files`;
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  const path = `${folder}/${(await sha256(real)).slice(0, 32)}`;
  for (;;) {
    const file = await tryLock(path);
    if (file !== null) {
      // The call removes leftovers of a dead holder of this very lock, because the sweep skips locks that are held.
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
  // A holder removes its file on release, so the locked file may no longer be the one at the path.
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
      // The file is removed while it is still locked, so that a process that waits for it sees that it is no longer at
      // the path.
      Deno.removeSync(path);
      file.close();
    },
  };
}

/** Removes temporary files and locks of dead holders. */
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
  if (text !== null && isTemporary(text)) await removeIfThere(text);
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
  return `${folder === "/" ? "" : folder}/.flemma-${crypto.randomUUID()}`;
}

function isTemporary(path: string): boolean {
  return /\/\.flemma-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(path);
}

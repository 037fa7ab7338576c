// Putting bytes on disk so that at every moment either the old or the new document can be had (cli 4.2, S10).

import { writeAll } from "../../base/files.ts";
import { commonPrefix } from "../../base/bytes.ts";
import { type Stamp, stampOf } from "./read.ts";

/** Largest text that is appended; more goes through a whole new file. One page cannot be torn by a signal. */
export const MAX_APPEND_BYTES = 16 * 1024;

/**
 * Replaces a file by a new one of the same mode, owner and extended attributes: written beside it, made durable,
 * then renamed. `allowed` is asked in the same turn as the rename happens, so nothing of this process comes in
 * between; when it says no, nothing happens and the answer is null. Throws what the system throws.
 */
export async function replaceFile(
  path: string,
  bytes: Uint8Array,
  allowed: () => boolean,
): Promise<Stamp | null> {
  const slash = path.lastIndexOf("/");
  const unique = crypto.randomUUID().slice(0, 8);
  const temporary = `${path.slice(0, slash)}/.${path.slice(slash + 1).slice(0, 200)}.${unique}.tmp`;
  const old = await Deno.stat(path);
  let kept = false;
  const file = await Deno.open(temporary, { createNew: true, write: true, mode: 0o600 });
  try {
    await writeAll(file, bytes);
    await copyAttributes(path, old, temporary);
    await file.sync();
    if (!allowed()) return null;
    Deno.renameSync(temporary, path);
    kept = true;
    // Renaming changes the times of the file itself, so the stamp is taken after it.
    const stamp = stampOf(await file.stat());
    await syncFolder(path.slice(0, slash) || "/");
    return stamp;
  } finally {
    file.close();
    if (!kept) await Deno.remove(temporary);
  }
}

/** Overwrites a file's bytes from the first that differs. Not atomic: the caller keeps both texts until it ends. */
export async function overwriteFile(path: string, old: Uint8Array, bytes: Uint8Array): Promise<Stamp> {
  using file = await Deno.open(path, { write: true });
  const same = commonPrefix(old, bytes);
  await file.seek(same, Deno.SeekMode.Start);
  await writeAll(file, bytes.subarray(same));
  await file.truncate(bytes.length);
  await file.sync();
  return stampOf(await file.stat());
}

/**
 * Appends to a file of which `expected` was seen. Answers null, with nothing written, when it is no longer that
 * file; on a full disk the part that went through is taken back before the error is thrown.
 */
export async function appendFile(path: string, expected: Stamp, bytes: Uint8Array): Promise<Stamp | null> {
  using file = await Deno.open(path, { append: true });
  const found = await file.stat();
  if (found.ino !== expected.ino || found.dev !== expected.dev || found.size !== expected.size) return null;
  try {
    await writeAll(file, bytes);
    await file.syncData();
  } catch (thrown) {
    await file.truncate(expected.size);
    throw thrown;
  }
  return stampOf(await file.stat());
}

async function copyAttributes(from: string, old: Deno.FileInfo, to: string): Promise<void> {
  if (old.uid !== null && old.gid !== null) {
    try {
      await Deno.chown(to, old.uid, old.gid);
    } catch (thrown) {
      // The owner is kept where permitted; a file of somebody else in a folder of ours becomes ours.
      if (!(thrown instanceof Deno.errors.PermissionDenied)) throw thrown;
    }
  }
  await copyExtendedAttributes(from, to);
  if (old.mode !== null) await Deno.chmod(to, old.mode & 0o7777);
}

/** The runtime knows no extended attributes; coreutils does. Best effort: not every system or folder has them. */
async function copyExtendedAttributes(from: string, to: string): Promise<void> {
  if (Deno.build.os !== "linux") return;
  const options = ["--attributes-only", "--preserve=xattr", "--", from, to];
  try {
    const child = new Deno.Command("/bin/cp", {
      args: options,
      stdin: "null",
      stdout: "null",
      stderr: "null",
    });
    await child.output();
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
  }
}

async function syncFolder(folder: string): Promise<void> {
  try {
    using handle = await Deno.open(folder);
    await handle.sync();
  } catch (thrown) {
    // Some file systems refuse to sync a folder; the rename itself has happened.
    if (thrown instanceof Deno.errors.NotFound) throw thrown;
  }
}

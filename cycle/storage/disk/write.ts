// Writes documents to disk so that the old or the new text can be recovered at every moment. It never overwrites a
// change by another writer: it compares the file through the open descriptor in the same turn of the event loop in
// which it changes the file.

import { commonPrefix, sameBytes } from "../../../base/bytes.ts";
import { type Content, contentFromBytes } from "./content.ts";
import type { Extension } from "./extension.ts";
import { removeIfThere, temporaryPrefix, writeAll, writeAllSync } from "../../../base/files.ts";
import { openRegular, readAllSync } from "../../../base/system/regular_file.ts";
import { takePlace } from "../../../base/system/take_place.ts";
import { parentOf } from "../../../base/paths.ts";
import { mayHaveAttributes } from "../../../base/system/libc.ts";
import { sameStamp, type Stamp, stampOf } from "../read.ts";

/**
 * Maximum size in bytes of files that are compared byte by byte before each write, because times are coarse. Larger
 * files are compared only if their times differ.
 */
export const ALWAYS_COMPARE_BYTES = 4 * 1024 * 1024;

export interface KnownFile {
  readonly content: Content;
  readonly stamp: Stamp;
}

export interface WriteOptions {
  /** Called in the same turn as the rename; false leaves the file as it is. */
  readonly mayReplace?: () => boolean;
  /** For tests: called between a check and the operation that relies on it; changes made here must be detected. */
  readonly between?: () => Promise<void>;
}

/** A replaced file. A process that still has it open may write to it. */
export interface Replaced {
  readonly stamp: Stamp;
  readonly old: Deno.FsFile;
  /** Stamp of the old file, which no longer has a name. */
  readonly oldStamp: Stamp;
}

/**
 * Replaces a file by a new one of the same mode, owner and extended attributes: writes it next to the old one, syncs it,
 * then renames it. Returns null, with nothing changed, if the file differs from `known` or `mayReplace` returns false.
 * The old file is returned open. Throws the system's errors.
 */
export async function replaceDocumentFile(
  path: string,
  content: Content,
  known: KnownFile,
  { mayReplace = () => true, between }: WriteOptions = {},
): Promise<Replaced | null> {
  const folder = parentOf(path);
  const temporary = `${folder}/${temporaryPrefix(path)}${crypto.randomUUID().slice(0, 8)}.tmp`;
  const { file: old } = await openRegular(path);
  let kept = false;
  try {
    const file = Deno.openSync(temporary, { createNew: true, write: true, mode: 0o600 });
    try {
      await writeContent(file, content);
      await copyAttributes(path, await old.stat(), temporary);
      await file.sync();
      await between?.();
      if (!mayReplace() || !isStill(path, old, known)) return null;
      if (!takePlace(temporary, path, old.statSync())) return null;
      kept = true;
      // Renaming changes the times of the file itself, so the stamp is taken after the rename.
      const stamp = stampOf(file.statSync());
      await syncFolder(folder);
      return { stamp, old, oldStamp: stampOf(old.statSync()) };
    } finally {
      file.close();
      if (!kept) await removeIfThere(temporary);
    }
  } finally {
    if (!kept) old.close();
  }
}

/**
 * Rewrites a file from the first byte that differs. Not atomic: the caller keeps both texts until it ends. Returns null
 * if the file differs from `known`, either before the write, with nothing written, or after it. After a full disk the
 * old text is restored before the error is thrown; it fits on the disk.
 */
export async function overwriteFile(
  path: string,
  known: KnownFile,
  bytes: Uint8Array,
  { between }: WriteOptions = {},
): Promise<Stamp | null> {
  using file = await Deno.open(path, { read: true, write: true });
  await between?.();
  if (!isStill(path, file, known)) return null;
  const from = commonPrefix(known.content.bytes, bytes);
  try {
    putSync(file, from, contentFromBytes(bytes));
    await file.sync();
  } catch (thrown) {
    putSync(file, from, known.content);
    throw thrown;
  }
  await between?.();
  return isWritten(path, file, contentFromBytes(bytes));
}

/**
 * Rewrites only the end of a file, in steps. `content` must continue `known`; at most a final line end of `known` may
 * be replaced. Returns the same values as `overwriteFile`. If the program ends meanwhile, the file ends after a
 * complete step. On a full disk the old end is restored before the error is thrown.
 */
export async function extendFile(
  path: string,
  known: KnownFile,
  content: Content,
  { at, ends }: Extension,
  { between }: WriteOptions = {},
): Promise<Stamp | null> {
  using file = await Deno.open(path, { read: true, write: true });
  await between?.();
  if (!isStill(path, file, known)) return null;
  try {
    file.seekSync(at, Deno.SeekMode.Start);
    let from = at;
    for (const end of ends) {
      writeAllSync(file, content.slice(from, end));
      from = end;
    }
    cutTo(file, content.byteLength);
    await file.syncData();
  } catch (thrown) {
    putSync(file, at, known.content);
    throw thrown;
  }
  await between?.();
  return isWritten(path, file, content);
}

/** Maximum bytes per write call. */
const BATCH_BYTES = 1 << 20;

/** Writes a whole content; combines the many small pieces of a document in one buffer. */
async function writeContent(file: Deno.FsFile, content: Content): Promise<void> {
  const buffer = new Uint8Array(Math.min(BATCH_BYTES, content.byteLength));
  let filled = 0;
  for (const part of content.parts()) {
    for (let done = 0; done < part.length;) {
      const piece = part.subarray(done, done + buffer.length - filled);
      buffer.set(piece, filled);
      filled += piece.length;
      done += piece.length;
      if (filled < buffer.length) continue;
      await writeAll(file, buffer);
      filled = 0;
    }
  }
  await writeAll(file, buffer.subarray(0, filled));
}

/** Writes the content from byte `at` on and truncates the file after it. */
function putSync(file: Deno.FsFile, at: number, content: Content): void {
  file.seekSync(at, Deno.SeekMode.Start);
  for (const part of content.parts(at)) writeAllSync(file, part);
  cutTo(file, content.byteLength);
}

function cutTo(file: Deno.FsFile, length: number): void {
  if (file.statSync().size !== length) file.truncateSync(length);
}

/** True if an open file is still the file at `path` and has the known content. */
function isStill(path: string, file: Deno.FsFile, known: KnownFile): boolean {
  const there = Deno.statSync(path);
  const opened = file.statSync();
  if (there.ino !== opened.ino || there.dev !== opened.dev || opened.size !== known.content.byteLength) {
    return false;
  }
  if (sameStamp(stampOf(opened), known.stamp) && opened.size > ALWAYS_COMPARE_BYTES) return true;
  return sameBytes(readAllSync(file), known.content.bytes);
}

/** Returns the stamp of a file that was just written; null if another process wrote to it or replaced it meanwhile. */
function isWritten(path: string, file: Deno.FsFile, content: Content): Stamp | null {
  const there = Deno.statSync(path);
  const opened = file.statSync();
  if (there.ino !== opened.ino || there.dev !== opened.dev || opened.size !== content.byteLength) return null;
  if (opened.size <= ALWAYS_COMPARE_BYTES && !sameBytes(readAllSync(file), content.bytes)) return null;
  return stampOf(opened);
}

async function copyAttributes(from: string, old: Deno.FileInfo, to: string): Promise<void> {
  if (old.uid !== null && old.gid !== null) {
    try {
      Deno.chownSync(to, old.uid, old.gid);
    } catch (thrown) {
      // The owner is kept where permitted; another user's file in our folder becomes ours.
      if (!(thrown instanceof Deno.errors.PermissionDenied)) throw thrown;
    }
  }
  await copyExtendedAttributes(from, to);
  if (old.mode !== null) Deno.chmodSync(to, old.mode & 0o7777);
}

/**
 * The runtime does not support extended attributes; coreutils does. Copying them is best effort, because not every
 * system or file system supports these attributes. Skipped for files without any, because starting a program takes
 * half the time of a write.
 */
async function copyExtendedAttributes(from: string, to: string): Promise<void> {
  if (Deno.build.os !== "linux" || !mayHaveAttributes(from)) return;
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
    using handle = Deno.openSync(folder);
    await handle.sync();
  } catch (thrown) {
    // Some file systems refuse to sync a folder; the rename itself has succeeded.
    if (thrown instanceof Deno.errors.NotFound) throw thrown;
  }
}

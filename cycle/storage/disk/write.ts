// Putting bytes on disk so that at every moment either the old or the new document can be had, and never
// over what somebody else wrote: the file is compared through the open descriptor in the same turn as it is changed.

import { commonPrefix, sameBytes } from "../../../base/bytes.ts";
import { type Content, contentOf } from "./content.ts";
import type { Extension } from "./extension.ts";
import { readAllSync, removeIfThere, temporaryPrefix, writeAll } from "../../../base/files.ts";
import { takePlace } from "../../../base/system/take_place.ts";
import { parentOf } from "../../../base/paths.ts";
import { mayHaveAttributes } from "../../../base/system/libc.ts";
import { sameStamp, type Stamp, stampOf } from "../read.ts";

/** Files up to this size are compared byte by byte before each write, since times are coarse; larger ones when they differ. */
export const ALWAYS_COMPARE_BYTES = 4 * 1024 * 1024;

/** What a file is known to hold. */
export interface Known {
  readonly content: Content;
  readonly stamp: Stamp;
}

export interface WriteOptions {
  /** Asked in the turn of a rename; false leaves the file as it is. */
  readonly mayReplace?: () => boolean;
  /** Called between a look and the act that relies on it, for tests: what happens here must be noticed. */
  readonly between?: () => Promise<void>;
}

/** A file that was taken off its path. Whoever still has it open may write to it. */
export interface Replaced {
  readonly stamp: Stamp;
  readonly old: Deno.FsFile;
  /** Of the old file, as it is without a name. */
  readonly oldStamp: Stamp;
}

/**
 * Replaces a file by a new one of the same mode, owner and extended attributes: written beside it, made durable,
 * then renamed. Answers null, with nothing changed, when the file is no longer what is known of it or `mayReplace` says
 * no. The old file is handed over open. Throws what the system throws.
 */
export async function replaceFile(
  path: string,
  content: Content,
  known: Known,
  { mayReplace = () => true, between }: WriteOptions = {},
): Promise<Replaced | null> {
  const folder = parentOf(path);
  const temporary = `${folder}/${temporaryPrefix(path)}${crypto.randomUUID().slice(0, 8)}.tmp`;
  const old = await Deno.open(path);
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
      // Renaming changes the times of the file itself, so the stamp is taken after it.
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
 * Changes the bytes of a file from the first that differs. Not atomic: the caller keeps both texts until it ends.
 * Answers null when the file is no longer what is known of it, before with nothing written, or after the write.
 */
export async function overwriteFile(
  path: string,
  known: Known,
  bytes: Uint8Array,
  { between }: WriteOptions = {},
): Promise<Stamp | null> {
  using file = await Deno.open(path, { read: true, write: true });
  await between?.();
  if (!isStill(path, file, known)) return null;
  putSync(file, commonPrefix(known.content.bytes, bytes), contentOf(bytes));
  await file.sync();
  await between?.();
  return isWritten(path, file, contentOf(bytes));
}

/**
 * Changes the end of a file step by step, where `content` goes on longer than what is known; answers like `overwriteFile`.
 * Should the program be ended meanwhile, the file ends behind a step. On a full disk the old end is put back before the
 * error is thrown.
 */
export async function extendFile(
  path: string,
  known: Known,
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

/** Bytes that are handed to the system at a time. */
const BATCH_BYTES = 1 << 20;

/** Writes all of a content; the many small pieces of a document go out together, through one buffer. */
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

/** Writes the content from byte `at` on into a file and truncates it there. */
function putSync(file: Deno.FsFile, at: number, content: Content): void {
  file.seekSync(at, Deno.SeekMode.Start);
  for (const part of content.parts(at)) writeAllSync(file, part);
  cutTo(file, content.byteLength);
}

function writeAllSync(file: Deno.FsFile, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) done += file.writeSync(bytes.subarray(done));
}

function cutTo(file: Deno.FsFile, length: number): void {
  if (file.statSync().size !== length) file.truncateSync(length);
}

/** Whether an open file is the one at `path`, and holds what is known. */
function isStill(path: string, file: Deno.FsFile, known: Known): boolean {
  const there = Deno.statSync(path);
  const opened = file.statSync();
  if (there.ino !== opened.ino || there.dev !== opened.dev || opened.size !== known.content.byteLength) {
    return false;
  }
  if (sameStamp(stampOf(opened), known.stamp) && opened.size > ALWAYS_COMPARE_BYTES) return true;
  return sameBytes(readAllSync(file), known.content.bytes);
}

/** The stamp of a file that was just written, unless somebody else wrote to it or took its place meanwhile. */
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
      // The owner is kept where permitted; a file of somebody else in a folder of ours becomes ours.
      if (!(thrown instanceof Deno.errors.PermissionDenied)) throw thrown;
    }
  }
  await copyExtendedAttributes(from, to);
  if (old.mode !== null) Deno.chmodSync(to, old.mode & 0o7777);
}

/**
 * The runtime knows no extended attributes; coreutils does. Best effort: not every system or folder has them, and nearly no
 * document, for which starting a program would be half of what a write takes.
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
    // Some file systems refuse to sync a folder; the rename itself has happened.
    if (thrown instanceof Deno.errors.NotFound) throw thrown;
  }
}

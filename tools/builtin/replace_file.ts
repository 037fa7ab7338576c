// Replacing the content of a file: who may, in which order, and so that the old content survives any failure
// (tools 8.3, sandbox 8).

import { sameBytes } from "../../base/bytes.ts";
import { readAllSync, removeIfThere, settled, takePlace, writeAll } from "../../base/files.ts";
import { parentOf } from "../../base/paths.ts";
import { isSystemFile, isSystemPath } from "../../base/reading.ts";
import { realPath } from "../../sandbox/paths/real_path.ts";
import type { ExecutionContext } from "../definition.ts";
import { FileFailure, folderSentence, leading } from "./file_failures.ts";
import { lockForWriting, temporaryIn, type WriteLock } from "./write_lock.ts";

/** Content of a file and what it was when it was read. */
export interface Snapshot {
  readonly bytes: Uint8Array;
  readonly info: Deno.FileInfo;
}

const waiting = new Map<string, Promise<unknown>>();

/**
 * Runs `work` with the real path of a target after all earlier work on that path, of this run and of all others, so that
 * two edits both survive. The place in the line is taken before this function returns its promise.
 *
 * Rejects with a FileFailure when the target may not be written; nothing has been made then.
 */
export function inOrder<T>(
  path: string,
  context: ExecutionContext,
  work: (real: string, lock: WriteLock) => Promise<T>,
): Promise<T> {
  const place = realTarget(path, context) ?? "";
  const before = waiting.get(place) ?? Promise.resolve();
  const result = before.then(async () => {
    const real = writableTarget(path, context);
    const lock = await lockForWriting(real, context.environment, context.signal);
    try {
      // While this call waited for another run, the path may have become another one.
      if (writableTarget(path, context) !== real) throw new FileFailure(changedSentence(path));
      return await work(real, lock);
    } finally {
      lock.release();
    }
  });
  const settled = result.catch(() => undefined);
  waiting.set(place, settled);
  settled.then(() => {
    if (waiting.get(place) === settled) waiting.delete(place);
  });
  return result;
}

function realTarget(path: string, context: ExecutionContext): string | null {
  return realPath(context.path.resolve(path), context.environment.cwd);
}

/** The real path to write to, judged at the time of writing: a link may have changed while this call waited. */
function writableTarget(path: string, context: ExecutionContext): string {
  const real = realTarget(path, context);
  if (real === null) {
    throw new FileFailure(nowhereSentence(path));
  }
  if (/\/\.{0,2}$/.test(path)) {
    throw new FileFailure(`The path ${path} names a folder; tools write files only.`);
  }
  if (isSystemPath(real)) throw new FileFailure(systemSentence(path));
  if (isRunningDocument(real, context)) {
    throw new FileFailure(`${path} is the document of this conversation; tools may not write to it.`);
  }
  if (!context.sandbox.isPathWritable(real)) {
    throw new FileFailure(
      `Sandbox: ${
        leading(path, real, context)
      } is not writable for tools; choose a path in a writable folder.`,
    );
  }
  return real;
}

/** What is said of a path that `realPath` has no answer for. */
export function nowhereSentence(path: string): string {
  return path.includes("\0")
    ? "The path holds a NUL character, which no file has in its name."
    : `The path ${path} leads nowhere: its links lead in a circle, or there are too many of them.`;
}

/** The content of a file that may be changed, with what it was; a FileFailure for everything that is no regular file. */
export async function takeSnapshot(real: string, shown: string): Promise<Snapshot> {
  const info = await Deno.lstat(real);
  refuseIrregular(real, info, shown);
  return { bytes: await Deno.readFile(real), info };
}

/** The same for a file that may not be there yet: null then. */
export async function snapshotOrNone(real: string, shown: string): Promise<Snapshot | null> {
  try {
    return await takeSnapshot(real, shown);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return null;
    throw thrown;
  }
}

function refuseIrregular(real: string, info: Deno.FileInfo, shown: string): void {
  if (info.isDirectory) throw new FileFailure(folderSentence(shown));
  if (!info.isFile) throw new FileFailure(`${shown} is not a regular file.`);
  if (isSystemFile(real, info)) throw new FileFailure(systemSentence(shown));
}

/** Also where no sandbox says so: they are switches of the kernel, and what they hold is no text of anybody (S7). */
function systemSentence(shown: string): string {
  return `Sandbox: ${shown} is a file of the system; tools leave these alone.`;
}

function isRunningDocument(real: string, { document, environment }: ExecutionContext): boolean {
  if (document === null) return false;
  if (realPath(document, environment.cwd) === real) return true;
  const own = status(document);
  const other = status(real);
  return own !== null && other !== null && own.ino !== null && own.ino === other.ino && own.dev === other.dev;
}

function status(path: string): Deno.FileInfo | null {
  try {
    return Deno.statSync(path);
  } catch {
    return null; // What cannot be looked at is not the document we are running.
  }
}

export interface ReplaceOptions {
  /** Whether policy lets a temporary file stand at this path, beside the target. */
  mayWrite(path: string): boolean;
  /** What the target was when it was read, null where there was none: any change since then is a failure. */
  readonly since: Snapshot | null;
  /** Told the temporary file before it is made. */
  note(temporary: string): void;
  /** Called between the last look and the act, for tests. */
  readonly between?: () => Promise<void>;
  /** How the model wrote the path, for sentences. */
  readonly shownAs: string;
}

/**
 * Makes `bytes` the whole content of a file, or makes the file. `real` is a real path; its last component is
 * never followed. Mode, owner and hard links stay. Until the new content is complete and on disk the old one
 * is in place: by a temporary file and a rename, or, where neither the folder nor the links of the file allow
 * that, by writing over it and putting the old bytes back on failure. Rejects when that is not possible.
 */
export async function replaceFile(real: string, bytes: Uint8Array, options: ReplaceOptions): Promise<void> {
  const before = await lookAt(real);
  if (before !== null) {
    refuseIrregular(real, before, options.shownAs);
    // A file that forbids writing must not be replaced by way of its folder.
    (await Deno.open(real, { write: true })).close();
  }
  if ((before === null) !== (options.since === null)) throw new FileFailure(changedSentence(options.shownAs));
  if (before === null) await Deno.mkdir(parentOf(real), { recursive: true });
  const temporary = temporaryIn(parentOf(real));
  const mustStay = before !== null && (before.nlink ?? 1) > 1;
  if (!mustStay && options.mayWrite(temporary)) {
    options.note(temporary);
    if (await replaceByRename(real, bytes, before, temporary, options)) return;
  }
  await writeInPlace(real, bytes, before, options);
}

async function lookAt(path: string): Promise<Deno.FileInfo | null> {
  try {
    return await Deno.lstat(path);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return null;
    throw thrown;
  }
}

function changedSentence(shown: string): string {
  return `The file ${shown} was changed by someone else meanwhile. Read it again.`;
}

/** The file that is about to be taken off its path, open, so that a late save into it is seen. */
interface Old {
  readonly file: Deno.FsFile;
  /** What was read of it. */
  readonly bytes: Uint8Array;
}

/** Whether the file at a path is the open one and holds what was read; without one, whether nothing is there. */
function isStill(real: string, old: Old | null): boolean {
  let there: Deno.FileInfo;
  try {
    there = Deno.lstatSync(real);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return old === null;
    throw thrown;
  }
  if (old === null) return false;
  const opened = old.file.statSync();
  return there.ino === opened.ino && there.dev === opened.dev && sameBytes(readAllSync(old.file), old.bytes);
}

/** False when the folder or the owner does not allow this way; the target is untouched then. */
async function replaceByRename(
  real: string,
  bytes: Uint8Array,
  before: Deno.FileInfo | null,
  temporary: string,
  { since, shownAs, between }: ReplaceOptions,
): Promise<boolean> {
  // Before there is anything to take away again: the file may have been renamed meanwhile.
  const old = since === null ? null : { file: await Deno.open(real), bytes: since.bytes };
  let file: Deno.FsFile;
  try {
    file = await Deno.open(temporary, {
      write: true,
      createNew: true,
      // A new file gets what the umask leaves; the content of an old one is private until its mode is known.
      mode: before === null ? 0o666 : 0o600,
    });
  } catch (thrown) {
    old?.file.close();
    if (before !== null && forbidsSiblings(thrown)) return false;
    throw thrown;
  }
  let renamed = false;
  try {
    try {
      await writeAll(file, bytes);
      await file.sync();
    } finally {
      file.close();
    }
    if (before !== null && !await takeOver(temporary, before)) return false;
    // The folder must still be the one that was judged: a link in its place would lead elsewhere.
    const folder = parentOf(real);
    if (realPath(folder, "/") !== folder) {
      throw new FileFailure(`The folder ${folder} was replaced meanwhile.`);
    }
    await between?.();
    if (!isStill(real, old)) throw new FileFailure(changedSentence(shownAs));
    try {
      if (!takePlace(temporary, real, old?.file.statSync() ?? null)) {
        throw new FileFailure(changedSentence(shownAs));
      }
    } catch (thrown) {
      // A mount point takes no other file in its place, but new content.
      if (before !== null && isBusy(thrown)) return false;
      throw thrown;
    }
    renamed = true;
    await between?.();
    if (old !== null) await putBackLateSave(real, old, shownAs);
    return true;
  } finally {
    old?.file.close();
    if (!renamed) await removeIfThere(temporary);
  }
}

/**
 * Somebody who opened the old file before it was replaced may have written to it afterwards. Their text is what they
 * think is saved: it goes back, and the model reads it again.
 */
async function putBackLateSave(real: string, { file, bytes }: Old, shownAs: string): Promise<void> {
  if (sameBytes(readAllSync(file), bytes)) return;
  const text = await settled(() => Promise.resolve(readAllSync(file)), bytes);
  if (text === null || sameBytes(text, bytes.subarray(0, text.length))) return;
  await Deno.writeFile(real, text, { create: false });
  throw new FileFailure(changedSentence(shownAs));
}

function isBusy(thrown: unknown): boolean {
  return thrown instanceof Deno.errors.Busy || /\(os error (16|18)\)/.test(String(thrown));
}

/** A folder that takes no new file, by its mode or because only the file itself is mounted for writing. */
function forbidsSiblings(thrown: unknown): boolean {
  return thrown instanceof Deno.errors.PermissionDenied || /\(os error 30\)/.test(String(thrown));
}

/** Gives a file the owner and mode of another; false when the owner cannot be kept. */
async function takeOver(path: string, from: Deno.FileInfo): Promise<boolean> {
  const own = await Deno.lstat(path);
  if (own.uid !== from.uid || own.gid !== from.gid) {
    try {
      await Deno.chown(path, from.uid, from.gid);
    } catch (thrown) {
      if (thrown instanceof Deno.errors.PermissionDenied) return false;
      throw thrown;
    }
  }
  if (from.mode !== null) await Deno.chmod(path, from.mode & 0o7777);
  return true;
}

const NOTHING = new Uint8Array();

/**
 * Writes over the file itself. Only node's `open` can refuse to follow a link, and it is loaded only on this
 * rare way.
 */
async function writeInPlace(
  real: string,
  bytes: Uint8Array,
  before: Deno.FileInfo | null,
  { since, shownAs, between }: ReplaceOptions,
): Promise<void> {
  const fs = await import("node:fs");
  const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = fs.constants;
  const file = fs.openSync(real, before === null ? O_RDWR | O_CREAT | O_EXCL : O_RDWR | O_NOFOLLOW, 0o666);
  await between?.();
  const put = (content: Uint8Array): void => {
    for (let at = 0; at < content.length;) at += fs.writeSync(file, content, at, content.length - at, at);
    fs.ftruncateSync(file, content.length);
    fs.fsyncSync(file);
  };
  try {
    const old = new Uint8Array(fs.fstatSync(file).size);
    for (let at = 0, count = 1; at < old.length && count > 0; at += count) {
      count = fs.readSync(file, old, at, old.length - at, at);
    }
    const there = fs.lstatSync(real, { throwIfNoEntry: false });
    const same = there?.ino === fs.fstatSync(file).ino && sameBytes(old, since?.bytes ?? NOTHING);
    if (!same) throw new FileFailure(changedSentence(shownAs));
    try {
      put(bytes);
    } catch (thrown) {
      // The old blocks are still the file's own, so putting them back needs no room.
      put(old);
      throw thrown;
    }
  } finally {
    fs.closeSync(file);
  }
}

// Replacing the content of a file: who may, in which order, and so that the old content survives any failure
// (tools 8.3, sandbox 8).

import { writeAll } from "../../base/files.ts";
import { parentOf } from "../../base/paths.ts";
import { isSystemFile, isSystemPath } from "../../base/reading.ts";
import { realPath } from "../../sandbox/paths/real_path.ts";
import type { ExecutionContext } from "../definition.ts";
import { FileFailure, folderSentence } from "./file_failures.ts";

/** Content of a file and what it was when it was read. */
export interface Snapshot {
  readonly bytes: Uint8Array;
  readonly info: Deno.FileInfo;
}

const waiting = new Map<string, Promise<unknown>>();

/**
 * Runs `work` with the real path of a target after all earlier work on that path, so that two edits of one turn
 * both survive. The place in the line is taken before this function returns its promise.
 *
 * Rejects with a FileFailure when the target may not be written; nothing has been made then.
 */
export function inOrder<T>(
  path: string,
  context: ExecutionContext,
  work: (real: string) => Promise<T>,
): Promise<T> {
  const place = realTarget(path, context) ?? "";
  const before = waiting.get(place) ?? Promise.resolve();
  const result = before.then(() => work(writableTarget(path, context)));
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
    throw new FileFailure(`The path ${path} leads nowhere: too many links, or a NUL character.`);
  }
  if (isSystemPath(real)) throw new FileFailure(systemSentence(path));
  if (isRunningDocument(real, context)) {
    throw new FileFailure(`${path} is the document of this conversation; tools may not write to it.`);
  }
  if (!context.sandbox.isPathWritable(real)) {
    throw new FileFailure(`Sandbox: ${path} is not writable for tools; choose a path in a writable folder.`);
  }
  return real;
}

/** The content of a file that may be changed, with what it was; a FileFailure for everything that is no regular file. */
export async function takeSnapshot(real: string, shown: string): Promise<Snapshot> {
  const info = await Deno.lstat(real);
  refuseIrregular(real, info, shown);
  return { bytes: await Deno.readFile(real), info };
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
  /** What the target was when it was read: a change since then is a failure. */
  readonly since?: Deno.FileInfo;
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
  if (before === null) {
    await Deno.mkdir(parentOf(real), { recursive: true });
  } else {
    refuseIrregular(real, before, options.shownAs);
    // A file that forbids writing must not be replaced by way of its folder.
    (await Deno.open(real, { write: true })).close();
  }
  if (options.since !== undefined && !isSameState(before, options.since)) {
    throw new FileFailure(
      `The file ${options.shownAs} was changed by someone else meanwhile. Read it again.`,
    );
  }
  const temporary = `${parentOf(real)}/.flemma-${crypto.randomUUID()}`;
  const mustStay = before !== null && (before.nlink ?? 1) > 1;
  if (!mustStay && options.mayWrite(temporary)) {
    if (await replaceByRename(real, bytes, before, temporary)) return;
  }
  await writeInPlace(real, bytes, before);
}

async function lookAt(path: string): Promise<Deno.FileInfo | null> {
  try {
    return await Deno.lstat(path);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return null;
    throw thrown;
  }
}

function isSameState(now: Deno.FileInfo | null, then: Deno.FileInfo): boolean {
  return now !== null && now.ino === then.ino && now.size === then.size &&
    now.mtime?.getTime() === then.mtime?.getTime();
}

/** False when the folder or the owner does not allow this way; the target is untouched then. */
async function replaceByRename(
  real: string,
  bytes: Uint8Array,
  before: Deno.FileInfo | null,
  temporary: string,
): Promise<boolean> {
  let file: Deno.FsFile;
  try {
    file = await Deno.open(temporary, {
      write: true,
      createNew: true,
      // A new file gets what the umask leaves; the content of an old one is private until its mode is known.
      mode: before === null ? 0o666 : 0o600,
    });
  } catch (thrown) {
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
    await Deno.rename(temporary, real);
    renamed = true;
    return true;
  } finally {
    if (!renamed) await Deno.remove(temporary);
  }
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

/**
 * Writes over the file itself. Only node's `open` can refuse to follow a link, and it is loaded only on this
 * rare way.
 */
async function writeInPlace(real: string, bytes: Uint8Array, before: Deno.FileInfo | null): Promise<void> {
  const fs = await import("node:fs");
  const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = fs.constants;
  const file = fs.openSync(real, before === null ? O_RDWR | O_CREAT | O_EXCL : O_RDWR | O_NOFOLLOW, 0o666);
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

// Replaces the content of a file so that the old content survives any failure. The parent folder stays open from the
// first check to the last operation.

import { sameBytes } from "../../base/bytes.ts";
import { writeAllSync } from "../../base/files.ts";
import { readAllSync } from "../../base/system/regular_file.ts";
import { readSettled } from "../../base/system/settled.ts";
import { takePlace } from "../../base/system/take_place.ts";
import { baseName, parentOf } from "../../base/paths.ts";
import { Exchanged, FileFailure, folderSentence, systemSentence } from "../../base/disk/failures.ts";
import { type FileSystemAccess, type FolderAccess, OWN_ACCESS } from "../../base/disk/folder_access.ts";

/** Content of a file, and its file information when it was read. */
export interface Snapshot {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly info: Deno.FileInfo;
}

/** An open folder. */
interface FolderHandle {
  /** Returns a path for a name in the folder. */
  readonly at: (name: string) => string;
  /** Throws if the path leads to another folder now. */
  readonly verify: () => void;
  readonly isSystem: FileSystemAccess["isSystem"];
}

/** Reads a file that may be changed; throws a FileFailure for everything that is not a regular file. */
export function takeSnapshot(real: string, shown: string, access: FileSystemAccess = OWN_ACCESS): Snapshot {
  return access.folderAccess.within(parentOf(real), (at) => {
    const info = Deno.lstatSync(at(baseName(real)));
    refuseIrregular(real, info, shown, access.isSystem);
    using file = openOne(at(baseName(real)), info, { read: true });
    return { bytes: readAllSync(file), info };
  });
}

/** Does the same as `takeSnapshot`, but returns null if the file does not exist. */
export function snapshotOrNone(
  real: string,
  shown: string,
  access: FileSystemAccess = OWN_ACCESS,
): Snapshot | null {
  try {
    return takeSnapshot(real, shown, access);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return null;
    throw thrown;
  }
}

function refuseIrregular(
  real: string,
  info: Deno.FileInfo,
  shown: string,
  isSystem: FileSystemAccess["isSystem"],
): void {
  if (info.isDirectory) throw new FileFailure(folderSentence(shown));
  if (!info.isFile) throw new FileFailure(`${shown} is not a regular file.`);
  if (isSystem(real, info)) throw new FileFailure(systemSentence(shown));
}

/** Opens exactly the file that was checked, and never follows a link. */
function openOne(path: string, seen: Deno.FileInfo, options: Deno.OpenOptions): Deno.FsFile {
  const file = Deno.openSync(path, options);
  const { dev, ino } = file.statSync();
  if (dev === seen.dev && ino === seen.ino) return file;
  file.close();
  throw new Exchanged(path);
}

export interface ReplaceOptions {
  /** Name of a temporary file next to the target; null if policy does not allow one there. */
  readonly temporary: string | null;
  /** State of the target when it was read, null if it did not exist: any change since then is a failure. */
  readonly since: Snapshot | null;
  /** The path as the model wrote it, for messages. */
  readonly shownAs: string;
  /** Called at the point from which on the work must not be interrupted. */
  readonly overwriting?: () => void;
  /** Called between the last check and the operation, for tests. */
  readonly between?: () => void;
}

/**
 * Writes `bytes` as the whole content of a file, or creates the file. `real` is a real path; a link at its last
 * component is never followed. Mode, owner and hard links stay.
 *
 * Until the new content is complete and on disk, the old content stays in place. This uses a temporary file and a
 * rename. If the folder, or hard links to the file, do not allow that, the file itself is overwritten, and the old
 * bytes are restored on failure. Rejects if neither is possible.
 */
export async function replaceFile(
  real: string,
  bytes: Uint8Array,
  options: ReplaceOptions,
  access: FileSystemAccess = OWN_ACCESS,
): Promise<void> {
  const { folderAccess, isSystem } = access;
  const folder = parentOf(real);
  if (options.since === null) makeFolders(folder, folderAccess);
  const old = folderAccess.within(
    folder,
    (at, verify) => replaceInFolder({ at, verify, isSystem }, real, bytes, options),
  );
  if (old === null) return;
  try {
    options.between?.();
    await putBackLateSave(real, old, options.shownAs, folderAccess);
  } finally {
    old.file.close();
  }
}

/** Creates missing folders, each inside an open one. */
function makeFolders(folder: string, folderAccess: FolderAccess): void {
  try {
    folderAccess.within(folder, (at) => Deno.lstatSync(at(".")));
    return;
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound) || folder === "/") throw thrown;
  }
  makeFolders(parentOf(folder), folderAccess);
  try {
    folderAccess.within(parentOf(folder), (at) => Deno.mkdirSync(at(baseName(folder))));
  } catch (thrown) {
    // Another process created the folder. The next check shows what is at the path.
    if (!(thrown instanceof Deno.errors.AlreadyExists)) throw thrown;
  }
}

/**
 * Returns the old file, still open. Null if there was no old file, or if the new content was written into the old file
 * itself.
 */
function replaceInFolder(
  handle: FolderHandle,
  real: string,
  bytes: Uint8Array,
  options: ReplaceOptions,
): Old | null {
  const path = handle.at(baseName(real));
  const before = inspectPath(path);
  if (before !== null) {
    refuseIrregular(real, before, options.shownAs, handle.isSystem);
    // Opening the file for writing fails if its mode forbids writing. Such a file must not be replaced, even if its
    // folder allows that.
    openOne(path, before, { write: true }).close();
  }
  if ((before === null) !== (options.since === null)) throw new FileFailure(changedSentence(options.shownAs));
  const mustStay = before !== null && (before.nlink ?? 1) > 1;
  if (!mustStay && options.temporary !== null) {
    const replaced = replaceByRename(path, bytes, before, handle.at(options.temporary), {
      ...options,
      verify: handle.verify,
    });
    if (replaced !== false) return replaced;
  }
  writeInPlace(path, bytes, before, options);
  return null;
}

function inspectPath(path: string): Deno.FileInfo | null {
  try {
    return Deno.lstatSync(path);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return null;
    throw thrown;
  }
}

/** Message if another process changed the file first. */
export function changedSentence(shown: string): string {
  return `${shown} changed while the tool was working on it. Read it again.`;
}

/**
 * The file that is about to be replaced. It stays open, so that a later write of another process into it is detected.
 */
interface Old {
  readonly file: Deno.FsFile;
  /** The content that was read. */
  readonly bytes: Uint8Array;
}

/**
 * True if the path still leads to the open file with the content that was read. Without an old file, true if nothing
 * is at the path.
 */
function isStill(path: string, old: Old | null): boolean {
  const there = inspectPath(path);
  if (there === null || old === null) return there === old;
  const opened = old.file.statSync();
  return there.ino === opened.ino && there.dev === opened.dev && sameBytes(readAllSync(old.file), old.bytes);
}

/**
 * Replaces a file by a rename, with the result of `replaceInFolder`. Returns false if the folder or the owner does not
 * allow a rename; then the target is untouched.
 */
function replaceByRename(
  path: string,
  bytes: Uint8Array,
  before: Deno.FileInfo | null,
  temporary: string,
  { since, shownAs, between, verify }: ReplaceOptions & Pick<FolderHandle, "verify">,
): Old | null | false {
  // The target is checked before anything is created that would need cleaning up, because the file may have been
  // renamed meanwhile.
  const old = since === null || before === null
    ? null
    : { file: openOne(path, before, { read: true }), bytes: since.bytes };
  let file: Deno.FsFile;
  try {
    file = Deno.openSync(temporary, {
      write: true,
      createNew: true,
      // A new file gets the mode of the umask; a replacement stays private until the old file's mode is applied.
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
      writeAllSync(file, bytes);
      file.syncSync();
    } finally {
      file.close();
    }
    if (before !== null && !takeOver(temporary, before)) return false;
    verify();
    between?.();
    if (!isStill(path, old)) throw new FileFailure(changedSentence(shownAs));
    try {
      if (!takePlace(temporary, path, old?.file.statSync() ?? null)) {
        throw new FileFailure(changedSentence(shownAs));
      }
    } catch (thrown) {
      // A mount point cannot be replaced by another file, but its content can.
      if (before !== null && isBusy(thrown)) return false;
      throw thrown;
    }
    renamed = true;
    return old;
  } finally {
    if (!renamed) {
      old?.file.close();
      removeTemporary(temporary);
    }
  }
}

function removeTemporary(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
  }
}

/**
 * A process that opened the old file before the replacement may have written to it afterwards. The user of that
 * process believes that the text is saved, so the text is put back, and the model reads it again.
 */
async function putBackLateSave(
  real: string,
  { file, bytes }: Old,
  shownAs: string,
  folderAccess: FolderAccess,
): Promise<void> {
  if (sameBytes(readAllSync(file), bytes)) return;
  const text = await readSettled(() => Promise.resolve(readAllSync(file)), bytes);
  if (text === null || sameBytes(text, bytes.subarray(0, text.length))) return;
  folderAccess.within(parentOf(real), (at) => {
    const path = at(baseName(real));
    using now = openOne(path, Deno.lstatSync(path), { write: true });
    now.truncateSync(0);
    writeAllSync(now, text);
  });
  throw new FileFailure(changedSentence(shownAs));
}

function isBusy(thrown: unknown): boolean {
  return thrown instanceof Deno.errors.Busy || /\(os error (16|18)\)/.test(String(thrown));
}

/** True if a folder accepts no new file, because of its mode or because only the file itself is mounted writable. */
function forbidsSiblings(thrown: unknown): boolean {
  return thrown instanceof Deno.errors.PermissionDenied || /\(os error 30\)/.test(String(thrown));
}

/** Gives a file the owner and mode of another file. Returns false if the owner cannot be set. */
function takeOver(path: string, from: Deno.FileInfo): boolean {
  const own = Deno.lstatSync(path);
  if (own.uid !== from.uid || own.gid !== from.gid) {
    try {
      Deno.chownSync(path, from.uid, from.gid);
    } catch (thrown) {
      // In a user namespace, the owner may be a user of the host who has no id inside.
      if (thrown instanceof Deno.errors.PermissionDenied || /\(os error 22\)/.test(String(thrown))) {
        return false;
      }
      throw thrown;
    }
  }
  if (from.mode !== null) Deno.chmodSync(path, from.mode & 0o7777);
  return true;
}

const NOTHING = new Uint8Array();

/** Overwrites the file itself. */
function writeInPlace(
  path: string,
  bytes: Uint8Array,
  before: Deno.FileInfo | null,
  { since, shownAs, between, overwriting }: ReplaceOptions,
): void {
  using file = before === null
    ? Deno.openSync(path, { read: true, write: true, createNew: true, mode: 0o666 })
    : openOne(path, before, { read: true, write: true });
  between?.();
  const put = (content: Uint8Array): void => {
    file.seekSync(0, Deno.SeekMode.Start);
    writeAllSync(file, content);
    file.truncateSync(content.length);
    file.syncSync();
  };
  const old = readAllSync(file);
  const there = inspectPath(path);
  const { dev, ino } = file.statSync();
  const same = there?.ino === ino && there.dev === dev && sameBytes(old, since?.bytes ?? NOTHING);
  if (!same) throw new FileFailure(changedSentence(shownAs));
  overwriting?.();
  try {
    put(bytes);
  } catch (thrown) {
    // The file still owns its old blocks, so restoring the old content needs no space.
    put(old);
    throw thrown;
  }
}

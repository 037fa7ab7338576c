// What every room does with files: looking whether one is there, reading one, writing one whole, taking one away.

import { cutName, nameOf, parentOf } from "./paths.ts";
import { thrownText } from "./problem.ts";
import { isSameFile, takePlace } from "./system/take_place.ts";

/** Whether an error says that there is nothing at a path, be it that a file stands where one of its folders should be. */
export function isMissing(thrown: unknown): boolean {
  return thrown instanceof Deno.errors.NotFound || thrown instanceof Deno.errors.NotADirectory;
}

/**
 * What stands in the way to a file that is not there: a link that leads nowhere, or a file where its folder should be;
 * null when the file or its folder was simply never made.
 */
export function whyNothingIsThere(path: string): string | null {
  for (let at = path; at !== "/"; at = parentOf(at)) {
    try {
      if (Deno.lstatSync(at).isSymlink && leadsNowhere(at)) {
        return `${at} is a link to ${Deno.readLinkSync(at)}, which is not there`;
      }
      return at === path || Deno.statSync(at).isDirectory ? null : `${at} is no folder`;
    } catch (thrown) {
      if (!isMissing(thrown)) return thrownText(thrown);
    }
  }
  return null;
}

function leadsNowhere(link: string): boolean {
  try {
    Deno.statSync(link);
    return false;
  } catch (thrown) {
    if (isMissing(thrown)) return true;
    throw thrown;
  }
}

/** Whether anything stands at a path. */
export function isThere(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (thrown) {
    if (isMissing(thrown)) return false;
    throw thrown;
  }
}

/** Whether anything stands at a path that can be looked at. */
export function canBeSeen(path: string): boolean {
  try {
    return isThere(path);
  } catch {
    return false;
  }
}

/** Whether something may stand at a path: what cannot even be looked at counts, since whoever opens it says why. */
export function mayBeThere(path: string): boolean {
  try {
    return isThere(path);
  } catch {
    return true;
  }
}

/** Removes a file; nothing happens when there is none. */
export async function removeIfThere(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch (thrown) {
    if (!isMissing(thrown)) throw thrown;
  }
}

/** Writes all bytes to a file or a connection, which may take them in pieces. */
export async function writeAll(
  to: { write(bytes: Uint8Array): Promise<number> },
  bytes: Uint8Array,
): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await to.write(bytes.subarray(at));
}

/** Writes a new file durably; fails when one of that name exists, and leaves none when it cannot be written whole. */
export async function createFile(path: string, bytes: Uint8Array, mode = 0o600): Promise<void> {
  using file = await Deno.open(path, { createNew: true, write: true, mode });
  try {
    await writeAll(file, bytes);
    await file.sync();
  } catch (thrown) {
    await Deno.remove(path);
    throw thrown;
  }
}

/** Most bytes of a document's name in the name of its temporary file, which has to fit into what a name may have. */
const NAME_BYTES = 200;

/** The beginning of the names that temporary files of a document have. */
export function temporaryPrefix(path: string): string {
  return `.${cutName(nameOf(path), NAME_BYTES)}.`;
}

/**
 * Makes a new file durably, all of it or nothing: it is written under another name, and gets its own once it is whole. Throws
 * `AlreadyExists` when there is one of that name.
 */
export async function makeFile(path: string, bytes: Uint8Array, mode: number): Promise<void> {
  if (isThere(path)) throw new Deno.errors.AlreadyExists(path);
  // The system takes from this mode what the person's umask takes.
  await throughTemporary(`${folderPrefix(path)}${temporaryPrefix(path)}`, mode, async (temporary, file) => {
    await writeAll(file, bytes);
    await file.sync();
    if (!takePlace(temporary, path, null)) throw new Deno.errors.AlreadyExists(path);
  });
}

/**
 * Puts a file of ours in place of what stands at `path`, for this person alone (mode 0600) unless a mode is given: written beside
 * it under a name of its own, then renamed, so that nobody reads a part of it. For what matters after a crash of the machine it
 * is `durable` before it is renamed. A document is replaced otherwise (cycle/storage/disk/write.ts): it keeps mode and owner.
 */
export async function replaceSmallFile(
  path: string,
  bytes: Uint8Array,
  { durable, mode, begin = `${nameOf(path)}.` }: {
    readonly durable: boolean;
    readonly mode?: number;
    /** How the name of its own begins. @default the name and a full stop */
    readonly begin?: string;
  },
): Promise<void> {
  await throughTemporary(`${folderPrefix(path)}${begin}`, 0o600, async (temporary, file) => {
    await writeAll(file, bytes);
    if (durable) await file.sync();
    if (mode !== undefined && Deno.build.os !== "windows") await Deno.chmod(temporary, mode);
    await Deno.rename(temporary, path);
  });
}

/**
 * Writes a person's file anew, whole and durably: behind a link where there is one, its mode as it was. Where the file has another
 * name each time, `begin` says how that of its temporary file begins, by which what a killed writer left is found.
 */
export async function rewriteFile(
  path: string,
  content: string | Uint8Array<ArrayBuffer>,
  begin?: string,
): Promise<void> {
  const real = await Deno.realPath(path).catch(() => path);
  const mode = await Deno.stat(real).then(({ mode }) => mode, () => null);
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  await replaceSmallFile(real, bytes, { durable: true, mode: (mode ?? 0o644) & 0o777, begin });
}

/**
 * Lets `use` write a new file of its own and give it its name. The file is locked as long as its writer lives, so that what one
 * that was killed left under such a name is known, and goes before.
 *
 * @param prefix path with the beginning of the name
 */
async function throughTemporary(
  prefix: string,
  mode: number,
  use: (path: string, file: Deno.FsFile) => Promise<void>,
): Promise<void> {
  removeAbandoned(prefix);
  for (;;) {
    const path = `${prefix}${crypto.randomUUID().slice(0, 8)}.tmp`;
    using file = Deno.openSync(path, { createNew: true, write: true, mode });
    // Somebody who clears away may have taken it for abandoned before it was locked.
    if (!isLocked(file) || !isAt(file, path)) continue;
    try {
      return await use(path, file);
    } finally {
      // What forbids the writing may forbid this as well; the first reason is the one to tell.
      await removeIfThere(path).catch(() => {});
    }
  }
}

/** Removes temporary files whose writers are gone. What cannot be removed stays: it is in nobody's way. */
function removeAbandoned(prefix: string): void {
  const folder = folderPrefix(prefix);
  const begins = prefix.slice(folder.length);
  for (const name of namesIn(folder)) {
    if (!name.startsWith(begins) || !TEMPORARY.test(name.slice(begins.length))) continue;
    const path = `${folder}${name}`;
    try {
      if (!Deno.lstatSync(path).isFile) continue;
      using file = Deno.openSync(path);
      if (file.tryLockSync(true) && isAt(file, path)) Deno.removeSync(path);
    } catch {
      // Gone meanwhile, somebody else's, or on a file system without locks.
    }
  }
}

const TEMPORARY = /^[0-9a-f]{8}\.tmp$/;

/** The names in a folder; none where it cannot be read, which need not hinder anybody who writes there. */
function namesIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => name);
  } catch {
    return [];
  }
}

/** Locks a file; false when somebody else did. On a file system without locks nobody looks for one. */
function isLocked(file: Deno.FsFile): boolean {
  try {
    return file.tryLockSync(true);
  } catch {
    return true;
  }
}

/** Whether an open file still stands at the path. */
function isAt(file: Deno.FsFile, path: string): boolean {
  try {
    return isSameFile(Deno.statSync(path), file.statSync());
  } catch (thrown) {
    if (isMissing(thrown)) return false;
    throw thrown;
  }
}

/** The folder of a path, with the slash behind it. */
function folderPrefix(path: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1);
}

/** All of an open file, from its beginning. Throws on failure. */
export function readAllSync(file: Deno.FsFile): Uint8Array<ArrayBuffer> {
  file.seekSync(0, Deno.SeekMode.Start);
  let buffer = new Uint8Array(file.statSync().size + 1);
  let length = 0;
  while (true) {
    const got = file.readSync(buffer.subarray(length));
    if (got === null) return buffer.subarray(0, length);
    length += got;
    if (length < buffer.length) continue;
    const larger = new Uint8Array(buffer.length * 2);
    larger.set(buffer);
    buffer = larger;
  }
}

/** More than any file of code or settings has. */
const MOST_OF_REGULAR = 64 * 1024 * 1024;

/**
 * The bytes of a file that came with somebody else's folder. What stands there may lead to a device or be a pipe, and reading
 * those never ends. Throws as the system does, and for what is no regular file or larger than 64 MiB.
 */
export async function readRegular(path: string): Promise<Uint8Array<ArrayBuffer>> {
  const { isFile, size } = await Deno.stat(path);
  if (!isFile) throw new Error("it is no regular file");
  if (size > MOST_OF_REGULAR) throw new Error("it is larger than 64 MiB");
  return await Deno.readFile(path);
}

/** The bytes at a path, or null when there is no file. */
export async function readOrNull(path: string): Promise<Uint8Array | null> {
  try {
    return await Deno.readFile(path);
  } catch (thrown) {
    if (isMissing(thrown)) return null;
    throw thrown;
  }
}

// File operations for all folders of the program: check whether a file exists, read it, write it completely, remove it.

import { baseName, cutName, parentOf } from "./paths.ts";
import { thrownText } from "./problem.ts";
import { NotRegularFile, openRegularSync, readRegular } from "./system/regular_file.ts";
import { isSameFile, takePlace } from "./system/take_place.ts";

/** True if an error says that nothing exists at a path, including that one of its folders is a file. */
export function isMissing(thrown: unknown): boolean {
  return thrown instanceof Deno.errors.NotFound || thrown instanceof Deno.errors.NotADirectory;
}

/** True if an error says that something else than a file is at a path: a folder, a device or a circular link. */
export function isNoFile(thrown: unknown): boolean {
  return thrown instanceof NotRegularFile || thrown instanceof Deno.errors.IsADirectory ||
    thrown instanceof Deno.errors.FilesystemLoop;
}

/**
 * Returns what blocks the path of a missing file: a dangling link, or a file in place of a folder. Returns null if
 * nothing blocks the path, so that the file or its folder was simply never created.
 */
export function explainMissing(path: string): string | null {
  for (let at = path; at !== "/"; at = parentOf(at)) {
    try {
      if (Deno.lstatSync(at).isSymlink && leadsNowhere(at)) {
        return `${at} is a symbolic link to ${Deno.readLinkSync(at)}, which does not exist`;
      }
      return at === path || Deno.statSync(at).isDirectory ? null : `${at} is not a folder`;
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

/** True if anything exists at a path. */
export function isThere(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (thrown) {
    if (isMissing(thrown)) return false;
    throw thrown;
  }
}

/** True if anything accessible exists at a path. */
export function canBeSeen(path: string): boolean {
  try {
    return isThere(path);
  } catch {
    return false;
  }
}

/** True if something may exist at a path. This includes an inaccessible path, because opening it reports the reason. */
export function mayBeThere(path: string): boolean {
  try {
    return isThere(path);
  } catch {
    return true;
  }
}

/**
 * Returns the path with all links resolved; null if that is not possible, because it does not exist or is
 * inaccessible.
 */
export function realPathOrNull(path: string): string | null {
  try {
    return Deno.realPathSync(path);
  } catch {
    return null;
  }
}

/** Removes a file; does nothing if it does not exist. */
export async function removeIfThere(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch (thrown) {
    if (!isMissing(thrown)) throw thrown;
  }
}

/** Writes all bytes to a file or a connection, which may accept them in pieces. */
export async function writeAll(
  to: { write(bytes: Uint8Array): Promise<number> },
  bytes: Uint8Array,
): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await to.write(bytes.subarray(at));
}

/** `writeAll` for a synchronous writer. */
export function writeAllSync(to: { writeSync(bytes: Uint8Array): number }, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += to.writeSync(bytes.subarray(at));
}

/** Writes a new file durably; fails if the name exists, and removes the file if it cannot be written completely. */
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

/**
 * Maximum number of bytes of a document's name in the name of its temporary file, which must stay within the limit for
 * names.
 */
const NAME_BYTES = 200;

/** Returns the beginning of the names of a document's temporary files. */
export function temporaryPrefix(path: string): string {
  return `.${cutName(baseName(path), NAME_BYTES)}.`;
}

/** Name of a temporary file that `write` and `edit` put next to their target. */
export function writeTemporary(): string {
  return `.flemma-${crypto.randomUUID()}`;
}

/** True for a name made by `writeTemporary`. */
export function isWriteTemporary(name: string): boolean {
  return /^\.flemma-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name);
}

/**
 * True for a name that this program gives to temporary files: those of `write` and `edit`, and those next to a document
 * or settings file of the same folder. `names` are the names in the folder.
 */
export function isOwnTemporary(name: string, names: ReadonlySet<string>): boolean {
  if (isWriteTemporary(name)) return true;
  const replaced = /^(\.?)(.+)\.[0-9a-f]{8}\.tmp$/.exec(name);
  return replaced !== null && (names.has(replaced[2]!) || names.has(`${replaced[1]}${replaced[2]}`));
}

/**
 * Creates a new file durably, completely or not at all. It is written under a temporary name, then renamed. Throws
 * `AlreadyExists` if the name exists.
 */
export async function makeFile(path: string, bytes: Uint8Array, mode: number): Promise<void> {
  if (isThere(path)) throw new Deno.errors.AlreadyExists(path);
  // The system applies the user's umask to this mode.
  await throughTemporary(`${folderPrefix(path)}${temporaryPrefix(path)}`, mode, async (temporary, file) => {
    await writeAll(file, bytes);
    await file.sync();
    if (!takePlace(temporary, path, null)) throw new Deno.errors.AlreadyExists(path);
  });
}

/**
 * Replaces the file at `path` with one readable only by this user (mode 0600) unless a mode is given. The new file is
 * written next to the old one under a temporary name, then renamed, so that nobody reads a partial file. `durable`
 * syncs it before the rename, for data that must survive a crash of the machine. Documents are replaced differently
 * (cycle/storage/disk/write.ts), to keep mode and owner.
 */
export async function replaceSmallFile(
  path: string,
  bytes: Uint8Array,
  { durable, mode, begin = `${baseName(path)}.` }: {
    readonly durable: boolean;
    readonly mode?: number;
    /** Beginning of the temporary name. @default the file's name and a full stop */
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
 * Rewrites a user's file completely and durably, following links and keeping its mode. If the file's own name differs
 * each time, `begin` gives a fixed beginning of the temporary name, by which leftovers of a killed writer are found.
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
 * Lets `use` write a new temporary file and rename it. The file is locked while its writer lives, so that leftovers of
 * killed writers are recognized and removed first.
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
    // Another process may have removed the file as abandoned before it was locked.
    if (!isLocked(file) || !isAt(file, path)) continue;
    try {
      return await use(path, file);
    } finally {
      // The cause of the write error may prevent removal too, and the first error is the one to report.
      await removeIfThere(path).catch(() => {});
    }
  }
}

/** Number of writes for which a folder is not listed again, by folder. */
const unlisted = new Map<string, number>();

/** A folder with so many names is listed at every second write, one with twice as many at every third, and so on. */
const NAMES_PER_WRITE = 32;

/**
 * Removes temporary files whose writers are gone. A file that cannot be removed stays, which does no harm. Listing a
 * large folder takes long, so that is not done at every write.
 */
function removeAbandoned(prefix: string): void {
  const folder = folderPrefix(prefix);
  const writes = unlisted.get(folder) ?? 0;
  if (writes > 0) {
    unlisted.set(folder, writes - 1);
    return;
  }
  const names = namesIn(folder);
  unlisted.set(folder, Math.floor(names.length / NAMES_PER_WRITE));
  const begins = prefix.slice(folder.length);
  for (const name of names) {
    if (!name.startsWith(begins) || !TEMPORARY.test(name.slice(begins.length))) continue;
    const path = `${folder}${name}`;
    try {
      if (!Deno.lstatSync(path).isFile) continue;
      const { file } = openRegularSync(path);
      using _ = file;
      if (file.tryLockSync(true) && isAt(file, path)) Deno.removeSync(path);
    } catch {
      // The file was removed meanwhile, belongs to somebody else, or is on a file system without locks.
    }
  }
}

const TEMPORARY = /^[0-9a-f]{8}\.tmp$/;

/** Returns the names in a folder; empty if it cannot be read, which need not prevent writing to it. */
function namesIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => name);
  } catch {
    return [];
  }
}

/**
 * Locks a file; false if another process has locked it. True on a file system without locks, where no process checks
 * for them.
 */
function isLocked(file: Deno.FsFile): boolean {
  try {
    return file.tryLockSync(true);
  } catch {
    return true;
  }
}

/**
 * Releases the lock of a file and closes it. Closing alone releases it late if this process is just starting another
 * one, which has the open file too until it has become its program.
 */
export function closeLocked(file: Deno.FsFile): void {
  try {
    file.unlockSync();
  } finally {
    file.close();
  }
}

/** True if the path still leads to the open file. */
function isAt(file: Deno.FsFile, path: string): boolean {
  try {
    return isSameFile(Deno.statSync(path), file.statSync());
  } catch (thrown) {
    if (isMissing(thrown)) return false;
    throw thrown;
  }
}

/** Returns the folder of a path, with a final slash. */
function folderPrefix(path: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1);
}

/** Reads a small file of JSON; null if it is missing, or if something else than flemma left it unreadable. */
export function readJsonOrNull(path: string): unknown {
  try {
    return JSON.parse(Deno.readTextFileSync(path));
  } catch (thrown) {
    if (isMissing(thrown) || isNoFile(thrown) || thrown instanceof SyntaxError) return null;
    throw thrown;
  }
}

/** Returns the bytes of a regular file, or null if nothing is at the path. Throws if something else is there. */
export async function readOrNull(path: string): Promise<Uint8Array | null> {
  try {
    return await readRegular(path);
  } catch (thrown) {
    if (isMissing(thrown)) return null;
    throw thrown;
  }
}

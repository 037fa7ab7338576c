// Walks the files below a folder in byte order of their paths, and skips ignored files.

import { byBytes } from "../bytes.ts";
import { isOwnTemporary } from "../files.ts";
import { baseName, parentOf } from "../paths.ts";
import { isSystemPath } from "../system/system_files.ts";
import type { Disk } from "./folder_access.ts";
import { type IgnoreFile, readIgnoreFile } from "./ignore_rules.ts";

/** Options that say what to skip, and how to stop the walk. */
export interface WalkOptions {
  /** Names of folders and files to skip. */
  readonly excluded: ReadonlySet<string>;
  /** True to include entries whose names begin with a dot. */
  readonly dots: boolean;
  /** Called before each folder and file; throwing ends the walk. */
  check(): Promise<void>;
}

export interface WalkedFile {
  /** Path relative to the start of the walk. */
  readonly path: string;
  /** Real path of the folder that contains the file. */
  readonly folder: string;
  readonly name: string;
}

/** Counts of what a walk could not read. */
export interface Closed {
  folders: number;
}

/** Maximum number of bytes of an ignore file; a larger file is skipped. */
const MOST_IGNORE_BYTES = 1024 * 1024;

/**
 * The rules that apply in a folder: the ignore files from the root of its repository down to it; null outside of
 * repositories.
 */
type Rules = readonly { readonly folder: string; readonly file: IgnoreFile }[] | null;

/**
 * Walks the files below a folder, without following links. Counts folders that cannot be read in `closed`.
 * @param start real path of a folder that may be read
 */
export async function* walkFiles(
  start: string,
  disk: Disk,
  options: WalkOptions,
  closed: Closed,
): AsyncGenerator<WalkedFile> {
  const pending: { real: string; path: string; rules: Rules; dev: number | null }[] = [
    { real: start, path: "", rules: await rulesAbove(start, disk), dev: null },
  ];
  while (pending.length > 0) {
    await options.check();
    const next = pending.pop()!;
    if (next.path !== "" && !next.path.endsWith("/")) {
      yield { path: next.path, folder: parentOf(next.real), name: baseName(next.real) };
      continue;
    }
    const listing = listFolder(next.real, next.dev, disk);
    if (listing === null) {
      closed.folders++;
      continue;
    }
    const rules = await rulesIn(next.real, next.rules, listing.names, disk);
    const kept = listing.entries.filter(({ name, sorted }) =>
      !options.excluded.has(name) && (options.dots || !name.startsWith(".")) &&
      (name !== sorted || !isOwnTemporary(name, listing.names)) &&
      !isIgnored(`${slashed(next.real)}${sorted}`, rules)
    );
    kept.sort((a, b) => byBytes(b.sorted, a.sorted));
    for (const { name, sorted } of kept) {
      pending.push({
        real: `${slashed(next.real)}${name}`,
        path: `${next.path}${sorted}`,
        rules,
        dev: listing.dev,
      });
    }
  }
}

function slashed(folder: string): string {
  return folder === "/" ? "/" : `${folder}/`;
}

interface Listing {
  readonly dev: number;
  readonly names: ReadonlySet<string>;
  /**
   * Folders and regular files. In `sorted`, a folder's name ends with a slash, so that folders sort like the paths
   * below them.
   */
  readonly entries: readonly { readonly name: string; readonly sorted: string }[];
}

/** Returns the content of a folder; null if it may not be read. `around` is the device of the parent folder. */
function listFolder(real: string, around: number | null, disk: Disk): Listing | null {
  if (isSystemPath(real) || !disk.isReadable(real)) return null;
  try {
    return disk.folderAccess.within(real, (at) => {
      const { dev, isDirectory } = Deno.lstatSync(at("."));
      // The folder is on the same device as its parent, so the check of the parent covers it.
      if (!isDirectory || (dev !== around && disk.isSystem(real, { dev }))) return null;
      const names = new Set<string>();
      const entries: { name: string; sorted: string }[] = [];
      for (const { name, isDirectory, isFile } of Deno.readDirSync(at("."))) {
        names.add(name);
        if (isDirectory || isFile) entries.push({ name, sorted: isDirectory ? `${name}/` : name });
      }
      return { dev, names, entries };
    });
  } catch {
    return null; // The folder was removed or replaced, or belongs to another user.
  }
}

/** Returns the rules of a folder, given the rules of its parent folder and the names of its entries. */
async function rulesIn(
  folder: string,
  around: Rules,
  names: ReadonlySet<string>,
  disk: Disk,
): Promise<Rules> {
  const texts = [
    names.has(".git") ? await textOf(`${slashed(folder)}.git/info`, "exclude", disk) : null,
    names.has(".gitignore") ? await textOf(folder, ".gitignore", disk) : null,
  ];
  const outer = names.has(".git") ? [] : around;
  if (outer === null) return null;
  const own = await Promise.all(texts.filter((text) => text !== null).map(readIgnoreFile));
  return [...outer, ...own.map((file) => ({ folder, file }))];
}

/** Returns the rules of the folders above the start of the walk, without rules that would ignore the start itself. */
async function rulesAbove(start: string, disk: Disk): Promise<Rules> {
  const above: string[] = [];
  for (let folder = start; !hasEntry(folder, ".git", disk); folder = parentOf(folder)) {
    if (folder === "/") return null;
    above.unshift(parentOf(folder));
  }
  let rules: Rules = [];
  for (const folder of above) {
    const names = new Set([".git", ".gitignore"].filter((name) => hasEntry(folder, name, disk)));
    const below = above[above.indexOf(folder) + 1] ?? start;
    rules = await rulesIn(folder, rules, names, disk);
    if (isIgnored(`${below}/`, rules)) rules = [];
  }
  return rules;
}

function isIgnored(path: string, rules: Rules): boolean {
  for (const { folder, file } of (rules ?? []).toReversed()) {
    const ignored = file.ignores(path.slice(slashed(folder).length));
    if (ignored !== null) return ignored;
  }
  return false;
}

function hasEntry(folder: string, name: string, { folderAccess, isReadable }: Disk): boolean {
  if (!isReadable(folder)) return false;
  try {
    return folderAccess.within(folder, (at) => Deno.lstatSync(at(name))).isDirectory !== undefined;
  } catch {
    return false;
  }
}

/** Returns the text of a small readable file; null for other files. */
async function textOf(folder: string, name: string, disk: Disk): Promise<string | null> {
  if (!disk.isReadable(`${slashed(folder)}${name}`)) return null;
  try {
    const opened = await disk.folderAccess.open(folder, name);
    if (opened === null) return null;
    using file = opened.file;
    const bytes = new Uint8Array(Math.min(opened.info.size, MOST_IGNORE_BYTES));
    let filled = 0;
    for (let count = 1; filled < bytes.length && count > 0; filled += count) {
      count = file.readSync(bytes.subarray(filled)) ?? 0;
    }
    return new TextDecoder().decode(bytes.subarray(0, filled));
  } catch {
    return null; // An unreadable file contributes no rules.
  }
}

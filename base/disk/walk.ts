// The files below a folder, in the order of their paths' bytes, without what a search leaves out.

import { byBytes } from "../bytes.ts";
import { nameOf, parentOf } from "../paths.ts";
import { isSystemPath } from "../system/reading.ts";
import type { Disk } from "./folder_access.ts";
import { type IgnoreFile, readIgnoreFile } from "./ignore_rules.ts";

/** What is left out, and who may stop it. */
export interface WalkOptions {
  /** Names that are skipped, of folders and of files. */
  readonly excluded: ReadonlySet<string>;
  /** Whether entries whose names begin with a dot are walked. */
  readonly dots: boolean;
  /** Called before each folder and file; ends the walk by throwing. */
  check(): Promise<void>;
}

/** A regular file. */
export interface WalkedFile {
  /** Relative to where the walk began. */
  readonly path: string;
  /** Real path of its folder. */
  readonly folder: string;
  readonly name: string;
}

/** What a walk could not look into. */
export interface Closed {
  folders: number;
}

/** Larger ones are no lists of names. */
const MOST_IGNORE_BYTES = 1024 * 1024;

/** What holds in a folder: the ignore files from the root of its repository down to it; null outside of repositories. */
type Rules = readonly { readonly folder: string; readonly file: IgnoreFile }[] | null;

/**
 * Walks through the files below a folder. Links are not followed. Folders that cannot be looked into are counted in `closed`.
 *
 * @param start real path of a folder that may be looked at
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
      yield { path: next.path, folder: parentOf(next.real), name: nameOf(next.real) };
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
  /** Folders and regular files; `sorted` has a slash at the end of a folder, as in the paths that go on below it. */
  readonly entries: readonly { readonly name: string; readonly sorted: string }[];
}

/** What stands in a folder; null where it may not be looked at. `around` is the device of the folder around it. */
function listFolder(real: string, around: number | null, disk: Disk): Listing | null {
  if (isSystemPath(real) || !disk.isReadable(real)) return null;
  try {
    return disk.folderAccess.within(real, (at) => {
      const { dev, isDirectory } = Deno.lstatSync(at("."));
      // One on the device of the folder around it is what that one was found to be.
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
    return null; // It went away, was exchanged, or belongs to somebody else.
  }
}

/** The rules of a folder, by those of the folder around it and what stands in it. */
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

/** The rules around a folder, which the walk begins below; none of those that would leave the folder itself out. */
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

/** The text of a small file that may be read; null for others. */
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
    return null; // What cannot be read rules nothing.
  }
}

// Lists a folder and what is below it.

import { byBytes } from "../../base/bytes.ts";
import { isOwnTemporary } from "../../base/files.ts";
import { parentOf } from "../../base/paths.ts";
import { isSystemPath } from "../../base/system/system_files.ts";
import { realPath } from "../../base/disk/real_path.ts";
import type { Disk } from "../../base/disk/folder_access.ts";
import { pathOnOneLine } from "./text/one_line.ts";

export interface FolderListRequest {
  /** Real path of a folder that tools may read. */
  readonly start: string;
  /** Number of levels to list; 1 for the folder alone. */
  readonly depth: number;
  /** Maximum number of entries; further entries are only counted. */
  readonly limit: number;
}

/** Result of listing. */
export interface Listing {
  /** The first entries: folders first, with a trailing slash. */
  readonly lines: readonly string[];
  /** Number of all entries. */
  readonly total: number;
  /** Number of folders that could not be read. */
  readonly closed: number;
}

interface Entry {
  readonly name: string;
  /** Kind of file; links are not followed. */
  readonly kind: "folder" | "link" | "other";
}

/** Lists a folder. Rejects with the signal's reason. */
export async function listFolder(
  { start, depth, limit }: FolderListRequest,
  disk: Disk,
  signal: AbortSignal,
): Promise<Listing> {
  const first = new FirstEntries(limit);
  await collect(start, "", depth, first, disk, signal);
  return { lines: first.lines(), total: first.total, closed: first.closed };
}

/** The names in a folder that tools may read, at most this many; none if it cannot be listed. */
export function namesIn(
  { folder, most }: { readonly folder: string; readonly most: number },
  disk: Disk,
): string[] {
  return (entriesOf(folder, disk) ?? []).slice(0, most).map(({ name }) => name);
}

/** Keeps the first entries of a listing, however many are added. */
class FirstEntries {
  readonly #limit: number;
  #kept: string[] = [];
  /** Number of added entries. */
  total = 0;
  /** Number of folders that could not be read. */
  closed = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(path: string): void {
    this.total++;
    if (this.#kept.push(path) >= 2 * this.#limit + 1000) this.#kept = this.lines();
  }

  /** The entries in order, up to the limit. */
  lines(): string[] {
    return this.#kept.sort(inOrder).slice(0, this.#limit);
  }
}

/**
 * Compares two entries: folders come first; then the names are compared, ignoring case; if these are equal, the bytes
 * of the names.
 */
function inOrder(a: string, b: string): number {
  const folders = Number(b.endsWith("/")) - Number(a.endsWith("/"));
  return folders || byBytes(a.toLowerCase(), b.toLowerCase()) || byBytes(a, b);
}

/** Number of folders before other tasks get a turn. */
const TURN = 64;

async function collect(
  folder: string,
  prefix: string,
  depth: number,
  first: FirstEntries,
  disk: Disk,
  signal: AbortSignal,
  walked = { folders: 0 },
): Promise<void> {
  if (++walked.folders % TURN === 0) await new Promise((done) => setTimeout(done));
  signal.throwIfAborted();
  const entries = entriesOf(folder, disk);
  if (entries === null) {
    first.closed++;
    return;
  }
  for (const { name, kind } of entries) {
    const path = `${folder === "/" ? "" : folder}/${name}`;
    const isFolder = kind === "folder" || (kind === "link" && leadsToFolder(path, disk));
    first.add(`${prefix}${pathOnOneLine(name)}${isFolder ? "/" : ""}`);
    if (kind === "folder" && depth > 1) {
      await collect(path, `${prefix}${pathOnOneLine(name)}/`, depth - 1, first, disk, signal, walked);
    }
  }
}

/**
 * Returns the entries of a folder, unordered; null if tools may not read the folder, or if another folder replaced it
 * meanwhile.
 */
function entriesOf(real: string, disk: Disk): Entry[] | null {
  if (isSystemPath(real) || !disk.isReadable(real)) return null;
  try {
    return disk.folderAccess.within(real, (at) => {
      const { isDirectory, dev } = Deno.lstatSync(at("."));
      if (!isDirectory || isForeign(real, dev, disk)) return null;
      const found = [...Deno.readDirSync(at("."))];
      const names = new Set(found.map(({ name }) => name));
      return found.filter(({ name, isFile }) => !isFile || !isOwnTemporary(name, names))
        .map(({ name, isDirectory, isSymlink }): Entry => ({
          name,
          kind: isDirectory ? "folder" : isSymlink ? "link" : "other",
        }));
    });
  } catch {
    return null; // The folder was removed or replaced meanwhile, or is not readable.
  }
}

/**
 * True if a folder is a system folder. A folder on the same device as its parent was already classified with the
 * parent.
 */
function isForeign(real: string, dev: number, { isSystem }: Disk): boolean {
  return Deno.lstatSync(parentOf(real)).dev !== dev && isSystem(real, { dev });
}

/** True if a link leads to a folder that tools may read. */
function leadsToFolder(path: string, disk: Disk): boolean {
  const real = realPath(path, "/");
  if (real === null || isSystemPath(real) || !disk.isReadable(real)) return false;
  try {
    return Deno.statSync(real).isDirectory;
  } catch {
    return false; // The link leads nowhere, or its target is not readable.
  }
}

// Listing a folder and what is below it (tools 8.5).

import { byBytes } from "../../base/bytes.ts";
import { parentOf } from "../../base/paths.ts";
import { isSystemPath } from "../../base/system/reading.ts";
import { realPath } from "../../base/disk/real_path.ts";
import type { Disk } from "../../base/disk/folder_access.ts";
import { onOneLine } from "./text/one_line.ts";

/** What is to be listed. */
export interface ListRequest {
  /** Real path of a folder that tools may look at. */
  readonly start: string;
  /** Levels that are listed; 1 for the folder alone. */
  readonly depth: number;
  /** Number of entries that are wanted; more are only counted. */
  readonly limit: number;
}

/** What stands in folders. */
export interface Listing {
  /** The first entries: folders first, with a slash at the end. */
  readonly lines: readonly string[];
  /** Number of all entries. */
  readonly total: number;
  /** Folders that could not be looked into. */
  readonly closed: number;
}

/** One name in a folder. */
interface Entry {
  readonly name: string;
  /** What stands there; links are not followed. */
  readonly kind: "folder" | "link" | "other";
}

/** Lists a folder. Rejects with the signal's reason. */
export async function listFolder(
  { start, depth, limit }: ListRequest,
  disk: Disk,
  signal: AbortSignal,
): Promise<Listing> {
  const first = new FirstEntries(limit);
  await collect(start, "", depth, first, disk, signal);
  return { lines: first.lines(), total: first.total, closed: first.closed };
}

/** The names in a folder that tools may look at, at most so many; none where it cannot be listed. */
export function namesIn(
  { folder, most }: { readonly folder: string; readonly most: number },
  disk: Disk,
): string[] {
  return (entriesOf(folder, disk) ?? []).slice(0, most).map(({ name }) => name);
}

/** The first entries of a listing, however many are put in. */
class FirstEntries {
  readonly #limit: number;
  #kept: string[] = [];
  /** Number of entries put in. */
  total = 0;
  /** Folders that could not be looked into. */
  closed = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(path: string): void {
    this.total++;
    if (this.#kept.push(path) >= 2 * this.#limit + 1000) this.#kept = this.lines();
  }

  /** The entries in order, as many as are wanted. */
  lines(): string[] {
    return this.#kept.sort(inOrder).slice(0, this.#limit);
  }
}

/** Folders first, then without regard to case, then by bytes. */
function inOrder(a: string, b: string): number {
  const folders = Number(b.endsWith("/")) - Number(a.endsWith("/"));
  return folders || byBytes(a.toLowerCase(), b.toLowerCase()) || byBytes(a, b);
}

/** Folders after which others have their turn. */
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
    first.add(`${prefix}${onOneLine(name)}${isFolder ? "/" : ""}`);
    if (kind === "folder" && depth > 1) {
      await collect(path, `${prefix}${onOneLine(name)}/`, depth - 1, first, disk, signal, walked);
    }
  }
}

/** What stands in a folder, in no order; null when it may not be looked at, or was exchanged for something else meanwhile. */
function entriesOf(real: string, disk: Disk): Entry[] | null {
  if (isSystemPath(real) || !disk.isReadable(real)) return null;
  try {
    return disk.folderAccess.within(real, (at) => {
      const { isDirectory, dev } = Deno.lstatSync(at("."));
      if (!isDirectory || isForeign(real, dev, disk)) return null;
      return [...Deno.readDirSync(at("."))].map(({ name, isDirectory, isSymlink }): Entry => ({
        name,
        kind: isDirectory ? "folder" : isSymlink ? "link" : "other",
      }));
    });
  } catch {
    return null; // It went away, was exchanged, or belongs to somebody else.
  }
}

/** Whether a folder is one of the system's. One on the device of the folder around it is what that one was found to be. */
function isForeign(real: string, dev: number, { isSystem }: Disk): boolean {
  return Deno.lstatSync(parentOf(real)).dev !== dev && isSystem(real, { dev });
}

/** Whether a link leads to a folder that tools may look at. */
function leadsToFolder(path: string, disk: Disk): boolean {
  const real = realPath(path, "/");
  if (real === null || isSystemPath(real) || !disk.isReadable(real)) return false;
  try {
    return Deno.statSync(real).isDirectory;
  } catch {
    return false; // It leads nowhere, or nobody may know.
  }
}

// Stamps that tell whether a file is unchanged. Deno reports the change time in whole seconds only, and any process can
// set the modification time, so a file that changed recently is identified by its content alone.

import { StatCache } from "../../base/disk/stat_cache.ts";

/** Milliseconds after a change until the next change is certain to give the file another time. */
const SETTLED = 2500;

/** Bytes of a file that are compared. Larger files are identified by their stat data. */
const MOST_BYTES = 64 * 1024;

/** Identifies the current state of a file; null if it changed too recently for that, or does not exist. */
export function settledStamp(path: string, stats = new StatCache()): string | null {
  const info = stats.lstat(path);
  if (info === null || info.ctime === null || info.ctime.getTime() > Date.now() - SETTLED) return null;
  return stampOf(info);
}

/** What is at a path: content of a file, names in a folder, target of a link; null if nothing is. */
export function readEntryContent(path: string, stats = new StatCache()): string | null {
  const info = stats.lstat(path);
  if (info === null) return null;
  try {
    if (info.isSymlink) return `link ${Deno.readLinkSync(path)}`;
    if (info.isDirectory) {
      return `folder ${Array.from(Deno.readDirSync(path), ({ name }) => name).sort().join("/")}`;
    }
    if (info.isFile && info.size <= MOST_BYTES) return `${info.mode} ${Deno.readTextFileSync(path)}`;
  } catch {
    // It cannot be read, so its metadata must suffice.
  }
  return stampOf(info);
}

function stampOf({ ino, size, mode, mtime, ctime }: Deno.FileInfo): string {
  return [ino, size, mode, mtime?.getTime(), ctime?.getTime()].join();
}

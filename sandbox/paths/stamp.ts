// Stamps that tell whether a file is unchanged. Deno reports the change time in whole seconds only, and any process can
// set the modification time, so a file that changed recently is identified by its content alone.

import { StatCache } from "../../base/disk/stat_cache.ts";
import type { FileStatus } from "../../base/system/libc.ts";
import { readRegularTextSync } from "../../base/system/regular_file.ts";

/** If two changes of a file are at least this many milliseconds apart, they certainly give it different times. */
const SETTLED = 2500;

/** Size limit in bytes for comparing files by content. Larger files are identified by their stat data. */
const MOST_BYTES = 64 * 1024;

/**
 * Returns a stamp that identifies the current state of a file; null if the file does not exist, or changed too
 * recently for its times to be reliable.
 */
export function settledStamp(path: string, stats = new StatCache()): string | null {
  const info = stats.lstat(path);
  if (info === null || info.ctime === null || info.ctime.getTime() > Date.now() - SETTLED) return null;
  return stampOf(info);
}

/** Returns what is at a path: content of a file, names in a folder, target of a link; null if nothing is there. */
export function readEntryContent(path: string, stats = new StatCache()): string | null {
  const info = stats.lstat(path);
  if (info === null) return null;
  try {
    if (info.isSymlink) return `link ${Deno.readLinkSync(path)}`;
    if (info.isDirectory) {
      return `folder ${Array.from(Deno.readDirSync(path), ({ name }) => name).sort().join("/")}`;
    }
    if (info.isFile && info.size <= MOST_BYTES) {
      return `${info.mode} ${readRegularTextSync(path, MOST_BYTES)}`;
    }
  } catch {
    // The content cannot be read, so the metadata must suffice.
  }
  return stampOf(info);
}

function stampOf({ ino, size, mode, mtime, ctime }: FileStatus): string {
  return [ino, size, mode, mtime?.getTime(), ctime?.getTime()].join();
}

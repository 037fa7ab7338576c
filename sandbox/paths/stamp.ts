// Telling whether a file is still what it was. The runtime tells the time of the last change by seconds only, and the other
// time can be set by everybody, so a young file is known by its content alone.

import { StatCache } from "../../base/disk/stat_cache.ts";

/** Milliseconds since its last change after which the time of a file can be trusted to differ at the next change. */
const SETTLED = 2500;

/** Bytes of a file that are compared; of a larger one its status has to do. */
const MOST_BYTES = 64 * 1024;

/** What tells a file from each later state of it; null while it is too young for that, or not there. */
export function settledStamp(path: string, stats = new StatCache()): string | null {
  const info = stats.lstat(path);
  if (info === null || info.ctime === null || info.ctime.getTime() > Date.now() - SETTLED) return null;
  return stampOf(info);
}

/** What stands at a path: the content of a file, the names in a folder, the target of a link; null when nothing does. */
export function contentOf(path: string, stats = new StatCache()): string | null {
  const info = stats.lstat(path);
  if (info === null) return null;
  try {
    if (info.isSymlink) return `link ${Deno.readLinkSync(path)}`;
    if (info.isDirectory) {
      return `folder ${Array.from(Deno.readDirSync(path), ({ name }) => name).sort().join("/")}`;
    }
    if (info.isFile && info.size <= MOST_BYTES) return `${info.mode} ${Deno.readTextFileSync(path)}`;
  } catch {
    // It cannot be read: its status has to do.
  }
  return stampOf(info);
}

function stampOf({ ino, size, mode, mtime, ctime }: Deno.FileInfo): string {
  return [ino, size, mode, mtime?.getTime(), ctime?.getTime()].join();
}

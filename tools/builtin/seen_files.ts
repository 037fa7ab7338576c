// Compares files with what the calls of a document last saw, so that a model does not overwrite what it never read.

import { sha256 } from "../../base/hash.ts";
import { readRegular } from "../../base/system/regular_file.ts";
import { MOST_SEEN } from "../files/change.ts";
import type { SeenFile, SeenFiles } from "../definition.ts";

/** Returns the state of a file now; null if it is not a readable regular file, or is too large to remember. */
async function seenNow(real: string): Promise<SeenFile | null> {
  try {
    const { isFile, size, mtime } = await Deno.stat(real);
    if (!isFile || size > MOST_SEEN) return null;
    return { hash: await sha256(await readRegular(real)), size, mtime: mtime?.getTime() ?? 0 };
  } catch {
    // The file is missing or unreadable, so no call could have seen it.
    return null;
  }
}

/**
 * Returns true if a file is unchanged since it was seen, or if it is now missing, unreadable or too large; null if it
 * was never seen.
 */
export async function isAsSeen(seen: SeenFiles, real: string): Promise<boolean | null> {
  const before = seen.get(real);
  if (before === null) return null;
  const now = await seenNow(real);
  return now === null || now.hash === before.hash;
}

/**
 * Before a command, returns the files whose size and time are unchanged since they were seen. If such a file differs
 * after the command, the command may have changed it.
 */
export async function findUnchanged(seen: SeenFiles): Promise<readonly string[]> {
  const same = await Promise.all(seen.paths.map(async (path) => await isStill(path, seen.get(path))));
  return seen.paths.filter((_, at) => same[at]);
}

/**
 * Of the files that `findUnchanged` returned before a command, records the new state of those that the command changed,
 * and returns their paths.
 */
export async function catchUp(seen: SeenFiles, before: readonly string[]): Promise<readonly string[]> {
  const news: [string, SeenFile][] = [];
  for (const path of before) {
    const known = seen.get(path);
    if (await isStill(path, known)) continue;
    const now = await seenNow(path);
    if (now !== null) news.push([path, now]);
  }
  const changed = news.filter(([path, { hash }]) => seen.get(path)?.hash !== hash).map(([path]) => path);
  await seen.record(news);
  return changed;
}

async function isStill(path: string, known: SeenFile | null): Promise<boolean> {
  try {
    const { size, mtime } = await Deno.stat(path);
    return known !== null && size === known.size && (mtime?.getTime() ?? 0) === known.mtime;
  } catch {
    // A missing file is not unchanged.
    return false;
  }
}

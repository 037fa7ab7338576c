// What the calls of a document last saw of files, so that a model does not write over what it never read (found-2 D3).

import { sha256 } from "../../base/hash.ts";
import { MOST_SEEN } from "../files/change.ts";
import type { SeenFile, SeenFiles } from "../definition.ts";

/** What a file holds now; null when it cannot be read, is none, or is too large to be remembered. */
async function seenNow(real: string): Promise<SeenFile | null> {
  try {
    const { isFile, size, mtime } = await Deno.stat(real);
    if (!isFile || size > MOST_SEEN) return null;
    return { hash: await sha256(await Deno.readFile(real)), size, mtime: mtime?.getTime() ?? 0 };
  } catch {
    // Gone, or out of reach: nothing that anybody could have seen.
    return null;
  }
}

/** Whether a file is what was seen of it: null for one that was never seen, true when it is gone since. */
export async function isAsSeen(seen: SeenFiles, real: string): Promise<boolean | null> {
  const before = seen.get(real);
  if (before === null) return null;
  const now = await seenNow(real);
  return now === null || now.hash === before.hash;
}

/** The files that still are what was seen of them, by size and time: only these may a command of ours have changed. */
export async function unchanged(seen: SeenFiles): Promise<readonly string[]> {
  const same = await Promise.all(seen.paths.map(async (path) => await isStill(path, seen.get(path))));
  return seen.paths.filter((_, at) => same[at]);
}

/** Remembers anew what a command of ours changed of the files that were `unchanged` before; answers which these are. */
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
    // A file that is gone is not what it was.
    return false;
  }
}

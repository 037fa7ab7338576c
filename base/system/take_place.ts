// A file put in the place of another one, so that a file which somebody else puts there at that very moment is not lost.

import { EXCHANGE, NO_REPLACE, renameBy, type RenameWith } from "./libc.ts";

/** What of a file tells it from another one. */
export type FileNumber = Pick<Deno.FileInfo, "dev" | "ino">;

/** Exchanges after which the newest file of somebody who renames all the time is simply put on the path. */
const MOST_EXCHANGES = 8;

/**
 * Puts the file `temporary` in place of the file `old`, which stands at `path`; null wants nothing to stand there. False when
 * something else stands there at that very moment: then it stays, and `temporary` is to be removed if it is still there. Both
 * paths are absolute and in one folder. Throws as renaming does.
 *
 * The two files change places in one step, and only then is looked at what came off the path, so there is no moment in which
 * another one's save could get lost. Where the system cannot do that, what stands at the path right before gets a second name.
 *
 * @param options for tests: how files are renamed, and what happens before each step
 */
export function takePlace(
  temporary: string,
  path: string,
  old: FileNumber | null,
  options: { readonly rename?: RenameWith; readonly between?: () => void } = {},
): boolean {
  const { rename = renameBy, between = () => {} } = options;
  between();
  if (old === null) return takeFreePlace(temporary, path, rename);
  const own = Deno.lstatSync(temporary);
  if (!rename(temporary, path, EXCHANGE)) return renameOver(temporary, path, old, between);
  // What we left on the path, and what came off it.
  let left: FileNumber = own;
  let moved: FileNumber = Deno.lstatSync(temporary);
  if (isSameFile(moved, old)) {
    Deno.removeSync(temporary);
    return true;
  }
  // Somebody renamed a file of theirs onto the path: it goes back, and ours comes off, unless another one of theirs does.
  for (let turn = 0; turn < MOST_EXCHANGES; turn++) {
    between();
    if (!rename(temporary, path, EXCHANGE)) break;
    const next = Deno.lstatSync(temporary);
    if (isSameFile(next, left)) return false;
    [left, moved] = [moved, next];
  }
  Deno.renameSync(temporary, path);
  return false;
}

function takeFreePlace(temporary: string, path: string, rename: RenameWith): boolean {
  if (rename(temporary, path, NO_REPLACE)) return true;
  switch (secondName(temporary, path)) {
    case "linked":
      Deno.removeSync(temporary);
      return true;
    case "taken":
      return false;
    case "gone":
    case "impossible":
      Deno.renameSync(temporary, path);
      return true;
  }
}

/**
 * Renames a file over another, which must be `old` up to the last system call but one: what stands at the path right before
 * gets a second name, and comes back when it was somebody's new file.
 */
function renameOver(temporary: string, path: string, old: FileNumber, between: () => void): boolean {
  const second = `${temporary.slice(0, -".tmp".length).slice(0, -8)}${crypto.randomUUID().slice(0, 8)}.tmp`;
  const linked = secondName(path, second);
  // An editor has just renamed it away and is about to write it anew.
  if (linked === "gone") return false;
  between();
  Deno.renameSync(temporary, path);
  if (linked !== "linked") return true;
  if (!isSameFile(Deno.lstatSync(second), old)) {
    Deno.renameSync(second, path);
    return false;
  }
  Deno.removeSync(second);
  return true;
}

/** Whether two open or named files are one. */
export function isSameFile(one: FileNumber, other: FileNumber): boolean {
  return one.ino === other.ino && one.dev === other.dev;
}

/** Gives a file a second name, where its file system and its owner allow that. */
function secondName(path: string, second: string): "linked" | "gone" | "taken" | "impossible" {
  try {
    Deno.linkSync(path, second);
    return "linked";
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return "gone";
    // Elsewhere the rename itself is all the care there can be.
    return thrown instanceof Deno.errors.AlreadyExists ? "taken" : "impossible";
  }
}

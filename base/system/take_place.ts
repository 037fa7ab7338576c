// Replaces a file without losing another file that a different process puts at the same path meanwhile.

import { EXCHANGE, NO_REPLACE, renameBy, type RenameWith } from "./libc.ts";

export type FileNumber = Pick<Deno.FileInfo, "dev" | "ino">;

/** Maximum number of exchanges with a process that keeps renaming files; then its newest file stays at the path. */
const MOST_EXCHANGES = 8;

/**
 * Replaces the file `old`, which is at `path`, with the file `temporary`; if `old` is null, the path must be free.
 * Returns false if the path leads to a different file. That file stays, and the caller removes `temporary` if it still
 * exists. Both paths are absolute and in one folder. Throws the errors of renaming. The two files are exchanged in one
 * step, and the file removed from the path is checked only afterwards. So a file that another process saves meanwhile
 * is never lost. If the system cannot exchange files, the file at the path first gets a second name.
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
  // `left` is the file that is now at the path, `moved` the file that was removed from it.
  let left: FileNumber = own;
  let moved: FileNumber = Deno.lstatSync(temporary);
  if (isSameFile(moved, old)) {
    Deno.removeSync(temporary);
    return true;
  }
  // Another process renamed its file onto the path. Put that file back and remove ours, unless a third file replaced
  // ours.
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
 * Renames a file over `old`. The file at the path first gets a second name; if it is not `old` but a new file of
 * another process, it is restored.
 */
function renameOver(temporary: string, path: string, old: FileNumber, between: () => void): boolean {
  const second = `${temporary.slice(0, -".tmp".length).slice(0, -8)}${crypto.randomUUID().slice(0, 8)}.tmp`;
  const linked = secondName(path, second);
  // An editor has renamed the file away a moment ago and is about to write it again.
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

export function isSameFile(one: FileNumber, other: FileNumber): boolean {
  return one.ino === other.ino && one.dev === other.dev;
}

/** Creates a hard link, if the file system and the permissions allow it. */
function secondName(path: string, second: string): "linked" | "gone" | "taken" | "impossible" {
  try {
    Deno.linkSync(path, second);
    return "linked";
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return "gone";
    // Without hard links only the rename itself protects the file.
    return thrown instanceof Deno.errors.AlreadyExists ? "taken" : "impossible";
  }
}

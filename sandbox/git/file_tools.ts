// Decides whether git allows that a file tool writes at a path. It must not write where git would run or obey the file.

import type { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { isInside, parentOf } from "../../base/paths.ts";
import { isGitFolder, lookedUpNames } from "../paths/git_folder.ts";
import { gitFileAt } from "./table.ts";

/**
 * True if a file written at this real path would make a later git command run something or go elsewhere: a `.git` that
 * is a file, a file of the table in any git folder, or one that turns a folder into a bare repository.
 *
 * @param roots real paths of writable folders; nothing above them can be written
 */
export function isObeyedByGit(real: string, roots: readonly string[], snapshot: FsSnapshot): boolean {
  for (let path = real; path !== "/"; path = parentOf(path)) {
    const folder = parentOf(path);
    const rest = real.slice(path.length + 1);
    // Some file systems take `.GIT` for the same name, and `head` for `HEAD`.
    if (/\/\.git$/i.test(path) && (rest === "" || gitFileAt(rest) !== null)) return true;
    if (!roots.some((root) => isInside(folder, root))) continue;
    const names = lookedUpNames(folder, snapshot);
    const below = real.slice(folder === "/" ? 1 : folder.length + 1);
    const added = below.split("/")[0]!.toLowerCase();
    if (isGitFolder(names)) {
      if (gitFileAt(below) !== null) return true;
    } else if (isGitFolder({ has: (name) => name.toLowerCase() === added || names.has(name) })) return true;
  }
  return false;
}

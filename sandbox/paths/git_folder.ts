// What makes git take a folder for a git folder.

import type { FsSnapshot } from "../../base/disk/fs_snapshot.ts";

/** Names by which git recognizes a git folder, and names of files in it that git would run or obey. */
export const GIT_FOLDER_NAMES: readonly string[] = [
  "HEAD",
  "objects",
  "refs",
  "commondir",
  "hooks",
  "config",
  "config.worktree",
];

/** True if a folder with these names is a git folder, such as a bare repository. Worktrees have a `commondir`. */
export function isGitFolder(names: Pick<ReadonlySet<string>, "has">): boolean {
  return names.has("HEAD") && (names.has("commondir") || (names.has("objects") && names.has("refs")));
}

/** Looks for names in a folder one by one. Listing it would take longer the more files it has. */
export function lookedUpNames(folder: string, snapshot: FsSnapshot): Pick<ReadonlySet<string>, "has"> {
  return { has: (name) => snapshot.has(`${folder === "/" ? "" : folder}/${name}`) };
}

// What makes git take a folder for a git folder.

/** Names that decide it, and those that git would run or obey in such a folder. */
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
export function isGitFolder(names: ReadonlySet<string>): boolean {
  return names.has("HEAD") && (names.has("commondir") || (names.has("objects") && names.has("refs")));
}

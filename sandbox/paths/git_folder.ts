// What makes git take a folder for a git folder.

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
export function isGitFolder(names: ReadonlySet<string>): boolean {
  return names.has("HEAD") && (names.has("commondir") || (names.has("objects") && names.has("refs")));
}

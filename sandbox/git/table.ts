// What git runs, or reads as commands: files in a git folder, and settings. All checks of the sandbox use this table.

/** How the sandbox treats a file of a git folder. */
export type Treatment =
  /** Mounted read-only while commands run. */
  | "mounted"
  /** Compared after commands: additions that run nothing stay, everything else is put back. */
  | "compared"
  /** Reported after commands if it would run something: git itself writes such files. */
  | "reported";

/** A file of a git folder that makes a later git command run something. */
export interface GitFile {
  /** Relative to the git folder. */
  readonly path: string;
  readonly treatment: Treatment;
  /** Whether the git folder of a linked worktree has its own. */
  readonly inWorktrees: boolean;
  /** What git does with the file. The words continue a sentence that begins with the path. */
  readonly effect: string;
  /** Command that ends the unfinished work to which the file belongs, if it belongs to any. */
  readonly drop?: string;
}

const GIT_FILES: readonly GitFile[] = [
  { path: "hooks", treatment: "mounted", inWorktrees: false, effect: "git runs the programs in it" },
  { path: "config", treatment: "compared", inWorktrees: false, effect: "git obeys its settings" },
  { path: "config.worktree", treatment: "compared", inWorktrees: true, effect: "git obeys its settings" },
  { path: "commondir", treatment: "mounted", inWorktrees: true, effect: "it leads git to other hooks" },
  {
    path: "rebase-merge/git-rebase-todo",
    treatment: "reported",
    inWorktrees: true,
    effect: "git rebase --continue runs its exec lines",
    drop: "git rebase --abort",
  },
  {
    path: "rebase-merge/strategy",
    treatment: "reported",
    inWorktrees: true,
    effect: "git rebase --continue runs the merge program that it names",
    drop: "git rebase --abort",
  },
  {
    path: "sequencer/todo",
    treatment: "reported",
    inWorktrees: true,
    effect: "git continues with these steps",
    drop: "git cherry-pick --quit",
  },
  {
    path: "sequencer/opts",
    treatment: "reported",
    inWorktrees: true,
    effect: "git cherry-pick --continue runs the merge program that it names",
    drop: "git cherry-pick --quit",
  },
  {
    path: "BISECT_RUN",
    treatment: "reported",
    inWorktrees: true,
    effect: "git bisect may run it",
    drop: "git bisect reset",
  },
  {
    path: "BISECT_NAMES",
    treatment: "reported",
    inWorktrees: true,
    effect: "git bisect may evaluate it",
    drop: "git bisect reset",
  },
  {
    path: "info/attributes",
    treatment: "reported",
    inWorktrees: false,
    effect: "it makes git run filters and drivers of your settings",
    drop: "rm",
  },
];

/** Files that the sandbox only reports. */
export const REPORTED_IN_GIT: readonly GitFile[] = GIT_FILES.filter(({ treatment }) =>
  treatment === "reported"
);

/** Files that the sandbox protects: a file is mounted read-only, or compared after commands. */
export const PROTECTED_IN_GIT: readonly string[] = GIT_FILES.filter(({ treatment }) =>
  treatment !== "reported"
)
  .map(({ path }) => path);

/** Files of `PROTECTED_IN_GIT` that the git folder of a linked worktree has. */
export const PROTECTED_IN_WORKTREE: readonly string[] = GIT_FILES
  .filter(({ treatment, inWorktrees }) => treatment !== "reported" && inWorktrees).map(({ path }) => path);

/** Files with settings, which are compared. */
export const GIT_SETTINGS: readonly string[] = GIT_FILES.filter(({ treatment }) => treatment === "compared")
  .map(({ path }) => path);

/**
 * The file in which git records the folder of a linked worktree. The rights of commands depend on this file, so tools
 * must not write it.
 */
const BACK_LINK: GitFile = {
  path: "gitdir",
  treatment: "mounted",
  inWorktrees: true,
  effect: "it says which folder may write to the repository",
};

const PATTERNS = GIT_FILES.map((file) => ({
  file,
  // Git folders of submodules and worktrees are inside the one of their repository.
  pattern: new RegExp(`^(?:(?:modules/.+|worktrees/[^/]+)/)?${file.path.replaceAll(".", "\\.")}(?:/|$)`, "s"),
}));

/** The row of the table for a path relative to a git folder; null if git runs nothing because of it. */
export function gitFileAt(path: string): GitFile | null {
  if (/^(?:modules\/.+\/)?worktrees\/[^/]+\/gitdir$/s.test(path)) return BACK_LINK;
  return PATTERNS.find(({ pattern }) => pattern.test(path))?.file ?? null;
}

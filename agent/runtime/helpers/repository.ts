// What git says about the repository of a document that asks, and what it answers mean. Pure, apart from `runGit`.

import { unusedName } from "./names.ts";

/** The repository in which a document works. All paths are real. */
export interface AskingRepository {
  /** The root of the working tree. */
  readonly top: string;
  /** The git folder that all worktrees share. */
  readonly common: string;
  /** The path of the working folder in the repository; empty, or with a slash at its end. */
  readonly prefix: string;
  /** The last commit. */
  readonly head: string;
  /** True if there are changes that are not in a commit. */
  readonly dirty: boolean;
}

/** A worktree as `git worktree list` shows it. */
export interface ListedWorktree {
  readonly folder: string;
  readonly head: string | null;
  readonly branch: string | null;
  /** True while git makes it, and for ever if git was killed meanwhile. */
  readonly unfinished: boolean;
}

/** The paths of git's answer to `rev-parse`, one a line; null if a path contains a line break. */
export function readPlaces(answer: string): Pick<AskingRepository, "top" | "common" | "prefix"> | null {
  const [top, common, prefix, end, ...more] = answer.split("\n");
  const isWhole = end === "" && more.length === 0 && top?.startsWith("/") && common?.startsWith("/");
  return isWhole ? { top: top!, common: common!, prefix: prefix! } : null;
}

/** Reads the answer of `git worktree list --porcelain`. */
export function readWorktrees(answer: string): ListedWorktree[] {
  return answer.split("\n\n").flatMap((block) => {
    const value = (name: string) =>
      block.split("\n").find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? null;
    const folder = value("worktree");
    if (folder === null) return [];
    return [{
      folder,
      head: value("HEAD"),
      branch: value("branch")?.replace(/^refs\/heads\//, "") ?? null,
      unfinished: value("locked") === "initializing",
    }];
  });
}

/** Returns the settings by which git applies no filter, given the names of all settings. */
export function withoutFilters(names: readonly string[]): Record<string, string> {
  const drivers = names.flatMap((name) => /^filter\.(.+)\.[^.]+$/s.exec(name)?.[1] ?? []);
  return Object.fromEntries(
    drivers.flatMap((driver) => [
      ...["clean", "smudge", "process"].map((member) => [`filter.${driver}.${member}`, ""]),
      [`filter.${driver}.required`, "false"],
    ]),
  );
}

/** The beginning of the names of branches that flemma makes. */
export const BRANCHES = "flemma/";

/** Returns an unused name of a branch and its folder: that of the helper, or that with a number. */
export function nameOfWorktree(
  helper: string,
  branches: readonly string[],
  isFolder: (name: string) => boolean,
): string {
  return unusedName(helper, (name) => branches.includes(`${BRANCHES}${name}`) || isFolder(name));
}

// The git folder that a linked worktree or a submodule needs for commits, and what in it stays read-only.

import type { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { realPath } from "../../base/disk/real_path.ts";
import { parentOf } from "../../base/paths.ts";
import { isGitFolder, lookedUpNames } from "../paths/git_folder.ts";
import { pointerIn } from "./repository.ts";
import { CONFIG_BYTES, readGitSettings } from "./settings_file.ts";

/** Limit on worktrees of one repository. Each needs a mount. */
const MOST_WORKTREES = 32;

/** Bytes that are read of a `HEAD`; it has one line. */
const HEAD_BYTES = 4096;

/** Files about the state of the main working folder. They are in the git folder that all worktrees share. */
const OF_MAIN: readonly string[] = [
  ...["HEAD", "index", "logs/HEAD", "info", "modules", "rebase-merge", "rebase-apply", "sequencer"],
  ...["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"],
];

/** A git folder outside the working folders that commands may write to. */
export interface SharedGitFolder {
  readonly path: string;
  /** Existing paths in it that stay read-only, in addition to the table of git's files. */
  readonly held: readonly string[];
  /** Files of the branches that are checked out elsewhere. They stay read-only where the backend can mount files. */
  readonly branches: readonly string[];
}

/** Facts about the user who runs the commands. */
export interface WorktreeUser {
  readonly uid: number | null;
  /** Real path of the home folder. */
  readonly home: string;
}

/**
 * The shared git folder of the repository that contains a folder, if the folder belongs to a linked worktree or a
 * submodule. Null unless all conditions hold: the repository leads back to this worktree, which commands cannot fake;
 * it belongs to the user; and it does not manage the home folder.
 */
export function sharedGitFolder(
  place: string,
  user: WorktreeUser,
  snapshot: FsSnapshot,
): SharedGitFolder | null {
  const folder = repositoryAround(place, snapshot);
  if (folder === null || !snapshot.lstat(`${folder}/.git`)?.isFile) return null;
  const own = pointerIn(`${folder}/.git`, folder, "gitdir: ", snapshot);
  if (own === null) return null;
  const shared = /\/worktrees\/[^/]+$/.test(own)
    ? linked(folder, own, snapshot)
    : submodule(folder, own, snapshot);
  if (shared === null || !isGitFolder(lookedUpNames(shared.path, snapshot))) return null;
  const isOwned = [shared.path, own].every((path) => snapshot.lstat(path)?.uid === user.uid);
  return isOwned && !managesHome(shared.path, user.home, snapshot) ? shared : null;
}

function linked(folder: string, own: string, snapshot: FsSnapshot): SharedGitFolder | null {
  const common = pointerIn(`${own}/commondir`, own, "", snapshot);
  const back = pointerIn(`${own}/gitdir`, own, "", snapshot);
  if (common !== parentOf(parentOf(own)) || back !== `${folder}/.git`) return null;
  const others = snapshot.names(`${common}/worktrees`).map((name) => `${common}/worktrees/${name}`)
    .filter((path) => path !== own);
  if (others.length > MOST_WORKTREES) return null;
  const branches = [common, ...others].flatMap((folder) => branchOf(folder, common, snapshot) ?? []);
  const held = [...others, ...OF_MAIN.map((name) => `${common}/${name}`)];
  const isThere = (path: string) => snapshot.has(path);
  return { path: common, held: held.filter(isThere), branches: branches.filter(isThere) };
}

/**
 * The file of the branch that the working folder of a git folder has checked out; null if there is none. A branch that
 * is stored with others in `packed-refs` has no file.
 */
function branchOf(gitFolder: string, common: string, snapshot: FsSnapshot): string | null {
  const [, name] =
    /^ref: (refs\/heads\/[^\n]+)\n?$/.exec(snapshot.read(`${gitFolder}/HEAD`, HEAD_BYTES) ?? "") ?? [];
  return name === undefined || name.split("/").includes("..") ? null : `${common}/${name}`;
}

function submodule(folder: string, own: string, snapshot: FsSnapshot): SharedGitFolder | null {
  if (!/\/\.git\/modules\/./.test(own)) return null;
  const back = worktreeIn(own, snapshot);
  return back === folder ? { path: own, held: [], branches: [] } : null;
}

/** The working folder that the configuration of a git folder names; null if it names none. */
function worktreeIn(gitFolder: string, snapshot: FsSnapshot): string | null {
  const { settings } = readGitSettings(snapshot.read(`${gitFolder}/config`, CONFIG_BYTES) ?? "");
  const value = settings.findLast(({ key }) => key === "core.worktree")?.value;
  return value === undefined ? null : realPath(value, gitFolder, snapshot);
}

function managesHome(gitFolder: string, home: string, snapshot: FsSnapshot): boolean {
  return parentOf(gitFolder) === home || worktreeIn(gitFolder, snapshot) === home;
}

/** The folder at or above a folder that contains a `.git`; null if there is none. */
export function repositoryAround(folder: string, snapshot: FsSnapshot): string | null {
  for (let at = folder;; at = parentOf(at)) {
    if (snapshot.has(`${at === "/" ? "" : at}/.git`)) return at;
    if (at === "/") return null;
  }
}

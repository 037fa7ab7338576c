// Finds the files that git runs: the git folders behind a `.git`, and repositories below a folder.

import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { parentOf } from "../../base/paths.ts";
import { realPath } from "../../base/disk/real_path.ts";
import { settledStamp } from "../paths/stamp.ts";
import { readIndex } from "./index_file.ts";
import { PROTECTED_IN_GIT, PROTECTED_IN_WORKTREE } from "./table.ts";

/** Bytes that are read of a `.git` file or a `commondir`; both have one line. */
const POINTER_BYTES = 4096;

/** Number of inner git folders that are protected one by one. If there are more, their parent folder is protected. */
const MOST_INNER = 256;

/**
 * Paths that git may run or obey for a repository, grouped by git folder. The paths need not exist; links in them are
 * not resolved.
 */
export interface GitHooks {
  /** Paths in the repository's own git folder and in the git folder that it shares. */
  readonly own: readonly string[];
  /** Paths in git folders of worktrees and submodules, which are inside another git folder. */
  readonly inner: readonly string[];
  /** Folders that contain too many such git folders. */
  readonly whole: readonly string[];
}

/**
 * Returns the paths that git may run or obey for a working folder: hooks and configuration of its own git folder, of
 * the one it shares with other worktrees, and of its submodules.
 */
export function gitHooksOf(folder: string, snapshot: FsSnapshot): GitHooks {
  const dotGit = `${folder === "/" ? "" : folder}/.git`;
  const own = hooksOf(dotGit);
  const real = realPath(dotGit, "/", snapshot);
  const info = real === null ? null : snapshot.lstat(real);
  if (real === null || info === null) return { own, inner: [], whole: [] };
  if (!info.isFile) return { own, ...innerHooks(real, snapshot) };
  // Git resolves the folder from where it found the file, even if that is a link.
  const target = pointerIn(real, folder, "gitdir: ", snapshot);
  if (target === null) return { own: [...own, real], inner: [], whole: [] };
  own.push(...hooksOf(target));
  const common = pointerIn(`${target}/commondir`, target, "", snapshot);
  if (common === null) return { own, inner: [], whole: [] };
  return { own: [...own, ...hooksOf(common)], ...innerHooks(common, snapshot) };
}

/**
 * Returns the folders where something that git would run could appear: the git folders of a working folder and inside
 * them.
 */
export function gitPlaces(folder: string, snapshot: FsSnapshot): string[] {
  const dotGit = `${folder === "/" ? "" : folder}/.git`;
  const hooks = gitHooks(folder, snapshot);
  const places = hooks.flatMap((path) => [parentOf(path), parentOf(parentOf(path))]);
  const inner = places.flatMap((path) => ["modules", "worktrees"].map((name) => `${path}/${name}`));
  return [...new Set([dotGit, ...places, ...inner])].filter((path) => path !== folder && snapshot.has(path));
}

/** Returns the paths that git may run or obey for a bare repository. */
export function bareHooksOf(gitFolder: string, snapshot: FsSnapshot): GitHooks {
  return { own: hooksOf(gitFolder), ...innerHooks(gitFolder, snapshot) };
}

export function gitHooks(folder: string, snapshot: FsSnapshot): string[] {
  return listed(gitHooksOf(folder, snapshot));
}

export function bareHooks(gitFolder: string, snapshot: FsSnapshot): string[] {
  return listed(bareHooksOf(gitFolder, snapshot));
}

function listed({ own, inner, whole }: GitHooks): string[] {
  return [...own, ...inner, ...whole];
}

function hooksOf(gitFolder: string): string[] {
  return PROTECTED_IN_GIT.map((name) => `${gitFolder}/${name}`);
}

/** The hooks of submodules and worktrees whose git folders are inside another one. */
function innerHooks(gitFolder: string, snapshot: FsSnapshot): Pick<GitHooks, "inner" | "whole"> {
  const inner: string[] = [];
  const whole: string[] = [];
  const worktrees = `${gitFolder}/worktrees`;
  const names = snapshot.has(worktrees) ? snapshot.names(worktrees) : [];
  if (names.length > MOST_INNER) whole.push(worktrees);
  else {
    for (const name of names) {
      inner.push(...PROTECTED_IN_WORKTREE.map((file) => `${worktrees}/${name}/${file}`));
    }
  }
  const modules = submodules(`${gitFolder}/modules`, snapshot);
  if (modules === null) return { inner, whole: [...whole, `${gitFolder}/modules`] };
  for (const folder of modules) {
    const below = innerHooks(folder, snapshot);
    inner.push(...hooksOf(folder), ...below.inner);
    whole.push(...below.whole);
  }
  return { inner, whole };
}

/**
 * The git folders of submodules; null if there are too many. Names may contain slashes, so folders without HEAD are
 * searched.
 */
function submodules(folder: string, snapshot: FsSnapshot): string[] | null {
  if (!snapshot.has(folder)) return [];
  const found: string[] = [];
  const waiting = [folder];
  for (let visited = 0; waiting.length > 0; visited++) {
    if (visited === MOST_INNER || found.length > MOST_INNER) return null;
    const outer = waiting.pop()!;
    const names = snapshot.names(outer);
    if (names.length > MOST_INNER) return null;
    for (const name of names) {
      const inner = `${outer}/${name}`;
      if (!snapshot.lstat(inner)?.isDirectory) continue;
      if (snapshot.has(`${inner}/HEAD`)) found.push(inner);
      else waiting.push(inner);
    }
  }
  return found;
}

/** The repositories that indexes name inside other repositories, cached while the indexes stay the same. */
export class GitLinks {
  readonly #known = new Map<string, { readonly stamp: string | null; readonly links: readonly string[] }>();

  /** Returns the folders of the submodules (gitlinks) in the git index of a folder, even if these folders do not exist. */
  of(folder: string, snapshot = new FsSnapshot()): string[] {
    const found = indexesOf(folder, snapshot).flatMap((index) => {
      const stamp = settledStamp(index, snapshot.stats);
      let known = this.#known.get(index);
      if (known === undefined || stamp === null || known.stamp !== stamp) {
        const links = readIndex(index).filter(({ link }) => link).map(({ path }) => path);
        this.#known.set(index, known = { stamp, links });
      }
      return known.links;
    });
    return [...new Set(found)].map((path) => `${folder === "/" ? "" : folder}/${path}`);
  }
}

/** The existing index files of a working folder: its own, and the shared ones of a split index. */
export function indexesOf(folder: string, snapshot: FsSnapshot): string[] {
  const gitFolder = gitFolderOf(folder, snapshot);
  const names = gitFolder === null ? null : snapshot.stats.names(gitFolder);
  return [...names ?? []].filter((name) => name === "index" || name.startsWith("sharedindex.")).map((name) =>
    `${gitFolder}/${name}`
  );
}

/** The git folder of a working folder as a real path; null if there is none. */
function gitFolderOf(folder: string, snapshot: FsSnapshot): string | null {
  const dotGit = realPath(`${folder === "/" ? "" : folder}/.git`, "/", snapshot);
  const info = dotGit === null ? null : snapshot.lstat(dotGit);
  if (dotGit === null || info === null) return null;
  return info.isFile ? pointerIn(dotGit, folder, "gitdir: ", snapshot) : dotGit;
}

/**
 * The real path that a small file names, as git reads it: the whole text without line feeds and carriage returns at
 * its end. Null if it names none, or if the text is not UTF-8, because then the path cannot be followed.
 *
 * @param start the text before the path
 */
export function pointerIn(file: string, base: string, start: string, snapshot: FsSnapshot): string | null {
  const text = snapshot.read(file, POINTER_BYTES) ?? "";
  const path = text.slice(start.length).replace(/[\r\n]+$/, "");
  return text.startsWith(start) && path !== "" && !path.includes("\uFFFD")
    ? realPath(path, base, snapshot)
    : null;
}

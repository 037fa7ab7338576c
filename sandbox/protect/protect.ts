// The paths that stay read-only inside writable folders, and where they lead at a given moment.

import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { projectHooks } from "../policy/hooks.ts";
import { foldersBetween } from "../../base/paths.ts";
import { traceLinks } from "../../base/disk/real_path.ts";
import { baseName, isInside } from "../../base/paths.ts";
import { isInGitFolder } from "../git/harmless.ts";
import { GIT_SETTINGS } from "../git/table.ts";
import { pathsInConfig } from "../git/config_paths.ts";
import { bareHooksOf, type GitHooks, gitHooksOf } from "../git/repository.ts";

/** A path that commands and tools may not change, even in a writable folder. */
export interface ProtectedPath {
  /** Absolute, or relative to the working directory. May contain links and need not exist. */
  readonly path: string;
  /**
   * True if a setting or a caller named this path. False for paths that are protected in every folder, such as hooks.
   */
  readonly asked: boolean;
  /**
   * True if the path is protected only while it is not a folder. This is for `.git`: the dangerous parts of a `.git`
   * folder are listed one by one. As a file, or while missing, `.git` could direct git to hooks in another folder.
   */
  readonly unlessFolder: boolean;
  /** True if the path belongs to a repository outside the working folders, so that it may be compared, not mounted. */
  readonly apart: boolean;
  /** True if the path contains too many git folders to protect each of them separately. */
  readonly whole: boolean;
}

/** Facts about the run that `findProtectedPaths` needs. */
export interface ProtectionScope {
  /** Paths of the document, settings and state, and paths that the policy names. */
  readonly asked: readonly string[];
  /** Paths of the built-in lists. */
  readonly listed: readonly string[];
  /** Words of the policy, such as `$git`. */
  readonly words: readonly string[];
  /** Real paths that are writable. */
  readonly writable: readonly string[];
  /** Real paths of the working folders. */
  readonly workingFolders: readonly string[];
  /** Folders of repositories below the working folders. */
  readonly repositories: readonly string[];
  /** Bare repositories below the working folders. */
  readonly gitFolders: readonly string[];
  /** Folders with too many repositories, which are read-only as a whole. */
  readonly held: readonly string[];
  readonly home: string;
  /** The git configuration of the person and of the machine, which applies to every repository. */
  readonly gitConfigs: readonly string[];
}

/**
 * Returns everything to protect, whether it exists or not. First, these are the given paths, and `.flemma` of each
 * writable path and of each folder between it and a working folder. For these folders, and for repositories below
 * working folders, the hooks that the words stand for are added. A writable path may itself be a hook of a working
 * folder or of a folder around it, or the git folder of a worktree that is not writable. So the working folder is
 * always included, and so are the folders that contain both it and the writable path.
 */
export function findProtectedPaths(scope: ProtectionScope, snapshot = new FsSnapshot()): ProtectedPath[] {
  const { asked, listed, words, writable, workingFolders, repositories } = scope;
  const worked = new Set<string>(workingFolders);
  for (const place of workingFolders) {
    for (const root of writable) {
      if (isInside(place, root)) {
        for (const folder of [root, ...foldersBetween(root, place)]) worked.add(folder);
      } else for (const folder of foldersBetween("/", place)) if (isInside(root, folder)) worked.add(folder);
    }
  }
  const near = new Set([...worked, ...writable]);
  for (const folder of repositories) worked.add(folder);
  const below = (folder: string, name: string) => `${folder === "/" ? "" : folder}/${name}`;
  const project = words.flatMap((word) => projectHooks()[word] ?? []);
  const isApart = (folder: string) => !near.has(folder);
  const found: ProtectedPath[] = [
    ...asked.map((path) => ({ ...PLAIN, path, asked: true })),
    ...listed.map((path) => ({ ...PLAIN, path })),
    ...(words.includes("$git") ? scope.held : []).map((path) => ({ ...PLAIN, path })),
  ];
  for (const folder of worked) {
    for (const name of project) found.push({ ...PLAIN, path: below(folder, name), apart: isApart(folder) });
  }
  const all = [...new Set([...writable, ...worked])];
  for (const folder of all) {
    const hook = { ...PLAIN, apart: isApart(folder) };
    found.push({ ...hook, path: below(folder, ".flemma") });
    if (words.includes("$git")) found.push({ ...hook, path: below(folder, ".git"), unlessFolder: true });
  }
  return words.includes("$git") ? [...found, ...gitPaths(scope, all, isApart, snapshot)] : found;
}

const PLAIN = { asked: false, unlessFolder: false, apart: false, whole: false };

/** Returns the paths that git reads or runs for these folders, by default and because of its configuration. */
function gitPaths(
  scope: ProtectionScope,
  folders: readonly string[],
  isApart: (folder: string) => boolean,
  snapshot: FsSnapshot,
): ProtectedPath[] {
  const { home, gitConfigs, gitFolders, workingFolders } = scope;
  const found: ProtectedPath[] = [];
  const add = ({ own, inner, whole }: GitHooks, apart: boolean) => {
    for (const path of own) found.push({ ...PLAIN, path, apart });
    for (const path of inner) found.push({ ...PLAIN, path, apart: true });
    for (const path of whole) found.push({ ...PLAIN, path, whole: true });
  };
  const configs: { folder: string; path: string }[] = [];
  for (const folder of folders) {
    const hooks = gitHooksOf(folder, snapshot);
    add(hooks, isApart(folder));
    for (const path of [...hooks.own, ...hooks.inner]) {
      if (/\/config(\.worktree)?$/.test(path)) configs.push({ folder, path });
    }
  }
  for (const folder of gitFolders) {
    const hooks = bareHooksOf(folder, snapshot);
    add(hooks, !workingFolders.includes(folder));
    configs.push(...hooks.own.filter((path) => path.endsWith("/config")).map((path) => ({ folder, path })));
  }
  // A relative path in the person's own git configuration leads to a different file in each repository.
  for (const folder of workingFolders) configs.push(...gitConfigs.map((path) => ({ folder, path })));
  for (const { folder, path } of configs) {
    for (const named of pathsInConfig(path, { folder, home }, snapshot)) {
      found.push({ ...PLAIN, path: named });
    }
  }
  return found;
}

/** Where protected paths lead at one moment. */
export interface Protection {
  /** Real paths, existing or not, without duplicates. */
  readonly real: readonly string[];
  /**
   * Symbolic links on the way to protected paths. A command could remove such a link, even if it cannot change the
   * target.
   */
  readonly links: readonly { readonly path: string; readonly target: string }[];
}

export function traceProtected(
  paths: readonly (Pick<ProtectedPath, "path"> & Partial<ProtectedPath>)[],
  cwd: string,
  snapshot = new FsSnapshot(),
): Protection {
  const real = new Set<string>();
  const links = new Map<string, string>();
  for (const { path, unlessFolder } of paths) {
    const trace = traceLinks(path, cwd, snapshot);
    if (trace === null) continue;
    for (const link of trace.links) links.set(link.path, link.target);
    if (unlessFolder && snapshot.lstat(trace.path)?.isDirectory) continue;
    real.add(trace.path);
  }
  return { real: [...real], links: [...links].map(([path, target]) => ({ path, target })) };
}

/**
 * Returns the existing git configurations among these paths. Commands may add remotes and branches to them, so they are
 * compared after a command, not mounted. A configuration that was protected explicitly stays read-only.
 */
export function findSettings(
  paths: readonly ProtectedPath[],
  cwd: string,
  snapshot: FsSnapshot,
): ReadonlySet<string> {
  const named = (asked: boolean) =>
    traceProtected(paths.filter((path) => path.asked === asked), cwd, snapshot);
  const asked = named(true).real;
  return new Set(
    named(false).real.filter((path) =>
      GIT_SETTINGS.includes(baseName(path)) && snapshot.lstat(path)?.isFile === true &&
      isInGitFolder(path, snapshot) && !asked.some((around) => isInside(path, around))
    ),
  );
}

/** Returns the existing paths that need no mount, because they may be compared after a command. */
export function findComparedPaths(
  paths: readonly ProtectedPath[],
  cwd: string,
  snapshot: FsSnapshot,
): string[] {
  const real = (apart: boolean) =>
    traceProtected(paths.filter((path) => path.apart === apart), cwd, snapshot).real;
  const near = new Set(real(false));
  return real(true).filter((path) => !near.has(path) && snapshot.has(path));
}

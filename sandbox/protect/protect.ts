// Which paths stay read-only inside writable folders, and where they lead at a moment (S11, sandbox 12.5).

import { FsSnapshot } from "../paths/fs_snapshot.ts";
import { PROJECT_HOOKS } from "../policy/hooks.ts";
import { foldersBetween } from "../../base/paths.ts";
import { traceLinks } from "../paths/real_path.ts";
import { isInside } from "../../base/paths.ts";
import { pathsInConfig } from "./git_config.ts";
import { bareHooks, gitHooks } from "./repository.ts";

/** A path that commands and tools may not change, whatever lies around it. */
export interface ProtectedPath {
  /** Absolute, or relative to the working directory; may hold links and need not exist. */
  readonly path: string;
  /** Whether somebody asked for it by name, as opposed to the hooks every folder may have. */
  readonly asked: boolean;
  /**
   * Counts only while it is not a folder. For `.git`: as a folder its dangerous parts are named one by one, as a
   * file, or while it is missing, it could send git to hooks elsewhere.
   */
  readonly unlessFolder: boolean;
}

/** What is known of the run, for `protectedPaths`. */
export interface ProtectionScope {
  /** Document, settings, state, and what the policy names. */
  readonly asked: readonly string[];
  /** Paths of the shipped lists. */
  readonly listed: readonly string[];
  /** Words of the policy, such as `$git`. */
  readonly words: readonly string[];
  /** Real. */
  readonly writable: readonly string[];
  /** Real paths of the folders that are worked in. */
  readonly workingFolders: readonly string[];
  /** Folders of repositories below them. */
  readonly repositories: readonly string[];
  /** Folders below them that are repositories by themselves. */
  readonly gitFolders: readonly string[];
  readonly home: string;
  /** The person's configuration of git, and the machine's, which hold for every repository. */
  readonly gitConfigs: readonly string[];
}

/**
 * Everything to protect, whether it exists or not. Beside the given paths: `.flemma` of each writable path and of each
 * folder from one down to a working folder; for the same folders, and for the repositories below the working folders, the hooks
 * that the words stand for. A writable path may itself be a hook of a working folder or of a folder around it, or the git
 * folder of a worktree that is not writable; so a working folder counts in any case, and so do the folders that hold both.
 */
export function protectedPaths(scope: ProtectionScope, snapshot = new FsSnapshot()): ProtectedPath[] {
  const { asked, listed, words, writable, workingFolders, repositories } = scope;
  const worked = new Set<string>([...repositories, ...workingFolders]);
  for (const place of workingFolders) {
    for (const root of writable) {
      if (isInside(place, root)) {
        for (const folder of [root, ...foldersBetween(root, place)]) worked.add(folder);
      } else for (const folder of foldersBetween("/", place)) if (isInside(root, folder)) worked.add(folder);
    }
  }
  const all = [...new Set([...writable, ...worked])];
  const below = (folder: string, name: string) => `${folder === "/" ? "" : folder}/${name}`;
  const hook = (path: string, unlessFolder = false) => ({ path, asked: false, unlessFolder });
  const project = words.flatMap((word) => PROJECT_HOOKS[word] ?? []);
  return [
    ...asked.map((path) => ({ path, asked: true, unlessFolder: false })),
    ...listed.map((path) => hook(path)),
    ...[...worked].flatMap((folder) => project.map((name) => hook(below(folder, name)))),
    ...all.flatMap((folder) => [
      hook(below(folder, ".flemma")),
      ...(words.includes("$git") ? [hook(below(folder, ".git"), true)] : []),
    ]),
    ...(words.includes("$git") ? gitPaths(scope, all, snapshot).map((path) => hook(path)) : []),
  ];
}

/** What git reads or runs for these folders, by itself and because its configuration says so. */
function gitPaths(scope: ProtectionScope, folders: readonly string[], snapshot: FsSnapshot): string[] {
  const { home, gitConfigs, gitFolders, workingFolders } = scope;
  const hooks = folders.flatMap((folder) => gitHooks(folder, snapshot).map((path) => ({ folder, path })));
  // What the person's own configuration names by a relative path means another file in every repository.
  const everywhere = workingFolders.flatMap((folder) => gitConfigs.map((path) => ({ folder, path })));
  const configs = [...hooks.filter(({ path }) => /\/config(\.worktree)?$/.test(path)), ...everywhere];
  return [
    ...hooks.map(({ path }) => path),
    ...gitFolders.flatMap((folder) => bareHooks(folder, snapshot)),
    ...configs.flatMap(({ folder, path }) => pathsInConfig(path, { folder, home }, snapshot)),
  ];
}

/** Where protected paths lead at one moment. */
export interface Protection {
  /** Real paths, existing or not, without duplicates. */
  readonly real: readonly string[];
  /** Links on the way, which a command could take away although what they lead to is safe. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
}

/** Follows the links of protected paths. */
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

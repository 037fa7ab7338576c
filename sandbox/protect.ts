// Paths that stay read-only inside writable folders, and the mounts that keep them so (S11, sandbox 12.5).

import { isInside, parentFolder, realPath } from "./realpath.ts";

/** A path that commands and tools may not change, whatever lies around it. */
export interface ProtectedPath {
  /** Absolute; may hold links and need not exist. */
  readonly path: string;
  /** Whether somebody asked for it by name, as opposed to the hooks every repository may have. */
  readonly asked: boolean;
  /**
   * Counts only while it is not a folder. For `.git`: as a folder its dangerous parts are named one by one, as a
   * file, or while it is missing, it could send git to hooks elsewhere.
   */
  readonly unlessFolder: boolean;
}

/** What runs commands, or is read as policy, in a folder that is worked in. */
const HOOKS: readonly string[] = [".git/hooks", ".git/config", ".git/config.worktree", ".flemma"];

/**
 * Everything to protect: `asked` (document, settings, state), and the hooks of every folder that may be the root
 * of a repository: each writable path, and each folder on the way from one down to a place in `workplaces`.
 * All paths absolute; `writable` and `workplaces` real.
 */
export function protectedPaths(
  asked: readonly string[],
  writable: readonly string[],
  workplaces: readonly string[],
): ProtectedPath[] {
  const roots = new Set(writable);
  for (const place of workplaces) {
    for (const root of writable) {
      for (const folder of foldersBetween(root, place)) roots.add(folder);
      if (isInside(place, root)) roots.add(place);
    }
  }
  return [
    ...asked.map((path) => ({ path, asked: true, unlessFolder: false })),
    ...[...roots].flatMap((root) => {
      const folder = root === "/" ? "" : root;
      return [
        { path: `${folder}/.git`, asked: false, unlessFolder: true },
        ...HOOKS.map((hook) => ({ path: `${folder}/${hook}`, asked: false, unlessFolder: false })),
      ];
    }),
  ];
}

/** Where the protected paths lead at this moment, existing or not; without duplicates. */
export function realProtected(paths: readonly ProtectedPath[], cwd: string): string[] {
  const real = new Set<string>();
  for (const { path, unlessFolder } of paths) {
    const target = realPath(path, cwd);
    if (target === null || (unlessFolder && stat(target)?.isDirectory)) continue;
    real.add(target);
  }
  return [...real];
}

/** Those of `paths` that exist. Only they can be mounted: mounting makes what is missing, on the host. */
export function existing(paths: readonly string[]): string[] {
  return paths.filter((path) => stat(path) !== null);
}

/**
 * The mounts for real, existing `paths` below real, existing `writable` ones. Every folder on the way becomes a
 * mount point too, for a mount point can be neither renamed nor removed: else the folder around a protected file
 * could be moved away and made anew (tried, sandbox 12.5). All the folders come first, outer before inner, because
 * binding a folder covers what was mounted inside it before.
 */
export function protectionMounts(paths: readonly string[], writable: readonly string[]): string[] {
  const folders = new Set<string>();
  const readOnly = new Set<string>();
  for (const path of outermost(paths)) {
    for (const root of writable) {
      if (isInside(root, path)) readOnly.add(root);
      else if (isInside(path, root)) {
        readOnly.add(path);
        for (const folder of foldersBetween(root, path)) folders.add(folder);
      }
    }
  }
  return [
    ...[...folders].sort().flatMap((folder) => ["--bind", folder, folder]),
    ...[...readOnly].sort().flatMap((path) => ["--ro-bind", path, path]),
  ];
}

/** Drops what lies below another of the paths; a read-only mount covers everything inside. */
function outermost(paths: readonly string[]): string[] {
  return paths.filter((path) => !paths.some((other) => other !== path && isInside(path, other)));
}

/** The folders strictly between `root` and `path`; none when `path` does not lie below `root`. */
function foldersBetween(root: string, path: string): string[] {
  const folders: string[] = [];
  if (!isInside(path, root) || path === root) return folders;
  for (let folder = parentFolder(path); folder !== root; folder = parentFolder(folder)) folders.push(folder);
  return folders;
}

function stat(path: string): Deno.FileInfo | null {
  try {
    return Deno.statSync(path);
  } catch {
    return null;
  }
}

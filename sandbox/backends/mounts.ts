// The mounts over the writable paths, as one ordered list of arguments.

import { foldersBetween, isInside } from "../../base/paths.ts";
import type { HiddenPath } from "../types.ts";

/** Everything to mount. All paths are real and exist. */
export interface MountPlan {
  /** Writable paths. The argument list mounts them already. */
  readonly writable: readonly string[];
  /**
   * Writable paths inside other writable paths. Each is mounted, so that a command cannot replace it. It is mounted
   * again if an empty folder covers it.
   */
  readonly inner: readonly string[];
  readonly protect: readonly string[];
  /** Links on the way to protected paths. The folders around them are mounted so that they cannot be moved. */
  readonly links: readonly string[];
  readonly hidden: readonly HiddenPath[];
  /** Folders over which an empty, writable folder is mounted. `size` is in bytes. */
  readonly empty: readonly { readonly path: string; readonly size?: number }[];
  readonly masked: readonly string[];
  /** Sockets that are masked at the last moment. They and the folders around them may vanish until then. */
  readonly late: readonly string[];
  /** Sockets that stay reachable although an empty folder covers the folder that contains them. */
  readonly kept: readonly string[];
}

/** A mount at a path, in place of what was there. */
interface Layer {
  readonly path: string;
  readonly args: readonly string[];
  /** True if everything below the path disappears unless it is mounted again. */
  readonly empties: boolean;
}

/**
 * Returns the mounts, outer paths before inner ones, because mounting a folder covers earlier mounts inside it. So the
 * longest path wins. At the same path, hiding wins over protecting, and both win over being writable.
 *
 * Every folder between a writable path and a protected, hidden or masked one becomes a mount point too, because a
 * mount point can be neither renamed nor removed. Otherwise a command could move the folder around a protected file
 * away and create it again (this has been tested). It could also move the folder around a hidden file to a path where
 * nothing hides the file.
 */
export function mountArguments(plan: MountPlan): string[] {
  const layers = new Map<string, Layer>();
  // The first mount for a path wins.
  const put = (path: string, args: readonly string[], empties = false) => {
    if (!layers.has(path)) layers.set(path, { path, args, empties });
  };
  const writable = [...plan.writable, ...plan.inner];
  const sealed: string[] = [];
  for (const { path, folder } of plan.hidden) {
    if (!folder) put(path, ["--ro-bind", "/dev/null", path]);
    else {
      // If paths are mounted again inside this folder, commands must be able to reach them, but not to list the folder.
      const passable = writable.some((inner) => inner !== path && isInside(inner, path));
      put(path, ["--perms", passable ? "0111" : "0000", "--tmpfs", path], true);
      sealed.push(path);
    }
  }
  for (const { path, size } of plan.empty) {
    put(path, [...(size === undefined ? [] : ["--size", String(size)]), "--tmpfs", path], true);
  }
  const replaced = (path: string) =>
    [...plan.empty, ...plan.hidden].some((other) => other.path !== path && isInside(path, other.path));
  for (const path of plan.masked) put(path, ["--ro-bind", "/dev/null", path]);
  for (const path of plan.kept) if (replaced(path)) put(path, ["--bind", path, path]);
  const { folders, readOnly } = protection(plan.protect, plan.writable);
  for (const path of readOnly) put(path, ["--ro-bind", path, path]);
  const isProtected = (path: string) => plan.protect.some((around) => isInside(path, around));
  for (const path of writable) if (replaced(path)) put(path, ["--bind", path, path]);
  // A path with a mount cannot be replaced. Otherwise a command could replace the path with a link, and the next run
  // would make the target of the link writable.
  for (const path of plan.inner) if (!isProtected(path)) put(path, ["--bind", path, path]);
  // A command must not move a folder around hidden or covered files, because the next command would find these files
  // uncovered. A folder inside a protected one needs no mount: it cannot be moved, and a mount would make it writable.
  const covered = [...plan.hidden, ...plan.empty].map(({ path }) => path);
  for (const path of [...plan.links, ...covered, ...plan.masked, ...plan.inner]) {
    for (const folder of plan.writable.flatMap((root) => foldersBetween(root, path))) {
      if (!isProtected(folder)) folders.add(folder);
    }
  }
  for (const path of folders) put(path, ["--bind", path, path]);
  for (
    const folder of plan.late.flatMap((path) => plan.writable.flatMap((root) => foldersBetween(root, path)))
  ) {
    if (!isProtected(folder)) put(folder, ["--bind-try", folder, folder]);
  }
  const ordered = [...layers.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  const reopened = new Set([...writable, ...plan.kept]);
  return [
    ...ordered.filter((layer) => isReachable(layer, ordered, reopened)).flatMap(({ args }) => args),
    // These options come last, because bwrap first creates the mount points inside these folders.
    ...sealed.filter((path) => isReachable(layers.get(path)!, ordered, reopened))
      .flatMap((path) => ["--remount-ro", path]),
  ];
}

/** True if no other mount hides the mount at this path. */
function isReachable(layer: Layer, ordered: readonly Layer[], reopened: ReadonlySet<string>): boolean {
  const around = ordered.findLast((other) =>
    other.path !== layer.path && isInside(layer.path, other.path) &&
    (other.empties || reopened.has(other.path))
  );
  return around === undefined || !around.empties || reopened.has(layer.path);
}

/**
 * For protected paths inside writable ones, returns the folders that must stay in place, and the paths to mount
 * read-only.
 */
function protection(
  paths: readonly string[],
  writable: readonly string[],
): { folders: Set<string>; readOnly: ReadonlySet<string> } {
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
  return { folders, readOnly };
}

/** Drops paths inside other paths. A read-only mount covers everything inside the mounted folder. */
function outermost(paths: readonly string[]): string[] {
  return paths.filter((path) => !paths.some((other) => other !== path && isInside(path, other)));
}

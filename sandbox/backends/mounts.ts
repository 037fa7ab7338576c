// What lies on top of the writable paths, as one ordered list of mounts (sandbox 7.2, 12.1, 12.3 to 12.5).

import { foldersBetween, isInside } from "../../base/paths.ts";
import type { HiddenPath } from "../types.ts";

/** Everything that is mounted; all paths real and existing. */
export interface MountPlan {
  /** The writable paths of the list itself; they are mounted already. */
  readonly writable: readonly string[];
  /** Writable paths below others: held in place, and needed again where those are replaced by something empty. */
  readonly inner: readonly string[];
  readonly protect: readonly string[];
  /** Links on the way to protected paths: the folders around them are held in place. */
  readonly links: readonly string[];
  readonly hidden: readonly HiddenPath[];
  /** Folders that an empty, writable one takes the place of. */
  readonly empty: readonly { readonly path: string; readonly size?: number }[];
  /** Sockets that are covered. */
  readonly masked: readonly string[];
  /** Sockets that stay although an empty folder takes the place of theirs. */
  readonly kept: readonly string[];
}

/** One thing that stands at a path instead of what was there. */
interface Layer {
  readonly path: string;
  readonly args: readonly string[];
  /** What lies below is gone, unless it is mounted again. */
  readonly empties: boolean;
}

/**
 * The mounts, outer paths before inner ones, because mounting a folder covers what was mounted inside it before. So the
 * longest path wins; at the same path hiding wins over protecting, and both over being writable.
 *
 * Every folder between a writable path and a protected, hidden or covered one becomes a mount point too, for a mount
 * point can be neither renamed nor removed: else the folder around a protected file could be moved away and made anew
 * (tried, 12.5), and one around a hidden file moved to where nothing hides it any more.
 */
export function mountArguments(plan: MountPlan): string[] {
  const layers = new Map<string, Layer>();
  // The first to claim a path has it.
  const put = (path: string, args: readonly string[], empties = false) => {
    if (!layers.has(path)) layers.set(path, { path, args, empties });
  };
  const writable = [...plan.writable, ...plan.inner];
  const sealed: string[] = [];
  for (const { path, folder } of plan.hidden) {
    if (!folder) put(path, ["--ro-bind", "/dev/null", path]);
    else {
      // Whatever is mounted again inside must be reached through it, though not be found in it.
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
  // Held in place: whatever took the place of such a path would be writable for the next run, wherever it leads.
  for (const path of plan.inner) if (!isProtected(path)) put(path, ["--bind", path, path]);
  // What lies hidden or covered must not be carried to a place where the next command finds it uncovered. A folder
  // inside a protected one cannot be moved, and would become writable here.
  const covered = [...plan.hidden, ...plan.empty].map(({ path }) => path);
  for (const path of [...plan.links, ...covered, ...plan.masked, ...plan.inner]) {
    for (const folder of plan.writable.flatMap((root) => foldersBetween(root, path))) {
      if (!isProtected(folder)) folders.add(folder);
    }
  }
  for (const path of folders) put(path, ["--bind", path, path]);
  const ordered = [...layers.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  const reopened = new Set([...writable, ...plan.kept]);
  return [
    ...ordered.filter((layer) => isReachable(layer, ordered, reopened)).flatMap(({ args }) => args),
    // Last, for mount points inside are made in it first.
    ...sealed.filter((path) => isReachable(layers.get(path)!, ordered, reopened))
      .flatMap((path) => ["--remount-ro", path]),
  ];
}

/** Whether what lies at a path is still there once the layers around it are mounted. */
function isReachable(layer: Layer, ordered: readonly Layer[], reopened: ReadonlySet<string>): boolean {
  const around = ordered.findLast((other) =>
    other.path !== layer.path && isInside(layer.path, other.path) &&
    (other.empties || reopened.has(other.path))
  );
  return around === undefined || !around.empties || reopened.has(layer.path);
}

/** Which folders to hold in place and which paths to mount read-only, for what lies inside writable paths. */
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

/** Drops what lies below another of the paths; a read-only mount covers everything inside. */
function outermost(paths: readonly string[]): string[] {
  return paths.filter((path) => !paths.some((other) => other !== path && isInside(path, other)));
}

// The folder of the project that contains a folder.

import { canBeSeen } from "../../base/files.ts";
import { parentOf } from "../../base/paths.ts";

/**
 * Returns the folder of the project that contains `folder`: the first folder upwards with `.git` or `.flemma`. The home
 * folder and the folders above it are not projects. Null if there is none.
 */
export function projectRootOf(folder: string, home: string): string | null {
  for (let at = folder; at !== "/" && !isHomeOrAbove(at, home); at = parentOf(at)) {
    if (canBeSeen(`${at}/.git`) || canBeSeen(`${at}/.flemma`)) return at;
  }
  return null;
}

/** True if `folder` is the home folder or contains it, under whatever name. */
export function isHomeOrAbove(folder: string, home: string): boolean {
  if (folder === "/") return true;
  const info = Deno.statSync(folder);
  for (let at = realFolder(home) ?? home;; at = parentOf(at)) {
    if (at === folder || isSame(info, at)) return true;
    if (at === "/") return false;
  }
}

function isSame({ dev, ino }: Deno.FileInfo, path: string): boolean {
  try {
    const other = Deno.statSync(path);
    return other.dev === dev && other.ino === ino;
  } catch {
    return false; // A folder that cannot be looked at is not the one that was looked at.
  }
}

/** Returns the real path of a folder; null if it is not a folder or cannot be looked at. */
export function realFolder(path: string): string | null {
  try {
    const real = Deno.realPathSync(path);
    return Deno.statSync(real).isDirectory ? real : null;
  } catch {
    return null;
  }
}

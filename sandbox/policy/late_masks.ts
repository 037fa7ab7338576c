// Masks of sockets that are mounted at the last moment, because a socket may vanish at any time.

import { isInside } from "../../base/paths.ts";
import { readRegularTextSync } from "../../base/system/regular_file.ts";
import type { PrivateFiles } from "../process/private_files.ts";
import type { MountablePolicy } from "../types.ts";
import { isVisible } from "./policy.ts";

/**
 * True if a socket is masked at the last moment, because it may vanish at any time. If another process could replace a
 * writable folder during the mount, the mask is among the mounts that are checked; there bubblewrap creates a missing
 * mount point.
 */
export function isLate(path: string, policy: MountablePolicy): boolean {
  return !path.includes("\n") && !(policy.unsteady && isWritable(path, policy));
}

/** True if commands could write to a path, or put something at it. */
export function isWritable(path: string, { rw_paths, protect }: MountablePolicy): boolean {
  const within = (folders: readonly string[]) => folders.some((folder) => isInside(path, folder));
  return within(rw_paths) && !within(protect);
}

/** True if commands would see what is at a path: nothing hides it, and no empty folder covers it. */
function isShown(path: string, { deny_read, rw_paths, inner, limits }: MountablePolicy): boolean {
  const emptied = (root: string) => limits.tmp_size !== undefined && root === "/tmp";
  const shown = [...rw_paths.filter((root) => !emptied(root)), ...inner];
  const hidden = [...deny_read, ...["/tmp"].filter(emptied)];
  return isVisible(path, { deny_read: hidden, rw_paths: shown, covered: [] });
}

/** Files for masks at the last moment: the paths of the sockets, and the arguments that the shell writes for them. */
export interface LateMasks {
  readonly paths: string;
  readonly written: string;
}

/** Returns the files for masks at the last moment; null if there is nothing to mask. */
export function lateMasks(policy: MountablePolicy, files: PrivateFiles): LateMasks | null {
  const late = policy.masked.filter((path) => isLate(path, policy) && isShown(path, policy));
  if (late.length === 0) return null;
  const paths = files.fresh("sockets");
  Deno.writeTextFileSync(paths, late.map((path) => `${path}\n`).join(""), { createNew: true, mode: 0o600 });
  return { paths, written: files.fresh("masks") };
}

/** True if one of the sockets that the shell found is gone. Then bubblewrap had no place to mount its mask. */
export function hasVanished({ written }: LateMasks): boolean {
  const words = readIfPresent(written).split("\0");
  return words.some((word, at) => words[at - 2] === "--ro-bind" && !isSocket(word));
}

function isSocket(path: string): boolean {
  try {
    return Deno.lstatSync(path).isSocket === true;
  } catch {
    return false;
  }
}

/** Writes the arguments that mask those sockets in `$1` that still exist, into `$2`. */
export const WRITE_MASKS: string =
  `while IFS= read -r s; do [ ! -S "$s" ] || printf '%s\\0' --ro-bind /dev/null "$s"; done <"$1" >"$2"`;

/** The text of a file; empty if it is missing or not a regular file. */
export function readIfPresent(path: string): string {
  try {
    return Deno.lstatSync(path).isFile ? readRegularTextSync(path) : "";
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
    return "";
  }
}

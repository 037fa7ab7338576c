// Finds symbolic links that a command could have made and that lead to paths where no command may write.

import { isInside } from "../../base/paths.ts";
import type { Trace } from "../../base/disk/fs_snapshot.ts";

/**
 * Returns the first link below a writable path if the trace ends outside all writable paths; otherwise null. Such a
 * link may come from the person or from a command.
 */
export function strayLink({ path, links }: Trace, writable: readonly string[]): string | null {
  if (writable.some((root) => isInside(path, root))) return null;
  return linkInside({ links }, writable);
}

/**
 * Returns the first link that is inside one of these folders. A command that may write to the folder can replace the
 * link.
 */
export function linkInside({ links }: Pick<Trace, "links">, folders: readonly string[]): string | null {
  return links.find(({ path }) => folders.some((folder) => path !== folder && isInside(path, folder)))
    ?.path ??
    null;
}

// Symbolic links that a command could have made, on the way to where no command may write.

import { isInside } from "../../base/paths.ts";
import type { Trace } from "../../base/disk/fs_snapshot.ts";

/**
 * The first link below a writable path, if the trace ends outside all of them; otherwise null. Such a link may come
 * from the person or from a command.
 */
export function strayLink({ path, links }: Trace, writable: readonly string[]): string | null {
  if (writable.some((root) => isInside(path, root))) return null;
  return linkInside({ links }, writable);
}

/** The first link inside one of these folders, where a command that may write to them can replace it. */
export function linkInside({ links }: Pick<Trace, "links">, folders: readonly string[]): string | null {
  return links.find(({ path }) => folders.some((folder) => path !== folder && isInside(path, folder)))
    ?.path ??
    null;
}

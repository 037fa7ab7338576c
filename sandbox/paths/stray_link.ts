// Links that a command could have made, on the way to where no command may write (S11).

import { isInside } from "../../base/paths.ts";
import type { Trace } from "../../base/disk/fs_snapshot.ts";

/**
 * The first link on a way that lies below one of the writable paths, if the way ends outside of all of them: nobody can tell
 * whether the person made it or a command did. Null when there is none.
 */
export function strayLink({ path, links }: Trace, writable: readonly string[]): string | null {
  if (writable.some((root) => isInside(path, root))) return null;
  return linkInside({ links }, writable);
}

/** The first link of a way that lies inside one of these folders, where a command that may write to them can exchange it. */
export function linkInside({ links }: Pick<Trace, "links">, folders: readonly string[]): string | null {
  return links.find(({ path }) => folders.some((folder) => path !== folder && isInside(path, folder)))
    ?.path ??
    null;
}

// The private folder for what lives no longer than this boot: probe answers and status files.

import type { Environment } from "../../base/environment.ts";

/**
 * Places for the folder, best first: `$XDG_RUNTIME_DIR/flemma`, `$XDG_STATE_HOME/flemma`,
 * `~/.local/state/flemma`. Relative values of the variables do not count, as the base directory rules want it.
 */
export function runtimeFolders({ variables, home }: Environment): string[] {
  const bases = [variables.XDG_RUNTIME_DIR, variables.XDG_STATE_HOME, `${home}/.local/state`];
  const absolute = bases.filter((base): base is string => base !== undefined && base.startsWith("/"));
  return [...new Set(absolute.map((base) => `${base.replace(/\/+$/, "")}/flemma`))];
}

/** Folders that a file was made in during this process. */
const usable = new Set<string>();

/** The first of the folders that can be made and written to, mode 0700; null when none can. */
export function makeRuntimeFolder(environment: Environment): string | null {
  for (const folder of runtimeFolders(environment)) {
    try {
      Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
      // A folder may be there and still be of no use: somebody else's, or on a read-only file system.
      if (!usable.has(folder)) Deno.removeSync(Deno.makeTempFileSync({ dir: folder }));
      usable.add(folder);
      return folder;
    } catch {
      // The next place is as good; that none works is told by null.
    }
  }
  return null;
}

/** Where every process of this machine may keep things in memory; a sandbox with a /dev of its own does not see it. */
const SHARED_MEMORY = "/dev/shm";

/**
 * The folder for files that live as long as one command, in memory where that can be had; mode 0700, of this user. Null
 * when none can be made.
 */
export function makeFleetingFolder(environment: Environment): string | null {
  if (environment.variables.XDG_RUNTIME_DIR?.startsWith("/")) return makeRuntimeFolder(environment);
  return makeInSharedMemory() ?? makeRuntimeFolder(environment);
}

function makeInSharedMemory(): string | null {
  const uid = Deno.uid();
  const folder = `${SHARED_MEMORY}/flemma-${uid}`;
  try {
    if (usable.has(folder) && Deno.lstatSync(folder).isDirectory) return folder;
    Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
    // Everybody may make folders there, so somebody else may have been first.
    const info = Deno.lstatSync(folder);
    if (!info.isDirectory || info.uid !== uid || (info.mode ?? 0o777) & 0o077) return null;
    usable.add(folder);
    return folder;
  } catch {
    return null;
  }
}

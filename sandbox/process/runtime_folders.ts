// The private folder for files that live no longer than this boot: probe results and status files.

import type { Environment } from "../../base/environment.ts";

/**
 * Candidates for the folder, best first: `$XDG_RUNTIME_DIR/flemma`, `$XDG_STATE_HOME/flemma`, `~/.local/state/flemma`.
 * Relative values of the variables are ignored, as the XDG Base Directory Specification requires.
 */
export function runtimeFolders({ variables, home }: Environment): string[] {
  const bases = [variables.XDG_RUNTIME_DIR, variables.XDG_STATE_HOME, `${home}/.local/state`];
  const absolute = bases.filter((base): base is string => base !== undefined && base.startsWith("/"));
  return [...new Set(absolute.map((base) => `${base.replace(/\/+$/, "")}/flemma`))];
}

/** Folders in which this process has created a file. */
const usable = new Set<string>();

/** The first folder that can be created and written to, mode 0700; null if there is none. */
export function makeRuntimeFolder(environment: Environment): string | null {
  for (const folder of runtimeFolders(environment)) {
    try {
      Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
      // An existing folder may be unusable: it belongs to another user, or the file system is read-only.
      if (!usable.has(folder)) Deno.removeSync(Deno.makeTempFileSync({ dir: folder }));
      usable.add(folder);
      return folder;
    } catch {
      // This folder cannot be used, so the next one is tried.
    }
  }
  return null;
}

/** Memory file system for all processes of this machine. A sandbox with its own /dev does not see it. */
const SHARED_MEMORY = "/dev/shm";

/**
 * The folder for files that live as long as one command, in memory if possible; mode 0700, owned by this user. Null if
 * none can be created.
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
    // Everybody may create folders in shared memory, so another user may have created this one first.
    const info = Deno.lstatSync(folder);
    if (!info.isDirectory || info.uid !== uid || (info.mode ?? 0o777) & 0o077) return null;
    usable.add(folder);
    return folder;
  } catch {
    return null;
  }
}

// One look at the file system that is asked about many neighbouring paths: nothing is looked up twice.

/** Misses in one folder after which the folder is listed instead of asked again. */
const PATIENCE = 2;

/** Whether a listing decides: elsewhere a file may answer to names that are spelt otherwise. */
const EXACT_NAMES = Deno.build.os === "linux";

/**
 * What stands where, as it was when it was first asked. For decisions that belong to one moment; make a new one for
 * the next moment. Asking for what is missing is dear in this runtime, and most protected paths are missing.
 */
export class Glance {
  readonly #known = new Map<string, Deno.FileInfo | null>();
  readonly #misses = new Map<string, number>();
  readonly #names = new Map<string, ReadonlySet<string>>();

  /** What stands at an absolute path, links not followed; null when nothing does or it may not be looked at. */
  lstat(path: string): Deno.FileInfo | null {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const info = this.#look(path);
    this.#known.set(path, info);
    return info;
  }

  /** Whether anything, a dangling link too, stands there. */
  has(path: string): boolean {
    return this.lstat(path) !== null;
  }

  /** The target of a link as it is written, or null for everything else. */
  linkTarget(path: string): string | null {
    if (!this.lstat(path)?.isSymlink) return null;
    try {
      return Deno.readLinkSync(path);
    } catch {
      return null; // It went away meanwhile.
    }
  }

  /** The names in a folder; empty when it cannot be listed. */
  names(folder: string): ReadonlySet<string> {
    const known = this.#names.get(folder);
    if (known !== undefined) return known;
    const names = new Set<string>();
    try {
      for (const { name } of Deno.readDirSync(folder)) names.add(name);
    } catch {
      // Missing, no folder, or not to be read: there are no names to go by.
    }
    this.#names.set(folder, names);
    return names;
  }

  #look(path: string): Deno.FileInfo | null {
    const slash = path.lastIndexOf("/");
    const parent = path.slice(0, slash) || "/";
    // What lies in a missing folder is missing too.
    if (this.#known.get(parent) === null) return null;
    const listed = this.#names.get(parent);
    if (EXACT_NAMES && listed?.has(path.slice(slash + 1)) === false && listed.size > 0) return null;
    try {
      return Deno.lstatSync(path);
    } catch {
      const misses = (this.#misses.get(parent) ?? 0) + 1;
      this.#misses.set(parent, misses);
      if (misses === PATIENCE) this.names(parent);
      return null;
    }
  }
}

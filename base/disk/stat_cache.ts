// Caches file status at one moment, so that each path is read only once.

import { type FileStatus, linkStatus } from "../system/libc.ts";

/**
 * Caches file status, so that each path is read once. It is for checks that are made together, such as those of
 * everything that a command could have changed. Create a new cache for the next moment.
 */
export class StatCache {
  readonly #own = new Map<string, FileStatus | null>();
  readonly #names = new Map<string, ReadonlySet<string> | null>();

  /** Returns the status of a path without following links; null if nothing is there or it may not be accessed. */
  lstat(path: string): FileStatus | null {
    let info = this.#own.get(path);
    if (info === undefined) {
      const known = linkStatus(path);
      this.#own.set(path, info = known === undefined ? ask(path, Deno.lstatSync) : known);
    }
    return info;
  }

  /** Like `lstat`, but follows links. */
  stat(path: string): FileStatus | null {
    const own = this.lstat(path);
    return own?.isSymlink ? ask(path, Deno.statSync) : own;
  }

  /** Returns the names in a folder; null if it is missing, not a folder, or not readable. */
  names(folder: string): ReadonlySet<string> | null {
    let names = this.#names.get(folder);
    if (names === undefined) this.#names.set(folder, names = namesIn(folder));
    return names;
  }

  /**
   * True if the folder was listed and does not contain the name. This avoids looking up missing paths, which is
   * expensive in this runtime.
   */
  lacks(folder: string, name: string): boolean {
    // The listing is used only on Linux, because on other systems a file may be found under a differently spelled
    // name.
    return Deno.build.os === "linux" && this.#names.get(folder)?.has(name) === false;
  }
}

function ask(path: string, look: (path: string) => FileStatus): FileStatus | null {
  try {
    return look(path);
  } catch {
    return null; // The folder is missing or not accessible.
  }
}

function namesIn(folder: string): ReadonlySet<string> | null {
  try {
    return new Set(Array.from(Deno.readDirSync(folder), ({ name }) => name));
  } catch {
    return null;
  }
}

// The file system at one moment: whoever asks about the same path shares one look at it.

/**
 * Asks about each path once. For what is looked at together, such as all that a command could have changed; make a new one for
 * the next moment.
 */
export class StatCache {
  readonly #own = new Map<string, Deno.FileInfo | null>();
  readonly #names = new Map<string, ReadonlySet<string> | null>();

  /** What stands at a path, a link itself; null when nothing does or it may not be looked at. */
  lstat(path: string): Deno.FileInfo | null {
    let info = this.#own.get(path);
    if (info === undefined) this.#own.set(path, info = statusOf(path, Deno.lstatSync));
    return info;
  }

  /** The same of what a link leads to. */
  stat(path: string): Deno.FileInfo | null {
    const own = this.lstat(path);
    return own?.isSymlink ? statusOf(path, Deno.statSync) : own;
  }

  /** The names in a folder; null when it is missing, no folder, or not to be read. */
  names(folder: string): ReadonlySet<string> | null {
    let names = this.#names.get(folder);
    if (names === undefined) this.#names.set(folder, names = namesIn(folder));
    return names;
  }

  /** Whether the names of a folder were asked for and this is none of them: to ask for what is missing is dear in this runtime. */
  lacks(folder: string, name: string): boolean {
    // A list of names decides: elsewhere a file may answer to names that are spelt otherwise.
    return Deno.build.os === "linux" && this.#names.get(folder)?.has(name) === false;
  }
}

function statusOf(path: string, ask: (path: string) => Deno.FileInfo): Deno.FileInfo | null {
  try {
    return ask(path);
  } catch {
    return null; // Nothing is there, or nothing that may be looked at.
  }
}

function namesIn(folder: string): ReadonlySet<string> | null {
  try {
    return new Set(Array.from(Deno.readDirSync(folder), ({ name }) => name));
  } catch {
    return null;
  }
}

// One look at the file system that is asked about many neighbouring paths, and whether it would look the same again.

/** The links that lead from a path to where it really is, in the order they are followed. */
export interface Trace {
  /** As `realPath` gives it. */
  readonly path: string;
  /** Each link's own place, real but for the link itself, and its target as it is written. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
}

/** Misses in one folder after which it is listed instead of asked again. */
const PATIENCE = 2;

/** Whether a listing decides: elsewhere a file may answer to names that are spelt otherwise. */
const EXACT_NAMES = Deno.build.os === "linux";

/**
 * Milliseconds since its last change after which a folder's time can be trusted to differ at the next change. Some file
 * systems count in steps of two seconds.
 */
const SETTLED = 2500;

/**
 * What stands where, as it was when it was first asked. For decisions that belong to one moment; make a new one for
 * the next moment. Asking for what is missing is dear in this runtime, and most protected paths are missing.
 */
export class FsSnapshot {
  readonly #begun = Date.now();
  readonly #known = new Map<string, Deno.FileInfo | null>();
  readonly #targets = new Map<string, string | null>();
  readonly #misses = new Map<string, number>();
  readonly #names = new Map<string, readonly string[] | null>();
  readonly #sets = new Map<string, ReadonlySet<string>>();
  /** What the answers depend on: folders with the paths asked for in them, and files that were read. */
  readonly #sources = new Map<string, Source>();
  /** For `traceLinks`: what it found out at this moment, by absolute path. */
  readonly traces = new Map<string, Trace | null>();

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
    return this.lstat(path)?.isSymlink ? this.#targets.get(path) ?? null : null;
  }

  /** The names in a folder that begin and end so; none when it cannot be listed. */
  names(folder: string, start = "", end = ""): readonly string[] {
    const all = this.#list(folder);
    const names = all === null ? [] : matching(all, start, end);
    if (all !== null) this.#source(folder).patterns.push({ start, end, names });
    return names;
  }

  /** The text of a small file, or null. */
  read(path: string, mostBytes: number): string | null {
    try {
      const { isFile, size } = Deno.statSync(path);
      if (!isFile || size > mostBytes) return null;
      this.#source(path).isFile = true;
      return Deno.readTextFileSync(path);
    } catch {
      return null;
    }
  }

  /** The bytes of a file as Latin-1, which keeps each of them; null where it is longer or cannot be read. */
  readBytes(path: string, mostBytes: number): string | null {
    try {
      this.#source(path).isFile = true;
      const { isFile, size } = Deno.statSync(path);
      return isFile && size <= mostBytes ? latin1(Deno.readFileSync(path)) : null;
    } catch {
      return null;
    }
  }

  /** A way to tell later whether all answers still hold. Made at once, for the moment it stands for is now. */
  seal(): Sealed {
    const oldest = this.#begun - SETTLED;
    const sources = [...this.#sources].map(([path, source]) => {
      const stamp = stampOf(path);
      const settled = stamp !== null && stamp.changed > 0 && stamp.changed < oldest;
      return { path, stamp: settled ? stamp : null, ...source };
    });
    return {
      holds: () => sources.every((source) => isSame(source.stamp, stampOf(source.path)) || agrees(source)),
    };
  }

  #look(path: string): Deno.FileInfo | null {
    const slash = path.lastIndexOf("/");
    const parent = path.slice(0, slash) || "/";
    // What lies in a missing folder is missing too.
    if (this.#known.get(parent) === null) return null;
    if (EXACT_NAMES && this.#sets.get(parent)?.has(path.slice(slash + 1)) === false) {
      this.#source(parent).children.push({ path, info: null, target: null });
      return null;
    }
    try {
      const info = Deno.lstatSync(path);
      const target = info.isSymlink ? targetOf(path) : null;
      if (info.isSymlink) this.#targets.set(path, target);
      this.#source(parent).children.push({ path, info, target });
      return info;
    } catch {
      if (parent === path || !this.has(parent)) return null;
      this.#source(parent).children.push({ path, info: null, target: null });
      const misses = (this.#misses.get(parent) ?? 0) + 1;
      this.#misses.set(parent, misses);
      if (misses === PATIENCE) this.#list(parent);
      return null;
    }
  }

  #list(folder: string): readonly string[] | null {
    const known = this.#names.get(folder);
    if (known !== undefined) return known;
    const names = namesIn(folder);
    this.#names.set(folder, names);
    if (names !== null) this.#sets.set(folder, new Set(names));
    return names;
  }

  #source(path: string): Source {
    let source = this.#sources.get(path);
    if (source === undefined) {
      source = { children: [], patterns: [], isFile: false };
      this.#sources.set(path, source);
    }
    return source;
  }
}

/** A look whose answers may be used again. */
export interface Sealed {
  /** Whether every answer would be the same now. A folder that did not change since is not asked again. */
  holds(): boolean;
}

interface Source {
  readonly children: { path: string; info: Deno.FileInfo | null; target: string | null }[];
  readonly patterns: { start: string; end: string; names: readonly string[] }[];
  isFile: boolean;
}

/** Whether a folder that changed, or may have, still gives the same answers. Of a file nothing is kept to compare. */
function agrees({ path, children, patterns, isFile }: Source & { path: string }): boolean {
  if (isFile) return false;
  const names = patterns.length > 0 || children.length > PATIENCE ? namesIn(path) : null;
  if (names === null && patterns.length > 0) return false;
  const there = EXACT_NAMES && names !== null ? new Set(names) : null;
  return patterns.every(({ start, end, names: before }) => {
    const now = matching(names ?? [], start, end);
    return now.length === before.length && now.every((name) => before.includes(name));
  }) && children.every(({ path: child, info: before, target }) => {
    if (there !== null && !there.has(child.slice(child.lastIndexOf("/") + 1))) return before === null;
    const now = lstatOf(child);
    if (now === null || before === null) return now === before;
    return now.dev === before.dev && now.ino === before.ino && now.mode === before.mode &&
      (!now.isSymlink || targetOf(child) === target);
  });
}

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

function matching(names: readonly string[], start: string, end: string): readonly string[] {
  if (start === "" && end === "") return names;
  const least = start.length + end.length;
  return names.filter((name) => name.length >= least && name.startsWith(start) && name.endsWith(end));
}

function namesIn(folder: string): readonly string[] | null {
  try {
    return Array.from(Deno.readDirSync(folder), ({ name }) => name);
  } catch {
    return null; // Missing, no folder, or not to be read: there are no names to go by.
  }
}

function lstatOf(path: string): Deno.FileInfo | null {
  try {
    return Deno.lstatSync(path);
  } catch {
    return null;
  }
}

function targetOf(path: string): string | null {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return null; // It went away meanwhile.
  }
}

interface Stamp {
  readonly dev: number;
  readonly ino: number | null;
  /** Time of the last change of any kind; nobody can set it back. 0 where the file system keeps none. */
  readonly changed: number;
  readonly written: number;
}

function stampOf(path: string): Stamp | null {
  try {
    const { dev, ino, ctime, mtime } = Deno.statSync(path);
    return { dev, ino, changed: ctime?.getTime() ?? 0, written: mtime?.getTime() ?? 0 };
  } catch {
    return null;
  }
}

function isSame(a: Stamp | null, b: Stamp | null): boolean {
  return a !== null && b !== null && a.dev === b.dev && a.ino === b.ino && a.changed === b.changed &&
    a.written === b.written;
}

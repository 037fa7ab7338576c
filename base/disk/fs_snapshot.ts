// A snapshot of many neighbouring paths, and a check whether it is still valid.

import { isMissing } from "../files.ts";
import { parentOf } from "../paths.ts";
import type { FileStatus } from "../system/libc.ts";
import { readRegularSync } from "../system/regular_file.ts";
import { StatCache } from "./stat_cache.ts";

/** The links from a path to its real location, in the order they are followed. */
export interface Trace {
  /** The real location, as `realPath` returns it. */
  readonly path: string;
  /**
   * The links on the way to the location. Each has its path, in which all earlier links are resolved, and its target as
   * written.
   */
  readonly links: readonly { readonly path: string; readonly target: string }[];
}

/** After this number of missing paths in a small folder, the folder is listed once instead of checking each path. */
const PATIENCE = 2;
/** Number of bytes of the folder entry up to which a folder counts as small. */
const SMALL_FOLDER = 4096;
/** Listing this many bytes of a folder entry takes as long as looking up one missing path. */
const LISTED_PER_MISS = 512;

/**
 * Returns the number of missing paths in a folder after which the folder is listed. The cost of listing grows with the
 * folder, and shared folders may have thousands of entries.
 */
export function patienceWith({ size }: Pick<FileStatus, "size">): number {
  return size <= SMALL_FOLDER ? PATIENCE : Math.max(PATIENCE, Math.floor(size / LISTED_PER_MISS));
}

/**
 * Once a folder's last change is this many milliseconds old, the next change certainly gives a different time stamp.
 * Some file systems have a resolution of two seconds.
 */
const SETTLED = 2500;

/**
 * Caches file status by path, for decisions about one moment; create a new snapshot for the next moment. Looking up a
 * missing path is expensive in this runtime, and most protected paths are missing.
 */
export class FsSnapshot {
  readonly #begun = Date.now();
  readonly #known = new Map<string, FileStatus | null>();
  readonly #targets = new Map<string, string | null>();
  readonly #misses = new Map<string, number>();
  /** Texts of files by path; null for a missing file. */
  readonly #texts = new Map<string, { readonly text: string; readonly size: number } | null>();
  /** The folders whose entries were looked up, with the paths of these entries, and the files that were read. */
  readonly #sources = new Map<string, Source>();
  /** Results of `traceLinks` at this moment, by absolute path. */
  readonly traces = new Map<string, Trace | null>();
  /** Cache of file status, shared with other code that examines the same moment. */
  readonly stats: StatCache;

  constructor(stats = new StatCache()) {
    this.stats = stats;
  }

  /**
   * Returns the status of an absolute path, without following links; null if the path does not exist or is not
   * accessible.
   */
  lstat(path: string): FileStatus | null {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const info = this.#stat(path);
    this.#known.set(path, info);
    return info;
  }

  /** True if anything exists at a path, including a dangling link. */
  has(path: string): boolean {
    return this.lstat(path) !== null;
  }

  /** Returns the target of a link as written; null for anything else. */
  linkTarget(path: string): string | null {
    return this.lstat(path)?.isSymlink ? this.#targets.get(path) ?? null : null;
  }

  /** Returns the names in a folder with this beginning and end; empty if it cannot be listed. */
  names(folder: string, start = "", end = ""): readonly string[] {
    const all = this.stats.names(folder);
    const names = all === null ? [] : matching(all, start, end);
    if (all !== null) this.#source(folder).patterns.push({ start, end, names });
    return names;
  }

  /** Returns the text of a small file, or null. */
  read(path: string, mostBytes: number): string | null {
    const known = this.#texts.get(path);
    if (known !== undefined) return known === null || known.size > mostBytes ? null : known.text;
    try {
      const { bytes, info } = readRegularSync(path, mostBytes);
      const text = asUtf8(bytes);
      this.#source(path).files.push({ info, text, decode: asUtf8 });
      this.#texts.set(path, { text, size: info.size });
      return text;
    } catch (thrown) {
      if (isMissing(thrown)) this.#texts.set(path, null);
      return null;
    }
  }

  /** Returns the bytes of a file as Latin-1, which preserves each of them; null if it is too long or cannot be read. */
  readBytes(path: string, mostBytes: number): string | null {
    const { files } = this.#source(path);
    let info: FileStatus | null = null;
    let text: string | null = null;
    try {
      const content = readRegularSync(path, mostBytes);
      info = content.info;
      text = asLatin1(content.bytes);
    } catch {
      // The file is reported as unreadable.
    }
    files.push({ info, text, decode: asLatin1 });
    return text;
  }

  /**
   * Returns an object that checks later whether this snapshot is still valid. Call it immediately, because it also
   * reads the current state.
   */
  seal(): Sealed {
    const oldest = this.#begun - SETTLED;
    const sources = [...this.#sources].map(([path, source]) => {
      const stamp = this.stats.stat(path);
      const changed = stamp?.ctime?.getTime() ?? 0;
      return { path, stamp: changed > 0 && changed < oldest ? stamp : null, ...source };
    });
    return {
      holds: (stats = new StatCache()) =>
        sources.every((source) => {
          const now = stats.stat(source.path);
          return (now !== null && isSame(source.stamp, now)) || agrees(source, stats);
        }),
      accept: (paths) => {
        const stats = new StatCache();
        for (const path of paths) {
          const around = this.#sources.get(parentOf(path));
          for (
            const child of around?.children.filter((each) => each.path === path && each.info?.isFile) ?? []
          ) {
            const now = stats.lstat(path);
            if (now?.isFile && haveSameRights(now, child.info!)) child.info = now;
          }
        }
      },
    };
  }

  #stat(path: string): FileStatus | null {
    const slash = path.lastIndexOf("/");
    const parent = path.slice(0, slash) || "/";
    // A path in a missing folder is missing too.
    if (this.#known.get(parent) === null) return null;
    const info = this.stats.lacks(parent, path.slice(slash + 1)) ? null : this.stats.lstat(path);
    if (info !== null) {
      const target = info.isSymlink ? targetOf(path) : null;
      if (info.isSymlink) this.#targets.set(path, target);
      this.#source(parent).children.push({ path, info, target });
      return info;
    }
    const folder = parent === path ? null : this.lstat(parent);
    if (folder === null) return null;
    this.#source(parent).children.push({ path, info: null, target: null });
    const misses = (this.#misses.get(parent) ?? 0) + 1;
    this.#misses.set(parent, misses);
    if (misses === patienceWith(folder)) this.stats.names(parent);
    return null;
  }

  #source(path: string): Source {
    let source = this.#sources.get(path);
    if (source === undefined) {
      source = { children: [], patterns: [], files: [] };
      this.#sources.set(path, source);
    }
    return source;
  }
}

/** A snapshot whose answers may be reused. */
export interface Sealed {
  /**
   * True if every look-up of the snapshot would give the same result now. Folders and files with an unchanged status
   * are not read again.
   */
  holds(stats?: StatCache): boolean;
  /** Accepts new versions of the files at these paths, if the new file has the same rights as the old one. */
  accept(paths: readonly string[]): void;
}

interface Source {
  readonly children: { path: string; info: FileStatus | null; target: string | null }[];
  readonly patterns: { start: string; end: string; names: readonly string[] }[];
  readonly files: ReadFile[];
}

/** A file as it was read. If `text` is null, the content is not compared. */
interface ReadFile {
  readonly info: FileStatus | null;
  readonly text: string | null;
  readonly decode: (bytes: Uint8Array) => string;
}

/** True if the look-ups below a folder or file still give the same results. */
function agrees({ path, children, patterns, files }: Source & { path: string }, stats: StatCache): boolean {
  if (!files.every((file) => isStill(file, path, stats))) return false;
  const folder = stats.stat(path);
  const many = folder !== null && children.length > patienceWith(folder);
  const names = patterns.length > 0 || many ? stats.names(path) : null;
  if (names === null && patterns.length > 0) return false;
  return patterns.every(({ start, end, names: before }) => {
    const now = matching(names ?? new Set(), start, end);
    const known = new Set(before);
    return now.length === before.length && now.every((name) => known.has(name));
  }) && children.every(({ path: child, info: before, target }) => {
    const name = child.slice(child.lastIndexOf("/") + 1);
    const now = stats.lacks(path, name) ? null : stats.lstat(child);
    if (now === null || before === null) return now === before;
    return isOne(now, before) && (!now.isSymlink || targetOf(child) === target);
  });
}

function isStill({ info, text, decode }: ReadFile, path: string, stats: StatCache): boolean {
  const now = stats.stat(path);
  if (text === null || info === null || now === null || !isOne(now, info) || now.size !== info.size) {
    return false;
  }
  try {
    return decode(readRegularSync(path, info.size).bytes) === text;
  } catch {
    return false;
  }
}

/** True if both are the same file or folder with the same rights; the content may differ. */
function isOne(a: FileStatus, b: FileStatus): boolean {
  return a.dev === b.dev && a.ino === b.ino && haveSameRights(a, b);
}

function haveSameRights(a: FileStatus, b: FileStatus): boolean {
  return a.mode === b.mode && a.uid === b.uid && a.gid === b.gid;
}

function asUtf8(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

function asLatin1(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

function matching(names: ReadonlySet<string>, start: string, end: string): readonly string[] {
  if (start === "" && end === "") return [...names];
  const least = start.length + end.length;
  return [...names].filter((name) => name.length >= least && name.startsWith(start) && name.endsWith(end));
}

function targetOf(path: string): string | null {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return null; // The file was removed meanwhile.
  }
}

/**
 * True if the file cannot have changed in between. Nobody can set back the change time (ctime); some file systems have
 * none.
 */
function isSame(before: FileStatus | null, now: FileStatus): boolean {
  return before !== null && before.dev === now.dev && before.ino === now.ino &&
    before.ctime?.getTime() === now.ctime?.getTime() && before.mtime?.getTime() === now.mtime?.getTime();
}

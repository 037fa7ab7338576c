// Scan for repositories and files of certain names below the working folders. It is repeated after every command and
// reads only folders that changed.

import { StatCache } from "../../base/disk/stat_cache.ts";
import { baseName } from "../../base/paths.ts";
import { GIT_FOLDER_NAMES as GIT_NAMES, isGitFolder } from "./git_folder.ts";

/** Limits on the folders below one root that the first scan reads, so that a command does not wait for it. */
const MOST_NEAR = 1000;
const MOST_ELSEWHERE = 200;
/** Limit on new folders that a later scan reads, however many a command made. */
const MOST_NEW = 2000;
/** Limit on folders that are remembered from one scan to the next. */
const MOST_KNOWN = 5000;
/** Levels that are read where commands do not work. Near folders are read at any depth. */
const DEPTH_ELSEWHERE = 3;

/** Folders that may contain thousands of folders: they themselves are read, but not the folders in them. */
const SHALLOW: ReadonlySet<string> = new Set(["node_modules", "target", ".venv", "__pycache__"]);

/** If two changes of a folder are at least this many milliseconds apart, they certainly give it different times. */
const SETTLED = 2500;

/** Result of a scan, nearer folders first. */
export interface TreeScanResult {
  /** Working folders of the repositories that were found, except the given folders. */
  readonly repositories: readonly string[];
  /** Folders that are bare repositories. */
  readonly gitFolders: readonly string[];
  /** Paths whose name satisfies `isWanted`, except direct children of the given folders. */
  readonly wanted: readonly string[];
  /** Given folders that contain more folders than were read. */
  readonly partial: readonly string[];
}

/** Where to scan. All paths are real. */
export interface ScanFolders {
  /** Folders where commands work. */
  readonly near: readonly string[];
  /** Other folders where commands can write. Nothing is wanted in them, and fewer folders are read. */
  readonly elsewhere?: readonly string[];
  /** Folders that are only tested for being bare repositories themselves. */
  readonly levels?: readonly string[];
}

interface Listing {
  /** Time of the last change of the folder; 0 if this time is too recent to be reliable. */
  readonly changed: number;
  readonly ino: number | null;
  readonly folders: readonly string[];
  readonly isRepository: boolean;
  /** Names in it that decide whether git takes it for a git folder, or that git would run or obey there. */
  readonly gitNames: ReadonlySet<string>;
  readonly wanted: readonly string[];
}

interface ScanState {
  readonly before: ReadonlyMap<string, Listing>;
  readonly stats: StatCache;
  readonly found: Record<keyof TreeScanResult, string[]>;
}

/**
 * Scans below folders, nearer ones first, up to fixed numbers of folders. Folders that an earlier scan read are always
 * read again, so new ones cannot displace them. Does not follow links.
 */
export class TreeScan {
  readonly #folders: Required<ScanFolders>;
  readonly #isWanted: (name: string) => boolean;
  /** Folders that later scans leave out. */
  readonly #skipped = new Set<string>();
  #listings = new Map<string, Listing>();
  #isFirst = true;

  constructor({ near, elsewhere = [], levels = [] }: ScanFolders, isWanted: (name: string) => boolean) {
    this.#folders = {
      near: [...new Set(near)],
      elsewhere: [...new Set(elsewhere)].filter((folder) => !near.includes(folder)),
      levels: [...new Set(levels)],
    };
    this.#isWanted = isWanted;
  }

  /** Leaves folders out of later scans, because nothing can change in them. */
  skip(folders: readonly string[]): void {
    for (const folder of folders) this.#skipped.add(folder);
  }

  /** Returns a function for the names of `GIT_FOLDER_NAMES` that the last scan found in a folder. */
  gitNames(): (folder: string) => ReadonlySet<string> {
    const listings = this.#listings;
    return (folder) => listings.get(folder)?.gitNames ?? new Set();
  }

  scan(stats = new StatCache()): TreeScanResult {
    const before = this.#listings;
    this.#listings = new Map();
    const found: ScanState["found"] = { repositories: [], gitFolders: [], wanted: [], partial: [] };
    const state = { before, stats, found };
    for (const root of this.#folders.near) this.#below(root, true, state);
    for (const root of this.#folders.elsewhere) this.#below(root, false, state);
    for (const folder of this.#folders.levels) {
      const listing = this.#listings.get(folder) ?? this.#list(folder, before.get(folder), stats);
      if (listing !== null && isGitFolder(listing.gitNames)) found.gitFolders.push(folder);
    }
    this.#isFirst = false;
    return {
      repositories: [...new Set(found.repositories)],
      gitFolders: [...new Set(found.gitFolders)],
      wanted: [...new Set(found.wanted)],
      partial: found.partial,
    };
  }

  #below(root: string, isNear: boolean, { before, stats, found }: ScanState): void {
    const most = !this.#isFirst ? MOST_NEW : isNear ? MOST_NEAR : MOST_ELSEWHERE;
    let level = [root];
    let fresh = 0;
    let isPartial = false;
    for (let depth = 0; depth <= (isNear ? Infinity : DEPTH_ELSEWHERE) && level.length > 0; depth++) {
      const next: string[] = [];
      for (const folder of level) {
        if (this.#skipped.has(folder)) continue;
        const known = before.get(folder);
        const isNew = known === undefined && !this.#listings.has(folder);
        if (isNew && (++fresh > most || this.#listings.size >= MOST_KNOWN)) {
          isPartial = true;
          // Otherwise the second scan, right before the first command, would read as many folders as are allowed then.
          if (this.#isFirst && !isNear) this.#skipped.add(folder);
          continue;
        }
        const listing = this.#listings.get(folder) ?? this.#list(folder, known, stats);
        if (listing === null) continue;
        if (isGitFolder(listing.gitNames)) found.gitFolders.push(folder);
        if (folder !== root) {
          if (listing.isRepository) found.repositories.push(folder);
          if (SHALLOW.has(baseName(folder))) continue;
          if (isNear) found.wanted.push(...listing.wanted.map((name) => `${folder}/${name}`));
        }
        next.push(...listing.folders.map((name) => `${folder === "/" ? "" : folder}/${name}`));
      }
      level = next;
    }
    if (isPartial) found.partial.push(root);
  }

  #list(folder: string, known: Listing | undefined, stats: StatCache): Listing | null {
    const info = stats.lstat(folder);
    if (info === null) return null;
    try {
      const { ino, ctime } = info;
      const time = ctime?.getTime() ?? 0;
      const unchanged = known !== undefined && known.changed !== 0 && known.changed === time &&
        known.ino === ino;
      const listing = unchanged ? known : this.#read(folder, ino, time);
      this.#listings.set(folder, listing);
      return listing;
    } catch {
      return null; // The folder is gone, is not a folder or cannot be read, so git finds no repository in it either.
    }
  }

  #read(folder: string, ino: number | null, time: number): Listing {
    const entries = [...Deno.readDirSync(folder)];
    const names = new Set(entries.map(({ name }) => name));
    return {
      changed: time > 0 && time < Date.now() - SETTLED ? time : 0,
      ino,
      folders: entries.filter(({ name, isDirectory }) => isDirectory && name !== ".git").map(({ name }) =>
        name
      )
        .sort(),
      isRepository: names.has(".git"),
      gitNames: new Set(GIT_NAMES.filter((name) => names.has(name))),
      wanted: [...names].filter(this.#isWanted).sort(),
    };
  }
}

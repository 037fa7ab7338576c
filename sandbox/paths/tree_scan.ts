// Scan for repositories and files of certain names below the working folders. It is repeated after every command and
// reads only folders that changed.

import { StatCache } from "../../base/disk/stat_cache.ts";

/** Limit on the number of folders that are read, so that a scan does not take seconds. */
const MOST_FOLDERS = 200;
const MOST_DEPTH = 3;

/** Folders that contain thousands of others and no repository anybody works in. */
const SKIPPED: ReadonlySet<string> = new Set([".git", "node_modules", "target", ".venv", "__pycache__"]);

/** Names that git requires in a bare repository. */
const BARE_REPOSITORY: readonly string[] = ["HEAD", "config", "objects", "refs"];

/** Milliseconds that must pass between two changes so that they certainly give the folder different times. */
const SETTLED = 2500;

/** Result of a scan, nearer folders first. */
export interface TreeScanResult {
  /** Working folders of the repositories that were found, except the given folders. */
  readonly repositories: readonly string[];
  /** Folders that are bare repositories. */
  readonly gitFolders: readonly string[];
  /** Paths whose name satisfies `isWanted`, except direct children of the given folders. */
  readonly wanted: readonly string[];
}

interface Listing {
  /** Change time; 0 if it is too recent to be reliable. */
  readonly changed: number;
  readonly ino: number | null;
  readonly folders: readonly string[];
  readonly isRepository: boolean;
  readonly isGitFolder: boolean;
  readonly wanted: readonly string[];
}

interface ScanState {
  readonly before: ReadonlyMap<string, Listing>;
  readonly stats: StatCache;
  readonly found: Record<keyof TreeScanResult, string[]>;
}

/**
 * Scans below folders, to a depth of three and up to a fixed number of folders, nearer ones first. Does not follow
 * links.
 */
export class TreeScan {
  readonly #roots: readonly string[];
  readonly #isWanted: (name: string) => boolean;
  #listings = new Map<string, Listing>();

  constructor(roots: readonly string[], isWanted: (name: string) => boolean) {
    this.#roots = [...new Set(roots)];
    this.#isWanted = isWanted;
  }

  scan(stats = new StatCache()): TreeScanResult {
    const before = this.#listings;
    this.#listings = new Map();
    const found = { repositories: [] as string[], gitFolders: [] as string[], wanted: [] as string[] };
    for (const root of this.#roots) this.#below(root, { before, stats, found });
    return found;
  }

  #below(root: string, { before, stats, found }: ScanState): void {
    let level = [root];
    let visited = 0;
    for (let depth = 0; depth <= MOST_DEPTH; depth++) {
      const next: string[] = [];
      for (const folder of level) {
        if (++visited > MOST_FOLDERS) return;
        const listing = this.#list(folder, before.get(folder), stats);
        if (listing === null) continue;
        if (folder !== root) {
          if (listing.isRepository) found.repositories.push(folder);
          if (listing.isGitFolder) found.gitFolders.push(folder);
          found.wanted.push(...listing.wanted.map((name) => `${folder}/${name}`));
        }
        next.push(...listing.folders.map((name) => `${folder === "/" ? "" : folder}/${name}`));
      }
      level = next;
    }
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
      folders: entries.filter(({ name, isDirectory }) => isDirectory && !SKIPPED.has(name)).map(({ name }) =>
        name
      )
        .sort(),
      isRepository: names.has(".git"),
      isGitFolder: BARE_REPOSITORY.every((name) => names.has(name)),
      wanted: [...names].filter(this.#isWanted).sort(),
    };
  }
}

// Which folders below the working folders are repositories, or hold files of certain names; looked at again after every
// command, and so at the price of what changed.

import { StatCache } from "../../base/disk/stat_cache.ts";

/** Folders that are looked into; a policy must not cost seconds. */
const MOST_FOLDERS = 200;
const MOST_DEPTH = 3;

/** Folders that hold thousands of others and no repository anybody works in. */
const SKIPPED: ReadonlySet<string> = new Set([".git", "node_modules", "target", ".venv", "__pycache__"]);

/** What a folder holds that git takes for a repository without a working folder. */
const BARE_REPOSITORY: readonly string[] = ["HEAD", "config", "objects", "refs"];

/** Milliseconds since its last change after which the time of a folder can be trusted to differ at the next change. */
const SETTLED = 2500;

/** What was found, nearer folders first. */
export interface Found {
  /** Working folders of repositories, the given folders not among them. */
  readonly repositories: readonly string[];
  /** Folders that are repositories by themselves. */
  readonly gitFolders: readonly string[];
  /** Paths whose name `isWanted` names, the given folders' own children not among them. */
  readonly wanted: readonly string[];
}

interface Listing {
  /** Time of the last change; 0 when it is too near to be trusted. */
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
  readonly found: Record<keyof Found, string[]>;
}

/**
 * Looks below folders, to a depth of three and within a fixed number of folders, nearer ones first. Links are not followed.
 */
export class TreeScan {
  readonly #roots: readonly string[];
  readonly #isWanted: (name: string) => boolean;
  #listings = new Map<string, Listing>();

  constructor(roots: readonly string[], isWanted: (name: string) => boolean) {
    this.#roots = [...new Set(roots)];
    this.#isWanted = isWanted;
  }

  /** What is there now. */
  scan(stats = new StatCache()): Found {
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
      return null; // Gone meanwhile, no folder, or closed: nobody finds a repository there either.
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

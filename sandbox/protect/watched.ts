// Files that run when the person starts a tool: whether a path is one, and which of them commands have changed.

import { isInside } from "../../base/paths.ts";
import { StatCache } from "../../base/disk/stat_cache.ts";
import { contentOf, settledStamp } from "../paths/stamp.ts";
import { PROJECT_HOOKS, type Watched, WATCHED_IN_HOME, WATCHED_IN_PROJECT } from "../policy/hooks.ts";

/** A watched file that commands made, changed or removed. */
export interface FileChange {
  /** Absolute. */
  readonly path: string;
  /** What commands did to it. */
  readonly change: "made" | "changed" | "removed";
  /** What obeys it when the person starts it. */
  readonly obeyedBy: string;
}

/** What a person is told about one. */
export function fileChangeSentence({ path, change, obeyedBy }: FileChange): string {
  return `A command ${change} ${path}, which ${obeyedBy} would obey. Look at it before you start that.`;
}

/** Watched files that are compared. */
const MOST_FILES = 200;

interface Pattern {
  readonly first: RegExp;
  /** The rest of a path of two names. */
  readonly second: string | null;
  readonly obeyedBy: string;
}

const PROTECTED_ABOVE: readonly Watched[] = (PROJECT_HOOKS.$project ?? []).map((path) => ({
  path,
  obeyedBy: "an editor or shell in that folder",
}));
const IN_PROJECT = WATCHED_IN_PROJECT.map(patternOf);
const BELOW = [...IN_PROJECT, ...PROTECTED_ABOVE.map(patternOf)];
const IN_HOME = WATCHED_IN_HOME.map(patternOf);

/** Whether a name is that of something watched, or of the folder it lies in. */
export function isWatchedName(name: string): boolean {
  return BELOW.some(({ first }) => first.test(name));
}

/** What obeys the file at a real path when the person starts it; null when it is none of the watched ones. */
export function obeyedBy(path: string, home: string): string | null {
  const names = path.split("/").slice(1);
  const found = names.map((_, at) => matching(names.slice(at), BELOW)).find((each) => each !== null);
  if (found !== undefined) return found ?? null;
  return isInside(path, home) ? matching(path.slice(home.length + 1).split("/"), IN_HOME) : null;
}

function matching([name = "", next]: readonly string[], patterns: readonly Pattern[]): string | null {
  return patterns.find(({ first, second }) => first.test(name) && (second === null || second === next))
    ?.obeyedBy ?? null;
}

function patternOf({ path, obeyedBy }: Watched): Pattern {
  const [name = "", second = null] = path.split("/");
  const literal = name.split("*").map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, "\\$&"));
  return { first: new RegExp(`^${literal.join(".*")}$`, "s"), second, obeyedBy };
}

/** Compares the watched files of one run before and after commands. */
export class WatchedFiles {
  readonly #folders: readonly string[];
  readonly #home: string;
  readonly #isInReach: (path: string) => boolean;
  #before: ReadonlyMap<string, string> = new Map();
  /** By path, so that a file that stays is read once. */
  readonly #contents = new Map<string, { readonly stamp: string | null; readonly content: string }>();

  /** @param folders Real paths of the folders that are worked in. @param isInReach Whether commands can write to a path. */
  constructor(folders: readonly string[], home: string, isInReach: (path: string) => boolean) {
    this.#folders = [...new Set(folders)];
    this.#home = home;
    this.#isInReach = isInReach;
  }

  /** To be called before the first of some commands; `below` are watched places in folders below those that are worked in. */
  remember(below: readonly string[], stats = new StatCache()): void {
    this.#before = this.#now(below, stats);
  }

  /** What commands did to watched files since `remember`. */
  changed(below: readonly string[], stats = new StatCache()): FileChange[] {
    const now = this.#now(below, stats);
    const paths = [...new Set([...this.#before.keys(), ...now.keys()])].sort();
    return paths.flatMap((path) => {
      const [before, after] = [this.#before.get(path), now.get(path)];
      if (before === after) return [];
      const change = before === undefined ? "made" : after === undefined ? "removed" : "changed";
      return [{ path, change, obeyedBy: obeyedBy(path, this.#home) ?? "a tool" }];
    });
  }

  #now(below: readonly string[], stats: StatCache): Map<string, string> {
    const states = new Map<string, string>();
    const places = [
      ...this.#folders.flatMap((folder) => placesIn(folder, IN_PROJECT, stats)),
      ...(this.#isInReach(this.#home) ? placesIn(this.#home, IN_HOME, stats) : []),
      ...below.flatMap((path) => {
        const slash = path.lastIndexOf("/");
        return placesOf(path.slice(0, slash), path.slice(slash + 1), BELOW);
      }),
    ];
    for (const place of places) if (this.#isInReach(place)) this.#add(place, states, stats);
    return states;
  }

  #add(path: string, states: Map<string, string>, stats: StatCache): void {
    if (states.size >= MOST_FILES) return;
    const stamp = settledStamp(path, stats);
    const known = this.#contents.get(path);
    const content = stamp !== null && known?.stamp === stamp ? known.content : contentOf(path, stats);
    if (content === null) return;
    if (content.startsWith("folder ")) {
      for (const name of namesIn(path, stats)) this.#add(`${path}/${name}`, states, stats);
      return;
    }
    this.#contents.set(path, { stamp, content });
    states.set(path, content);
  }
}

function placesIn(folder: string, patterns: readonly Pattern[], stats: StatCache): string[] {
  return namesIn(folder, stats).flatMap((name) => placesOf(folder, name, patterns));
}

/** The paths that a name in a folder, or something right below it, has among the patterns. */
function placesOf(folder: string, name: string, patterns: readonly Pattern[]): string[] {
  const base = `${folder === "/" ? "" : folder}/${name}`;
  return patterns.filter(({ first }) => first.test(name))
    .map(({ second }) => second === null ? base : `${base}/${second}`);
}

function namesIn(folder: string, stats: StatCache): string[] {
  return [...stats.names(folder) ?? []].sort();
}

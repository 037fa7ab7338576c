// Recognizes watched files, which run when the person starts a tool, and finds those that commands changed.

import { isInside } from "../../base/paths.ts";
import { StatCache } from "../../base/disk/stat_cache.ts";
import { readEntryContent, settledStamp } from "../paths/stamp.ts";
import { PROJECT_HOOKS, type Watched, WATCHED_IN_HOME, WATCHED_IN_PROJECT } from "../policy/hooks.ts";

/** A watched file that commands created, changed or removed. */
export interface FileChange {
  /** Absolute path. */
  readonly path: string;
  /** What commands did to the file. */
  readonly change: "made" | "changed" | "removed";
  /** The program that obeys it when the person starts it. */
  readonly obeyedBy: string;
}

/** The sentence about a change, for the person. */
export function fileChangeSentence({ path, change, obeyedBy }: FileChange): string {
  const done = change === "made" ? "created" : change;
  return `A command ${done} ${path}, which ${obeyedBy} would act on. Check it before you start that program.`;
}

/** Limit on the number of watched files that are compared. */
const MOST_FILES = 200;

interface Pattern {
  readonly first: RegExp;
  /** The second name, if the pattern has two. */
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

/** True if a name is that of a watched file or of the folder it is in. */
export function isWatchedName(name: string): boolean {
  return BELOW.some(({ first }) => first.test(name));
}

/** The program that obeys the file at a real path when the person starts it; null if the file is not watched. */
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

export class WatchedFiles {
  readonly #folders: readonly string[];
  readonly #home: string;
  readonly #isInReach: (path: string) => boolean;
  #before: ReadonlyMap<string, string> = new Map();
  /** Contents by path, so that an unchanged file is read only once. */
  readonly #contents = new Map<string, { readonly stamp: string | null; readonly content: string }>();

  /**
   * @param folders real paths of the working folders
   * @param isInReach whether commands can write to a path
   */
  constructor(folders: readonly string[], home: string, isInReach: (path: string) => boolean) {
    this.#folders = [...new Set(folders)];
    this.#home = home;
    this.#isInReach = isInReach;
  }

  /**
   * Records the current state. Call before the first of a group of commands.
   *
   * @param below watched paths in folders below the working folders
   */
  remember(below: readonly string[], stats = new StatCache()): void {
    this.#before = this.#now(below, stats);
  }

  /** Returns the changes that commands made to watched files since `remember`. */
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
    const content = stamp !== null && known?.stamp === stamp ? known.content : readEntryContent(path, stats);
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

/** Paths that match the patterns: a name in a folder, or an entry directly below it. */
function placesOf(folder: string, name: string, patterns: readonly Pattern[]): string[] {
  const base = `${folder === "/" ? "" : folder}/${name}`;
  return patterns.filter(({ first }) => first.test(name))
    .map(({ second }) => second === null ? base : `${base}/${second}`);
}

function namesIn(folder: string, stats: StatCache): string[] {
  return [...stats.names(folder) ?? []].sort();
}

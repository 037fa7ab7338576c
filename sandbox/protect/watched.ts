// Recognizes watched files, which run when the person starts a tool, and finds those that commands changed.

import { isInside } from "../../base/paths.ts";
import { realPath } from "../../base/disk/real_path.ts";
import { StatCache } from "../../base/disk/stat_cache.ts";
import { once } from "../../base/system/once.ts";
import { visible } from "../../base/visible.ts";
import { readEntryContent, settledStamp } from "../paths/stamp.ts";
import { type Watched, watchedBelow, watchedInHome, watchedInProject } from "../policy/hooks.ts";
import { formatShortDiff } from "./short_diff.ts";

/** A watched file that commands created, changed or removed. */
export interface FileChange {
  /** Absolute path. */
  readonly path: string;
  /** What commands did to the file. */
  readonly change: "made" | "changed" | "removed";
  /** The program that obeys this file when the person starts the program. */
  readonly obeyedBy: string;
  /** For instructions to agents, the changed lines after `-` and `+`. Absent for other files. */
  readonly diff?: string | undefined;
}

/** The sentence about a change, for the person, with the changed lines of instructions to agents below it. */
export function fileChangeSentence({ path, change, obeyedBy, diff = "" }: FileChange): string {
  const done = change === "made" ? "created" : change;
  const sentence =
    `A command ${done} ${path}, which ${obeyedBy} would act on. Check it before you start that program.`;
  return [sentence, ...diff.split("\n").filter((line) => line !== "").map((line) => `  ${visible(line)}`)]
    .join("\n");
}

/** Limit on the number of files of which the content is compared; further ones are compared by their stat data. */
const MOST_FILES = 200;

/** Limit on the number of files in one watched folder that are compared one by one. */
const MOST_IN_FOLDER = 1000;

interface Pattern {
  /** The name, or an expression if the name has `*`. */
  readonly first: string | RegExp;
  /** The names below it; empty if the pattern has only one. */
  readonly rest: readonly string[];
  readonly watched: Watched;
}

/** Patterns by their first name. Most names match none, and a scan tests thousands of names. */
class Patterns {
  readonly #literal = new Map<string, Pattern[]>();
  readonly #wild: Pattern[] = [];

  constructor(list: readonly Watched[]) {
    for (const watched of list) {
      const [name = "", ...rest] = watched.path.split("/");
      const pattern = { first: firstOf(name), rest, watched };
      if (typeof pattern.first !== "string") this.#wild.push(pattern);
      else {
        const same = this.#literal.get(name);
        if (same === undefined) this.#literal.set(name, [pattern]);
        else same.push(pattern);
      }
    }
  }

  /** True if the first name of a pattern matches. */
  has(name: string): boolean {
    return this.#literal.has(name) || this.#wild.some(({ first }) => (first as RegExp).test(name));
  }

  /** Returns the patterns whose first name matches. */
  named(name: string): readonly Pattern[] {
    const wild = this.#wild.filter(({ first }) => (first as RegExp).test(name));
    return [...this.#literal.get(name) ?? [], ...wild];
  }

  /** Returns the watched file that a path, given by its names, is or is in; null if there is none. */
  match([name = "", ...names]: readonly string[]): Watched | null {
    return this.named(name).find(({ rest }) => rest.every((each, at) => each === names[at]))?.watched ?? null;
  }
}

function firstOf(name: string): string | RegExp {
  if (!name.includes("*")) return name;
  const literal = name.split("*").map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, "\\$&"));
  return new RegExp(`^${literal.join(".*")}$`, "s");
}

const patternsInProject = once(() => new Patterns(watchedInProject()));
const patternsBelow = once(() => new Patterns(watchedBelow()));
const patternsInHome = once(() => new Patterns(watchedInHome()));

/** True if a name is that of a watched file or of the folder it is in. */
export function isWatchedName(name: string): boolean {
  return patternsBelow().has(name);
}

/** The program that obeys the file at a real path when the person starts it; null if the file is not watched. */
export function obeyedBy(path: string, home: string): string | null {
  return watchedAt(path, home)?.obeyedBy ?? null;
}

function watchedAt(path: string, home: string): Watched | null {
  const names = path.split("/").slice(1);
  for (let at = 0; at < names.length; at++) {
    const found = patternsBelow().match(names.slice(at));
    if (found !== null) return found;
  }
  return isInside(path, home) ? patternsInHome().match(path.slice(home.length + 1).split("/")) : null;
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
      const watched = watchedAt(path, this.#home);
      const diff = watched?.instructs === true ? formatShortDiff(textOf(before), textOf(after)) : undefined;
      return [{
        path,
        change,
        obeyedBy: watched?.obeyedBy ?? "a tool",
        ...(diff === undefined ? {} : { diff }),
      }];
    });
  }

  #now(below: readonly string[], stats: StatCache): Map<string, string> {
    const states = new Map<string, string>();
    const places = [
      ...this.#folders.flatMap((folder) => placesIn(folder, patternsInProject(), stats)),
      ...(this.#isInReach(this.#home) ? placesIn(this.#home, patternsInHome(), stats) : []),
      ...below.flatMap((path) => {
        const slash = path.lastIndexOf("/");
        return placesOf(path.slice(0, slash), path.slice(slash + 1), patternsBelow());
      }),
    ];
    for (const place of places) if (this.#isInReach(place)) this.#add(place, states, stats);
    return states;
  }

  #add(path: string, states: Map<string, string>, stats: StatCache): void {
    let left = MOST_IN_FOLDER;
    const add = (path: string, real: string) => {
      if (left-- <= 0) return;
      const content = this.#contentOf(real, states.size < MOST_FILES, stats);
      if (content === null) return;
      if (!content.startsWith("folder ")) states.set(path, content);
      else for (const name of namesIn(real, stats)) add(`${path}/${name}`, `${real}/${name}`);
    };
    add(path, this.#behindLink(path, stats));
    // What is in the rest is unknown, so the folder counts as changed each time.
    if (left < 0) states.set(path, `more than ${MOST_IN_FOLDER} files ${crypto.randomUUID()}`);
  }

  /** Where a link leads, if commands can write there: programs obey what is behind it. Otherwise the path itself. */
  #behindLink(path: string, stats: StatCache): string {
    const real = stats.lstat(path)?.isSymlink ? realPath(path, "/") : null;
    return real !== null && this.#isInReach(real) && stats.lstat(real) !== null ? real : path;
  }

  #contentOf(path: string, isRead: boolean, stats: StatCache): string | null {
    const stamp = settledStamp(path, stats);
    // A file that changed recently cannot be identified by its stat data, so it counts as changed.
    if (!isRead && stats.lstat(path)?.isFile) return stamp ?? crypto.randomUUID();
    const known = this.#contents.get(path);
    const content = stamp !== null && known?.stamp === stamp ? known.content : readEntryContent(path, stats);
    if (content !== null && !content.startsWith("folder ")) this.#contents.set(path, { stamp, content });
    return content;
  }
}

/** The text in the content of an entry; empty if there is none. */
function textOf(content: string | undefined): string {
  return /^\d+ (.*)$/s.exec(content ?? "")?.[1] ?? "";
}

function placesIn(folder: string, patterns: Patterns, stats: StatCache): string[] {
  return namesIn(folder, stats).flatMap((name) => placesOf(folder, name, patterns));
}

/** Paths that match the patterns: a name in a folder, or an entry below it. */
function placesOf(folder: string, name: string, patterns: Patterns): string[] {
  const base = `${folder === "/" ? "" : folder}/${name}`;
  return patterns.named(name).map(({ rest }) => [base, ...rest].join("/"));
}

function namesIn(folder: string, stats: StatCache): string[] {
  return [...stats.names(folder) ?? []].sort();
}

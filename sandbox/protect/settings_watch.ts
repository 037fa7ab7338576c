// Watches git configurations and missing files of git while commands live: what git would run must not wait there until
// they end, because the person's own git could obey it meanwhile.

import { parentOf } from "../../base/paths.ts";
import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { checkChangedSettingsFile, isGitSettings, isHarmlessGit, isInGitFolder } from "../git/harmless.ts";
import type { Problem } from "../../base/problem.ts";
import type { Before } from "./repair.ts";

/** Limit on the folders that are watched, those of the working folders first. */
const MOST_FOLDERS = 16;

export class SettingsWatch {
  /** Text of each configuration, and null for a path that was missing. */
  readonly #before: ReadonlyMap<string, string | null>;
  readonly #planted: (path: string) => void;
  readonly #watchers = new Map<string, { watcher: Deno.FsWatcher; ended: Promise<void> }>();
  #isClosed = false;

  /**
   * Starts to watch. On a system that cannot watch more folders, changes are found when the commands have ended.
   *
   * @param planted called with the path of a configuration or file that git would run or obey
   */
  constructor({ compared, missing }: Pick<Before, "compared" | "missing">, planted: (path: string) => void) {
    const snapshot = new FsSnapshot();
    const added = missing.filter((path) => isInGitFolder(path, snapshot));
    this.#before = new Map([
      ...compared.filter(({ path }) => isGitSettings(path)).map(({ path, text }) => [path, text] as const),
      ...added.map((path) => [path, null] as const),
    ]);
    this.#planted = planted;
    this.#open(new Set([...this.#before.keys()].map(parentOf)));
  }

  /** Stops watching. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { watcher } of this.#watchers.values()) watcher.close();
    for (const { ended } of this.#watchers.values()) await ended;
  }

  #open(folders: Iterable<string>): void {
    for (const folder of folders) {
      if (this.#isClosed || this.#watchers.has(folder) || this.#watchers.size >= MOST_FOLDERS) continue;
      const watcher = watcherOf(folder);
      if (watcher !== null) this.#watchers.set(folder, { watcher, ended: this.#watch(watcher) });
      // What is in a new folder may be older than its watcher.
      for (const path of this.#before.keys()) if (parentOf(path) === folder) this.#inspect(path);
    }
  }

  async #watch(watcher: Deno.FsWatcher): Promise<void> {
    for await (const { paths } of watcher) {
      for (const path of paths) this.#inspect(path);
    }
  }

  #inspect(path: string): void {
    // A file in a new folder of hooks makes the folder run something.
    const known = this.#before.has(path) ? path : parentOf(path);
    if (this.#before.get(known) === null && new FsSnapshot().lstat(known)?.isDirectory) this.#open([known]);
    if (this.#runsSomething(known)) this.#planted(known);
  }

  #runsSomething(path: string): boolean {
    const before = this.#before.get(path);
    // Git removes and replaces the file; a missing one runs nothing.
    if (before === undefined || !new FsSnapshot().has(path)) return false;
    if (!isGitSettings(path)) return !isHarmlessGit(path);
    const checked = checkChangedSettingsFile(path, before);
    // Git refuses a text that cannot be evaluated, but it follows a link.
    return checked === null
      ? new FsSnapshot().lstat(path)?.isSymlink === true
      : checked.refused.some(({ reason }) => reason === "runs");
  }
}

/** Reports that a command was ended because of what it left at a path. */
export function endedProblem(path: string): Problem {
  const code = "protected-command-ended";
  return isGitSettings(path)
    ? {
      code,
      message: `Ended the command: it wrote a setting to ${path} that git outside the sandbox would run.`,
      next: "For one git command, use git -c instead of git config.",
    }
    : {
      code,
      message: `Ended the command: it created ${path}, which git outside the sandbox would run or obey.`,
      next: "To create it, run the command outside the sandbox.",
    };
}

function watcherOf(folder: string): Deno.FsWatcher | null {
  try {
    // Deno reports no event of a link that leads out of the watched folders. None leads out of `/`.
    return Deno.watchFs([folder, "/"], { recursive: false });
  } catch {
    return null; // The system's limit is reached, or a folder is gone. The check after the command remains.
  }
}

// Watches git configurations and missing files of git while commands live: what git would run must not wait there until
// they end, because the person's own git could obey it meanwhile.

import { parentOf } from "../../base/paths.ts";
import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { checkChangedSettingsFile, isGitSettings, isHarmlessGit, isInGitFolder } from "../git/harmless.ts";
import type { Problem } from "../../base/problem.ts";
import type { Before } from "./repair.ts";

/** Limit on the folders whose configurations and files are watched. Those that existed come first. */
const MOST_FOLDERS = 64;

/** Milliseconds between two checks. */
const INTERVAL = 100;

/** Milliseconds after a change in which the next one can get the same time. The runtime rounds this time to seconds. */
const SETTLED = 2500;

/**
 * Compares the status of the paths again and again. Notifications of the system are not used: while a program writes
 * often to a watched folder, such as `/tmp`, the runtime cannot add another folder, and blocks until the writing ends.
 */
export class SettingsWatch {
  /** Text of each configuration, and null for a path that was missing. */
  readonly #before: ReadonlyMap<string, string | null>;
  readonly #planted: (path: string) => void;
  /** Status at the last check; null for a missing path. */
  readonly #states = new Map<string, string | null>();
  readonly #timer: ReturnType<typeof setInterval>;

  /**
   * Starts to watch. Changes that are not found are found when the commands have ended.
   *
   * @param planted called once, with the path of a configuration or file that git would run or obey
   */
  constructor({ compared, missing }: Pick<Before, "compared" | "missing">, planted: (path: string) => void) {
    const snapshot = new FsSnapshot();
    const all = [
      ...compared.filter(({ path }) => isGitSettings(path)).map(({ path, text }) => [path, text] as const),
      ...missing.filter((path) => isInGitFolder(path, snapshot)).map((path) => [path, null] as const),
    ];
    const folders = new Set([...new Set(all.map(([path]) => parentOf(path)))].slice(0, MOST_FOLDERS));
    this.#before = new Map(all.filter(([path]) => folders.has(parentOf(path))));
    this.#planted = planted;
    this.#timer = setInterval(() => this.#check(), INTERVAL);
    Deno.unrefTimer(this.#timer);
    this.#check();
  }

  /** Stops watching. */
  close(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const snapshot = new FsSnapshot();
    for (const path of this.#before.keys()) {
      const state = stateOf(path, snapshot);
      const isSame = state === this.#states.get(path);
      this.#states.set(path, state);
      if (isSame || !this.#runsSomething(path)) continue;
      this.close();
      return this.#planted(path);
    }
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

/**
 * The status of a path by which a change is noticed; null if it is missing. Unlike the time of its content, a program
 * cannot choose the time of its last change. A path that changed a moment ago could change again at the same time, so
 * its status contains the time of the check.
 */
function stateOf(path: string, snapshot: FsSnapshot): string | null {
  const info = snapshot.lstat(path);
  if (info === null) return null;
  const changed = info.ctime?.getTime() ?? 0;
  const now = Date.now();
  return `${info.ino} ${info.size} ${changed} ${now - changed < SETTLED ? now : ""}`;
}

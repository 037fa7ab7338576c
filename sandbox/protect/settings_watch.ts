// Watches git configurations and missing files of git while commands live: what git would run must not wait there until
// they end, because the person's own git could obey it meanwhile.

import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { StatCache } from "../../base/disk/stat_cache.ts";
import { prepareHandles } from "../../base/system/libc.ts";
import { pause, pauseUnheld, repeatPaced } from "../../base/system/timer.ts";
import { checkChangedSettingsFile, isGitSettings, isHarmlessGit } from "../git/harmless.ts";
import type { Problem } from "../../base/problem.ts";
import { settledStamp } from "../paths/stamp.ts";
import type { Before } from "./repair.ts";

/** Milliseconds between two looks at the files. */
const INTERVAL = 50;

/**
 * Looks at the known paths at intervals. A command can cause events of the file system faster than anybody can read
 * them, also with names that make a reader wait. It cannot influence how often this class looks.
 */
export class SettingsWatch {
  /** Text of each configuration, and null for a path that was missing. */
  readonly #before: ReadonlyMap<string, string | null>;
  /** The last state of each path that was found harmless, if its times identify the state. */
  readonly #harmless = new Map<string, string | null>();
  readonly #planted: (path: string) => void;
  readonly #end = new AbortController();

  /**
   * Starts to watch.
   *
   * @param planted called once, with the path of a configuration or file that git would run or obey
   */
  constructor(
    { compared, missingInGit }: Pick<Before, "compared" | "missingInGit">,
    planted: (path: string) => void,
  ) {
    // A configuration that has not changed since then need not be read.
    for (const { path, text, settled } of compared) {
      if (text !== null && settled && isGitSettings(path)) this.#harmless.set(path, settled);
    }
    this.#before = new Map([
      ...compared.filter(({ path }) => isGitSettings(path)).map(({ path, text }) => [path, text] as const),
      ...missingInGit.map((path) => [path, null] as const),
    ]);
    this.#planted = planted;
    void this.#watch();
  }

  /** Stops watching. */
  close(): void {
    this.#end.abort();
  }

  async #watch(): Promise<void> {
    const { signal } = this.#end;
    await pause(INTERVAL, signal);
    if (signal.aborted || this.#before.size === 0) return;
    // From now on the command may exchange files between check and open.
    prepareHandles();
    // A caller that never disposes of its command does not keep the process alive.
    await repeatPaced(INTERVAL, () => this.#look(), signal, pauseUnheld);
  }

  #look(): void {
    const stats = new StatCache();
    const snapshot = new FsSnapshot(stats);
    for (const path of this.#before.keys()) {
      // Git removes and replaces a configuration; a missing one runs nothing.
      if (!snapshot.has(path)) continue;
      const stamp = settledStamp(path, stats);
      if (stamp !== null && this.#harmless.get(path) === stamp) continue;
      if (this.#runsSomething(path)) {
        this.#end.abort();
        this.#planted(path);
        return;
      }
      this.#harmless.set(path, stamp);
    }
  }

  #runsSomething(path: string): boolean {
    if (!isGitSettings(path)) return !isHarmlessGit(path);
    const checked = checkChangedSettingsFile(path, this.#before.get(path) ?? null);
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

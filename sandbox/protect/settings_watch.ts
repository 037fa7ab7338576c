// Watches git configurations while commands live: a setting that runs something must not wait there until they end,
// because the person's own git could obey it meanwhile.

import { parentOf } from "../../base/paths.ts";
import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { checkChangedSettingsFile, isGitSettings } from "../git/harmless.ts";
import type { Compared } from "./compared.ts";

/** Limit on the folders that are watched, those of the working folders first. */
const MOST_FOLDERS = 16;

export class SettingsWatch {
  readonly #before: ReadonlyMap<string, string | null>;
  readonly #planted: (path: string) => void;
  readonly #watcher: Deno.FsWatcher | null;
  readonly #ended: Promise<void>;

  /**
   * Starts to watch. On a system that cannot watch more folders, changes are found when the commands have ended.
   *
   * @param planted called with the path of a configuration that would run something
   */
  constructor(compared: readonly Compared[], planted: (path: string) => void) {
    this.#before = new Map(
      compared.filter(({ path }) => isGitSettings(path)).map(({ path, text }) => [path, text]),
    );
    this.#planted = planted;
    this.#watcher = watcherOf([...new Set([...this.#before.keys()].map(parentOf))].slice(0, MOST_FOLDERS));
    this.#ended = this.#watch();
  }

  /** Stops watching. */
  async close(): Promise<void> {
    this.#watcher?.close();
    await this.#ended;
  }

  async #watch(): Promise<void> {
    for await (const { paths } of this.#watcher ?? []) {
      for (const path of paths) if (this.#runsSomething(path)) this.#planted(path);
    }
  }

  #runsSomething(path: string): boolean {
    const before = this.#before.get(path);
    // Git removes and replaces the file; a missing one runs nothing.
    if (before === undefined || !new FsSnapshot().has(path)) return false;
    const checked = checkChangedSettingsFile(path, before);
    // Git refuses a text that cannot be evaluated, but it follows a link.
    return checked === null
      ? new FsSnapshot().lstat(path)?.isSymlink === true
      : checked.refused.some(({ reason }) => reason === "runs");
  }
}

function watcherOf(folders: readonly string[]): Deno.FsWatcher | null {
  if (folders.length === 0) return null;
  try {
    return Deno.watchFs([...folders], { recursive: false });
  } catch {
    return null; // The system's limit is reached, or a folder is gone. The check after the command remains.
  }
}

// Watches a file for saves, through the system's events for its folders, and reports each save once the
// editor is done.

import { realPathOrNull } from "../../base/files.ts";
import { parentOf } from "../../base/paths.ts";
import { pause } from "../../base/system/timer.ts";

/** Milliseconds without a change until a save counts as complete: editors empty a file and write it in pieces. */
export const SETTLED = 100;
/** Milliseconds between checks for a missing or replaced folder. */
const FOLDER_GONE = 1000;

export interface SavesOptions {
  /** Absolute path of the file, as the person named it. */
  readonly path: string;
  /** Called when something may have been saved. */
  readonly onSave: () => void;
  readonly signal: AbortSignal;
}

/** Reports saves until the signal aborts, then settles. */
export async function watchSaves({ path, onSave, signal }: SavesOptions): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(onSave, SETTLED);
  };
  try {
    while (!signal.aborted) {
      const ended = await follow(path, soon, signal);
      // The folder is missing, or a link now leads to another folder.
      if (ended === "gone") await pause(FOLDER_GONE, signal);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Watches the folders of a file and of its link target; returns why the watch ended. */
async function follow(path: string, changed: () => void, signal: AbortSignal): Promise<"gone" | "moved"> {
  const real = realPathOrNull(path);
  const files = new Set([path, ...(real === null ? [] : [real])]);
  const folders = [...new Set([...files].map(parentOf))];
  const there = identityOf(folders);
  let watcher: Deno.FsWatcher;
  try {
    watcher = Deno.watchFs(folders, { recursive: false });
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return "gone";
    throw thrown;
  }
  // Events come from the watched folders, even after other folders took their paths.
  const isOther = () => identityOf(folders) !== there || (realPathOrNull(path) ?? real) !== real;
  const stop = () => watcher.close();
  signal.addEventListener("abort", stop, { once: true });
  // The replacement of a parent folder causes no event, so the identity is also checked at intervals.
  const checks = setInterval(() => isOther() && stop(), FOLDER_GONE);
  try {
    if (signal.aborted) return "moved";
    // A save before the watcher started causes no event, so the file is checked once.
    changed();
    for await (const { kind, paths } of watcher) {
      if (kind === "access") continue;
      if (paths.some((each) => files.has(each))) changed();
      if (paths.some((each) => folders.includes(each)) || isOther()) break;
    }
    // The file may have gone with its folder.
    if (!signal.aborted) changed();
    return "moved";
  } finally {
    clearInterval(checks);
    signal.removeEventListener("abort", stop);
    try {
      watcher.close();
    } catch {
      // The watcher was closed by the signal, or because the paths lead to other folders now.
    }
  }
}

/** Returns a text that changes when other folders take these paths. */
function identityOf(folders: readonly string[]): string {
  return folders.map((folder) => {
    try {
      const { dev, ino, birthtime } = Deno.statSync(folder);
      return `${dev} ${ino} ${birthtime?.getTime()}`;
    } catch {
      return "";
    }
  }).join("\n");
}

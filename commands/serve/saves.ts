// Watches a file for saves, by its attributes, and reports each save once the editor is done.

import { repeatPaced } from "../../base/system/timer.ts";

/** Milliseconds without a change until a save counts as complete: editors empty a file and write it in pieces. */
export const SETTLED = 100;
/** Milliseconds between two looks at the file. */
const INTERVAL = 25;
/**
 * Milliseconds after which a further change certainly gives the file another time. Until then, a save of the same
 * length may leave no trace in the attributes, so the file is reported once more.
 */
const CERTAIN = 2500;

export interface SavesOptions {
  /** Absolute path of the file, as the person named it. */
  readonly path: string;
  /** Called when something may have been saved. */
  readonly onSave: () => void;
  readonly signal: AbortSignal;
}

/**
 * Reports saves until the signal aborts, then settles. Looks at the attributes of the file instead of waiting for
 * events of the system: those of a network folder may be missing, and the runtime opens each file in the folder that
 * has an event, which never returns for a pipe.
 */
export async function watchSaves({ path, onSave, signal }: SavesOptions): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  // A save before the first look counts too.
  let known: string | undefined;
  try {
    await repeatPaced(INTERVAL, () => {
      const now = attributesOf(path);
      if (now === known) return;
      known = now;
      clearTimeout(timer);
      timer = setTimeout(() => {
        timer = setTimeout(onSave, CERTAIN);
        onSave();
      }, SETTLED);
    }, signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns a text that changes with each save, and if the path leads to another file. */
function attributesOf(path: string): string {
  try {
    const { dev, ino, size, mtime, ctime } = Deno.statSync(path);
    return [dev, ino, size, mtime?.getTime(), ctime?.getTime()].join(" ");
  } catch {
    return ""; // Nothing accessible is there now.
  }
}

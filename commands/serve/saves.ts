// Watches a file for saves, by its attributes, and reports each save once the editor is done.

import { repeatPaced } from "../../base/system/timer.ts";

/** Milliseconds without a change until a save counts as complete: editors empty a file and write it in pieces. */
export const SETTLED = 100;
/** Milliseconds between two looks at the file. */
const INTERVAL = 100;
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
  const look = (): boolean => {
    const { attributes, settles } = lookAt(path);
    if (attributes === known) return false;
    known = attributes;
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (look()) return;
      timer = setTimeout(onSave, CERTAIN);
      onSave();
    }, settles);
    return true;
  };
  try {
    await repeatPaced(INTERVAL, look, signal);
  } finally {
    clearTimeout(timer);
  }
}

interface Look {
  /** Changes with each save, and if the path leads to another file. */
  readonly attributes: string;
  /** Milliseconds until the file counts as complete, unless it changes before. */
  readonly settles: number;
}

function lookAt(path: string): Look {
  try {
    const { dev, ino, size, mtime, ctime } = Deno.statSync(path);
    const attributes = [dev, ino, size, mtime?.getTime(), ctime?.getTime()].join(" ");
    return { attributes, settles: settlesIn(mtime) };
  } catch {
    return { attributes: "", settles: SETTLED }; // Nothing accessible is there now.
  }
}

/** The save may be older than this look. Its time is not trusted if it is not between the looks. */
function settlesIn(mtime: Date | null): number {
  const age = mtime === null ? 0 : Date.now() - mtime.getTime();
  return age >= 0 && age <= INTERVAL ? Math.max(0, SETTLED - age) : SETTLED;
}

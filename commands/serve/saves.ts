// Saves of files as they happen: told by the system for the folders that the files are in, when an editor has done its writing.

import { parentOf } from "../../base/paths.ts";

/** Milliseconds without a change after which a save is over: an editor empties a file and writes it in pieces. */
export const SETTLED = 100;
/** Milliseconds until a folder that is not there is looked for again. */
const FOLDER_GONE = 1000;

export interface SavesOptions {
  /** Absolute path of the file, as the person named it. */
  readonly path: string;
  /** Told that something may have been saved. */
  readonly onSave: () => void;
  readonly signal: AbortSignal;
}

/** Tells of saves until the signal aborts. Settles then. */
export async function watchSaves({ path, onSave, signal }: SavesOptions): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(onSave, SETTLED);
  };
  try {
    while (!signal.aborted) {
      const ended = await follow(path, soon, signal);
      // Its folder is gone, or a link leads elsewhere now.
      if (ended === "gone") await pause(FOLDER_GONE, signal);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Follows the folders of a file and of what it links to; says why that ended. */
async function follow(path: string, changed: () => void, signal: AbortSignal): Promise<"gone" | "moved"> {
  const real = realPath(path);
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
  // The system tells of the folders that were there, whatever stands under their names by now.
  const isOther = () => identityOf(folders) !== there || (realPath(path) ?? real) !== real;
  const stop = () => watcher.close();
  signal.addEventListener("abort", stop, { once: true });
  // Of a folder further up that gives way to another nobody tells.
  const checks = setInterval(() => isOther() && stop(), FOLDER_GONE);
  try {
    if (signal.aborted) return "moved";
    // What was saved before somebody listened is found by looking.
    changed();
    for await (const { kind, paths } of watcher) {
      if (kind === "access") continue;
      if (paths.some((each) => files.has(each))) changed();
      if (paths.some((each) => folders.includes(each)) || isOther()) break;
    }
    // With its folder the file may be gone too.
    if (!signal.aborted) changed();
    return "moved";
  } finally {
    clearInterval(checks);
    signal.removeEventListener("abort", stop);
    try {
      watcher.close();
    } catch {
      // Closed by the signal, or because it is about other folders now.
    }
  }
}

/** Which folders stand at these paths. */
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

function realPath(path: string): string | null {
  try {
    return Deno.realPathSync(path);
  } catch {
    // It is not there, for now.
    return null;
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    }, { once: true });
  });
}

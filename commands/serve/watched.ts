// When a watched document is to be advanced: decided from what its file was at the last look and what it is now, so that
// nothing this program writes can start it anew.

import type { Stop } from "../../cycle/types.ts";

/** A file at one moment. */
export interface FileState {
  /** What changes with every write: who the file is, how large, and when it was written. */
  readonly stamp: string;
  readonly text: Uint8Array;
}

/** What is known of a document when nothing runs. */
export interface Known {
  /** Its file when it was last looked at; null when it was not there. */
  readonly fileState: FileState | null;
  /** The last run failed: the same text may succeed another time. */
  readonly failed: boolean;
}

/** Whether what is there now was saved by somebody, and is to be advanced. */
export function isSaved({ fileState, failed }: Known, now: FileState | null): boolean {
  // A file that is gone may come again; one that is empty is about to be written.
  if (now === null || now.text.length === 0) return false;
  // A save in the middle of a look, or in the same tick of the clock, leaves the stamp as it was.
  if (fileState === null || !isSame(fileState.text, now.text)) return true;
  return failed && fileState.stamp !== now.stamp;
}

/** A run that has ended. */
export interface Ended {
  /** What it left, and the file now. */
  readonly ours: Uint8Array;
  readonly now: FileState | null;
  readonly reason: Stop["reason"];
}

/**
 * What is known when a run has ended. A text that is not the run's was saved by somebody meanwhile, and is to be found as
 * such by the next look; only a run that failed may have left something else itself, and is never repeated by itself.
 */
export function knownAfter({ ours, now, reason }: Ended): Known {
  const failed = reason === "failed" || reason === "cancelled";
  if (now === null || failed || isSame(now.text, ours)) return { fileState: now, failed };
  return { fileState: { stamp: "", text: ours }, failed };
}

/** Reads a file; null when it is not there or cannot be read. */
export async function readFileState(path: string): Promise<FileState | null> {
  try {
    using file = await Deno.open(path, { read: true });
    const { dev, ino, size, mtime, ctime, isFile } = await file.stat();
    if (!isFile) return null;
    const text = await Deno.readFile(path);
    return { stamp: [dev, ino, size, mtime?.getTime(), ctime?.getTime()].join(" "), text };
  } catch {
    // Whatever is in the way, the next save is looked at again; a run tells what is wrong.
    return null;
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

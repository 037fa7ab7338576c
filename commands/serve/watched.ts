// Decides when to advance a watched document, from the last known state of its file and the current one. This
// program's own writes must not start a document again.

import { nextNeed } from "../../agent/views/next_need.ts";
import { MOST_TEXT_BYTES } from "../../base/bytes.ts";
import { openRegular, readAll } from "../../base/system/regular_file.ts";
import type { Stop } from "../../cycle/types.ts";
import { parse } from "../../parser/mod.ts";

/** A file at one moment. */
export interface FileState {
  /** Text that changes with every write: device, inode, size and times. */
  readonly stamp: string;
  readonly text: Uint8Array;
}

/** The state of a document while nothing runs. */
export interface IdleDocument {
  /** The file at the last check; null if it did not exist. */
  readonly fileState: FileState | null;
  /** True if saving the same text starts a run: the last one failed, or watching began with a text to send. */
  readonly startsAgain: boolean;
}

/** True if another program saved the file, so that it should be advanced. */
export function isSaved({ fileState, startsAgain }: IdleDocument, now: FileState | null): boolean {
  // A missing file may come back, and an empty file is probably about to be written.
  if (now === null || now.text.length === 0) return false;
  // Compares texts, because a save during the check or in the same clock tick leaves the stamp unchanged.
  if (fileState === null || !isSame(fileState.text, now.text)) return true;
  return startsAgain && fileState.stamp !== now.stamp;
}

/** Returns the known state when watching begins. Nothing runs before the person saves. */
export function knownAtStart(fileState: FileState | null): IdleDocument {
  const waits = fileState !== null && nextNeed(parse(fileState.text)).kind === "advance";
  return { fileState, startsAgain: waits };
}

export interface WatchedRunEnd {
  /** `ours` is the text that the run left, `now` the current file. */
  readonly ours: Uint8Array;
  readonly now: FileState | null;
  readonly reason: Stop["reason"];
}

/**
 * Returns the known state after a run. If the text is not the run's own, another program saved meanwhile, and the next
 * check must find that text. After a failed run the difference may come from the run itself, so the run is not
 * repeated automatically.
 */
export function knownAfter({ ours, now, reason }: WatchedRunEnd): IdleDocument {
  const failed = reason === "failed" || reason === "cancelled";
  if (now === null || failed || isSame(now.text, ours)) return { fileState: now, startsAgain: failed };
  return { fileState: { stamp: "", text: ours }, startsAgain: failed };
}

/** Reads a file; null if it does not exist or cannot be read. */
export async function readFileState(path: string): Promise<FileState | null> {
  try {
    const { file, info: { dev, ino, size, mtime, ctime } } = await openRegular(path);
    using _ = file;
    const stamp = [dev, ino, size, mtime?.getTime(), ctime?.getTime()].join(" ");
    // A file that is too large for a document is not read. Its stamp is compared instead, and the run reports it.
    const text = size > MOST_TEXT_BYTES ? new TextEncoder().encode(stamp) : await readAll(file, size);
    return { stamp, text };
  } catch {
    // The next save is checked again, and a run reports what is wrong.
    return null;
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

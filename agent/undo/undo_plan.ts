// Plans which changes can be undone, given the current content of the files. Pure: reads and writes nothing.

import { difference, splitLines } from "../../cycle/storage/lines.ts";
import type { ContentDigest, SavedFile } from "./saved_files.ts";

export type Fate =
  /** The file has the content that the tool wrote, so its old content is restored. */
  | { readonly kind: "put-back" }
  /** The file already has its old content. */
  | { readonly kind: "already" }
  /** A later change of this document replaced the content. */
  | { readonly kind: "covered"; readonly by: SavedFile }
  /** Somebody else has changed or removed the file since. */
  | { readonly kind: "changed" }
  /** The run ended before it recorded the tool's content. */
  | { readonly kind: "unknown" };

export interface UndoStep {
  readonly change: SavedFile;
  readonly fate: Fate;
}

/**
 * Goes through changes from newest to oldest. Each comes with the content that the file has after the newer changes
 * are undone.
 *
 * @param kept all effective changes of the document, oldest first
 * @param meant the changes to undo
 * @param now what each file holds; null if it does not exist
 */
export function planUndo(
  kept: readonly SavedFile[],
  meant: ReadonlySet<SavedFile>,
  now: ReadonlyMap<string, ContentDigest | null>,
): UndoStep[] {
  const holds = new Map(now);
  const remaining = new Map<string, SavedFile>();
  const steps: UndoStep[] = [];
  for (const change of kept.toReversed()) {
    const { path, before, after } = change;
    const present = holds.get(path) ?? null;
    if (!meant.has(change)) {
      // A change that left the file as it was does not cover an earlier change.
      if (!sameContent(present, before)) remaining.set(path, change);
      continue;
    }
    const fate: Fate = after !== null && sameContent(present, after) && !sameContent(before, after)
      ? { kind: "put-back" }
      : sameContent(present, before)
      ? { kind: "already" }
      : after === null
      ? { kind: "unknown" }
      : remaining.has(path)
      ? { kind: "covered", by: remaining.get(path)! }
      : { kind: "changed" };
    if (fate.kind === "put-back") holds.set(path, before);
    steps.push({ change, fate });
  }
  return steps;
}

function sameContent(a: ContentDigest | null, b: ContentDigest | null): boolean {
  return a?.hash === b?.hash && a?.size === b?.size;
}

/** Maximum number of line ranges that are listed. */
const MOST_RANGES = 8;

/**
 * Returns the changed lines of a file, compared with the content that the tool wrote, as the end of a sentence.
 *
 * @param left the content that the tool wrote
 * @param now the current content of the file; null if it is gone
 */
export function changedLines(left: Uint8Array, now: Uint8Array | null): string {
  if (now === null) return "it has been removed since";
  if (left.includes(0) || now.includes(0)) return "it has changed since";
  const hunks = difference(splitLines(left), splitLines(now), (line) => line);
  if (hunks === null) return "most of it has changed since";
  const ranges = hunks.map(({ at, lines }) =>
    lines.length === 0
      ? `lines removed after line ${at}`
      : lines.length === 1
      ? `line ${at + 1}`
      : `lines ${at + 1}-${at + lines.length}`
  );
  const rest = ranges.length - MOST_RANGES;
  const named = ranges.slice(0, MOST_RANGES).join(", ");
  return `changed since: ${named}${rest > 0 ? ` and ${rest} more places` : ""}`;
}

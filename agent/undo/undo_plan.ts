// What putting changes back comes to, by what files hold now. Pure: nothing is read here and nothing written.

import { difference, splitLines } from "../../cycle/storage/lines.ts";
import type { Content, SavedFile } from "./saved_files.ts";

/** What becomes of one change. */
export type Fate =
  /** The file holds what the tool left there: what was there before comes back. */
  | { readonly kind: "put-back" }
  /** The file already holds what was there before. */
  | { readonly kind: "already" }
  /** A later change of this document stands on top of it. */
  | { readonly kind: "covered"; readonly by: SavedFile }
  /** Somebody else changed the file since, or took it away. */
  | { readonly kind: "changed" }
  /** The run ended before it was known what the tool left there. */
  | { readonly kind: "unknown" };

/** One change with what becomes of it. */
export interface UndoStep {
  readonly change: SavedFile;
  readonly fate: Fate;
}

/**
 * Goes through changes from the newest to the oldest, each by what the file holds once the newer ones are put back.
 *
 * @param kept all that is in force of the document, oldest first
 * @param meant those that are to be put back
 * @param now what each file holds; null where there is none
 */
export function planUndo(
  kept: readonly SavedFile[],
  meant: ReadonlySet<SavedFile>,
  now: ReadonlyMap<string, Content | null>,
): UndoStep[] {
  const holds = new Map(now);
  const remaining = new Map<string, SavedFile>();
  const steps: UndoStep[] = [];
  for (const change of kept.toReversed()) {
    const { path, before, after } = change;
    const present = holds.get(path) ?? null;
    if (!meant.has(change)) {
      // What never came about covers nothing.
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

function sameContent(a: Content | null, b: Content | null): boolean {
  return a?.hash === b?.hash && a?.size === b?.size;
}

/** Most ranges that are named one by one. */
const MOST_RANGES = 8;

/**
 * The lines of a file that are not what the tool left there, as the end of a sentence.
 *
 * @param left what the tool left there
 * @param now what the file holds; null when it is gone
 */
export function changedLines(left: Uint8Array, now: Uint8Array | null): string {
  if (now === null) return "it was removed since";
  if (left.includes(0) || now.includes(0)) return "it was changed since";
  const hunks = difference(splitLines(left), splitLines(now), (line) => line);
  if (hunks === null) return "most of it was changed since";
  const ranges = hunks.map(({ at, lines }) =>
    lines.length === 0
      ? `lines taken out behind line ${at}`
      : lines.length === 1
      ? `line ${at + 1}`
      : `lines ${at + 1}-${at + lines.length}`
  );
  const rest = ranges.length - MOST_RANGES;
  const named = ranges.slice(0, MOST_RANGES).join(", ");
  return `changed since: ${named}${rest > 0 ? ` and ${rest} more places` : ""}`;
}

// What a command could have written into a document, and so is not the person's word until confirmed (S17). Pure.

import type { FileIdentity, TamperCheck, TamperedParts } from "../../cycle/types.ts";

/** A document as far as anything in it gives leave to run. */
export interface Leaves {
  /** Hash of each call whose empty block says `approved`, by id. */
  readonly approved: Readonly<Record<string, string>>;
  /** What the first block says, as text that is the same for the same settings. */
  readonly block: string;
  /** Whether the block only takes away. */
  readonly narrows: boolean;
}

/**
 * How a document came within the reach of the commands that lived since `then`, as the end of a sentence; null when they
 * could not write it.
 *
 * @param now the real path of the document that the name leads to now, and its file
 */
export function breachSince(
  then: TamperCheck,
  now: { readonly path: string; readonly file: FileIdentity | null },
): string | null {
  if (then.leads !== now.path) return `${then.name} was replaced while a command ran`;
  if (!sameFile(then.file, now.file)) {
    return "the file was replaced while a command ran, as an editor does that saves by renaming";
  }
  // Only the names that the program knows are protected.
  const linked = (then.file?.links ?? 0) > 1 || (now.file?.links ?? 0) > 1;
  return linked ? "the file has another name (a hard link), by which a command could write it" : null;
}

function sameFile(a: FileIdentity | null, b: FileIdentity | null): boolean {
  if (a === null || b === null) return a === b;
  return a.dev === b.dev && a.ino === b.ino && a.born === b.born;
}

/**
 * What of the document as it is now was not there before the commands began; null when all of it was. A block that only
 * takes away, where none said anything, needs no word.
 */
export function findTampered(then: TamperCheck, now: Leaves, why: string): TamperedParts | null {
  const calls = Object.entries(now.approved).filter(([id, hash]) => hashOf(then.approved, id) !== hash);
  const fine = now.block === then.block || (then.block === "" && now.narrows);
  if (calls.length === 0 && fine) return null;
  return { why, calls: Object.fromEntries(calls), block: fine ? null : now.block };
}

/** Both: what was suspected before stays so. */
export function together(before: TamperedParts | null, more: TamperedParts | null): TamperedParts | null {
  if (before === null || more === null) return more ?? before;
  return { why: more.why, calls: { ...before.calls, ...more.calls }, block: more.block ?? before.block };
}

/** What can be vouched for before a command begins: everything that is not suspected. */
export function withoutTampered(
  now: Leaves,
  tampered: TamperedParts | null,
): Pick<TamperCheck, "approved" | "block"> {
  const calls = Object.entries(now.approved)
    .filter(([id, hash]) => tampered === null || hashOf(tampered.calls, id) !== hash);
  // No block says this, so each one stays suspected.
  const block = isBlockTampered(now, tampered) ? "suspected" : now.block;
  return { approved: Object.fromEntries(calls), block };
}

export function isBlockTampered(now: Pick<Leaves, "block">, tampered: TamperedParts | null): boolean {
  return tampered !== null && tampered.block !== null && tampered.block === now.block;
}

/** The hash of a call; ids come from a model and may be names that every object has. */
export function hashOf(hashes: Readonly<Record<string, string>>, id: string): string | undefined {
  return Object.hasOwn(hashes, id) ? hashes[id] : undefined;
}

// Finds the parts of a document that a command could have written, which need a person's confirmation. Pure.

import type { FileIdentity, TamperCheck, TamperedParts } from "../../cycle/types.ts";

/** The parts of a document that permit something to run. */
export interface Leaves {
  /** Hash of each call whose empty block says `approved`, by id. */
  readonly approved: Readonly<Record<string, string>>;
  /** The settings of the frontmatter as text; equal texts mean equal settings. */
  readonly block: string;
  /** True if the frontmatter only restricts. */
  readonly narrows: boolean;
}

/**
 * Returns how commands that ran since `then` could have written the document, as the end of a sentence; null if they
 * could not.
 *
 * @param now the real path that the document's name leads to now, and its file
 */
export function breachSince(
  then: TamperCheck,
  now: { readonly path: string; readonly file: FileIdentity | null },
): string | null {
  if (then.writable) return "the sandbox of the commands does not keep them from writing the file";
  if (then.leads !== now.path) return `${then.name} was replaced while a command ran`;
  if (!sameFile(then.file, now.file)) {
    return "the file was replaced while a command ran, which an editor may do when it saves";
  }
  // Commands could write through an unknown hard link, because only the names that this program knows are protected.
  const linked = (then.file?.links ?? 0) > 1 || (now.file?.links ?? 0) > 1;
  return linked ? "the file has another name (a hard link), through which a command could write it" : null;
}

function sameFile(a: FileIdentity | null, b: FileIdentity | null): boolean {
  if (a === null || b === null) return a === b;
  return a.dev === b.dev && a.ino === b.ino && a.born === b.born;
}

/**
 * Returns the parts of the current document that did not exist before the commands started; null if all existed. New
 * frontmatter that only restricts needs no confirmation.
 */
export function findTampered(then: TamperCheck, now: Leaves, why: string): TamperedParts | null {
  const calls = Object.entries(now.approved).filter(([id, hash]) => hashOf(then.approved, id) !== hash);
  const fine = now.block === then.block || (then.block === "" && now.narrows);
  if (calls.length === 0 && fine) return null;
  return { why, calls: Object.fromEntries(calls), block: fine ? null : now.block };
}

/** Combines two findings. Parts of the earlier finding stay tampered. */
export function mergeTampered(
  before: TamperedParts | null,
  more: TamperedParts | null,
): TamperedParts | null {
  if (before === null || more === null) return more ?? before;
  return { why: more.why, calls: { ...before.calls, ...more.calls }, block: more.block ?? before.block };
}

/** The unconfirmed parts after a person confirmed the frontmatter. */
export function withoutBlock(tampered: TamperedParts | null): TamperedParts | null {
  return tampered === null || Object.keys(tampered.calls).length === 0 ? null : { ...tampered, block: null };
}

/**
 * Returns the parts that count as untampered before a command starts: all except those that were already found
 * tampered.
 */
export function withoutTampered(
  now: Leaves,
  tampered: TamperedParts | null,
): Pick<TamperCheck, "approved" | "block"> {
  const calls = Object.entries(now.approved)
    .filter(([id, hash]) => tampered === null || hashOf(tampered.calls, id) !== hash);
  // No frontmatter has this text, so the frontmatter stays tampered.
  const block = isBlockTampered(now, tampered) ? "suspected" : now.block;
  return { approved: Object.fromEntries(calls), block };
}

export function isBlockTampered(now: Pick<Leaves, "block">, tampered: TamperedParts | null): boolean {
  return tampered !== null && tampered.block !== null && tampered.block === now.block;
}

/**
 * Returns the hash of a call. Ids come from a model, and may equal names such as `constructor` that every object
 * inherits.
 */
export function hashOf(hashes: Readonly<Record<string, string>>, id: string): string | undefined {
  return Object.hasOwn(hashes, id) ? hashes[id] : undefined;
}

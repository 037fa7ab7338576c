// A change to a document: the replaced byte range and the new text.

import type { ByteReplacement } from "../text/replacement.ts";

/** Replaces the bytes `from` (inclusive) to `to` (exclusive) with the UTF-8 bytes of `insert`. */
export interface Edit {
  /** First byte to replace. */
  readonly from: number;
  /** The byte after the last one to replace; equal to `from` for an insertion. */
  readonly to: number;
  /** The new text. */
  readonly insert: string;
}

/** An edit whose text may already be UTF-8 bytes; the caller must not change them afterwards. */
export interface ByteEdit extends Omit<Edit, "insert"> {
  /** The new text. */
  readonly insert: string | Uint8Array;
}

const encoder = new TextEncoder();

/** Returns how many bytes longer an edit makes a text. */
export function growth({ from, to, insert }: Edit): number {
  return encoder.encode(insert).length - (to - from);
}

/**
 * Returns the edits of a document of `length` bytes in ascending order, encoded. Throws a RangeError for overlapping
 * or out-of-range edits, because such a list is a programming error.
 */
export function replacementsOf(length: number, edits: readonly ByteEdit[]): ByteReplacement[] {
  const ordered = edits
    .map(({ from, to, insert }, order) => ({
      from,
      to,
      insert: typeof insert === "string" ? encoder.encode(insert) : insert,
      order,
    }))
    .sort((a, b) => a.from - b.from || a.order - b.order);
  let reached = 0;
  for (const { from, to } of ordered) {
    if (from < reached || to < from || to > length) {
      throw new RangeError(`edit ${from}..${to} overlaps another or is outside the document`);
    }
    reached = to;
  }
  return ordered;
}

/**
 * Applies edits that all refer to the same original bytes. Edits must not overlap; insertions at the same offset keep
 * their order.
 * @param bytes the text before
 * @param edits the changes, in any order
 * @returns the text after the edits; `bytes` itself if there is no edit
 * @throws RangeError if edits overlap or lie outside `bytes`
 */
export function applyEdits(bytes: Uint8Array, edits: readonly ByteEdit[]): Uint8Array {
  if (edits.length === 0) return bytes;
  const replacements = replacementsOf(bytes.length, edits);
  const length = replacements.reduce(
    (sum, { from, to, insert }) => sum + insert.length - (to - from),
    bytes.length,
  );
  const result = new Uint8Array(length);
  let read = 0;
  let write = 0;
  for (const { from, to, insert } of replacements) {
    result.set(bytes.subarray(read, from), write);
    write += from - read;
    result.set(insert, write);
    write += insert.length;
    read = to;
  }
  result.set(bytes.subarray(read), write);
  return result;
}

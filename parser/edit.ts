// A change to a document: the smallest replaced byte range and the text put there.

/** Replaces the bytes `from` (inclusive) to `to` (exclusive) by the UTF-8 bytes of `insert`. */
export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
}

const encoder = new TextEncoder();

/**
 * Applies edits that all refer to the same original bytes.
 *
 * Edits must not overlap; two insertions at one offset land in the order given. Throws a RangeError on
 * overlapping or out-of-range edits, because such a list is a fault of the program, never of a document.
 */
export function applyEdits(bytes: Uint8Array, edits: readonly Edit[]): Uint8Array {
  if (edits.length === 0) return bytes;
  const ordered = edits
    .map((edit, order) => ({ edit, order, insert: encoder.encode(edit.insert) }))
    .sort((a, b) => a.edit.from - b.edit.from || a.order - b.order);
  let length = bytes.length;
  let reached = 0;
  for (const { edit, insert } of ordered) {
    if (edit.from < reached || edit.to < edit.from || edit.to > bytes.length) {
      throw new RangeError(`edit ${edit.from}..${edit.to} overlaps another or lies outside the document`);
    }
    reached = edit.to;
    length += insert.length - (edit.to - edit.from);
  }
  const result = new Uint8Array(length);
  let read = 0;
  let write = 0;
  for (const { edit, insert } of ordered) {
    result.set(bytes.subarray(read, edit.from), write);
    write += edit.from - read;
    result.set(insert, write);
    write += insert.length;
    read = edit.to;
  }
  result.set(bytes.subarray(read), write);
  return result;
}

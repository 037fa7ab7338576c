// File content without joining it, so that a large document is in memory only once.

import { sameBytes } from "../../../base/bytes.ts";

/** Bytes that are joined only if all of them are requested, such as a parsed document. */
export interface Content {
  readonly byteLength: number;
  readonly bytes: Uint8Array;
  /** The bytes `from` to `to`, as far as they exist. */
  slice(from: number, to: number): Uint8Array;
  /** All bytes from `from` on, in their stored pieces. */
  parts(from?: number): Iterable<Uint8Array>;
}

/** Content of bytes that are already in one piece. */
export function contentFromBytes(bytes: Uint8Array): Content {
  return {
    byteLength: bytes.length,
    bytes,
    slice: (from, to) => bytes.subarray(from, to),
    parts: (from = 0) => [bytes.subarray(from)],
  };
}

export function sameContent(a: Content, b: Content): boolean {
  return a === b || (a.byteLength === b.byteLength && sameBytes(a.bytes, b.bytes));
}

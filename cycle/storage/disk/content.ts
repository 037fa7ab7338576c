// What a file holds, without having it in one piece: that of a large document lies in memory once.

import { sameBytes } from "../../../base/bytes.ts";

/** Bytes that are joined only when somebody asks for all of them. A parsed document is one. */
export interface Content {
  readonly byteLength: number;
  readonly bytes: Uint8Array;
  /** The bytes `from` to `to`, as far as there are any. */
  slice(from: number, to: number): Uint8Array;
  /** All bytes from `from` on, in the pieces in which they lie. */
  parts(from?: number): Iterable<Uint8Array>;
}

/** Bytes that are in one piece already. */
export function contentOf(bytes: Uint8Array): Content {
  return {
    byteLength: bytes.length,
    bytes,
    slice: (from, to) => bytes.subarray(from, to),
    parts: (from = 0) => [bytes.subarray(from)],
  };
}

/** Whether two hold the same. */
export function sameContent(a: Content, b: Content): boolean {
  return a === b || (a.byteLength === b.byteLength && sameBytes(a.bytes, b.bytes));
}

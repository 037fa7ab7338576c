// File content that is used without joining its pieces, so that a large document is in memory only once.

import { sameBytes } from "../../../base/bytes.ts";

/** Bytes in pieces that are joined only if somebody asks for all of them, such as the bytes of a parsed document. */
export interface Content {
  readonly byteLength: number;
  readonly bytes: Uint8Array;
  /** Returns the bytes `from` to `to`, as far as they exist. */
  slice(from: number, to: number): Uint8Array;
  /** Returns all bytes from `from` on, in their stored pieces. */
  parts(from?: number): Iterable<Uint8Array>;
}

/** Wraps bytes that are already in one piece. */
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

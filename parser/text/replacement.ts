// A replaced range of a text, as bytes.

/** An edit with the bytes it puts in. */
export interface ByteReplacement {
  readonly from: number;
  readonly to: number;
  readonly insert: Uint8Array;
}

// A replaced range of a text, as bytes.

/** An edit together with the bytes that it inserts. */
export interface ByteReplacement {
  readonly from: number;
  readonly to: number;
  readonly insert: Uint8Array;
}

// A piece of a document, as an editor pipes a selected block: result blocks without the message around them (cli 2).

import { parse } from "../../parser/mod.ts";

export interface Fragment {
  /** The fragment inside a message of its own, so that its blocks can be read. */
  readonly bytes: Uint8Array;
  /** Takes that message away again. */
  unwrap(bytes: Uint8Array): Uint8Array;
}

const MARKER = new TextEncoder().encode("@You:\n");

/** The text as a fragment, or null when it has messages of its own or holds no result block. */
export function asFragment(text: Uint8Array): Fragment | null {
  if (parse(text).turnCount > 0) return null;
  const bytes = new Uint8Array(MARKER.length + text.length);
  bytes.set(MARKER);
  bytes.set(text, MARKER.length);
  if (parse(bytes).results.length === 0) return null;
  return { bytes, unwrap: (changed) => changed.subarray(MARKER.length) };
}

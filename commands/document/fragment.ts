// A piece of a document, as an editor pipes a selected block: result blocks without the message around them (cli 2).

import { parse } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";

export interface Fragment {
  /** The fragment inside a message of its own, so that its blocks can be read. */
  readonly bytes: Uint8Array;
  /** Takes that message away again. */
  unwrap(bytes: Uint8Array): Uint8Array;
}

const MARKER = new TextEncoder().encode("@You:\n");

/** The text as a fragment, or null when it has messages of its own or holds no result block. */
export function asFragment(chat: Chat): Fragment | null {
  if (chat.turns.length > 0) return null;
  const bytes = new Uint8Array(MARKER.length + chat.bytes.length);
  bytes.set(MARKER);
  bytes.set(chat.bytes, MARKER.length);
  if (parse(bytes).results.length === 0) return null;
  return { bytes, unwrap: (changed) => changed.subarray(MARKER.length) };
}

// Wraps a part of a document, as an editor pipes a selection. The part has result blocks without a message around
// them, or is a single status fence without its header.

import { concat, sameBytes } from "../../base/bytes.ts";
import { isPlaceholder } from "../../parser/edits/result_block.ts";
import { parse } from "../../parser/mod.ts";

export interface Fragment {
  /** The fragment inside a message, so that its blocks can be parsed. */
  readonly bytes: Uint8Array;
  /** Removes the message that was added around the fragment; null if the message itself was changed. */
  unwrap(bytes: Uint8Array): Uint8Array | null;
}

const MARKER = "@You:\n";

/** Header for a status fence that has none. No provider uses an id like the one in it. */
const HEADER = `${MARKER}**Tool Result:** \`flemma:selection\`\n\n`;

/** Wraps the text; null if it already has messages, or if it has neither a result block nor a status. */
export function asFragment(text: Uint8Array): Fragment | null {
  if (parse(text).turnCount > 0) return null;
  const blocks = wrapped(MARKER, text);
  if (parse(blocks.bytes).results.length > 0) return blocks;
  return isStatusFence(text) ? wrapped(HEADER, text) : null;
}

/** True if the whole text is one fence with a status. */
function isStatusFence(text: Uint8Array): boolean {
  if (text[0] !== BACKTICK) return false;
  const read = parse(wrapped(HEADER, text).bytes);
  const [result, ...others] = read.results;
  if (result === undefined || others.length > 0 || !isPlaceholder(result)) return false;
  return read.slice(result.place.to, read.byteLength).every((byte) => byte === 0x0a || byte === 0x0d);
}

const BACKTICK = 0x60;

function wrapped(before: string, text: Uint8Array): Fragment {
  const head = new TextEncoder().encode(before);
  return {
    bytes: concat([head, text]),
    unwrap: (changed) =>
      sameBytes(changed.subarray(0, head.length), head) ? changed.subarray(head.length) : null,
  };
}

// Finds out whether a text continues another one, and in which steps a file can grow from one to the other.

import { commonPrefix, utf8Length } from "../../../base/bytes.ts";
import type { Content } from "./content.ts";

/**
 * Maximum number of bytes of a step. A step is one system call, which a signal that ends the program does not
 * interrupt.
 */
export const MAX_STEP_BYTES = 16 * 1024;

/** The text at the end of one content that another content lacks. */
export interface GrownText {
  /** Both contents are the same up to this byte. */
  readonly from: number;
  /** The text, in pieces: a file may end after each of them. */
  readonly pieces: readonly string[];
}

/** How a file grows: bytes from offset `at` on are written in steps, and each step ends at one of `ends`. */
export interface Extension {
  readonly at: number;
  readonly ends: readonly number[];
}

/**
 * Returns how to turn a file with content `base` into `content` by writing at its end and replacing at most a final
 * line end; null if that is not possible, or a step would exceed the maximum.
 */
export function extensionOf(base: Content, content: Content, grown?: GrownText): Extension | null {
  const longer = content.byteLength - base.byteLength;
  if (longer <= 0 || (grown === undefined && longer > MAX_STEP_BYTES)) return null;
  const known = Math.min(grown?.from ?? 0, base.byteLength);
  const rest = base.slice(known, base.byteLength);
  const same = commonPrefix(rest, content.slice(known, known + rest.length));
  const gives = rest.subarray(same);
  if (gives.length > 2 || gives.some((byte) => byte !== LF && byte !== CR)) return null;
  const at = known + same;
  const ends = stepsOf(at, content.byteLength, grown);
  return ends === null ? null : { at, ends };
}

const LF = 0x0a;
const CR = 0x0d;

/** Returns the ends of the steps from `at` to `end`, each of as many pieces as fit; null if one piece is too large. */
function stepsOf(at: number, end: number, grown?: GrownText): number[] | null {
  const steps: number[] = [];
  let begun = at;
  let reached = at;
  let offset = grown?.from ?? end;
  const ends = (grown?.pieces ?? []).map((piece) => offset += utf8Length(piece));
  for (const next of [...ends.filter((each) => at < each && each < end), end]) {
    if (next - begun > MAX_STEP_BYTES) {
      if (reached > begun) steps.push(reached);
      begun = reached;
    }
    if (next - begun > MAX_STEP_BYTES) return null;
    reached = next;
  }
  steps.push(reached);
  return steps;
}

// Whether a text goes on where another one ends, and in which steps a file can grow from the one to the other.

import { commonPrefix, utf8Length } from "../../../base/bytes.ts";
import type { Content } from "./content.ts";

/** Most bytes of a step. It is one call of the system, which a signal that ends the program does not tear. */
export const MAX_STEP_BYTES = 16 * 1024;

/** Text at the end of a content that another one lacks. */
export interface GrownText {
  /** Up to this byte both are the same. */
  readonly from: number;
  /** The text, in pieces: a file may end after each of them. */
  readonly pieces: readonly string[];
}

/** How a file grows: bytes from `at` on are written, up to each of `ends` in one step. */
export interface Extension {
  readonly at: number;
  readonly ends: readonly number[];
}

/**
 * How a file that holds `base` is made to hold `content` by writing at its end, with nothing but a last line end giving way;
 * null when it cannot, or when a step would be larger than what is written at once.
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

/** Where steps from `at` to `end` end: behind as many pieces as go into one; null when one piece is too large. */
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

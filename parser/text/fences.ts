// Finds closed code fences, whose content is quoted code.

import { fenceClose, fenceOpen } from "./lines.ts";

/** A closed fence from its first through its last line, in bytes. */
export interface Fence {
  readonly from: number;
  readonly to: number;
}

const LF = 0x0a;

/**
 * Returns the closed fences of some bytes, which begin with a line outside of any fence; `base` is the offset of the
 * bytes.
 */
export function closedFences(bytes: Uint8Array, base = 0): readonly Fence[] {
  const fences: Fence[] = [];
  let open: { readonly from: number; readonly ticks: number } | null = null;
  for (let from = 0; from < bytes.length;) {
    const feed = bytes.indexOf(LF, from);
    const to = feed < 0 ? bytes.length : feed;
    // The carriage return of a line end is blank, so it does not prevent closing a fence.
    if (open === null) {
      const ticks = fenceOpen(bytes, from, to);
      if (ticks > 0) open = { from, ticks };
    } else if (fenceClose(bytes, from, to, open.ticks)) {
      fences.push({ from: base + open.from, to: base + to });
      open = null;
    }
    from = to + 1;
  }
  return fences;
}

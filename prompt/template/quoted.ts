// Which tags of a text stand in a closed code fence, where a person shows code rather than writes it (chat-format 5, rule a).

import { fenceClose, fenceOpen } from "../../parser/text/lines.ts";
import type { Place, Segment, TemplateSegment } from "../../parser/types.ts";

/** A closed fence with its first and its last line, in bytes. */
export interface Fence {
  readonly from: number;
  readonly to: number;
}

const LF = 0x0a;

/** The closed fences of some bytes, which begin with a line and outside of any fence; `base` is their own offset. */
export function closedFences(bytes: Uint8Array, base = 0): readonly Fence[] {
  const fences: Fence[] = [];
  let open: { readonly from: number; readonly ticks: number } | null = null;
  for (let from = 0; from < bytes.length;) {
    const feed = bytes.indexOf(LF, from);
    const to = feed < 0 ? bytes.length : feed;
    // The carriage return of a line end is blank, so it closes a fence as well; none opens by it.
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

/** The closed fences of a message's texts. What stands between them, such as a result, has fences of its own. */
export function fencesOf(
  segments: readonly Segment[],
  slice: (from: number, to: number) => Uint8Array,
): readonly Fence[] {
  const runs: { from: number; to: number }[] = [];
  let run: { from: number; to: number } | null = null;
  for (const segment of segments) {
    const place: Place | undefined = isTag(segment) || segment.kind === "text" ? segment.place : undefined;
    if (place === undefined) run = null;
    else if (run !== null) run.to = place.to;
    else runs.push(run = { from: place.from, to: place.to });
  }
  return runs.flatMap(({ from, to }) => closedFences(slice(from, to), from));
}

/** The fence that a tag stands in, if any. */
export function fenceAround(fences: readonly Fence[], { place }: TemplateSegment): Fence | undefined {
  return fences.find(({ from, to }) => from <= place.from && place.to <= to);
}

/** Whether a segment is a template tag. */
export function isTag(segment: Segment | undefined): segment is TemplateSegment {
  return segment?.kind === "expression" || segment?.kind === "code";
}

// Detection of tags in closed code fences, where a person quotes code.

import { closedFences, type Fence } from "../../parser/text/fences.ts";
import type { Place, Segment, TemplateSegment } from "../../parser/types.ts";

/** Finds the closed fences in a message's texts. Blocks between them, such as results, have their own fences. */
export function fencesOf(
  segments: readonly Segment[],
  slice: (from: number, to: number) => Uint8Array,
): readonly Fence[] {
  const runs: { from: number; to: number }[] = [];
  let run: { from: number; to: number } | null = null;
  for (const segment of segments) {
    const isText = isTag(segment) || (segment.kind === "text" && segment.job === undefined);
    const place: Place | undefined = isText ? segment.place : undefined;
    if (place === undefined) run = null;
    else if (run !== null) run.to = place.to;
    else runs.push(run = { from: place.from, to: place.to });
  }
  return runs.flatMap(({ from, to }) => closedFences(slice(from, to), from));
}

export function fenceAround(fences: readonly Fence[], { place }: TemplateSegment): Fence | undefined {
  return fences.find(({ from, to }) => from <= place.from && place.to <= to);
}

export function isTag(segment: Segment | undefined): segment is TemplateSegment {
  return segment?.kind === "expression" || segment?.kind === "code";
}

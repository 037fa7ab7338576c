// Trim marks of template tags: what `{{-` and `-}}` remove from adjacent text.

import type { Segment } from "../../parser/types.ts";
import { isTag } from "./quoted.ts";

/** Remaining range of a text segment's value, in UTF-16 units. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

/** Returns the remaining range of each text segment; null for other segments. */
export function trimTexts(segments: readonly Segment[]): readonly (TextRange | null)[] {
  return segments.map((segment, index) => {
    if (segment.kind !== "text") return null;
    const before = segments[index - 1];
    const after = segments[index + 1];
    const from = isTag(before) && before.trimAfter ? trimStart(segment.value) : 0;
    const rest = segment.value.slice(from);
    return { from, to: from + (isTag(after) && after.trimBefore ? trimEnd(rest) : rest.length) };
  });
}

/**
 * Returns the number of UTF-16 units to remove from the start: one line feed and the blanks around it, or all
 * whitespace if there is no line feed.
 */
function trimStart(text: string): number {
  return (/^[ \t]*\n[ \t]*/.exec(text) ?? /^[ \t\n\v\f\r]*/.exec(text))![0].length;
}

/** Returns the units to keep at the end, by the same rule as `trimStart`. */
function trimEnd(text: string): number {
  let at = text.length;
  const skip = (units: string) => {
    while (at > 0 && units.includes(text[at - 1]!)) at--;
  };
  skip(" \t");
  if (text[at - 1] === "\n") {
    at--;
    skip(" \t");
    return at;
  }
  at = text.length;
  skip(" \t\n\v\f\r");
  return at;
}

// Where messages begin: frontmatter, role markers, and the fences of rule (a) that hide markers (chat-format 3-5).

import { fenceTicks, isBare, MARKER, opensFence, type Scan } from "./scan.ts";

/** A fence of rule (a) inside the messages. Lines are 0-based; `close` is the line count when it never closes. */
export interface Fence {
  readonly open: number;
  readonly close: number;
  readonly ticks: number;
  readonly hidesMarker: boolean;
}

/** The outer shape of a document. Lines are 0-based. */
export interface Split {
  /** The fence lines of the frontmatter block. */
  readonly frontmatter: { readonly open: number; readonly close: number } | null;
  /** Line 1 opens a frontmatter block that nothing closes. */
  readonly frontmatterUnclosed: boolean;
  /** The marker line of each message. */
  readonly turns: Uint32Array;
  /** The fences that hide markers, in order. */
  readonly fences: readonly Fence[];
}

/**
 * Splits a document into messages.
 *
 * `opensFrontmatter` says whether the first line is the opening line of a frontmatter block.
 */
export function split(scan: Scan, opensFrontmatter: boolean): Split {
  const { marks, codes, starts } = scan;
  const lineCount = starts.length;
  let at = 0;
  let frontmatter: Split["frontmatter"] = null;
  if (opensFrontmatter) {
    for (let index = 1; index < marks.length; index++) {
      if (isBare(codes[index]!) && fenceTicks(codes[index]!) === 3) {
        frontmatter = { open: 0, close: marks[index]! };
        at = index + 1;
        break;
      }
    }
  }
  // Fences count only once a message has begun: the lines before the first marker know none.
  while (at < marks.length && codes[at] !== MARKER) at++;

  const turns: number[] = [];
  const fences: Fence[] = [];
  let open = -1;
  let ticks = 0;
  let hidesMarker = false;
  for (; at < marks.length; at++) {
    const code = codes[at]!;
    if (code === MARKER) {
      if (ticks === 0) turns.push(marks[at]!);
      else hidesMarker = true;
    } else if (ticks === 0) {
      if (opensFence(code)) {
        open = marks[at]!;
        ticks = fenceTicks(code);
        hidesMarker = false;
      }
    } else if (isBare(code) && fenceTicks(code) >= ticks) {
      fences.push({ open, close: marks[at]!, ticks, hidesMarker });
      ticks = 0;
    }
  }
  if (ticks > 0) fences.push({ open, close: lineCount, ticks, hidesMarker });
  return {
    frontmatter,
    frontmatterUnclosed: opensFrontmatter && frontmatter === null,
    turns: Uint32Array.from(turns),
    fences,
  };
}

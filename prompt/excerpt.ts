// The lines of a file that a reference such as `@./notes.md#L10-20` asks for.

import type { Excerpt } from "./file_references.ts";
import type { Lines } from "./types.ts";

export interface ExcerptText {
  /** Each line with its number and a tab in front of it, so that the model can name it. Empty if no line exists. */
  readonly text: string;
  /** The lines in the text; null if none of those asked for exists. */
  readonly lines: Lines | null;
  /** Number of lines of the file. */
  readonly total: number;
  /** True if exactly these lines were asked for. */
  readonly isExact: boolean;
}

/** Selects lines of a text. Reversed numbers are exchanged; lines that do not exist are left out. */
export function excerptOf(text: string, { first, last }: Pick<Excerpt, "first" | "last">): ExcerptText {
  const all = text.split("\n");
  if (all.at(-1) === "") all.pop();
  const total = all.length;
  const from = Math.max(1, Math.min(first, last));
  const to = Math.min(total, Math.max(first, last));
  if (from > to) return { text: "", lines: null, total, isExact: false };
  const numbered = all.slice(from - 1, to).map((line, at) => `${from + at}\t${line}\n`);
  return {
    text: numbered.join(""),
    lines: { first: from, last: to },
    total,
    isExact: from === first && to === last,
  };
}

// Display width of text in terminal cells, and cutting text to a width.
//
// No package is used for this, because importing one takes 30 ms, and every run shows previews. Text that went through
// `visible` contains only letters, marks and emoji, for which the few classes below are enough. The tests compare the
// results with those of a package.

const PLAIN = /^[\x20-\x7e]*$/;
const MARKS_ONLY = /^\p{M}+$/u;
/** Created on first use, because compiling its classes takes half a millisecond, and most text is plain. */
let wide: RegExp | undefined;
const wideCharacters = (): RegExp =>
  wide ??=
    /^(?:[\p{Emoji_Presentation}\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\u3247\u3250-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18d08}\u{1aff0}-\u{1affe}\u{1b000}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]|.\ufe0f|\p{RI}\p{RI})/u;

let segmenter: Intl.Segmenter | undefined;

function graphemes(text: string): Iterable<{ segment: string }> {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return segmenter.segment(text);
}

function graphemeWidth(grapheme: string): number {
  if (MARKS_ONLY.test(grapheme)) return 0;
  return wideCharacters().test(grapheme) ? 2 : 1;
}

/** Returns the number of terminal cells of text without control characters. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes(text)) width += graphemeWidth(segment);
  return width;
}

/** Returns the longest prefix of whole characters that fits into `width` cells. */
function fitting(text: string, width: number): string {
  if (PLAIN.test(text)) return text.slice(0, width);
  let end = 0;
  let used = 0;
  for (const { segment } of graphemes(text)) {
    used += graphemeWidth(segment);
    if (used > width) break;
    end += segment.length;
  }
  return text.slice(0, end);
}

const ELLIPSIS = "…";

/** Returns text of at most `width` cells. Cut text ends in `…`; a width below one gives the empty string. */
export function cutToWidth(text: string, width: number): string {
  if (width <= 0) return "";
  // Every character except marks takes a cell, so a much longer text need not be measured completely.
  if (text.length <= width * 16 && displayWidth(text) <= width) return text;
  return fitting(text.slice(0, width * 16).toWellFormed(), width - 1) + ELLIPSIS;
}

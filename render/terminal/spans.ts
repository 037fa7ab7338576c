// Pieces of text with colours, put into lines that fit. The only way in which a document's text comes to a terminal.

import { visible } from "../../base/visible.ts";
import { cutToWidth, displayWidth } from "../../base/width.ts";
import { type Color, colorize, type TerminalFormat, withoutTabs, wrapped } from "./lines.ts";

/** A piece of text that is safe to show, in its colours. */
export interface Span {
  readonly text: string;
  readonly colors: readonly Color[];
}

/** A span of a text as it stands in a document. Line ends stay; nothing else in it has an effect on a terminal. */
export function span(text: string, ...colors: readonly Color[]): Span {
  return { text: visible(text, { lines: true }), colors };
}

/** One line of spans as the terminal gets it: neighbours of the same colours in one go. */
export function drawn(spans: readonly Span[], format: TerminalFormat): string {
  let line = "";
  for (let at = 0; at < spans.length;) {
    const { colors } = spans[at]!;
    let text = "";
    for (; at < spans.length && sameColors(spans[at]!.colors, colors); at++) text += spans[at]!.text;
    line += colorize(text, colors, format);
  }
  return line;
}

function sameColors(a: readonly Color[], b: readonly Color[]): boolean {
  return a.length === b.length && a.every((each, at) => each === b[at]);
}

/** A word with what it is made of: `a**b**c` is one word of three spans. */
interface Word {
  readonly spans: readonly Span[];
  readonly width: number;
}

/** Spans as lines of at most `width` cells, broken between words where that is possible, and at each line end. */
export function filled(spans: readonly Span[], width: number): Span[][] {
  const lines: Span[][] = [];
  let line: Span[] = [];
  let used = 0;
  const end = () => {
    lines.push(line);
    line = [];
    used = 0;
  };
  for (const word of wordsOf(spans)) {
    if (word === "line end") {
      end();
      continue;
    }
    if (used > 0 && used + 1 + word.width > width) end();
    if (used > 0) {
      line.push({ text: " ", colors: shared(line.at(-1)!, word.spans[0]!) });
      used++;
    }
    // A word that is wider than a line goes on in the next one.
    for (const piece of broken(word, width)) {
      if (used + piece.width > width && used > 0) end();
      for (const each of piece.spans) line.push(each);
      used += piece.width;
    }
  }
  end();
  return lines;
}

/** What two neighbours have in common holds for the blank between them. */
function shared(before: Span, after: Span): readonly Color[] {
  return before.colors.filter((each) => after.colors.includes(each));
}

/** The words, and where lines end. */
function* wordsOf(spans: readonly Span[]): Generator<Word | "line end"> {
  let open: Span[] = [];
  let width = 0;
  for (const { text, colors } of spans) {
    for (const [piece] of text.matchAll(/[^ \t\n]+|[ \t\n]/g)) {
      if (piece === "\n" || piece === " " || piece === "\t") {
        if (open.length > 0) yield { spans: open, width };
        open = [];
        width = 0;
        if (piece === "\n") yield "line end";
      } else {
        open.push({ text: piece, colors });
        width += displayWidth(piece);
      }
    }
  }
  if (open.length > 0) yield { spans: open, width };
}

/** A word that is wider than a line in pieces that are not. */
function broken(word: Word, width: number): readonly Word[] {
  if (word.width <= width) return [word];
  return word.spans.flatMap(({ text, colors }) =>
    wrapped(text, width).map((piece) => ({ spans: [{ text: piece, colors }], width: displayWidth(piece) }))
  );
}

/** What stands before each line of a block of text, and before the rest of a line that is too wide. */
const GUTTER = "│ ";
const REST = "┆ ";

/** How much of a block is shown. */
export interface Fold {
  /** Lines at its beginning, and at its end. */
  readonly head: number;
  readonly tail: number;
}

/** Everything. */
export const UNFOLDED: Fold = { head: Infinity, tail: 0 };

/** Rows of a terminal that one line of a folded block takes at most. */
const MOST_ROWS = 3;

/** Text as it stands, line by line behind a gutter. A folded one says how much is left out. */
export function block(
  text: string,
  fold: Fold,
  format: TerminalFormat,
  color: (line: string) => readonly Color[] = () => [],
): string[] {
  const all = text.replace(/\n$/, "").split("\n");
  // One line more or less is not worth a line that says so.
  const isFolded = all.length > fold.head + fold.tail + 1;
  const shown = isFolded ? all.slice(0, fold.head) : all;
  const rest = isFolded && fold.tail > 0 ? all.slice(-fold.tail) : [];
  const rows = (line: string) => blockLine(line, fold !== UNFOLDED, format, color(line));
  return [
    ...shown.flatMap(rows),
    ...isFolded ? [note(`… ${leftOut(all.length - shown.length - rest.length, "line")}`, format)] : [],
    ...rest.flatMap(rows),
  ];
}

function blockLine(line: string, folds: boolean, format: TerminalFormat, colors: readonly Color[]): string[] {
  const room = Math.max(2, format.width - GUTTER.length);
  const most = room * MOST_ROWS;
  // A few more characters are not worth a line that says so.
  const isCut = folds && line.length > most + room;
  const safe = withoutTabs(visible(isCut ? line.slice(0, most).toWellFormed() : line, { lines: true }));
  const pieces = wrapped(safe, room).map((piece, at) =>
    `${colorize(at === 0 ? GUTTER : REST, "dim", format)}${colorize(piece, colors, format)}`
  );
  return isCut ? [...pieces, note(`${REST}… ${leftOut(line.length - most, "character")}`, format)] : pieces;
}

/** A line of ours about what is not shown. */
export function note(text: string, format: TerminalFormat): string {
  return colorize(cutToWidth(text, format.width), "dim", format);
}

function leftOut(count: number, what: string): string {
  return `${count.toLocaleString("en")} more ${count === 1 ? what : `${what}s`}`;
}

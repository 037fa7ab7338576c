// Text with colors, wrapped into lines. A document's text gets to a terminal only in this form.

import { visible } from "../../base/visible.ts";
import { cutToWidth, displayWidth } from "../../base/width.ts";
import { type Color, colorize, type TerminalFormat, withoutTabs, wrapLine } from "./lines.ts";

/** A piece of text that is safe to show, with its colors. */
export interface StyledSpan {
  readonly text: string;
  readonly colors: readonly Color[];
}

/** Creates a span from a document's text. Keeps line ends, and makes all other control characters harmless. */
export function span(text: string, ...colors: readonly Color[]): StyledSpan {
  return { text: visible(text, { lines: true }), colors };
}

/** Renders one line of spans; merges neighbors with the same colors. */
export function drawSpans(spans: readonly StyledSpan[], format: TerminalFormat): string {
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

/** A word and its spans: `a**b**c` is one word of three spans. */
interface Word {
  readonly spans: readonly StyledSpan[];
  readonly width: number;
}

/** Wraps spans into lines of at most `width` cells, between words if possible, and at each line end. */
export function wrapSpans(spans: readonly StyledSpan[], width: number): StyledSpan[][] {
  const lines: StyledSpan[][] = [];
  let line: StyledSpan[] = [];
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
    // A word wider than a line continues on the next one.
    for (const piece of broken(word, width)) {
      if (used + piece.width > width && used > 0) end();
      for (const each of piece.spans) line.push(each);
      used += piece.width;
    }
  }
  end();
  return lines;
}

/** Returns the colors that two neighbors share, for the space between them. */
function shared(before: StyledSpan, after: StyledSpan): readonly Color[] {
  return before.colors.filter((each) => after.colors.includes(each));
}

function* wordsOf(spans: readonly StyledSpan[]): Generator<Word | "line end"> {
  let open: StyledSpan[] = [];
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

function broken(word: Word, width: number): readonly Word[] {
  if (word.width <= width) return [word];
  return word.spans.flatMap(({ text, colors }) =>
    wrapLine(text, width).map((piece) => ({ spans: [{ text: piece, colors }], width: displayWidth(piece) }))
  );
}

/** Prefix of each line of a block, and of each continuation of a line that is too wide. */
export const GUTTER = "│ ";
const REST = "┆ ";

export interface Fold {
  /** Number of lines that are shown at the beginning; `tail` is the number of lines that are shown at the end. */
  readonly head: number;
  readonly tail: number;
}

export const UNFOLDED: Fold = { head: Infinity, tail: 0 };

/** Maximum rows of the terminal for one line of a folded block. */
const MOST_ROWS = 3;

/**
 * Renders a text line by line, each line after a prefix. If the block is folded, a line in it says how much is hidden.
 */
export function block(
  text: string,
  fold: Fold,
  format: TerminalFormat,
  color: (line: string) => readonly Color[] = () => [],
): string[] {
  const all = text.replace(/\n$/, "").split("\n");
  // If only a single line were hidden, a line to say so would be needed in its place.
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
  // A line is cut only if more than one row would be hidden, because the remark about the hidden characters takes a row
  // itself.
  const isCut = folds && line.length > most + room;
  const safe = withoutTabs(visible(isCut ? line.slice(0, most).toWellFormed() : line, { lines: true }));
  const pieces = wrapLine(safe, room).map((piece, at) =>
    `${colorize(at === 0 ? GUTTER : REST, "dim", format)}${colorize(piece, colors, format)}`
  );
  return isCut ? [...pieces, note(`${REST}… ${leftOut(line.length - most, "character")}`, format)] : pieces;
}

/** Renders a dimmed remark about hidden content. */
export function note(text: string, format: TerminalFormat): string {
  return colorize(cutToWidth(text, format.width), "dim", format);
}

function leftOut(count: number, what: string): string {
  return `${count.toLocaleString("en")} more ${count === 1 ? what : `${what}s`}`;
}

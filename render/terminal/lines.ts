// Coloring and wrapping of terminal lines.

import { cutToWidth, displayWidth } from "../../base/width.ts";

export interface TerminalFormat {
  /** Width of a line in cells. */
  readonly width: number;
  readonly colors: boolean;
}

const TAB = 8;

const COLORS = {
  bold: 1,
  dim: 2,
  italic: 3,
  underline: 4,
  struck: 9,
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  magenta: 35,
  cyan: 36,
} as const;
export type Color = keyof typeof COLORS;

/** Colors a text if colors are enabled. */
export function colorize(text: string, color: Color | readonly Color[], { colors }: TerminalFormat): string {
  const list = typeof color === "string" ? [color] : color;
  if (!colors || text === "" || list.length === 0) return text;
  return `\x1b[${list.map((each) => COLORS[each]).join(";")}m${text}\x1b[0m`;
}

/** Expands tabs to spaces as a terminal does. */
export function withoutTabs(line: string): string {
  if (!line.includes("\t")) return line;
  const [first = "", ...rest] = line.split("\t");
  let column = displayWidth(first);
  return rest.reduce((before, piece) => {
    const blanks = TAB - column % TAB;
    column += blanks + displayWidth(piece);
    return `${before}${" ".repeat(blanks)}${piece}`;
  }, first);
}

/** Splits a line into pieces that fit, without loss. Each step looks only at what may fit, so long lines stay fast. */
export function wrapLine(line: string, width: number): string[] {
  const room = Math.max(width, 2);
  const pieces: string[] = [];
  let at = 0;
  for (;;) {
    // Number of code units that are examined for a cell; a character is rarely longer, and a longer one is split.
    const rest = line.slice(at, at + room * 16 + 1);
    if (cutToWidth(rest, room) === rest) return [...pieces, rest];
    // `cutToWidth` uses one cell for the ellipsis, so one cell more is requested and the ellipsis is removed.
    const piece = cutToWidth(rest, room + 1).slice(0, -1);
    // A single character wider than the space gets its own piece.
    const taken = piece === "" ? [...rest][0]! : piece;
    pieces.push(taken);
    at += taken.length;
  }
}

/** Wraps one of flemma's own sentences between words if possible. */
export function sentence(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && displayWidth(last) + 1 + displayWidth(word) <= width) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else for (const piece of wrapLine(word, width)) lines.push(piece);
  }
  return lines;
}

// Lines for a terminal: colours where there are any, and breaks where a line is wider than the room.

import { cutToWidth, displayWidth } from "../../base/width.ts";

/** How lines are made. */
export interface TerminalFormat {
  /** Cells of a line. */
  readonly width: number;
  readonly colors: boolean;
}

const TAB = 8;

/** Codes of the terminal for colours and the like. */
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

/** A text in a colour, or in several at once, where there are any. */
export function colorize(text: string, color: Color | readonly Color[], { colors }: TerminalFormat): string {
  const list = typeof color === "string" ? [color] : color;
  if (!colors || text === "" || list.length === 0) return text;
  return `\x1b[${list.map((each) => COLORS[each]).join(";")}m${text}\x1b[0m`;
}

/** Tabs as the blanks that a terminal makes of them. */
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

/** A line in pieces that fit, none of it left out. Looks only at what may fit, however long the line is. */
export function wrapped(line: string, width: number): string[] {
  const room = Math.max(width, 2);
  const pieces: string[] = [];
  let at = 0;
  for (;;) {
    // A character is rarely longer than this, and one that is stands in several pieces.
    const rest = line.slice(at, at + room * 16 + 1);
    if (cutToWidth(rest, room) === rest) return [...pieces, rest];
    // One cell more is asked for, as the sign for a cut takes one.
    const piece = cutToWidth(rest, room + 1).slice(0, -1);
    // A single character that is wider than the room stands alone.
    const taken = piece === "" ? [...rest][0]! : piece;
    pieces.push(taken);
    at += taken.length;
  }
}

/** A sentence of ours in lines, broken between words where that is possible. */
export function sentence(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && displayWidth(last) + 1 + displayWidth(word) <= width) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else for (const piece of wrapped(word, width)) lines.push(piece);
  }
  return lines;
}

// A document as lines, split into messages in the plainest way there is: the measure for the parser's fast one.

import {
  bareTicks,
  fenceClose,
  fenceOpen,
  frontmatterClose,
  frontmatterOpen,
  markerRole,
} from "../../../parser/text/lines.ts";

const LF = 0x0a;
const CR = 0x0d;

/** One line: its bytes are `from..to`, the next line begins at `next`. */
export interface Line {
  readonly from: number;
  readonly to: number;
  readonly next: number;
}

/** Lines, frontmatter and messages of a document. Line numbers are 0-based. */
export class PlainDocument {
  readonly bytes: Uint8Array;
  readonly hasBom: boolean;
  readonly lines: readonly Line[];
  /** The closing line of frontmatter; -1 when there is none. */
  readonly frontEnd: number;
  /** The marker line of each message, and the number of lines. */
  readonly turns: readonly number[];

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.hasBom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    this.lines = linesOf(bytes, this.hasBom ? 3 : 0);
    this.frontEnd = this.#findFrontEnd();
    this.turns = [...this.#findTurns(), this.lines.length];
  }

  /** Asks a classifier of parser/text/lines.ts about a line. */
  ask<T>(line: number, classify: (bytes: Uint8Array, from: number, to: number) => T): T {
    const { from, to } = this.lines[line]!;
    return classify(this.bytes, from, to);
  }

  lineAt(offset: number): number {
    return this.lines.findIndex((line) => line.from === offset);
  }

  #findFrontEnd(): number {
    if (this.ask(0, frontmatterOpen) === null) return -1;
    return this.lines.findIndex((_, line) => line > 0 && this.ask(line, frontmatterClose));
  }

  #findTurns(): number[] {
    const turns: number[] = [];
    let ticks = 0;
    for (let line = this.frontEnd + 1; line < this.lines.length; line++) {
      if (ticks > 0) {
        if (this.ask(line, (bytes, from, to) => fenceClose(bytes, from, to, ticks))) ticks = 0;
      } else if (this.ask(line, markerRole) !== null) turns.push(line);
      else if (turns.length > 0) ticks = this.ask(line, fenceOpen);
    }
    return turns;
  }
}

function linesOf(bytes: Uint8Array, origin: number): Line[] {
  const ends: number[] = [];
  for (let at = origin; at < bytes.length; at++) if (bytes[at] === LF) ends.push(at);
  const crlf = ends.length > 0 && ends.every((end) => end > origin && bytes[end - 1] === CR);
  const lines: Line[] = [];
  let from = origin;
  for (const end of ends) {
    lines.push({ from, to: crlf ? end - 1 : end, next: end + 1 });
    from = end + 1;
  }
  if (from < bytes.length || lines.length === 0) lines.push({ from, to: bytes.length, next: bytes.length });
  return lines;
}

/** Backticks of a line that can close a fence, else 0. */
export function closing(document: PlainDocument, line: number): number {
  return document.ask(line, bareTicks);
}

// A document as lines, split into messages in the simplest way: the reference for the parser's fast one.

import { closesFrontmatter, closingTicks, fenceTicks, marker, opensFrontmatter } from "./lines.ts";

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
  /** Whether every line end is CR LF. */
  readonly crlf: boolean;
  readonly #texts: string[] = [];

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.hasBom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    const { lines, crlf } = linesOf(bytes, this.hasBom ? 3 : 0);
    this.lines = lines;
    this.crlf = crlf;
    this.frontEnd = this.#findFrontEnd();
    this.turns = [...this.#findTurns(), this.lines.length];
  }

  /** The text of a line, one character for each byte, without its line end. */
  line(line: number): string {
    const { from, to } = this.lines[line]!;
    return this.#texts[line] ??= this.raw(from, to);
  }

  /** Bytes as text, one character for each. */
  raw(from: number, to: number): string {
    let text = "";
    for (let at = from; at < to; at += 4096) {
      text += String.fromCharCode(...this.bytes.subarray(at, Math.min(to, at + 4096)));
    }
    return text;
  }

  lineAt(offset: number): number {
    return this.lines.findIndex((line) => line.from === offset);
  }

  #findFrontEnd(): number {
    if (!opensFrontmatter(this.line(0))) return -1;
    return this.lines.findIndex((_, line) => line > 0 && closesFrontmatter(this.line(line)));
  }

  #findTurns(): number[] {
    const turns: number[] = [];
    let ticks = 0;
    for (let line = this.frontEnd + 1; line < this.lines.length; line++) {
      const text = this.line(line);
      if (ticks > 0) {
        if (closingTicks(text) >= ticks) ticks = 0;
      } else if (marker(text) !== null) turns.push(line);
      else if (turns.length > 0) ticks = fenceTicks(text);
    }
    return turns;
  }
}

function linesOf(bytes: Uint8Array, origin: number): { lines: Line[]; crlf: boolean } {
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
  return { lines, crlf };
}

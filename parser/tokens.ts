// The tokens of the grammar: whole lines, and runs of lines as long as can be.
//
// Two rules make an incremental parse equal to a full one. A token depends only on its own bytes, on the bytes up
// to where it says it looked (`reach`), and on what the splitting of messages carries over its beginning, which
// `reparse` in tree.ts compares. And long runs are cut at places that the content itself defines, so that cuts fall
// at the same lines whatever was edited further up.

import { ContextTracker, ExternalTokenizer, type InputStream, type Stack } from "@lezer/lr";
import {
  abortMarker,
  blockOpen,
  isBlank,
  thinkingClose,
  thinkingTag,
  toolResultHeader,
  toolUseHeader,
} from "./lines.ts";
import { fenceTicks, isBare, MARKER, opensFence } from "./scan.ts";
import type { Source } from "./source.ts";
import * as Term from "./terms.generated.ts";

/** A run is cut after a line that asks for it, once it is this long … */
const CUT_LEAST = 1024;
/** … and after any line once it is this long. */
const CUT_MOST = 32768;
/** One line in so many asks for a cut. */
const CUT_RATE = 32;

const TICK = 0x60;

/**
 * Stands in the parse tables for the tokenizer of a document. Tokens need the lines of their document, so
 * tree.ts puts `tokensOf` in its place for each parse.
 */
export const lineTokens = new ExternalTokenizer(() => {
  throw new Error(
    "the tables in chat.generated.ts parse nothing by themselves: parse through parser/tree.ts",
  );
});

/** How many backticks opened the body that the parse is in; 0 outside of bodies. */
export const blockTicks = new ContextTracker<number>({
  start: 0,
  shift(ticks, term, _stack, input) {
    if (term === Term.Opener || term === Term.CodeOpener) return countTicks(input);
    if (term === Term.Closer || term === Term.CodeCloser) return 0;
    return ticks;
  },
  hash: (ticks) => ticks,
});

function countTicks(input: InputStream): number {
  let ticks = 0;
  while (input.peek(ticks) === TICK) ticks++;
  return ticks;
}

/** The tokenizer of one document. */
export function tokensOf(source: Source): ExternalTokenizer {
  const reader = new TokenReader(source);
  return new ExternalTokenizer((input, stack) => reader.read(input, stack), { contextual: true });
}

/** A search that found nothing, or the line it found, so that no search runs twice over the same lines. */
interface Search {
  from: number;
  to: number;
  ticks: number;
  found: number;
}

class TokenReader {
  readonly #source: Source;
  readonly #length: number;
  readonly #frontEnd: number;
  readonly #firstTurn: number;
  #marker = { line: -1, term: 0 };
  #fence: Search = { from: 0, to: -1, ticks: 0, found: -1 };
  #tag: Search = { from: 0, to: -1, ticks: 0, found: -1 };

  constructor(source: Source) {
    this.#source = source;
    this.#length = source.bytes.length;
    this.#frontEnd = source.split.frontmatter?.close ?? -1;
    this.#firstTurn = source.split.turns[0] ?? source.lineCount;
  }

  /** Accepts the token that begins at the stream's position, which is the beginning of a line. */
  read(input: InputStream, stack: Stack): void {
    const at = input.pos;
    if (at >= this.#length) return;
    if (at === 0 && this.#source.scan.bom) return input.acceptTokenTo(Term.Bom, 3);
    const line = this.#source.lineOf(at);
    if (line <= this.#frontEnd) return this.#frontmatter(input, line);
    if (line < this.#firstTurn) {
      if (line === 0 && this.#source.split.frontmatterUnclosed) this.#reach(input, this.#source.lineCount);
      return this.#run(input, Term.PreambleLines, line, this.#firstTurn, never);
    }
    if (this.#source.isMarker(line)) return this.#line(input, this.#markerTerm(line), line);
    const turn = this.#source.turnOf(line);
    const end = this.#source.turnEnd(turn);
    if (this.#insideBody(input, stack, line, end)) return;
    if (this.#afterHeader(input, stack, line, end)) return;
    switch (this.#markerTerm(this.#source.split.turns[turn]!)) {
      case Term.ReplyMarker:
        return this.#reply(input, line, end);
      case Term.UserMarker:
        return this.#user(input, line, end);
      default:
        return this.#run(input, Term.PlainLines, line, end, never);
    }
  }

  #frontmatter(input: InputStream, line: number): void {
    if (line === 0) this.#line(input, Term.FrontOpener, line);
    else if (line === this.#frontEnd) this.#line(input, Term.FrontCloser, line);
    else this.#run(input, Term.FrontLines, line, this.#frontEnd, never);
  }

  /** The token of a marker line: it says how its message is read. */
  #markerTerm(line: number): number {
    if (line !== this.#marker.line) {
      const role = roleAt(this.#source, line);
      const term = role === "You"
        ? Term.UserMarker
        : role === "Assistant"
        ? Term.ReplyMarker
        : Term.PlainMarker;
      this.#marker = { line, term };
    }
    return this.#marker.term;
  }

  /** Tokens inside something that is known to be closed before the message ends. */
  #insideBody(input: InputStream, stack: Stack, line: number, end: number): boolean {
    const inBlock = stack.canShift(Term.Closer);
    if (inBlock || stack.canShift(Term.CodeCloser)) {
      const close = this.#closingFence(line, end, Number(stack.context));
      if (close === line) this.#line(input, inBlock ? Term.Closer : Term.CodeCloser, line);
      else this.#run(input, inBlock ? Term.BlockLines : Term.CodeLines, line, close, never);
      return true;
    }
    if (stack.canShift(Term.ThinkingCloser)) {
      const close = this.#closingTag(line, end);
      if (close === line) this.#line(input, Term.ThinkingCloser, line);
      else this.#run(input, Term.ThinkingLines, line, close, never);
      return true;
    }
    return false;
  }

  /** What may follow a tool header: blank lines, a fence, and after a fence without end the lines it costs. */
  #afterHeader(input: InputStream, stack: Stack, line: number, end: number): boolean {
    const source = this.#source;
    if (stack.canShift(Term.gap) && isBlank(source.bytes, source.start(line), source.end(line))) {
      let next = line + 1;
      while (next < end && isBlank(source.bytes, source.start(next), source.end(next))) next++;
      this.#reach(input, next);
      input.acceptTokenTo(Term.gap, source.start(next));
      return true;
    }
    if (stack.canShift(Term.Opener)) {
      const opener = blockOpen(source.bytes, source.start(line), source.end(line));
      if (opener !== null) {
        const closed = this.#closingFence(line + 1, end, opener.ticks) >= 0;
        if (!closed) this.#reach(input, end);
        this.#line(input, closed ? Term.Opener : Term.LooseOpener, line);
        return true;
      }
    }
    if (stack.canShift(Term.SkippedLines) && !this.#isHeader(line)) {
      this.#run(input, Term.SkippedLines, line, end, (next) => this.#isHeader(next));
      return true;
    }
    return false;
  }

  #reply(input: InputStream, line: number, end: number): void {
    const source = this.#source;
    const { bytes } = source;
    const from = source.start(line);
    const to = source.end(line);
    switch (bytes[from]) {
      case 0x60: {
        const code = source.codeOf(line);
        if (!opensFence(code)) break;
        if (this.#closingFence(line + 1, end, fenceTicks(code)) >= 0) {
          return this.#line(input, Term.CodeOpener, line);
        }
        this.#reach(input, end);
        break;
      }
      case 0x3c: {
        const tag = thinkingTag(bytes, from, to);
        if (tag?.selfClosed) return this.#line(input, Term.ThinkingTag, line);
        if (tag !== null) {
          const close = this.#closingTag(line + 1, end);
          this.#reach(input, close < 0 ? end : close);
          if (close >= 0) return this.#line(input, Term.ThinkingOpener, line);
        } else if (abortMarker(bytes, from, to) !== null) {
          return this.#line(input, Term.AbortMarker, line);
        }
        break;
      }
      case 0x2a:
        if (toolUseHeader(bytes, from, to) !== null) return this.#line(input, Term.UseHeader, line);
        break;
    }
    // A run ends before every line that may be structure, so that its end does not depend on lines far below.
    this.#run(input, Term.ReplyLines, line, end, (next, code) => {
      const start = source.start(next);
      const stop = source.end(next);
      return opensFence(code) || toolUseHeader(bytes, start, stop) !== null ||
        thinkingTag(bytes, start, stop) !== null || abortMarker(bytes, start, stop) !== null;
    });
  }

  #user(input: InputStream, line: number, end: number): void {
    const isResult = (at: number) =>
      toolResultHeader(this.#source.bytes, this.#source.start(at), this.#source.end(at)) !== null;
    if (isResult(line)) this.#line(input, Term.ResultHeader, line);
    else this.#run(input, Term.UserLines, line, end, isResult);
  }

  #isHeader(line: number): boolean {
    const { bytes } = this.#source;
    const from = this.#source.start(line);
    const to = this.#source.end(line);
    return toolUseHeader(bytes, from, to) !== null || toolResultHeader(bytes, from, to) !== null;
  }

  #line(input: InputStream, term: number, line: number): void {
    input.acceptTokenTo(term, this.#source.start(line + 1));
  }

  /**
   * Accepts a run of lines that begins with `line`, whatever that is, and ends before `end`, before the first later
   * mark that `stops` names, or at a cut.
   */
  #run(
    input: InputStream,
    term: number,
    line: number,
    end: number,
    stops: (line: number, code: number) => boolean,
  ): void {
    const source = this.#source;
    const { marks, codes } = source.scan;
    const from = source.start(line);
    let mark = source.markFrom(line + 1);
    let next = line + 1;
    for (; next < end; next++) {
      if (marks[mark] === next) {
        if (stops(next, codes[mark]!)) break;
        mark++;
      }
      const length = source.start(next) - from;
      if (length >= CUT_LEAST && (length >= CUT_MOST || this.#asksForCut(next - 1))) {
        return input.acceptTokenTo(term, source.start(next));
      }
    }
    this.#reach(input, next);
    input.acceptTokenTo(term, source.start(next));
  }

  /** Decides by the length and the last bytes of the line alone. */
  #asksForCut(line: number): boolean {
    const { bytes } = this.#source;
    const next = this.#source.start(line + 1);
    const length = next - this.#source.start(line);
    let hash = length;
    for (let at = Math.max(next - length, next - 6); at < next - 1; at++) {
      hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
    }
    return ((hash >>> 12) ^ hash) % CUT_RATE === 0;
  }

  /** Records that the token depends on the document up to the end of `line`. */
  #reach(input: InputStream, line: number): void {
    const last = this.#source.start(line + 1) - 1;
    if (last > input.pos) input.peek(last - input.pos);
  }

  /** The first line from `line` on, before `end`, that closes a fence of `ticks` backticks; -1 when none does. */
  #closingFence(line: number, end: number, ticks: number): number {
    const { marks, codes } = this.#source.scan;
    const known = this.#fence;
    if (known.to === end && line >= known.from) {
      if (known.found < 0 && ticks >= known.ticks) return -1;
      if (known.found >= line && ticks === known.ticks) return known.found;
    }
    let found = -1;
    for (let index = this.#source.markFrom(line); index < marks.length && marks[index]! < end; index++) {
      if (isBare(codes[index]!) && fenceTicks(codes[index]!) >= ticks) {
        found = marks[index]!;
        break;
      }
    }
    this.#fence = { from: line, to: end, ticks, found };
    return found;
  }

  /** The first line from `line` on, before `end`, that closes a thinking block; -1 when none does. */
  #closingTag(line: number, end: number): number {
    const source = this.#source;
    const { marks, codes } = source.scan;
    const known = this.#tag;
    if (known.to === end && line >= known.from && (known.found < 0 || known.found >= line)) {
      return known.found;
    }
    let found = -1;
    for (let index = source.markFrom(line); index < marks.length && marks[index]! < end; index++) {
      if (codes[index] !== 0) continue;
      if (thinkingClose(source.bytes, source.start(marks[index]!), source.end(marks[index]!))) {
        found = marks[index]!;
        break;
      }
    }
    this.#tag = { from: line, to: end, ticks: 0, found };
    return found;
  }
}

function never(): boolean {
  return false;
}

/** The role word of a marker line. */
export function roleAt(source: Source, line: number): string {
  if (source.codeOf(line) !== MARKER) return "";
  const from = source.start(line) + 1;
  return source.decode(from, source.bytes.indexOf(0x3a, from));
}

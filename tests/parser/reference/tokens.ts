// Tokens for the tables of parser/chat.grammar: whole lines and runs of lines, found in the simplest way.

import { ContextTracker, ExternalTokenizer, type InputStream, type Stack } from "@lezer/lr";
import * as Term from "../../../parser/tree/terms.generated.ts";
import type { PlainDocument } from "./document.ts";
import * as read from "./lines.ts";

const TICK = 0x60;

/** Stands in the tables for the tokenizer of a document; `tokensOf` takes its place for each parse. */
export const lineTokens = new ExternalTokenizer(() => {
  throw new Error("the tables parse nothing by themselves");
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
export function tokensOf(document: PlainDocument): ExternalTokenizer {
  const reader = new TokenReader(document);
  return new ExternalTokenizer((input, stack) => reader.read(input, stack), { contextual: true });
}

class TokenReader {
  readonly #document: PlainDocument;

  constructor(document: PlainDocument) {
    this.#document = document;
  }

  read(input: InputStream, stack: Stack): void {
    const { bytes, hasBom, frontEnd, turns, lines } = this.#document;
    if (input.pos >= bytes.length) return;
    if (input.pos === 0 && hasBom) return input.acceptTokenTo(Term.Bom, 3);
    const line = this.#document.lineAt(input.pos);
    if (line <= frontEnd) {
      if (line === 0) return this.#upTo(input, Term.FrontOpener, 1);
      if (line === frontEnd) return this.#upTo(input, Term.FrontCloser, line + 1);
      return this.#upTo(input, Term.FrontLines, frontEnd);
    }
    if (line < turns[0]!) return this.#upTo(input, Term.PreambleLines, turns[0]!);
    const turn = turns.findLast((marker) => marker <= line)!;
    const end = turns.find((marker) => marker > line) ?? lines.length;
    const role = this.#role(turn);
    if (line === turn) {
      const term = role === "You"
        ? Term.UserMarker
        : role === "Assistant"
        ? Term.ReplyMarker
        : Term.PlainMarker;
      return this.#upTo(input, term, line + 1);
    }
    if (this.#inside(input, stack, line, end) || this.#afterHeader(input, stack, line, end)) return;
    if (role === "Assistant") return this.#reply(input, line, end);
    if (role !== "You") return this.#upTo(input, Term.PlainLines, end);
    const isResult = (at: number) => read.resultHeader(this.#document.line(at)) !== null;
    const isJob = (at: number) => read.isJobHeader(this.#document.line(at));
    if (isResult(line)) this.#upTo(input, Term.ResultHeader, line + 1);
    else if (isJob(line)) this.#upTo(input, Term.JobHeader, line + 1);
    else {
      const next = this.#first(line + 1, end, (at) => isResult(at) || isJob(at));
      this.#upTo(input, Term.UserLines, next ?? end);
    }
  }

  #role(line: number): string {
    return read.marker(this.#document.line(line))!;
  }

  /** Tokens inside something that is known to be closed before the message ends. */
  #inside(input: InputStream, stack: Stack, line: number, end: number): boolean {
    const inBlock = stack.canShift(Term.Closer);
    if (inBlock || stack.canShift(Term.CodeCloser)) {
      const close = this.#closingFence(line, end, Number(stack.context))!;
      if (close === line) this.#upTo(input, inBlock ? Term.Closer : Term.CodeCloser, line + 1);
      else this.#upTo(input, inBlock ? Term.BlockLines : Term.CodeLines, close);
      return true;
    }
    if (stack.canShift(Term.ThinkingCloser)) {
      const close = this.#closingTag(line, end)!;
      if (close === line) this.#upTo(input, Term.ThinkingCloser, line + 1);
      else this.#upTo(input, Term.ThinkingLines, close);
      return true;
    }
    if (stack.canShift(Term.ServerToolCloser)) {
      const close = this.#closingServerTool(line, end)!;
      if (close === line) this.#upTo(input, Term.ServerToolCloser, line + 1);
      else this.#upTo(input, Term.ServerToolLines, close);
      return true;
    }
    return false;
  }

  /** What may follow a tool header: blank lines, a fence, and after a fence without end the lines it costs. */
  #afterHeader(input: InputStream, stack: Stack, line: number, end: number): boolean {
    const document = this.#document;
    if (stack.canShift(Term.gap) && read.isBlank(document.line(line))) {
      this.#upTo(input, Term.gap, this.#first(line, end, (at) => !read.isBlank(document.line(at))) ?? end);
      return true;
    }
    const opener = stack.canShift(Term.Opener) ? read.blockFence(document.line(line)) : null;
    if (opener !== null) {
      const closed = this.#closingFence(line + 1, end, opener.ticks) !== undefined;
      this.#upTo(input, closed ? Term.Opener : Term.LooseOpener, line + 1);
      return true;
    }
    const isHeader = (at: number) =>
      read.useHeader(document.line(at)) !== null || read.resultHeader(document.line(at)) !== null ||
      read.isJobHeader(document.line(at));
    if (stack.canShift(Term.SkippedLines) && !isHeader(line)) {
      this.#upTo(input, Term.SkippedLines, this.#first(line, end, isHeader) ?? end);
      return true;
    }
    return false;
  }

  #reply(input: InputStream, line: number, end: number): void {
    const document = this.#document;
    const text = document.line(line);
    const ticks = read.fenceTicks(text);
    if (ticks > 0 && this.#closingFence(line + 1, end, ticks) !== undefined) {
      return this.#upTo(input, Term.CodeOpener, line + 1);
    }
    const tag = read.thinking(text);
    if (tag?.whole) return this.#upTo(input, Term.ThinkingTag, line + 1);
    if (tag && this.#closingTag(line + 1, end) !== undefined) {
      return this.#upTo(input, Term.ThinkingOpener, line + 1);
    }
    if (read.serverTool(text) !== null && this.#closingServerTool(line + 1, end) !== undefined) {
      return this.#upTo(input, Term.ServerToolOpener, line + 1);
    }
    if (read.aborted(text) !== null) return this.#upTo(input, Term.AbortMarker, line + 1);
    if (read.useHeader(text) !== null) return this.#upTo(input, Term.UseHeader, line + 1);
    const stops = (at: number) => {
      const next = document.line(at);
      return read.fenceTicks(next) > 0 || read.useHeader(next) !== null || read.thinking(next) !== null ||
        read.aborted(next) !== null || read.serverTool(next) !== null;
    };
    this.#upTo(input, Term.ReplyLines, this.#first(line + 1, end, stops) ?? end);
  }

  #upTo(input: InputStream, term: number, line: number): void {
    const { lines, bytes } = this.#document;
    input.acceptTokenTo(term, lines[line]?.from ?? bytes.length);
  }

  /** The first of the lines `from..end` that a test holds for. */
  #first(from: number, end: number, holds: (line: number) => boolean): number | undefined {
    for (let line = from; line < end; line++) if (holds(line)) return line;
    return undefined;
  }

  #closingFence(from: number, end: number, ticks: number): number | undefined {
    return this.#first(from, end, (line) => read.closingTicks(this.#document.line(line)) >= ticks);
  }

  #closingServerTool(from: number, end: number): number | undefined {
    return this.#first(from, end, (line) => read.closesServerTool(this.#document.line(line)));
  }

  #closingTag(from: number, end: number): number | undefined {
    return this.#first(from, end, (line) => read.closesThinking(this.#document.line(line)));
  }
}

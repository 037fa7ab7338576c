// One message of the typed view: its segments, read from the tree when asked for.

import type { SyntaxNode } from "@lezer/common";
import { finding } from "./diagnostic.ts";
import {
  abortMarker,
  bareTicks,
  blockOpen,
  type Span,
  thinkingTag,
  toolResultHeader,
  toolUseHeader,
} from "./lines.ts";
import { fenceTicks, isBare } from "./scan.ts";
import type { Source } from "./source.ts";
import { isLifecycle, readStatus } from "./status.ts";
import { readTemplate, textSegment } from "./template.ts";
import * as Term from "./terms.generated.ts";
import { roleAt } from "./tokens.ts";
import type {
  AbortSegment,
  Call,
  Diagnostic,
  Place,
  Result,
  Segment,
  ThinkingSegment,
  Turn,
} from "./types.ts";

/** What one reading of a message gives. */
interface Reading {
  readonly segments: Segment[];
  readonly calls: Call[];
  readonly results: Result[];
  readonly brokenResults: { readonly id: string; readonly line: number }[];
  readonly findings: Diagnostic[];
}

/** A message over its node of the tree. */
export class ChatTurn implements Turn {
  readonly role: string;
  readonly index: number;
  readonly place: Place;
  readonly #source: Source;
  readonly #node: SyntaxNode;
  #read: Reading | null = null;

  constructor(source: Source, node: SyntaxNode, index: number) {
    const line = source.lineOf(node.from);
    this.#source = source;
    this.#node = node;
    this.index = index;
    this.role = roleAt(source, line);
    this.place = { from: node.from, to: node.to, start: line + 1, end: source.turnEnd(index) };
  }

  get segments(): readonly Segment[] {
    return this.#reading.segments;
  }

  get calls(): readonly Call[] {
    return this.#reading.calls;
  }

  get results(): readonly Result[] {
    return this.#reading.results;
  }

  /** Result headers of this message without a readable body. */
  get brokenResults(): readonly { readonly id: string; readonly line: number }[] {
    return this.#reading.brokenResults;
  }

  /** What is wrong with the inside of this message. */
  get findings(): readonly Diagnostic[] {
    return this.#reading.findings;
  }

  get #reading(): Reading {
    return this.#read ??= new TurnReader(this.#source, this).read(this.#node);
  }
}

class TurnReader {
  readonly #source: Source;
  readonly #turn: Turn;
  /** The line after the last one that counts: empty lines at the end are no content. */
  readonly #contentEnd: number;
  readonly #out: Reading = { segments: [], calls: [], results: [], brokenResults: [], findings: [] };

  constructor(source: Source, turn: Turn) {
    this.#source = source;
    this.#turn = turn;
    let end = turn.place.end;
    while (end > turn.place.start && source.isEmpty(end - 1)) end--;
    this.#contentEnd = end;
  }

  read(node: SyntaxNode): Reading {
    const { role, place } = this.#turn;
    if (this.#contentEnd === place.start) {
      if (role === "You" || role === "Assistant") this.#out.segments.push({ kind: "text", value: "" });
      return this.#out;
    }
    for (let child = node.firstChild; child !== null; child = child.nextSibling) this.#child(child);
    return this.#out;
  }

  #child(node: SyntaxNode): void {
    switch (node.type.id) {
      case Term.PlainText:
      case Term.UserText:
        return this.#templateText(node);
      case Term.ReplyText:
        return this.#replyText(node);
      case Term.Thinking:
        return this.#thinking(node);
      case Term.ToolUse:
        return this.#toolUse(node);
      case Term.ToolResult:
        return this.#toolResult(node);
      case Term.AbortMarker:
        return this.#abort(node);
    }
  }

  /** The bytes of a text node that count, without the line end of its last line; `null` when there are none. */
  #textSpan(node: SyntaxNode): Span | null {
    const end = Math.min(this.#source.lineOf(node.to - 1) + 1, this.#contentEnd);
    const to = this.#source.end(end - 1);
    return to > node.from ? { from: node.from, to } : null;
  }

  #templateText(node: SyntaxNode): void {
    const span = this.#textSpan(node);
    if (span === null) return;
    const { segments, unclosed } = readTemplate(this.#source, span.from, span.to);
    this.#out.segments.push(...segments);
    if (unclosed === null) return;
    const line = this.#source.lineOf(unclosed);
    const opener = this.#source.decode(unclosed, unclosed + 2);
    const closer = opener === "{{" ? "}}" : "%}";
    this.#find(
      "template_unclosed",
      `The template tag "${opener}" has no closing "${closer}" in this text, so it and what follows is sent as it stands.`,
      line,
      { startCol: unclosed - this.#source.start(line) + 1 },
    );
  }

  #replyText(node: SyntaxNode): void {
    const span = this.#textSpan(node);
    if (span === null) return;
    this.#out.segments.push(textSegment(this.#source, span.from, span.to));
    // An unclosed thinking tag or a fence can only stand where a run of lines or a fence node begins.
    for (let child = node.firstChild; child !== null; child = child.nextSibling) {
      const line = this.#source.lineOf(child.from);
      if (child.type.id === Term.Code) this.#hiddenCalls(child);
      else if (thinkingTag(this.#source.bytes, child.from, this.#source.end(line)) !== null) {
        this.#find(
          "thinking_unclosed",
          'This thinking tag has no closing line "</thinking>" in its message, so it is read as text.',
          line,
        );
      }
    }
  }

  /**
   * Warns of a call that stands in a quoted fence only because an earlier fence was left open: the call's own
   * closing fence ends the quote. A quote that is whole goes on to a fence of its own.
   */
  #hiddenCalls(code: SyntaxNode): void {
    const source = this.#source;
    const { bytes } = source;
    const close = source.lineOf(code.to - 1);
    let next = close + 1;
    while (next < this.#contentEnd && source.isEmpty(next)) next++;
    if (next < this.#contentEnd && bareTicks(bytes, source.start(next), source.end(next)) >= 3) return;
    const { marks, codes } = source.scan;
    let hidden: Diagnostic[] = [];
    for (let mark = source.markFrom(source.lineOf(code.from) + 1); marks[mark]! < close; mark++) {
      const line = marks[mark]!;
      // A bare fence between header and closing line belongs to the call, or to another one: the quote is meant.
      if (isBare(codes[mark]!) && fenceTicks(codes[mark]!) >= 3) hidden = [];
      const header = toolUseHeader(bytes, source.start(line), source.end(line));
      if (header === null) continue;
      const id = source.spanText(header.id);
      const call = `The call "${id}" of "${source.spanText(header.name)}"`;
      const message =
        `${call} is text, because a code fence that was opened above it is not closed before it.`;
      hidden.push(finding("call_hidden_in_fence", message, line + 1, { id }));
    }
    this.#out.findings.push(...hidden);
  }

  #thinking(node: SyntaxNode): void {
    const line = this.#source.lineOf(node.from);
    const tag = thinkingTag(this.#source.bytes, node.from, this.#source.end(line));
    if (tag === null) return;
    const signature = tag.signature && {
      provider: this.#source.spanText(tag.signature.provider),
      value: this.#source.spanText(tag.signature.value),
    };
    const segment: ThinkingSegment = {
      kind: "thinking",
      content: this.#body(line, this.#source.lineOf(node.to - 1)),
      redacted: tag.redacted,
      place: this.#place(node),
      ...(signature ? { signature } : {}),
    };
    this.#out.segments.push(segment);
  }

  #abort(node: SyntaxNode): void {
    const line = this.#source.lineOf(node.from);
    const message = abortMarker(this.#source.bytes, node.from, this.#source.end(line));
    if (message === null) return;
    const segment: AbortSegment = {
      kind: "aborted",
      message: this.#source.spanText(message),
      place: this.#place(node),
    };
    this.#out.segments.push(segment);
  }

  #toolUse(node: SyntaxNode): void {
    const source = this.#source;
    const line = source.lineOf(node.from);
    const header = toolUseHeader(source.bytes, node.from, source.end(line));
    if (header === null) return;
    const name = source.spanText(header.name);
    const id = source.spanText(header.id);
    const call = `The call "${id}" of "${name}"`;
    const opener = node.getChild(Term.Opener);
    if (opener === null) {
      return node.getChild(Term.LooseOpener) === null
        ? this.#find("tool_use_missing_fence", `${call} needs a fenced JSON body below its header.`, line, {
          id,
        })
        : this.#find("tool_use_unclosed_fence", `${call} has a body whose fence is never closed.`, line, {
          id,
        });
    }
    const openLine = source.lineOf(opener.from);
    const fence = blockOpen(source.bytes, opener.from, source.end(openLine));
    const language = fence === null ? "" : source.spanText(fence.language);
    if (language !== "" && language.toLowerCase() !== "json") {
      const message = `${call} has a body in the language "${language}"; expected "json".`;
      return this.#find("tool_use_unknown_language", message, line, { id });
    }
    const inputText = this.#body(openLine, source.lineOf(node.to - 1));
    const input = readInput(inputText);
    if (typeof input === "string") {
      return this.#find(
        "tool_use_invalid_input",
        `${call} needs a JSON object as its body, but ${input}.`,
        line,
        { id },
      );
    }
    const segment: Call = {
      kind: "tool_use",
      id,
      name,
      input,
      inputText,
      turn: this.#turn,
      place: this.#place(node),
    };
    this.#out.segments.push(segment);
    this.#out.calls.push(segment);
  }

  #toolResult(node: SyntaxNode): void {
    const source = this.#source;
    const line = source.lineOf(node.from);
    const header = toolResultHeader(source.bytes, node.from, source.end(line));
    if (header === null) return;
    const id = source.spanText(header.id);
    const opener = node.getChild(Term.Opener);
    if (opener === null) {
      this.#out.brokenResults.push({ id, line: line + 1 });
      const result = `The result of the call "${id}"`;
      return node.getChild(Term.LooseOpener) === null
        ? this.#find("tool_result_missing_fence", `${result} needs a fenced body below its header.`, line, {
          id,
        })
        : this.#find(
          "tool_result_unclosed_fence",
          `${result} has a body whose fence is never closed.`,
          line,
          { id },
        );
    }
    const openLine = source.lineOf(opener.from);
    const fence = blockOpen(source.bytes, opener.from, source.end(openLine));
    if (fence === null) return;
    const reading = readStatus(
      header.suffix && source.spanText(header.suffix),
      source.spanText(fence.language),
      source.spanText(fence.info),
    );
    if (reading.style === "pending-fence") {
      this.#find(
        "legacy_form",
        'The fence language "flemma:pending" is an old spelling; "flemma:tool status=pending" is the present one.',
        openLine,
        { id },
      );
    }
    const closeLine = source.lineOf(node.to - 1);
    const body = this.#bodySpan(openLine, closeLine);
    const segment: Result = {
      kind: "tool_result",
      id,
      ...reading,
      content: source.text(body.from, body.to),
      segments: isLifecycle(reading.status) ? [] : readTemplate(source, body.from, body.to).segments,
      turn: this.#turn,
      place: this.#place(node),
      header: { from: node.from, to: source.end(line), start: line + 1, end: line + 1 },
      opener: { from: opener.from, to: source.end(openLine), start: openLine + 1, end: openLine + 1 },
      ticks: fence.ticks,
    };
    this.#out.segments.push(segment);
    this.#out.results.push(segment);
  }

  /** The bytes between an opening and a closing line, without the last line end. */
  #bodySpan(openLine: number, closeLine: number): Span {
    const from = this.#source.start(openLine + 1);
    return { from, to: closeLine > openLine + 1 ? this.#source.end(closeLine - 1) : from };
  }

  #body(openLine: number, closeLine: number): string {
    const { from, to } = this.#bodySpan(openLine, closeLine);
    return this.#source.text(from, to);
  }

  /** The lines of a block, the line end of the last one excluded. */
  #place(node: SyntaxNode): Place {
    const start = this.#source.lineOf(node.from);
    const end = this.#source.lineOf(node.to - 1);
    return { from: node.from, to: this.#source.end(end), start: start + 1, end: end + 1 };
  }

  #find(
    code: Parameters<typeof finding>[0],
    message: string,
    line: number,
    extra: { startCol?: number; id?: string } = {},
  ): void {
    this.#out.findings.push(finding(code, message, line + 1, extra));
  }
}

/** The decoded object of a call, or the end of a sentence that says what the text is instead. */
function readInput(text: string): Record<string, unknown> | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return text.trim() === ""
      ? "it is empty"
      : `it does not parse: ${error instanceof Error ? error.message : error}`;
  }
  if (Array.isArray(value)) return "it is an array";
  return isObject(value) ? value : `it is ${value === null ? "null" : `a ${typeof value}`}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

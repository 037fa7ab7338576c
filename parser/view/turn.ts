// One message of the typed view. Its parts are read, and its text is decoded, on first use.

import { messageBlocks } from "./message_index.ts";
import { abortMarker, serverToolTag, thinkingTag } from "../text/lines.ts";
import type { Message } from "../tree/message.ts";
import { readQuestions } from "../text/questions.ts";
import { isLifecycle } from "../text/status_words.ts";
import { readTemplate, textSegment } from "./template.ts";
import * as Term from "../tree/terms.generated.ts";
import { spanText, type Text } from "../text/text.ts";
import {
  type CallBlock,
  decodeCallInput,
  inputFlaw,
  readCall,
  readResultBlock,
  type ResultBlock,
} from "./tool_blocks.ts";
import type {
  Call,
  Meta,
  Place,
  Result,
  Segment,
  Status,
  StatusStyle,
  TemplateSegment,
  TextSegment,
  Turn,
} from "../types.ts";

interface Broken {
  readonly id: string;
  readonly line: number;
}

/** The blocks of a message, by index of their node. */
interface Tools {
  readonly byNode: ReadonlyMap<number, Call | Result>;
  readonly calls: readonly Call[];
  readonly results: readonly Result[];
  readonly broken: readonly Broken[];
}

const NO_TOOLS: Tools = { byNode: new Map(), calls: [], results: [], broken: [] };

/** A message at its place in a document. */
export class ChatTurn implements Turn {
  readonly index: number;
  #text: Text;
  readonly #message: Message;
  readonly #offset: number;
  #place: Place | null = null;
  #tools: Tools | null = null;
  #segments: readonly Segment[] | null = null;

  constructor(text: Text, message: Message, offset: number, index: number) {
    this.#text = text;
    this.#message = message;
    this.#offset = offset;
    this.index = index;
  }

  /** The underlying message. It stays the same object as long as no edit changes it. */
  get message(): Message {
    return this.#message;
  }

  /** A text that contains the message at its place. */
  get text(): Text {
    return this.#text;
  }

  /**
   * Makes this message read from another version of the document, which has the same bytes up to the end of the
   * message. So versions share the computed values of the messages before an edit, and no earlier text stays in memory.
   */
  readFrom(text: Text): this {
    this.#text = text;
    return this;
  }

  get role(): string {
    return this.#message.role;
  }

  get place(): Place {
    return this.#place ??= linesOf(this.#text, this.#offset, this.#offset + this.#message.length);
  }

  get segments(): readonly Segment[] {
    return this.#segments ??= this.#readSegments();
  }

  get calls(): readonly Call[] {
    return this.#blocks.calls;
  }

  get results(): readonly Result[] {
    return this.#blocks.results;
  }

  get brokenResults(): readonly Broken[] {
    return this.#blocks.broken;
  }

  get #blocks(): Tools {
    return this.#tools ??= this.#message.hasTools ? this.#readTools() : NO_TOOLS;
  }

  #readTools(): Tools {
    const text = this.#text;
    const blocks = messageBlocks(text, this.#message, this.#offset);
    const byNode = new Map<number, Call | Result>();
    const calls = blocks.calls.map(({ node }) => {
      const call = new ChatCall(this, readCall(text, this.#message, node, this.#offset));
      byNode.set(node, call);
      return call;
    });
    const results = blocks.results.map(({ node }) => {
      const result = new ChatResult(this, readResultBlock(text, this.#message, node, this.#offset));
      byNode.set(node, result);
      return result;
    });
    const broken = blocks.brokenResults.map(({ id, at }) => ({
      id,
      line: text.lineOf(this.#offset + at) + 1,
    }));
    return { byNode, calls, results, broken };
  }

  #readSegments(): Segment[] {
    const { nodes: { list: nodes, first, end }, role, marker } = this.#message;
    const contentEnd = this.#contentEnd();
    if (contentEnd === this.#offset + marker) {
      return role === "You" || role === "Assistant" ? [{ kind: "text", value: "" }] : [];
    }
    const segments: Segment[] = [];
    for (let index = first; index < end; index = nodes[index + 3]!) {
      const from = this.#offset + nodes[index + 1]!;
      const to = this.#offset + nodes[index + 2]!;
      switch (nodes[index]) {
        case Term.PlainText:
        case Term.UserText:
        case Term.ReplyText: {
          const next = nodes[index + 3]!;
          const isBeforeJob = next < end && nodes[next] === Term.JobResult;
          const textTo = isBeforeJob ? to : this.#text.textEnd(from, Math.min(to, contentEnd));
          if (textTo <= from) break;
          if (nodes[index] === Term.ReplyText) segments.push(textSegment(this.#text, from, textTo));
          else for (const segment of this.#userText(from, textTo)) segments.push(segment);
          break;
        }
        case Term.JobResult: {
          // A job's result is sent together with the text before and after it, as one text. So the line end before the
          // next text stays.
          const next = nodes[index + 3]!;
          const isBeforeText = next < end && nodes[next] !== Term.ToolResult &&
            this.#offset + nodes[next + 1]! < contentEnd;
          const textTo = isBeforeText ? to : this.#text.textEnd(from, Math.min(to, contentEnd));
          segments.push({ ...textSegment(this.#text, from, textTo), raw: true, job: true });
          break;
        }
        case Term.Thinking:
          segments.push(this.#thinking(index, from, to));
          break;
        case Term.ServerTool:
          segments.push(this.#serverTool(index, from, to));
          break;
        case Term.AbortMarker: {
          const line = this.#text.slice(from, this.#text.textEnd(from, to));
          const message = abortMarker(line, 0, line.length);
          if (message === null) break;
          const place = linesOf(this.#text, from, from + line.length);
          segments.push({ kind: "aborted", message: spanText(line, message), place });
          break;
        }
        default: {
          const block = this.#blocks.byNode.get(index);
          if (block !== undefined) segments.push(block);
        }
      }
    }
    return segments;
  }

  #userText(from: number, to: number): readonly Segment[] {
    return readTemplate(this.#text, from, to, { fences: true });
  }

  /** Returns the end of the content. Empty lines at the end do not count. */
  #contentEnd(): number {
    const text = this.#text;
    const least = this.#offset + this.#message.marker;
    let end = this.#offset + this.#message.length;
    while (end > least && text.byte(end - 1) === 0x0a) {
      let line = end - 1;
      if (text.crlf && line > least && text.byte(line - 1) === 0x0d) line--;
      if (line > least && text.byte(line - 1) !== 0x0a) break;
      end = line;
    }
    return end;
  }

  #thinking(index: number, from: number, to: number): Segment {
    const text = this.#text;
    const nodes = this.#message.nodes.list;
    const opener = text.slice(from, text.textEnd(from, this.#offset + nodes[index + 6]!));
    const tag = thinkingTag(opener, 0, opener.length);
    const signature = tag?.signature
      ? {
        signature: {
          provider: spanText(opener, tag.signature.provider),
          value: spanText(opener, tag.signature.value),
        },
      }
      : {};
    return {
      kind: "thinking",
      content: this.#bodyOf(index, Term.ThinkingBody),
      redacted: tag?.redacted ?? false,
      place: linesOf(text, from, text.textEnd(from, to)),
      ...signature,
    };
  }

  #serverTool(index: number, from: number, to: number): Segment {
    const text = this.#text;
    const opener = text.slice(from, text.textEnd(from, this.#offset + this.#message.nodes.list[index + 6]!));
    const tag = serverToolTag(opener, 0, opener.length);
    if (tag === null) throw new Error("the opening line of a server tool was read, but now it cannot be");
    return {
      kind: "server_tool",
      what: tag.what,
      provider: spanText(opener, tag.provider),
      value: spanText(opener, tag.value),
      content: this.#bodyOf(index, Term.ServerToolBody),
      place: linesOf(text, from, text.textEnd(from, to)),
    };
  }

  /** Returns the lines between the tags of a node; empty if there are none. */
  #bodyOf(index: number, term: number): string {
    const text = this.#text;
    const nodes = this.#message.nodes.list;
    const body = index + 8;
    if (body >= nodes[index + 3]! || nodes[body] !== term) return "";
    const from = this.#offset + nodes[body + 1]!;
    return text.text(from, text.textEnd(from, this.#offset + nodes[body + 2]!));
  }
}

/** Maximum number of characters of an input whose text is cached. */
const MOST_BUFFERED = 1 << 20;

/** A call that is known to have a readable input, decoded on first use. */
class ChatCall implements Call {
  readonly kind = "tool_use";
  readonly turn: ChatTurn;
  readonly #block: CallBlock;
  #inputText: string | null = null;
  #input: Readonly<Record<string, unknown>> | null = null;
  /** Why the call cannot run, or null; undefined until it is computed. */
  #flaw: string | null | undefined;
  #place: Place | null = null;

  constructor(turn: ChatTurn, block: CallBlock) {
    this.#block = block;
    this.turn = turn;
  }

  get id(): string {
    return this.#block.id;
  }

  get name(): string {
    return this.#block.name;
  }

  get place(): Place {
    return this.#place ??= linesOf(this.turn.text, this.#block.from, this.#block.to);
  }

  get inputText(): string {
    if (this.#inputText !== null) return this.#inputText;
    const { body } = this.#block;
    const text = body === null ? "" : this.turn.text.text(body.from, body.to);
    // Very long text is not cached, because its decoded values are in memory already.
    return text.length > MOST_BUFFERED ? text : this.#inputText = text;
  }

  get flaw(): string | null {
    return this.#flaw === undefined ? this.#flaw = inputFlaw(this.inputText) : this.#flaw;
  }

  get input(): Readonly<Record<string, unknown>> {
    if (this.#input !== null) return this.#input;
    if (this.flaw !== null) return this.#input = {};
    const input = decodeCallInput(this.inputText);
    if (typeof input === "string") throw new Error(`the call ${this.id} was read, but now ${input}`);
    return this.#input = input;
  }
}

/** A result whose text is decoded on first use, because results make up most of a large document. */
class ChatResult implements Result {
  readonly kind = "tool_result";
  readonly id: string;
  readonly turn: ChatTurn;
  readonly #from: number;
  readonly #to: number;
  readonly #block: NonNullable<ResultBlock["block"]>;
  #place: Place | null = null;
  #body: string | null = null;
  #questions: string | null | undefined;
  #segments: readonly (TextSegment | TemplateSegment)[] | null = null;

  constructor(turn: ChatTurn, { id, from, to, block }: ResultBlock) {
    if (block === null) throw new Error(`the result of ${id} has no whole fence`);
    this.#from = from;
    this.#to = to;
    this.#block = block;
    this.id = id;
    this.turn = turn;
  }

  get place(): Place {
    return this.#place ??= linesOf(this.turn.text, this.#from, this.#to);
  }

  get status(): Status | null {
    return this.#block.status;
  }

  get style(): StatusStyle | null {
    return this.#block.style;
  }

  get meta(): Meta | null {
    return this.#block.meta;
  }

  get attachments(): readonly string[] {
    return this.#block.attachments;
  }

  get ticks(): number {
    return this.#block.ticks;
  }

  get content(): string {
    return this.questions === null ? this.#text : "";
  }

  get questions(): string | null {
    if (this.#questions === undefined) {
      this.#questions = isLifecycle(this.#block.status) ? readQuestions(this.#text) : null;
    }
    return this.#questions;
  }

  /** Everything between the fences. */
  get #text(): string {
    return this.#body ??= this.turn.text.text(this.#block.body.from, this.#block.body.to);
  }

  get segments(): readonly (TextSegment | TemplateSegment)[] {
    const { status, body } = this.#block;
    return this.#segments ??= isLifecycle(status) ? [] : readTemplate(this.turn.text, body.from, body.to);
  }

  get header(): Place {
    return linesOf(this.turn.text, this.#block.header.from, this.#block.header.to);
  }

  get opener(): Place {
    return linesOf(this.turn.text, this.#block.opener.from, this.#block.opener.to);
  }
}

/** Returns the non-empty range `from..to` with its lines. */
function linesOf(text: Text, from: number, to: number): Place {
  return { from, to, start: text.lineOf(from) + 1, end: text.lineOf(to - 1) + 1 };
}

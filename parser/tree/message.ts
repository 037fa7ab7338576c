// Reads one message from the marks: its end, and the blocks in it. It decodes nothing.
//
// Each message is read independently: it begins outside of any fence, and does not depend on the text before its marker
// or after its end. So after an edit only the affected messages are read again.

import type { ParseCode } from "../types.ts";
import type { Tree } from "npm:@lezer/common@1.5.5";
import { Cursor } from "../text/cursor.ts";
import { isSpace } from "../text/lines.ts";
import { type NodeRange, Nodes } from "./nodes.ts";
import {
  ABORT,
  JOB,
  LEGACY,
  MARKER,
  OPENS,
  RESULT,
  Role,
  SERVER_TOOL_CLOSE,
  SERVER_TOOL_OPEN,
  THINKING_CLOSE,
  THINKING_OPEN,
  THINKING_TAG,
  TICKS,
  USE,
} from "../text/line_kinds.ts";
import * as Term from "./terms.generated.ts";
import type { Text } from "../text/text.ts";

const LF = 0x0a;
const HEADERS = USE | RESULT | JOB;
/** Kinds of lines in a reply that end a run of plain text lines, because they may be structure. */
const REPLY_STOPS = OPENS | USE | THINKING_OPEN | THINKING_TAG | ABORT | SERVER_TOOL_OPEN;

/** A finding whose position is relative to the beginning of its message. */
export interface Finding {
  readonly code: ParseCode;
  readonly message: string;
  readonly at: number;
  /** True to report the column too. */
  readonly column?: boolean;
  readonly id?: string;
}

/** A call or result, as other messages see it. */
export interface ToolBlock {
  readonly id: string;
  /** Offset of the block's header, relative to the beginning of the message. */
  readonly at: number;
  /** Index of the block's node in the message's list. */
  readonly node: number;
}

/** The calls and results of a message. */
export interface MessageBlocks {
  /** The readable calls, including their input. */
  readonly calls: readonly ToolBlock[];
  readonly results: readonly ToolBlock[];
  /** Results without a complete fence. */
  readonly brokenResults: readonly ToolBlock[];
}

/**
 * Facts about a message, derived from the marks of its lines. Offsets count from the marker line of the message.
 * Immutable except for cached values.
 */
export interface Message {
  readonly length: number;
  /** `System`, `You`, `Assistant`, or any other word. */
  readonly role: string;
  /** Length of the marker line, including its line end. */
  readonly marker: number;
  /** Node type of the message, as a number. It decides how the lines of the message are read. */
  readonly term: number;
  /** Nodes of the message, without the message itself. */
  readonly nodes: NodeRange;
  /** True if the message contains calls or results, complete or not. */
  readonly hasTools: boolean;
  /** An unclosed fence that hides a role marker under the fence rule. */
  readonly swallowing: { readonly at: number; readonly ticks: number } | null;
  /** Lines of the old form `@You: text` outside of fences. */
  readonly legacy: readonly number[];
  /** Opening lines of thinking blocks that are never closed. */
  readonly looseThinking: readonly number[];
  /** Opening lines of server tool tags that are never closed. */
  readonly looseServerTools: readonly number[];
  /** Tree of the message if it is large, cached on first use (trees.ts). */
  tree: Tree | null;
  /** Blocks of the message, derived from its decoded text and cached on first use (message_index.ts). */
  blocks: MessageBlocks | null;
  findings: readonly Finding[] | null;
}

/** Reads messages one after the other. */
export class MessageReader {
  readonly #text: Text;
  readonly #cursor: Cursor;
  readonly #ahead: Cursor;
  readonly #nodes = new Nodes();
  #base = 0;
  #end = 0;
  /** A fence with this many backticks, or more, is not closed by any line in the rest of the message. */
  #unclosable = Infinity;
  #thinkingCloses = true;
  #serverToolCloses = true;
  #hasTools = false;
  #swallowing: Message["swallowing"] = null;
  #looseThinking: number[] = [];
  #looseServerTools: number[] = [];

  constructor(text: Text) {
    this.#text = text;
    this.#cursor = new Cursor(text);
    this.#ahead = new Cursor(text);
  }

  /** Reads the message whose marker line begins at `offset`. */
  read(offset: number): Message {
    const cursor = this.#cursor;
    if (cursor.at !== offset || (cursor.bits & MARKER) === 0) cursor.seek(offset);
    const role = cursor.number;
    const marker = cursor.next;
    cursor.step();
    this.#swallowing = null;
    const legacy = this.#split(offset);
    this.#nodes.begin(offset);
    this.#base = offset;
    this.#unclosable = Infinity;
    this.#thinkingCloses = true;
    this.#serverToolCloses = true;
    this.#hasTools = false;
    this.#looseThinking = NOTHING;
    this.#looseServerTools = NOTHING;
    let term: number = Term.PlainTurn;
    if (role === Role.Assistant) {
      term = Term.ReplyTurn;
      this.#nodes.leaf(Term.ReplyMarker, offset, marker);
      this.#reply(marker);
    } else if (role === Role.You) {
      term = Term.UserTurn;
      this.#nodes.leaf(Term.UserMarker, offset, marker);
      this.#user(marker);
    } else {
      this.#nodes.leaf(Term.PlainMarker, offset, marker);
      if (marker < this.#end) this.#nodes.pair(Term.PlainText, Term.PlainLines, marker, this.#end);
    }
    cursor.reach(this.#end);
    return {
      length: this.#end - offset,
      role: ROLE_WORDS[role] ?? this.#roleWord(offset),
      marker: marker - offset,
      term,
      nodes: this.#nodes.finish(),
      hasTools: this.#hasTools,
      swallowing: this.#swallowing,
      legacy,
      looseThinking: this.#looseThinking,
      looseServerTools: this.#looseServerTools,
      tree: null,
      blocks: null,
      findings: null,
    };
  }

  #roleWord(offset: number): string {
    let end = offset + 1;
    while (this.#text.byte(end) !== 0x3a) end++;
    return this.#text.decode(offset + 1, end);
  }

  /**
   * Finds the end of the message: the next marker outside of a fence, under the fence rule. Returns the offsets of the
   * lines of the old form `@You: text` before it.
   */
  #split(offset: number): readonly number[] {
    const { length } = this.#text;
    const ahead = this.#ahead;
    let legacy = NOTHING;
    ahead.follow(this.#cursor);
    while (ahead.find(MARKER | OPENS | LEGACY, length)) {
      if ((ahead.bits & MARKER) !== 0) break;
      if ((ahead.bits & LEGACY) !== 0) {
        if (legacy === NOTHING) legacy = [];
        legacy.push(ahead.at - offset);
      } else {
        const opener = ahead.at;
        const ticks = ahead.number;
        ahead.step();
        if (!ahead.findClosing(ticks, length)) {
          this.#end = length;
          ahead.seek(opener);
          this.#swallowing = ahead.find(MARKER, length) ? { at: opener - offset, ticks } : null;
          return legacy;
        }
      }
      ahead.step();
    }
    this.#end = ahead.at;
    return legacy;
  }

  #user(from: number): void {
    const cursor = this.#cursor;
    for (let at = from; at < this.#end;) {
      cursor.reach(at);
      if (cursor.at === at && (cursor.bits & RESULT) !== 0) {
        at = this.#tool(Term.ToolResult, Term.ResultHeader);
      } else if (cursor.at === at && (cursor.bits & JOB) !== 0) {
        at = this.#tool(Term.JobResult, Term.JobHeader);
      } else {
        const end = cursor.find(RESULT | JOB, this.#end) ? cursor.at : this.#end;
        this.#nodes.pair(Term.UserText, Term.UserLines, at, end);
        at = end;
      }
    }
  }

  #reply(from: number): void {
    const cursor = this.#cursor;
    const nodes = this.#nodes;
    /** Index of the open text node; -1 if there is none. */
    let text = -1;
    for (let at = from; at < this.#end;) {
      cursor.reach(at);
      const bits = cursor.at === at && cursor.is(REPLY_STOPS) ? cursor.bits : 0;
      const isBlock = (bits & (USE | ABORT | THINKING_TAG)) !== 0 ||
        ((bits & THINKING_OPEN) !== 0 && this.#closingThinking()) ||
        ((bits & SERVER_TOOL_OPEN) !== 0 && this.#closingServerTool());
      if (isBlock) {
        if (text >= 0) nodes.close(text, at);
        text = -1;
        if ((bits & USE) !== 0) {
          at = this.#tool(Term.ToolUse, Term.UseHeader);
        } else if ((bits & THINKING_OPEN) !== 0) {
          at = this.#enclosed(Term.Thinking, Term.ThinkingOpener, THINKING_BODY);
        } else if ((bits & SERVER_TOOL_OPEN) !== 0) {
          at = this.#enclosed(Term.ServerTool, Term.ServerToolOpener, SERVER_TOOL_BODY);
        } else {
          if ((bits & ABORT) !== 0) nodes.leaf(Term.AbortMarker, at, cursor.next);
          else nodes.pair(Term.Thinking, Term.ThinkingTag, at, cursor.next);
          at = cursor.next;
        }
        continue;
      }
      if (text < 0) text = nodes.open(Term.ReplyText, at);
      if ((bits & OPENS) !== 0 && this.#closingFence(cursor.number)) {
        at = this.#enclosed(Term.Code, Term.CodeOpener, CODE_BODY);
        continue;
      }
      if ((bits & THINKING_OPEN) !== 0) {
        if (this.#looseThinking === NOTHING) this.#looseThinking = [];
        this.#looseThinking.push(at - this.#base);
      }
      if ((bits & SERVER_TOOL_OPEN) !== 0) {
        if (this.#looseServerTools === NOTHING) this.#looseServerTools = [];
        this.#looseServerTools.push(at - this.#base);
      }
      if (cursor.at === at) cursor.step();
      const end = cursor.find(REPLY_STOPS, this.#end) ? cursor.at : this.#end;
      nodes.leaf(Term.ReplyLines, at, end);
      at = end;
    }
    if (text >= 0) nodes.close(text, this.#end);
  }

  /** Adds a node that begins with the opening line at the cursor and ends with the closing line at `#ahead`. */
  #enclosed(term: number, opener: number, [body, lines, closer]: readonly [number, number, number]): number {
    const nodes = this.#nodes;
    const ahead = this.#ahead;
    const from = this.#cursor.at;
    const inside = this.#cursor.next;
    const node = nodes.open(term, from);
    nodes.leaf(opener, from, inside);
    if (ahead.at > inside) nodes.pair(body, lines, inside, ahead.at);
    nodes.leaf(closer, ahead.at, ahead.next);
    nodes.close(node, ahead.next);
    this.#cursor.follow(ahead);
    return ahead.next;
  }

  /** Adds a header at the cursor with the block below it, if there is one. */
  #tool(term: number, header: number): number {
    const cursor = this.#cursor;
    const nodes = this.#nodes;
    this.#hasTools = true;
    const node = nodes.open(term, cursor.at);
    nodes.leaf(header, cursor.at, cursor.next);
    let at = this.#skipBlankLines(cursor.next);
    cursor.reach(at);
    if (at < this.#end && cursor.at === at && (cursor.bits & TICKS) !== 0) {
      const inside = cursor.next;
      if (this.#closingFence(cursor.number)) {
        const ahead = this.#ahead;
        nodes.leaf(Term.Opener, at, inside);
        if (ahead.at > inside) nodes.pair(Term.BlockBody, Term.BlockLines, inside, ahead.at);
        nodes.leaf(Term.Closer, ahead.at, ahead.next);
        cursor.follow(ahead);
        at = ahead.next;
      } else {
        nodes.leaf(Term.LooseOpener, at, inside);
        cursor.step();
        at = cursor.find(HEADERS, this.#end) ? cursor.at : this.#end;
        if (at > inside) nodes.pair(Term.Skipped, Term.SkippedLines, inside, at);
      }
    }
    nodes.close(node, at);
    return at;
  }

  /**
   * Returns the start of the first line from `offset` on that is not blank; the end of the message if all are blank.
   */
  #skipBlankLines(offset: number): number {
    const { chunks, offsets } = this.#text;
    let start = offset;
    if (offset >= this.#end) return this.#end;
    for (let index = this.#text.chunkAt(offset), at = offset; index < chunks.length; index++) {
      const { bytes } = chunks[index]!;
      const base = offsets[index]!;
      const end = Math.min(bytes.length, this.#end - base);
      for (let within = at - base; within < end; within++) {
        const byte = bytes[within];
        if (byte === LF) start = base + within + 1;
        else if (!isSpace(byte)) return start;
      }
      at = offsets[index + 1]!;
      if (at >= this.#end) break;
    }
    return this.#end;
  }

  /** Finds the line of this message that closes the fence opened at the cursor. */
  #closingFence(ticks: number): boolean {
    if (ticks >= this.#unclosable) return false;
    this.#ahead.follow(this.#cursor);
    this.#ahead.step();
    if (this.#ahead.findClosing(ticks, this.#end)) return true;
    this.#unclosable = ticks;
    return false;
  }

  /** Finds the line of this message that closes the thinking opened at the cursor. */
  #closingThinking(): boolean {
    return this.#thinkingCloses = this.#thinkingCloses && this.#findsBelow(THINKING_CLOSE);
  }

  /** Finds the line of this message that closes the server tool tag at the cursor. */
  #closingServerTool(): boolean {
    return this.#serverToolCloses = this.#serverToolCloses && this.#findsBelow(SERVER_TOOL_CLOSE);
  }

  #findsBelow(kind: number): boolean {
    this.#ahead.follow(this.#cursor);
    this.#ahead.step();
    return this.#ahead.find(kind, this.#end);
  }
}

const NOTHING: number[] = [];
const ROLE_WORDS = [undefined, "You", "Assistant", "System"];
const CODE_BODY = [Term.CodeBody, Term.CodeLines, Term.CodeCloser] as const;
const THINKING_BODY = [Term.ThinkingBody, Term.ThinkingLines, Term.ThinkingCloser] as const;
const SERVER_TOOL_BODY = [Term.ServerToolBody, Term.ServerToolLines, Term.ServerToolCloser] as const;

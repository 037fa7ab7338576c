// What the text of one message shows in addition to its structure: its findings, and the ids that it calls and
// answers.
//
// These facts are computed once and cached with the message. Offsets count from the message's first byte, so they stay
// valid when edits move the message. Blocks are computed separately from findings, because continuing a conversation
// needs only the calls.

import type { Finding, Message, MessageBlocks, ToolBlock } from "../tree/message.ts";
import { finding } from "./diagnostic.ts";
import type { ParseCode } from "../types.ts";
import { Cursor } from "../text/cursor.ts";
import { toolUseHeader } from "../text/lines.ts";
import { BARE, USE } from "../text/line_kinds.ts";
import { mayHoldTags, opensRaw, unclosedTag } from "./template.ts";
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
import type { Diagnostic } from "../types.ts";

const NO_BLOCKS: MessageBlocks = { calls: [], results: [], brokenResults: [] };
const NO_FINDINGS: readonly Finding[] = [];

/** Returns the calls and results of the message at `offset`; computed on first use. */
export function messageBlocks(text: Text, message: Message, offset: number): MessageBlocks {
  return message.blocks ??= message.hasTools ? readBlocks(text, message, offset) : NO_BLOCKS;
}

/** Returns the findings of the message at `offset`; computed on first use. */
export function messageFindings(text: Text, message: Message, offset: number): readonly Finding[] {
  if (message.findings !== null) return message.findings;
  if (isPlain(text, message, offset)) return message.findings = NO_FINDINGS;
  const reader = new Reader(text, message, offset);
  message.findings = reader.read();
  message.blocks ??= reader.blocks;
  return message.findings;
}

function readBlocks(text: Text, message: Message, offset: number): MessageBlocks {
  const { list: nodes, first, end } = message.nodes;
  const blocks = new Blocks();
  for (let index = first; index < end; index = nodes[index + 3]!) {
    const at = nodes[index + 1]!;
    if (nodes[index] === Term.ToolUse) {
      const call = readCall(text, message, index, offset);
      if (callFault(text, call) === null) blocks.calls.push({ id: call.id, at, node: index });
    } else if (nodes[index] === Term.ToolResult) {
      blocks.addResult(readResultBlock(text, message, index, offset), at, index);
    }
  }
  return blocks;
}

/** The blocks of a message, collected while reading. */
class Blocks implements MessageBlocks {
  readonly calls: ToolBlock[] = [];
  readonly results: ToolBlock[] = [];
  readonly brokenResults: ToolBlock[] = [];

  addResult({ id, block }: ResultBlock, at: number, node: number): void {
    (block === null ? this.brokenResults : this.results).push({ id, at, node });
  }
}

/** Returns why a call cannot be read, as the end of a sentence; null if it can be. */
function callFault(text: Text, call: CallBlock): readonly [code: ParseCode, sentence: string] | null {
  if (call.body === null) {
    return call.hasOpener
      ? ["tool_use_unclosed_fence", "has a body with an unclosed fence."]
      : ["tool_use_missing_fence", "needs a fenced JSON body below its header."];
  }
  if (call.foreignLanguage !== null) {
    const sentence = `has a body in the language "${call.foreignLanguage}"; expected "json".`;
    return ["tool_use_unknown_language", sentence];
  }
  const input = decodeCallInput(text.text(call.body.from, call.body.to));
  if (typeof input !== "string") return null;
  return ["tool_use_invalid_input", `needs a JSON object as its body, but ${input}.`];
}

/**
 * True if the message cannot have findings, because it has no block, and no tag or quote that could be wrong. This is
 * so for most messages.
 */
function isPlain(text: Text, message: Message, offset: number): boolean {
  if (message.hasTools || message.looseThinking.length > 0 || message.looseServerTools.length > 0) {
    return false;
  }
  if (message.term === Term.ReplyTurn) {
    const header = new Cursor(text);
    header.seek(offset);
    return !header.find(USE, offset + message.length);
  }
  return !mayHoldTags(text, offset, offset + message.length);
}

/** Returns the diagnostic for a finding of the message at `offset`. */
export function diagnosticOf(text: Text, found: Finding, offset: number): Diagnostic {
  const { code, message, id } = found;
  const at = offset + found.at;
  const line = text.lineOf(at);
  return finding(code, message, line + 1, {
    ...(found.column ? { startCol: at - text.start(line) + 1 } : {}),
    ...(id === undefined ? {} : { id }),
  });
}

class Reader {
  readonly #text: Text;
  readonly #message: Message;
  readonly #offset: number;
  readonly #findings: Finding[] = [];
  /** The blocks found while reading. */
  readonly blocks = new Blocks();

  constructor(text: Text, message: Message, offset: number) {
    this.#text = text;
    this.#message = message;
    this.#offset = offset;
  }

  read(): readonly Finding[] {
    const { nodes: { list: nodes, first, end }, looseThinking, looseServerTools } = this.#message;
    for (let index = first; index < end; index = nodes[index + 3]!) {
      const from = this.#offset + nodes[index + 1]!;
      const to = this.#offset + nodes[index + 2]!;
      switch (nodes[index]) {
        case Term.PlainText:
        case Term.UserText:
          this.#template(from, to);
          break;
        case Term.ReplyText:
          this.#replyText(index);
          break;
        case Term.ToolUse:
          this.#call(index);
          break;
        case Term.ToolResult:
          this.#result(index);
          break;
      }
    }
    for (const at of looseThinking) {
      this.#find(
        "thinking_unclosed",
        'This thinking tag has no closing line "</thinking>" in its message, so flemma reads it as text.',
        this.#offset + at,
      );
    }
    for (const at of looseServerTools) {
      this.#find(
        "server_tool_unclosed",
        'This server tool tag has no closing line "</server_tool>" in its message, so flemma reads it as text.',
        this.#offset + at,
      );
    }
    this.#duplicates();
    return this.#findings.length === 0 ? NO_FINDINGS : this.#findings;
  }

  #template(from: number, to: number): void {
    const at = unclosedTag(this.#text, from, to);
    if (at < 0) return;
    const opener = this.#text.decode(at, at + 2);
    const what = opensRaw(this.#text, at, to)
      ? "{% raw %} has no {% endraw %}"
      : `The template tag "${opener}" has no closing "${opener === "{{" ? "}}" : "%}"}"`;
    this.#findings.push({
      code: "template_unclosed",
      message: `${what} in this text, so flemma sends it and the text after it unchanged.`,
      at: at - this.#offset,
      column: true,
    });
  }

  #replyText(index: number): void {
    const nodes = this.#message.nodes.list;
    const end = nodes[index + 3]!;
    const to = this.#offset + nodes[index + 2]!;
    // Few headers are hidden in fences, so this searches for headers instead of reading every fence.
    const header = new Cursor(this.#text);
    header.seek(this.#offset + nodes[index + 1]!);
    if (!header.find(USE, to)) return;
    for (let child = index + 4; child < end; child = nodes[child + 3]!) {
      if (nodes[child] !== Term.Code) continue;
      header.reach(this.#offset + nodes[child + 1]!);
      if (!header.find(USE, to)) return;
      if (header.at < this.#offset + nodes[child + 2]!) this.#hiddenCalls(child);
    }
  }

  /**
   * Warns about a call that is quoted only because an earlier fence was left open. In that case the closing fence of
   * the call ends the quotation. If a call is quoted completely, another fence after it ends the quotation.
   */
  #hiddenCalls(code: number): void {
    const text = this.#text;
    const { nodes: { list: nodes }, length } = this.#message;
    const end = this.#offset + nodes[code + 2]!;
    const last = nodes[code + 3]! - 4;
    const closer = this.#offset + nodes[last + 1]!;
    const cursor = new Cursor(text);
    const next = this.#afterEmptyLines(end, this.#offset + length);
    cursor.seek(next);
    if (cursor.at === next && isBareFence(cursor)) return;
    cursor.seek(this.#offset + nodes[code + 1]!);
    let hidden: Finding[] = [];
    for (cursor.step(); cursor.at < closer; cursor.step()) {
      // A line of only backticks between the header and the closing line is the fence of this call or of another call,
      // so the quotation is intended.
      if (isBareFence(cursor)) hidden = [];
      if ((cursor.bits & USE) === 0) continue;
      const line = text.slice(cursor.at, cursor.next);
      const header = toolUseHeader(line, 0, text.textEnd(cursor.at, cursor.next) - cursor.at);
      if (header === null) continue;
      const id = spanText(line, header.id);
      hidden.push({
        code: "call_hidden_in_fence",
        message: `The call "${id}" of "${
          spanText(line, header.name)
        }" is read as text, because a code fence above it is not closed.`,
        at: cursor.at - this.#offset,
        id,
      });
    }
    this.#findings.push(...hidden);
  }

  /** Returns the start of the first non-empty line from `from` on, before `end`; `end` if there is none. */
  #afterEmptyLines(from: number, end: number): number {
    for (let at = from; at < end;) {
      const byte = this.#text.byte(at);
      if (byte === 0x0a) at += 1;
      else if (byte === 0x0d && this.#text.crlf && this.#text.byte(at + 1) === 0x0a) at += 2;
      else return at;
    }
    return end;
  }

  #call(index: number): void {
    const call = readCall(this.#text, this.#message, index, this.#offset);
    const what = `The call "${call.id}" of "${call.name}"`;
    const wrong = (code: ParseCode, sentence: string) =>
      this.#find(code, `${what} ${sentence}`, call.from, call.id);
    const fault = callFault(this.#text, call);
    if (fault !== null) return wrong(...fault);
    const flaw = inputFlaw(this.#text.text(call.body!.from, call.body!.to));
    if (flaw !== null) {
      wrong("tool_use_invalid_input", `cannot run, because ${flaw}. flemma reports this to the model.`);
    }
    this.blocks.calls.push({ id: call.id, at: call.from - this.#offset, node: index });
  }

  /**
   * Warns about calls with the same id, because only the last of them runs, and a single result cannot answer all of
   * them.
   */
  #duplicates(): void {
    const later = new Set<string>();
    for (const { id, at } of this.blocks.calls.toReversed()) {
      if (later.has(id)) {
        const message =
          `A later call in this message has the same id "${id}", and only that one runs. Give this one its own id.`;
        this.#findings.push({ code: "tool_use_duplicate", message, at, id });
      }
      later.add(id);
    }
  }

  #result(index: number): void {
    const result = readResultBlock(this.#text, this.#message, index, this.#offset);
    const { id, from } = result;
    this.blocks.addResult(result, from - this.#offset, index);
    const what = `The result of the call "${id}"`;
    if (result.block === null) {
      return result.hasOpener
        ? this.#find(
          "tool_result_unclosed_fence",
          `${what} has a body with an unclosed fence.`,
          from,
          id,
        )
        : this.#find("tool_result_missing_fence", `${what} needs a fenced body below its header.`, from, id);
    }
    const { unknown } = result.block;
    if (unknown !== undefined) {
      const hint = unknown.near === null
        ? " The statuses are pending, approved, rejected, denied and aborted."
        : ` Did you mean ${unknown.near}?`;
      const sentence = `${JSON.stringify(unknown.word.slice(0, 40))} is not a status`;
      const counts = result.block.status === "pending" ? ", so flemma treats the block as pending" : "";
      const at = unknown.inHeader ? from : result.block.opener.from;
      this.#find("status_unknown", `${sentence}${counts}.${hint}`, at, id);
    }
    if (result.block.style === "pending-fence") {
      this.#find(
        "legacy_form",
        '"flemma:pending" is an old form. Write "flemma:tool status=pending", or run flemma migrate.',
        result.block.opener.from,
        id,
      );
    }
  }

  #find(code: ParseCode, message: string, at: number, id?: string): void {
    this.#findings.push({ code, message, at: at - this.#offset, ...(id === undefined ? {} : { id }) });
  }
}

function isBareFence(cursor: Cursor): boolean {
  return (cursor.bits & BARE) !== 0 && cursor.number >= 3;
}

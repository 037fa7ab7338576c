// The typed view of a whole document over its text and structure, and the transition to its next version.

import type { Tree } from "npm:@lezer/common@1.5.5";
import { diagnoseStructure, summarize } from "./view/diagnose.ts";
import { type ByteEdit, replacementsOf } from "./edits/edit.ts";
import { messageBlocks } from "./view/message_index.ts";
import { Ids, Pending } from "./view/ids.ts";
import { frontmatterOpen } from "./text/lines.ts";
import { treeOfStructure } from "./tree/making.ts";
import { readStructure, type Structure, updateStructure } from "./tree/structure.ts";
import { spanText, Text } from "./text/text.ts";
import { ChatTurn } from "./view/turn.ts";
import type { Call, Chat, Diagnostic, Frontmatter, Preamble, Result, Turn } from "./types.ts";

/**
 * Results of an earlier version. They are valid for the first `kept` messages, which are unchanged and have the same
 * offsets.
 */
interface Past {
  readonly kept: number;
  readonly turns: readonly ChatTurn[];
  readonly calls: readonly Call[] | null;
  readonly results: readonly Result[] | null;
}

/** A parsed document. Everything but the structure is computed on first use. */
export class Document implements Chat {
  /** The document as chunks of bytes, with lines. */
  readonly content: Text;
  readonly #structure: Structure;
  readonly #views = new Map<number, ChatTurn>();
  #tree: Tree | null = null;
  #turns: readonly ChatTurn[] | null = null;
  #calls: readonly Call[] | null = null;
  #results: readonly Result[] | null = null;
  #callsById: ReadonlyMap<string, Call> | null = null;
  #resultsById: ReadonlyMap<string, Result> | null = null;
  #diagnostics: readonly Diagnostic[] | null = null;
  /** Id counts of an earlier version, and the changes since that version. */
  #pending: Pending | null;
  readonly #past: Past | null;

  private constructor(content: Text, structure: Structure, pending: Pending | null, past: Past | null) {
    this.content = content;
    this.#structure = structure;
    this.#pending = pending;
    this.#past = past;
  }

  static of(bytes: Uint8Array): Document {
    const content = Text.of(bytes);
    return new Document(content, readStructure(content), null, null);
  }

  /** Returns the document after edits; see `update` of mod.ts. */
  edited(edits: readonly ByteEdit[]): Document {
    const replacements = replacementsOf(this.content.length, edits);
    const content = this.content.edited(replacements);
    const { structure, messages, kept } = updateStructure(
      this.#structure,
      this.content,
      content,
      replacements,
    );
    const pending = messages === null ? null : this.#pending?.with(messages.removed, messages.added) ?? null;
    return new Document(content, structure, pending, this.#pastUpTo(kept));
  }

  get bytes(): Uint8Array {
    return this.content.bytes;
  }

  get byteLength(): number {
    return this.content.length;
  }

  get tree(): Tree {
    return this.#tree ??= treeOfStructure(this.#structure);
  }

  get lineCount(): number {
    return this.content.lineCount;
  }

  get eol(): "\n" | "\r\n" {
    return this.content.crlf ? "\r\n" : "\n";
  }

  get bom(): boolean {
    return this.content.origin > 0;
  }

  get frontmatter(): Frontmatter | null {
    const block = this.#structure.head.frontmatter;
    if (block === null) return null;
    const text = this.content;
    const from = text.origin;
    const opener = text.slice(from, text.end(0));
    const language = frontmatterOpen(opener, 0, opener.length);
    if (language === null) return null;
    return {
      language: spanText(opener, language),
      code: text.text(block.code, text.textEnd(block.code, block.codeEnd)),
      from,
      to: text.textEnd(block.codeEnd, block.end),
      start: 1,
      end: text.lineOf(block.codeEnd) + 1,
    };
  }

  get preamble(): Preamble | null {
    const { head } = this.#structure;
    const text = this.content;
    const from = head.frontmatter?.end ?? text.origin;
    const preamble = text.text(from, head.length);
    return preamble.trim() === "" ? null : { text: preamble, start: text.lineOf(from) + 1 };
  }

  get turns(): readonly ChatTurn[] {
    if (this.#turns !== null) return this.#turns;
    const { conversation } = this.#structure;
    const known = this.#past?.turns.slice(0, this.#past.kept) ?? [];
    const turns = known.map((turn) => turn.readFrom(this.content));
    conversation.each(turns.length, conversation.count, (message, offset, index) => {
      turns.push(this.#views.get(index) ?? new ChatTurn(this.content, message, offset, index));
    });
    return this.#turns = turns;
  }

  get turnCount(): number {
    return this.#structure.conversation.count;
  }

  turnAt(offset: number): ChatTurn | undefined {
    const { head, conversation } = this.#structure;
    if (conversation.count === 0 || offset < head.length) return undefined;
    const { message, index, offset: from } = conversation.at(offset);
    const known = this.#turns?.[index] ?? this.#views.get(index);
    if (known !== undefined) return known;
    const past = this.#past !== null && index < this.#past.kept ? this.#past.turns[index] : undefined;
    const turn = past?.readFrom(this.content) ?? new ChatTurn(this.content, message, from, index);
    this.#views.set(index, turn);
    return turn;
  }

  get calls(): readonly Call[] {
    return this.#calls ??= this.#collect(this.#past?.calls ?? null, (turn) => turn.calls);
  }

  get results(): readonly Result[] {
    return this.#results ??= this.#collect(this.#past?.results ?? null, (turn) => turn.results);
  }

  get brokenResults(): readonly { readonly id: string; readonly line: number }[] {
    return this.turns.flatMap((turn) => turn.brokenResults);
  }

  get diagnostics(): readonly Diagnostic[] {
    if (this.#diagnostics !== null) return this.#diagnostics;
    summarize(this.content, this.#structure.conversation);
    return this.#diagnostics = diagnoseStructure(this.content, this.#structure, this.#countIds());
  }

  call(id: string): Call | undefined {
    this.#callsById ??= new Map(this.calls.map((call) => [call.id, call]));
    return this.#callsById.get(id);
  }

  result(id: string): Result | undefined {
    this.#resultsById ??= new Map(this.results.map((result) => [result.id, result]));
    return this.#resultsById.get(id);
  }

  lineAt(offset: number): number {
    return this.content.lineOf(offset) + 1;
  }

  lineStart(line: number): number {
    return this.content.start(line - 1);
  }

  lineEnd(line: number): number {
    return this.content.end(line - 1);
  }

  lineText(line: number): string {
    return this.content.decode(this.lineStart(line), this.lineEnd(line));
  }

  text(from: number, to: number): string {
    return this.content.text(from, to);
  }

  slice(from: number, to: number): Uint8Array {
    return this.content.slice(from, to);
  }

  parts(from = 0): Iterable<Uint8Array> {
    return this.content.parts(from, this.byteLength);
  }

  /** Returns the blocks of all messages, reusing those of an earlier version for unchanged messages. */
  #collect<T extends { readonly turn: Turn }>(
    past: readonly T[] | null,
    blocks: (turn: ChatTurn) => readonly T[],
  ): readonly T[] {
    const { turns } = this;
    const kept = past === null ? 0 : this.#past?.kept ?? 0;
    const next = past?.findIndex((block) => block.turn.index >= kept) ?? -1;
    const found = past === null ? [] : past.slice(0, next < 0 ? past.length : next);
    for (let index = kept; index < turns.length; index++) {
      for (const block of blocks(turns[index]!)) found.push(block);
    }
    return found;
  }

  /** Returns what the next version can reuse if its first `kept` messages are unchanged. */
  #pastUpTo(kept: number): Past | null {
    if (this.#turns !== null) {
      return { kept, turns: this.#turns, calls: this.#calls, results: this.#results };
    }
    return this.#past && { ...this.#past, kept: Math.min(kept, this.#past.kept) };
  }

  /** Returns the id counts of this version: those of an earlier version brought up to date, or new ones. */
  #countIds(): Ids {
    const { conversation } = this.#structure;
    let ids = this.#pending?.ids;
    if (this.#pending !== null && ids !== undefined && ids.version === this.#pending.version) {
      for (const message of this.#pending.removed) if (message.blocks !== null) ids.count(message.blocks, -1);
      for (const message of this.#pending.added) if (message.blocks !== null) ids.count(message.blocks, 1);
    } else {
      ids = new Ids();
      const counts = ids;
      conversation.each(0, conversation.count, (message, offset) => {
        counts.count(messageBlocks(this.content, message, offset), 1);
      });
    }
    ids.version++;
    this.#pending = new Pending(ids, ids.version, new Set(), new Set());
    return ids;
  }
}

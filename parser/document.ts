// The typed view of a whole document over its bytes and its tree.

import type { Tree } from "@lezer/common";
import { diagnose } from "./diagnose.ts";
import { frontmatterOpen } from "./lines.ts";
import type { Source } from "./source.ts";
import * as Term from "./terms.generated.ts";
import { ChatTurn } from "./turn.ts";
import type { Call, Chat, Diagnostic, Frontmatter, Result } from "./types.ts";

/** A parsed document. Everything but bytes, lines and tree is computed when first asked for. */
export class Document implements Chat {
  /** Lines and outer shape, for the next incremental parse. */
  readonly source: Source;
  readonly tree: Tree;
  #turns: readonly ChatTurn[] | null = null;
  #calls: readonly Call[] | null = null;
  #results: readonly Result[] | null = null;
  #callsById: ReadonlyMap<string, Call> | null = null;
  #resultsById: ReadonlyMap<string, Result> | null = null;
  #diagnostics: readonly Diagnostic[] | null = null;

  constructor(source: Source, tree: Tree) {
    this.source = source;
    this.tree = tree;
  }

  get bytes(): Uint8Array {
    return this.source.bytes;
  }

  get lineCount(): number {
    return this.source.lineCount;
  }

  get eol(): "\n" | "\r\n" {
    return this.source.crlf ? "\r\n" : "\n";
  }

  get bom(): boolean {
    return this.source.scan.bom;
  }

  get frontmatter(): Frontmatter | null {
    const block = this.source.split.frontmatter;
    if (block === null) return null;
    const from = this.source.start(block.open);
    const language = frontmatterOpen(this.bytes, from, this.source.end(block.open));
    if (language === null) return null;
    const code = this.source.start(block.open + 1);
    const codeEnd = block.close > block.open + 1 ? this.source.end(block.close - 1) : code;
    return {
      language: this.source.spanText(language),
      code: this.source.text(code, codeEnd),
      from,
      to: this.source.end(block.close),
      start: block.open + 1,
      end: block.close + 1,
    };
  }

  get turns(): readonly ChatTurn[] {
    if (this.#turns !== null) return this.#turns;
    const turns: ChatTurn[] = [];
    for (let node = this.tree.topNode.firstChild; node !== null; node = node.nextSibling) {
      const { id } = node.type;
      if (id === Term.PlainTurn || id === Term.UserTurn || id === Term.ReplyTurn) {
        turns.push(new ChatTurn(this.source, node, turns.length));
      }
    }
    return this.#turns = turns;
  }

  get calls(): readonly Call[] {
    return this.#calls ??= this.turns.flatMap((turn) => turn.calls);
  }

  get results(): readonly Result[] {
    return this.#results ??= this.turns.flatMap((turn) => turn.results);
  }

  get brokenResults(): readonly { readonly id: string; readonly line: number }[] {
    return this.turns.flatMap((turn) => turn.brokenResults);
  }

  get diagnostics(): readonly Diagnostic[] {
    return this.#diagnostics ??= diagnose(this.source, this.turns);
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
    return this.source.lineOf(offset) + 1;
  }

  lineStart(line: number): number {
    return this.source.start(line - 1);
  }

  lineEnd(line: number): number {
    return this.source.end(line - 1);
  }

  lineText(line: number): string {
    return this.source.decode(this.lineStart(line), this.lineEnd(line));
  }

  text(from: number, to: number): string {
    return this.source.text(from, to);
  }
}

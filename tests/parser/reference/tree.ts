// The tree of a document as parser/chat.grammar itself gives it.

import type { Input, Tree } from "@lezer/common";
import { parser } from "./chat.generated.ts";
import { PlainDocument } from "./document.ts";
import { lineTokens, tokensOf } from "./tokens.ts";

/** Shows bytes to the tables as Latin-1 text: one byte, one character, so that positions are byte offsets. */
class ByteInput implements Input {
  readonly length: number;
  readonly lineChunks = false;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.length = bytes.length;
  }

  chunk(from: number): string {
    return this.read(from, Math.min(this.length, from + 64));
  }

  read(from: number, to: number): string {
    return String.fromCharCode(...this.#bytes.subarray(from, to));
  }
}

/** Parses by the grammar. An error would be a fault of grammar or tokens, so `strict` lets none pass. */
export function grammarTree(bytes: Uint8Array): Tree {
  return parser
    .configure({ tokenizers: [{ from: lineTokens, to: tokensOf(new PlainDocument(bytes)) }], strict: true })
    .parse(new ByteInput(bytes));
}

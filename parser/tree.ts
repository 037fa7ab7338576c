// Syntax trees of documents: a full parse, and one that takes over what an edit left alone.

import { type ChangedRange, type Input, type Tree, TreeFragment } from "@lezer/common";
import { parser } from "./chat.generated.ts";
import type { Source } from "./source.ts";
import { lineTokens, tokensOf } from "./tokens.ts";

/** How much the parser is handed at once. Tokens read the bytes themselves, so it needs next to nothing. */
const CHUNK = 8;

/** Shows bytes to the parser as Latin-1 text: one byte, one character, so that positions are byte offsets. */
export class ByteInput implements Input {
  readonly #bytes: Uint8Array;
  readonly length: number;
  readonly lineChunks = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.length = bytes.length;
  }

  chunk(from: number): string {
    return this.read(from, Math.min(this.length, from + CHUNK));
  }

  read(from: number, to: number): string {
    let text = "";
    for (let at = from; at < to; at++) text += String.fromCharCode(this.#bytes[at]!);
    return text;
  }
}

/** Parses a whole document. */
export function parseTree(source: Source): Tree {
  return run(source, []);
}

/** One replaced range: old bytes `fromA..toA` became new bytes `fromB..toB`. Ranges are ascending and apart. */
export type Change = ChangedRange;

/** Parses a document of which an earlier version and its tree are known. Gives the tree of a full parse. */
export function reparse(old: Source, tree: Tree, source: Source, changes: readonly Change[]): Tree {
  if (old.crlf !== source.crlf || old.scan.bom !== source.scan.bom) return parseTree(source);
  const affected = changes.map((change, index) => {
    const end = changes[index + 1]?.fromB ?? source.bytes.length;
    const reach = settled(old, source, change.toA - change.toB, change.toB, end);
    return { ...change, toA: change.toA + reach - change.toB, toB: reach };
  });
  return run(source, TreeFragment.applyChanges(TreeFragment.addTree(tree), affected));
}

function run(source: Source, fragments: readonly TreeFragment[]): Tree {
  // Tokens leave nothing unparsed, so an error is a fault of this program: `strict` lets none pass as a tree.
  return parser
    .configure({ tokenizers: [{ from: lineTokens, to: tokensOf(source) }], strict: true })
    .parse(new ByteInput(source.bytes), fragments);
}

/**
 * Where, in the equal bytes from `from` to `end` of the new document, both documents are split alike again: from
 * there on nodes of the old tree hold. `shift` is added to an offset to find its byte in the old document.
 */
function settled(old: Source, source: Source, shift: number, from: number, end: number): number {
  // The line that holds `from` may begin before it in one of the two documents, so the next one is the first to try.
  let line = source.lineOf(from) + 1;
  const { marks } = source.scan;
  let mark = source.markFrom(line);
  for (;;) {
    const at = source.start(line);
    if (line >= source.lineCount || at >= end) return end;
    if (old.stateBefore(old.lineOf(at + shift)) === source.stateBefore(line)) return at;
    // The states can meet only behind a line that carries a fence or a marker.
    const next = marks[mark++];
    if (next === undefined) return end;
    line = next + 1;
  }
}

// Parses documents for hosts of Lezer. Takes strings, returns trees with UTF-16 offsets, and reuses the trees of
// unchanged parts.
//
// A host passes the unchanged fragments of an earlier tree. The tree stores the document from which it was built.
// Everything between the fragments becomes one edit of this document, and one `update` gives the next version.

import {
  type Input,
  NodeProp,
  type NodePropSource,
  type NodeSet,
  Parser,
  type ParseWrapper,
  type PartialParse,
  Tree,
  type TreeFragment,
} from "@lezer/common";
import { parse, update } from "../mod.ts";
import { nodeSet } from "../tree/trees.ts";
import * as Term from "../tree/terms.generated.ts";
import type { Chat } from "../types.ts";
import { offsetAtUnits } from "../utf16.ts";
import { UnitTrees } from "./units.ts";

/** A document and the length of the text from which its tree was built. */
interface Made {
  readonly chat: Chat;
  /** Length of the text in code units. */
  readonly length: number;
}

type Ranges = readonly { readonly from: number; readonly to: number }[];

/** What a host adds to the parser. */
export interface ChatParserOptions {
  /** Properties of node types, such as styles and folds. */
  readonly props?: readonly NodePropSource[];
  /** Wrappers around the parser, such as `parseMixed`, from the innermost to the outermost. */
  readonly wrap?: readonly ParseWrapper[];
}

/**
 * A parser of documents for CodeMirror and other hosts of Lezer. Any text is a document, so no tree contains an error.
 */
export class ChatParser extends Parser {
  /** The node types. */
  readonly nodeSet: NodeSet;
  readonly #wrap: readonly ParseWrapper[];
  readonly #trees: UnitTrees;
  /**
   * The document from which a tree was built, stored as a property of the tree so that copies of the tree keep it.
   */
  readonly #made = new NodeProp<Made>({ perNode: true });

  /**
   * Creates a parser.
   * @param options what a host adds
   * @param types the node types to extend
   */
  constructor(options: ChatParserOptions = {}, types: NodeSet = nodeSet) {
    super();
    this.nodeSet = types.extend(...options.props ?? []);
    this.#wrap = options.wrap ?? [];
    this.#trees = new UnitTrees(this.nodeSet);
  }

  /**
   * Returns the same parser with additional options.
   * @param options properties and wrappers to add to the existing ones
   */
  configure(options: ChatParserOptions): ChatParser {
    const wrap = [...this.#wrap, ...options.wrap ?? []];
    return new ChatParser({ props: options.props, wrap }, this.nodeSet);
  }

  /**
   * Creates a parse when Lezer asks for one. The parse reads everything in one step, and reuses fragments of an earlier
   * tree if there are any.
   */
  override createParse(input: Input, fragments: readonly TreeFragment[], ranges: Ranges): PartialParse {
    let made: PartialParse = new WholeParse(ranges, () => this.#tree(input, fragments, ranges));
    for (const wrap of this.#wrap) made = wrap(made, input, fragments, [...ranges]);
    return made;
  }

  #tree(input: Input, fragments: readonly TreeFragment[], ranges: Ranges): Tree {
    const made = this.#next(input, fragments, ranges) ?? fresh(textBetween(input, ranges));
    const { children, positions, length } = this.#trees.of(made.chat);
    const top = this.nodeSet.types[Term.Document]!;
    return new Tree(top, children, positions, length, [[this.#made, made]]);
  }

  /**
   * Updates the document from which the fragments come, and returns its next version; null if nothing can be reused.
   */
  #next(input: Input, fragments: readonly TreeFragment[], ranges: Ranges): Made | null {
    const [{ from, to } = { from: 0, to: 0 }, ...more] = ranges;
    const last = fragments.findLast(({ tree }) => tree.prop(this.#made) !== undefined);
    const old = last?.tree.prop(this.#made);
    if (last === undefined || old === undefined || more.length > 0) return null;
    // Text may be reused if fragments cover the beginning, or the end, of both the old and the new text.
    const first = fragments.find((fragment) => fragment.tree === last.tree);
    const begins = first !== undefined && first.from <= from && from + first.offset === 0;
    const ends = last.to >= to && to + last.offset === old.length;
    if (!begins && !ends) return null;
    let start = begins ? Math.min(first.to, to) : from;
    let end = ends ? Math.max(last.from, start, -last.offset) : to;
    let oldEnd = ends ? end + last.offset : old.length;
    // Neither boundary may split a surrogate pair.
    if (start > from && isHigh(input.read(start - 1, start))) start -= 1;
    if (end < to && isLow(input.read(end, end + 1))) {
      end += 1;
      oldEnd += 1;
    }
    const oldStart = start - from;
    // A byte order mark that exists, or may exist after the edit, changes how offsets count.
    if (oldEnd < oldStart || oldStart === 0 && end > start || old.chat.bom) return null;
    const insert = textBetween(input, [{ from: start, to: end }]);
    if (insert === "" && oldStart === oldEnd) return old;
    const bytes = (units: number) => offsetAtUnits(old.chat, units);
    const chat = update(old.chat, [{
      from: bytes(oldStart),
      to: bytes(oldEnd),
      insert: insert.toWellFormed(),
    }]);
    return { chat, length: to - from };
  }
}

/** A parse that finishes in one step, because even a document of 10 MB takes less time than a frame of the screen. */
class WholeParse implements PartialParse {
  readonly #ranges: Ranges;
  readonly #parse: () => Tree;
  parsedPos: number;
  /** Null, because the whole text is parsed even if a host would stop earlier. */
  readonly stoppedAt = null;

  constructor(ranges: Ranges, parse: () => Tree) {
    this.#ranges = ranges;
    this.#parse = parse;
    this.parsedPos = ranges[0]?.from ?? 0;
  }

  advance(): Tree {
    const tree = this.#parse();
    this.parsedPos = this.#ranges.at(-1)?.to ?? 0;
    return tree;
  }

  stopAt(): void {}
}

function fresh(text: string): Made {
  return { chat: parse(new TextEncoder().encode(text)), length: text.length };
}

/** Returns the text of several ranges as one text. Blanks replace the text between the ranges. */
function textBetween(input: Input, ranges: Ranges): string {
  let text = "";
  let reached = ranges[0]?.from ?? 0;
  for (const { from, to } of ranges) {
    text += " ".repeat(from - reached) + input.read(from, to);
    reached = to;
  }
  return text;
}

function isHigh(text: string): boolean {
  const unit = text.charCodeAt(0);
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLow(text: string): boolean {
  const unit = text.charCodeAt(0);
  return unit >= 0xdc00 && unit < 0xe000;
}

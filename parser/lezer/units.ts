// Converts trees over bytes to trees over UTF-16 code units, which hosts of Lezer use.
//
// Versions of a document share the trees of unchanged parts, so converted trees are cached by their source.

import { type NodeSet, NodeType, Tree, TreeBuffer } from "@lezer/common";
import type { Chat } from "../types.ts";

/** Number of bytes between two recorded positions. */
const STEP = 256;

type Node = Tree | TreeBuffer;

/** Converts syntax trees so that all of them use the node types of one `NodeSet`. */
export class UnitTrees {
  readonly #types: NodeSet;
  readonly #known = new WeakMap<Node, Node>();

  constructor(types: NodeSet) {
    this.#types = types;
  }

  /** Returns the tree of a document without additional properties. */
  of(
    chat: Chat,
  ): { readonly children: readonly Node[]; readonly positions: readonly number[]; length: number } {
    return this.#children(chat.tree, 0, chat);
  }

  /** Converts the children of a node without a name, and counts the code units of the text between the children. */
  #children(node: Tree, from: number, chat: Chat) {
    const children: Node[] = [];
    const positions: number[] = [];
    let units = 0;
    let reached = 0;
    const pass = (to: number) => {
      if (to > reached) units += new Units(chat.slice(from + reached, from + to)).length;
      reached = to;
    };
    for (const [index, child] of node.children.entries()) {
      const position = node.positions[index]!;
      pass(position);
      const made = this.#made(child, from + position, chat);
      children.push(made);
      positions.push(units);
      units += made.length;
      reached = position + child.length;
    }
    pass(node.length);
    return { children, positions, length: units };
  }

  #made(node: Node, from: number, chat: Chat): Node {
    const known = this.#known.get(node);
    if (known !== undefined) return known;
    let made: Node;
    if (node instanceof Tree && node.type.isAnonymous) {
      const { children, positions, length } = this.#children(node, from, chat);
      made = new Tree(NodeType.none, children, positions, length);
    } else made = this.#counted(node, 0, new Units(chat.slice(from, from + node.length)));
    this.#known.set(node, made);
    return made;
  }

  /**
   * Converts a node from byte offsets to UTF-16 offsets. The node begins at byte `from` of the text that `units`
   * counts.
   */
  #counted(node: Node, from: number, units: Units): Node {
    const start = units.at(from);
    const length = units.at(from + node.length) - start;
    if (node instanceof TreeBuffer) {
      const numbers = units.areBytes ? node.buffer : node.buffer.slice();
      for (let index = 0; index < numbers.length && !units.areBytes; index += 4) {
        numbers[index + 1] = units.at(from + numbers[index + 1]!) - start;
        numbers[index + 2] = units.at(from + numbers[index + 2]!) - start;
      }
      return new TreeBuffer(numbers, length, this.#types);
    }
    return new Tree(
      node.type.isAnonymous ? NodeType.none : this.#types.types[node.type.id]!,
      node.children.map((child, index) => this.#counted(child, from + node.positions[index]!, units)),
      node.positions.map((position) => units.at(from + position) - start),
      length,
    );
  }
}

/** Maps byte offsets of UTF-8 text to code units. */
export class Units {
  readonly #bytes: Uint8Array;
  /** For every `STEP`th byte, the number of code units before it. */
  readonly #noted: Float64Array;
  readonly length: number;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#noted = new Float64Array(Math.floor(bytes.length / STEP) + 1);
    let units = 0;
    for (let at = 0; at < bytes.length; at++) {
      if (at % STEP === 0) this.#noted[at / STEP] = units;
      units += unitsBegunBy(bytes[at]!);
    }
    if (bytes.length % STEP === 0) this.#noted[bytes.length / STEP] = units;
    this.length = units;
  }

  /** True if every byte is one code unit. */
  get areBytes(): boolean {
    return this.length === this.#bytes.length;
  }

  /** Returns the number of code units before a byte. */
  at(byte: number): number {
    if (this.areBytes) return byte;
    const step = Math.floor(byte / STEP);
    let units = this.#noted[step]!;
    for (let at = step * STEP; at < byte; at++) units += unitsBegunBy(this.#bytes[at]!);
    return units;
  }
}

/**
 * For the first byte of a character, returns the number of code units of the character: two if it has four bytes, else
 * one. Returns 0 for a continuation byte.
 */
function unitsBegunBy(byte: number): number {
  if (byte < 0x80) return 1;
  if (byte < 0xc0) return 0;
  return byte < 0xf0 ? 1 : 2;
}

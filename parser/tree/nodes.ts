// Syntax nodes as flat numbers, and the Lezer trees made of them.
//
// Four numbers a node, parents before children: type, from, to, and the index behind its last descendant. That is
// the layout of Lezer's own buffers, so nodes become buffers by moving their numbers. Many messages share one list.

import { NodeSet, NodeType, Tree, TreeBuffer } from "npm:@lezer/common@1.5.5";
import { NAMES } from "./names.generated.ts";
import * as Term from "./terms.generated.ts";

/** Longest stretch, and most numbers, of one buffer; its numbers have 16 bits. */
const BUFFER = 0xffff;
/** A node of more bytes or numbers than this is one of its own with children, not part of a buffer. */
const LARGE = 1 << 15;
const LARGE_NUMBERS = 1 << 12;
/** Lists grow from the first length to the second, so that an edit allocates little and a document few lists. */
const FIRST_LIST = 1 << 8;
const LAST_LIST = 1 << 14;

/** Every type of node, by its term. */
export const nodeSet: NodeSet = new NodeSet(
  NAMES.map((name, id) =>
    name === "" ? NodeType.none : NodeType.define({ id, name, top: id === Term.Document, error: false })
  ),
);

/** The nodes `first..end` of a list. Their offsets count from a place that the holder knows. */
export interface NodeRange {
  readonly list: Int32Array;
  readonly first: number;
  readonly end: number;
}

/** Collects nodes, range after range. */
export class Nodes {
  #list = new Int32Array(FIRST_LIST);
  #first = 0;
  #filled = 0;
  #base = 0;

  /** Begins a range; offsets are kept relative to `base`. */
  begin(base: number): void {
    this.#first = this.#filled;
    this.#base = base;
  }

  /** The range that was begun. */
  finish(): NodeRange {
    return { list: this.#list, first: this.#first, end: this.#filled };
  }

  /** A node without children. */
  leaf(term: number, from: number, to: number): void {
    this.close(this.open(term, from), to);
  }

  /** A node with one child of the same range. */
  pair(term: number, child: number, from: number, to: number): void {
    const node = this.open(term, from);
    this.leaf(child, from, to);
    this.close(node, to);
  }

  /** Begins a node; what follows up to `close` are its descendants. Gives its place in the range. */
  open(term: number, from: number): number {
    if (this.#filled + 4 > this.#list.length) this.#renew();
    const index = this.#filled;
    this.#list[index] = term;
    this.#list[index + 1] = from - this.#base;
    this.#filled = index + 4;
    return index - this.#first;
  }

  close(place: number, to: number): void {
    const index = this.#first + place;
    this.#list[index + 2] = to - this.#base;
    this.#list[index + 3] = this.#filled;
  }

  /** Goes on in a new list, to which the begun range moves. Ranges that are finished stay where they are. */
  #renew(): void {
    const begun = this.#filled - this.#first;
    const list = new Int32Array(Math.max(2 * begun, Math.min(2 * this.#list.length, LAST_LIST)));
    for (let index = 0; index < begun; index += 4) {
      const old = this.#first + index;
      list[index] = this.#list[old]!;
      list[index + 1] = this.#list[old + 1]!;
      list[index + 2] = this.#list[old + 2]!;
      list[index + 3] = this.#list[old + 3]! - this.#first;
    }
    this.#list = list;
    this.#first = 0;
    this.#filled = begun;
  }
}

/** Something with nodes that becomes one node of a tree: a message. */
export interface Branch {
  readonly length: number;
  readonly term: number;
  readonly nodes: NodeRange;
  /** Kept when it is a large one. */
  tree: Tree | null;
}

/** Children for a tree, and where each begins. */
interface Children {
  readonly children: (Tree | TreeBuffer)[];
  readonly positions: number[];
}

/** A tree without a name whose children are `branches`: small ones share buffers, a large one has its own nodes. */
export function treeOf(branches: readonly Branch[]): Tree {
  const out: Children = { children: [], positions: [] };
  let at = 0;
  for (let index = 0; index < branches.length;) {
    const branch = branches[index]!;
    if (isLarge(branch.length, branch.nodes.end - branch.nodes.first)) {
      out.children.push(branch.tree ??= largeTree(nodeSet.types[branch.term]!, branch.nodes, branch.length));
      out.positions.push(at);
      at += branch.length;
      index++;
      continue;
    }
    let length = 0;
    let numbers = 0;
    let next = index;
    for (; next < branches.length; next++) {
      const { length: bytes, nodes: { first, end } } = branches[next]!;
      const more = end - first + 4;
      if (isLarge(bytes, end - first) || length + bytes > BUFFER || numbers + more > BUFFER) break;
      length += bytes;
      numbers += more;
    }
    out.children.push(branchBuffer(branches, index, next, numbers, length));
    out.positions.push(at);
    at += length;
    index = next;
  }
  return new Tree(NodeType.none, out.children, out.positions, at);
}

/** A tree of `length` bytes whose children are the nodes of a range. */
export function largeTree(type: NodeType, { list, first, end }: NodeRange, length: number): Tree {
  return nodeTree(type, list, first, end, 0, length);
}

function isLarge(bytes: number, numbers: number): boolean {
  return bytes > LARGE || numbers > LARGE_NUMBERS;
}

function branchBuffer(
  branches: readonly Branch[],
  from: number,
  to: number,
  size: number,
  length: number,
): TreeBuffer {
  const numbers = new Uint16Array(size);
  let out = 0;
  let at = 0;
  for (let index = from; index < to; index++) {
    const { term, length: bytes, nodes: { list, first, end } } = branches[index]!;
    numbers[out] = term;
    numbers[out + 1] = at;
    numbers[out + 2] = at + bytes;
    numbers[out + 3] = out + 4 + end - first;
    out = move(list, first, end, numbers, out + 4, at);
    at += bytes;
  }
  return new TreeBuffer(numbers, length, nodeSet);
}

/** Puts nodes into a buffer at `out`, their offsets moved by `shift`; gives the place behind them. */
function move(
  list: Int32Array,
  first: number,
  end: number,
  numbers: Uint16Array,
  out: number,
  shift: number,
): number {
  const moved = out - first;
  for (let index = first; index < end; index += 4, out += 4) {
    numbers[out] = list[index]!;
    numbers[out + 1] = list[index + 1]! + shift;
    numbers[out + 2] = list[index + 2]! + shift;
    numbers[out + 3] = list[index + 3]! + moved;
  }
  return out;
}

/** The nodes `first..end`, whose offsets count from `-base`, as children of a node. */
function nodeTree(
  type: NodeType,
  list: Int32Array,
  first: number,
  end: number,
  base: number,
  length: number,
): Tree {
  const out: Children = { children: [], positions: [] };
  let packed = first;
  let packedTo = 0;
  const pack = (until: number) => {
    if (packed === until) return;
    const from = list[packed + 1]!;
    const numbers = new Uint16Array(until - packed);
    move(list, packed, until, numbers, 0, -from);
    out.children.push(new TreeBuffer(numbers, packedTo - from, nodeSet));
    out.positions.push(from - base);
  };
  for (let index = first; index < end;) {
    const next = list[index + 3]!;
    const from = list[index + 1]!;
    const to = list[index + 2]!;
    if (isLarge(to - from, next - index)) {
      pack(index);
      out.children.push(nodeTree(nodeSet.types[list[index]!]!, list, index + 4, next, from, to - from));
      out.positions.push(from - base);
      packed = next;
    } else if (isLarge(to - list[packed + 1]!, next - packed)) {
      pack(index);
      packed = index;
    }
    packedTo = to;
    index = next;
  }
  pack(end);
  const tree = new Tree(type, out.children, out.positions, length);
  return out.children.length > 32 ? tree.balance() : tree;
}

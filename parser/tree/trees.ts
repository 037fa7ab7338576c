// Builds the Lezer trees of documents from their nodes. Only editors need trees, and the Lezer package would be a third
// of the code that reading a document loads. So only programs that import this module load the package.

import { NodeSet, NodeType, Tree, TreeBuffer } from "npm:@lezer/common@1.5.5";
import type { Conversation } from "./conversation.ts";
import { registerTreeMaker } from "./making.ts";
import { NAMES } from "./names.generated.ts";
import type { NodeRange } from "./nodes.ts";
import type { Structure } from "./structure.ts";
import * as Term from "./terms.generated.ts";

/** Maximum length of a buffer, in bytes of text and in numbers. A number in a buffer has only 16 bits. */
const BUFFER = 0xffff;
/**
 * A node with more bytes than `LARGE`, or more numbers than `LARGE_NUMBERS`, becomes a tree with children. Smaller
 * nodes share a buffer.
 */
const LARGE = 1 << 15;
const LARGE_NUMBERS = 1 << 12;
/** Maximum number of children of a tree node. With more, a level of groups is inserted. */
const FAN = 32;

/** Every node type, by term. */
export const nodeSet: NodeSet = new NodeSet(
  NAMES.map((name, id) =>
    name === "" ? NodeType.none : NodeType.define({ id, name, top: id === Term.Document, error: false })
  ),
);

function treeOfDocument({ head, conversation }: Structure): Tree {
  const parts = treesOf(conversation);
  if (head.length > 0) parts.unshift(largeTree(NodeType.none, head.nodes, head.length));
  const { children, positions, length } = group(parts);
  return new Tree(nodeSet.types[Term.Document]!, children, positions, length);
}

registerTreeMaker(treeOfDocument);

/** Returns pages as tree nodes, grouped so that no node has too many children. */
function treesOf({ pages }: Conversation): Tree[] {
  let trees = pages.map((page) => page.tree ??= treeOf(page.messages));
  while (trees.length > FAN) {
    const groups: Tree[] = [];
    for (let at = 0; at < trees.length; at += FAN) groups.push(group(trees.slice(at, at + FAN)));
    trees = groups;
  }
  return trees;
}

/** Creates a node without a name. Tree readers see its children in its place. */
function group(trees: readonly Tree[]): Tree {
  const positions: number[] = [];
  let length = 0;
  for (const tree of trees) {
    positions.push(length);
    length += tree.length;
  }
  return new Tree(NodeType.none, trees, positions, length);
}

/** Something that has nodes and becomes one tree node, such as a message. */
interface Branch {
  readonly length: number;
  readonly term: number;
  readonly nodes: NodeRange;
  /** The tree, cached if it is large. */
  tree: Tree | null;
}

/** Children for a tree, and their offsets. */
interface Children {
  readonly children: (Tree | TreeBuffer)[];
  readonly positions: number[];
}

/**
 * Returns a tree without a name whose children are `branches`. Small branches share buffers, and a large one gets its
 * own tree.
 */
function treeOf(branches: readonly Branch[]): Tree {
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

/** Returns a tree of `length` bytes whose children are the nodes of a range. */
function largeTree(type: NodeType, { list, first, end }: NodeRange, length: number): Tree {
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

/** Copies nodes into a buffer at `out`, with offsets moved by `shift`; returns the index after them. */
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

/** Returns a tree node that begins at `base`, with the nodes `first..end` as its children. */
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

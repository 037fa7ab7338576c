// Whoever makes syntax trees: trees.ts, where something imports it.

import type { Tree } from "npm:@lezer/common@1.5.5";
import type { Structure } from "./structure.ts";

let make: ((structure: Structure) => Tree) | null = null;

/** Says who makes trees. */
export function madeBy(maker: (structure: Structure) => Tree): void {
  make = maker;
}

/** The tree of a document. @throws Where nothing imports what makes it. */
export function treeOfStructure(structure: Structure): Tree {
  if (make === null) throw new Error("no syntax tree can be made: import parser/tree/trees.ts");
  return make(structure);
}

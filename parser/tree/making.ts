// Registers the function that makes syntax trees, in trees.ts, if that module is imported.

import type { Tree } from "npm:@lezer/common@1.5.5";
import type { Structure } from "./structure.ts";

let make: ((structure: Structure) => Tree) | null = null;

/** Registers the maker of trees. */
export function registerTreeMaker(maker: (structure: Structure) => Tree): void {
  make = maker;
}

/**
 * Returns the tree of a document.
 * @throws if trees.ts is not imported
 */
export function treeOfStructure(structure: Structure): Tree {
  if (make === null) throw new Error("no syntax tree can be made: import parser/tree/trees.ts");
  return make(structure);
}

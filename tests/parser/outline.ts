// A readable notation for trees: names nested in parentheses, as in `Turn(Marker,Text(Lines))`.

import type { Tree } from "@lezer/common";
import { parse } from "../../parser/mod.ts";
import "../../parser/tree/trees.ts";

/** The tree of a document given as text. Nodes of a kind that stand in a row are written once. */
export function outline(text: string): string {
  return parse(new TextEncoder().encode(text)).tree.toString();
}

/** Every visible node with its range, one a line, so that two trees can be compared. */
export function nodes(tree: Tree): string[] {
  const found: string[] = [];
  let depth = 0;
  tree.iterate({
    enter: (node) => {
      found.push(`${"  ".repeat(depth++)}${node.name} ${node.from}-${node.to}`);
    },
    leave: () => {
      depth--;
    },
  });
  return found;
}

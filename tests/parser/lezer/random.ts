// Random edits of a document as a Lezer host makes them: by code units, even inside characters.

import { type Tree, TreeFragment } from "@lezer/common";
import type { ChatParser } from "../../../parser/lezer/chat_parser.ts";
import { hostileDocument, PIECES, type Random } from "../hostile.ts";

/** What is put in: pieces of structure, characters of one, two and three bytes, and halves of those of four. */
const MORE = [
  "\n",
  "\n\n",
  "ä",
  "€uro",
  "👍🏽",
  "\ud83d",
  "\udc4d",
  "x",
  "\r\n",
  "```\n",
  "# Title\n",
  "*a* `b`",
];

/** A change as hosts tell of it. */
export interface Change {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
}

/** A change of a text of some length. */
export function change(length: number, random: Random): Change {
  const from = random.below(length + 1);
  const to = Math.min(length, from + (random.chance(3) ? random.below(60) : 0));
  const insert = random.pick(random.chance(2) ? PIECES : MORE) + (random.chance(2) ? "\n" : "");
  return { from, to, insert: random.chance(4) && to > from ? "" : insert };
}

/** A hostile document as a host has it. */
export function hostileText(random: Random): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(hostileDocument(random));
}

/** A text and its tree after a change, parsed with what the change left alone. */
export function changed(
  parser: ChatParser,
  before: { readonly text: string; readonly tree: Tree; readonly fragments: readonly TreeFragment[] },
  { from, to, insert }: Change,
) {
  const text = before.text.slice(0, from) + insert + before.text.slice(to);
  const range = { fromA: from, toA: to, fromB: from, toB: from + insert.length };
  const kept = TreeFragment.applyChanges(before.fragments, [range], 2);
  const tree = parser.parse(text, kept);
  return { text, tree, fragments: TreeFragment.addTree(tree, kept) };
}

/** Every node of a tree with what is mounted in it. */
export function outline(tree: Tree): string {
  const lines: string[] = [];
  tree.iterate({ enter: ({ name, from, to }) => void lines.push(`${name} ${from} ${to}`) });
  return lines.join("\n");
}

// The Markdown in messages, parsed for rendering or highlighting. The Markdown parser is loaded on first use, so that
// other commands do not pay for it.

import type { Parser, Tree } from "npm:@lezer/common@1.5.5";
import type { Message } from "./tree/message.ts";
import { ChatTurn } from "./view/turn.ts";
import type { SyntaxTree, TextSegment, Turn } from "./types.ts";

/** A text of a message as Markdown. */
export interface Prose {
  /** The parsed text. */
  readonly segment: TextSegment;
  /** Tree of the text; positions are UTF-16 code units of `segment.value`. */
  readonly tree: SyntaxTree;
}

/** Trees by the index of their text in the message. A message that edits leave unchanged keeps its trees. */
const known = new WeakMap<Message, Map<number, Tree>>();
let loading: Promise<Parser> | null = null;

/** The texts of a message as Markdown, in order; template tags, calls and results separate them. */
export async function proseOf(turn: Turn): Promise<Prose[]> {
  const parser = await (loading ??= load());
  const trees = (turn instanceof ChatTurn ? treesOf(turn.message) : null) ?? new Map<number, Tree>();
  return turn.segments
    .filter((segment) => segment.kind === "text")
    .map((segment, index) => {
      const tree = trees.get(index) ?? parser.parse(segment.value);
      trees.set(index, tree);
      return { segment, tree };
    });
}

function treesOf(message: Message): Map<number, Tree> {
  const trees = known.get(message) ?? new Map<number, Tree>();
  known.set(message, trees);
  return trees;
}

async function load(): Promise<Parser> {
  const { GFM, parser } = await import("npm:@lezer/markdown@1.8.1");
  return parser.configure(GFM);
}

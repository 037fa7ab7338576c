// The Markdown inside of messages, parsed for those who render or colour it. No command pays for it: the parser of
// Markdown is loaded at the first call.

import type { Parser, Tree } from "npm:@lezer/common@1.5.5";
import type { Message } from "./tree/message.ts";
import { ChatTurn } from "./view/turn.ts";
import type { SyntaxTree, TextSegment, Turn } from "./types.ts";

/** A text of a message as Markdown. */
export interface Prose {
  /** The text that was parsed. */
  readonly segment: TextSegment;
  /** Positions are UTF-16 code units of `segment.value`. */
  readonly tree: SyntaxTree;
}

/** Trees by the position of their text in the message: a message that edits leave alone keeps its trees. */
const known = new WeakMap<Message, Map<number, Tree>>();
let loading: Promise<Parser> | null = null;

/** The texts of a message as Markdown, in order. Tags of templates, calls and results stand between them. */
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

// Recognizes the conversation around a call by the content of its earlier turns, whatever the file is called.

import { sha256 } from "../../base/hash.ts";
import type { Call, Chat, Turn } from "../../parser/types.ts";

/** Number of turns that identify a place in a conversation: the reply with the call, and those before it. */
const TURNS = 4;

/** Digests of turns by their position, per document: a reply may have thousands of calls. */
const digests = new WeakMap<Chat, Map<number, Promise<string>>>();

/** Digests of the turns that lead to a call, the reply with the call last. */
export async function turnsBefore(chat: Chat, { turn }: Pick<Call, "turn">): Promise<string[]> {
  const known = digests.get(chat) ?? new Map<number, Promise<string>>();
  digests.set(chat, known);
  return await Promise.all(
    chat.turns.slice(Math.max(0, turn.index + 1 - TURNS), turn.index + 1).map((each) => {
      const digest = known.get(each.index) ?? digestOf(chat, each);
      known.set(each.index, digest);
      return digest;
    }),
  );
}

async function digestOf(chat: Chat, { place: { from, to } }: Turn): Promise<string> {
  // Editors and formatters change line ends, trailing spaces and blank lines. The text of the call is compared exactly.
  const text = chat.text(from, to).replace(/\s+/g, " ").trim();
  return (await sha256(text)).slice(0, 16);
}

/**
 * Whether two calls belong to the same conversation: at least half of the recorded turns are still there. A person may
 * edit an earlier turn and approve the call in one save.
 */
export function isSameConversation(recorded: readonly string[], now: readonly string[]): boolean {
  const kept = recorded.filter((digest) => now.includes(digest)).length;
  return recorded.length > 0 && kept * 2 >= recorded.length;
}

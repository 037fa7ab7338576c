// Where a long conversation can be parted: never between a call and its result.

import { failure, type Outcome, success } from "../../base/problem.ts";
import type { Chat, Turn } from "../../parser/types.ts";

/** A conversation in three: what it begins with, what is summed up, what is kept. */
export interface Cut {
  /** Everything up to here stays as it is: first block, system message. Bytes. */
  readonly head: number;
  /** From here on turns are kept. Bytes. */
  readonly kept: number;
  /** The turns that are summed up. */
  readonly summed: readonly Turn[];
  /** The turns that are kept. */
  readonly turns: readonly Turn[];
  /** The person's message that is worked on where the conversation is parted; it is kept too. Null where none is. */
  readonly asked: Turn | null;
}

/**
 * Parts a conversation so that the last `keep` messages of the person and everything since are kept. Where that is all of
 * it, the last `keep` replies are kept instead, and the message they answer.
 *
 * @param chat a document whose calls all have final results
 * @param keep how many, from 0 on
 * @returns the cut. Fails with `nothing-to-compact` where nothing would be summed up.
 */
export function cutOf(chat: Chat, keep: number): Outcome<Cut> {
  const cut = cutOrNull(chat, keep);
  return cut !== null ? success(cut) : failure(
    "nothing-to-compact",
    "There is nothing before what is kept, so there is nothing to sum up.",
    // Of a question alone there is nothing to sum up either.
    keepLess(chat, keep, ({ summed }) => summed.some(({ role }) => role === "Assistant")),
  );
}

function cutOrNull(chat: Chat, keep: number): Cut | null {
  const first = chat.turns.findIndex(({ role }) => role !== "System");
  const begin = first < 0 ? chat.turns.length : first;
  const asked = chat.turns.filter(hasWords);
  const byWords = keep === 0 ? trailing(chat) : asked.at(-keep)?.index ?? begin;
  const at = lowered(chat, byWords);
  if (at > begin) return cutAt(chat, begin, at);
  const replies = chat.turns.filter(({ role }) => role === "Assistant");
  const byReplies = replies.at(-Math.max(1, keep))?.index ?? begin;
  const inside = lowered(chat, byReplies);
  // A summary of a question alone would be longer than the question.
  if (chat.turns.slice(begin, inside).some(({ role }) => role === "Assistant")) {
    return cutAt(chat, begin, inside);
  }
  return null;
}

/** What to do where a cut does not help: the most messages below `keep` with which one does, or nothing. */
export function keepLess(chat: Chat, keep: number, helps: (cut: Cut) => boolean): string {
  const most = Math.min(keep, chat.turns.length) - 1;
  for (let less = most; less >= 0; less--) {
    const cut = cutOrNull(chat, less);
    if (cut !== null && helps(cut)) return `Keep less: --keep ${less}`;
  }
  return "Go on in the document itself.";
}

/** Whether a message of the person says something beside results. */
export function hasWords(turn: Turn): boolean {
  return turn.role === "You" &&
    turn.segments.some((segment) =>
      segment.kind === "text" ? segment.value.trim() !== "" : segment.kind !== "tool_result"
    );
}

/** The empty message that waits for the person at the end, or the end. */
function trailing(chat: Chat): number {
  const last = chat.turns.at(-1);
  const isEmpty = last?.role === "You" && !hasWords(last) && last.results.length === 0;
  return isEmpty ? last.index : chat.turns.length;
}

/** The last place at or before a turn at which no result is parted from its call. */
function lowered(chat: Chat, index: number): number {
  for (let at = index;; at--) {
    const parts = chat.turns.slice(at).some(({ results }) =>
      results.some(({ id }) => (chat.call(id)?.turn.index ?? at) < at)
    );
    if (!parts || at === 0) return at;
  }
}

function cutAt(chat: Chat, begin: number, at: number): Cut {
  const from = (index: number) => chat.turns[index]?.place.from ?? chat.byteLength;
  const turns = chat.turns.slice(at);
  const summed = chat.turns.slice(begin, at);
  const goesOn = turns[0]?.role === "Assistant";
  return {
    head: from(begin),
    kept: from(at),
    summed,
    turns,
    asked: goesOn ? summed.findLast(hasWords) ?? null : null,
  };
}

// Splits a long conversation, never between a call and its result.

import { failure, type Outcome, success } from "../../base/problem.ts";
import type { Chat, Turn } from "../../parser/types.ts";

/** A conversation in three parts: the head, the turns to summarize, the turns to keep. */
export interface Cut {
  /** Offset in bytes. Bytes before it stay unchanged: frontmatter and system message. */
  readonly head: number;
  /** Offset in bytes from which turns are kept. */
  readonly kept: number;
  readonly summed: readonly Turn[];
  readonly turns: readonly Turn[];
  /**
   * The person's message that the first kept reply answers, if the cut would separate this message from the reply; the
   * message is then kept too. Null if the cut does not separate them.
   */
  readonly asked: Turn | null;
}

/**
 * Splits a conversation so that the last `keep` messages of the person and everything after them are kept. If that is
 * the whole conversation, keeps the last `keep` replies and the message that they answer.
 *
 * @param chat a document whose calls all have final results
 * @param keep number of messages, at least 0
 * @returns the cut. Fails with `nothing-to-compact` if nothing would be summarized.
 */
export function cutOf(chat: Chat, keep: number): Outcome<Cut> {
  const cut = cutOrNull(chat, keep);
  return cut !== null ? success(cut) : failure(
    "nothing-to-compact",
    "All messages are kept, so there is nothing to summarize.",
    // A cut that summarizes only a question, without a reply, is not useful either.
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
  // A summary of only a question would be longer than the question.
  if (chat.turns.slice(begin, inside).some(({ role }) => role === "Assistant")) {
    return cutAt(chat, begin, inside);
  }
  return null;
}

/** Returns a cut after half of the summarized turns; null if they cannot be divided. */
export function halfOf(chat: Chat, { summed }: Cut): Cut | null {
  const begin = summed[0]!.index;
  const middle = lowered(chat, begin + Math.ceil(summed.length / 2));
  return middle > begin && middle < begin + summed.length ? cutAt(chat, begin, middle) : null;
}

/** Returns the cut that keeps the last `count` turns. */
export function cutBeforeLast(chat: Chat, count: number): Cut {
  const begin = Math.max(0, chat.turns.findIndex(({ role }) => role !== "System"));
  return cutAt(chat, begin, chat.turns.length - count);
}

/**
 * Returns the cut that keeps the last reply and what follows it, so that a run can go on where it stopped. Null if
 * there is no reply before that.
 *
 * @param chat a document whose calls all have final results
 */
export function cutBeforeStep(chat: Chat): Cut | null {
  const begin = Math.max(0, chat.turns.findIndex(({ role }) => role !== "System"));
  const last = chat.turns.findLastIndex(({ role }) => role === "Assistant");
  const at = last < 0 ? 0 : lowered(chat, last);
  const helps = chat.turns.slice(begin, at).some(({ role }) => role === "Assistant");
  return helps ? cutAt(chat, begin, at) : null;
}

/**
 * Returns the remedy for a useless cut: the largest `--keep` below `keep` that gives a useful cut. If there is none,
 * the remedy is to continue without compacting.
 */
export function keepLess(chat: Chat, keep: number, helps: (cut: Cut) => boolean): string {
  const most = Math.min(keep, chat.turns.length) - 1;
  for (let less = most; less >= 0; less--) {
    const cut = cutOrNull(chat, less);
    if (cut !== null && helps(cut)) return `Keep fewer messages: --keep ${less}`;
  }
  return "Continue in the document itself.";
}

/** True if a message of the person has content other than results. */
export function hasWords(turn: Turn): boolean {
  return turn.role === "You" &&
    turn.segments.some((segment) =>
      segment.kind === "text"
        ? segment.job !== true && segment.value.trim() !== ""
        : segment.kind !== "tool_result"
    );
}

/**
 * Returns the index of the empty message at the end, in which the person writes next. Without such a message, returns
 * the number of turns.
 */
function trailing(chat: Chat): number {
  const last = chat.turns.at(-1);
  const isEmpty = last?.role === "You" && !hasWords(last) && last.results.length === 0 &&
    !last.segments.some((segment) => segment.kind === "text" && segment.job === true);
  return isEmpty ? last.index : chat.turns.length;
}

/** Returns the last index at or before `index` at which no result is separated from its call. */
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

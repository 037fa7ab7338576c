// Detects a model that repeats the same calls with the same results, with no text in between.

import { JOB_STATUS } from "../../tools/definition.ts";
import { isLifecycle } from "../../parser/text/status_words.ts";
import type { Call, Chat, Result, Segment } from "../../parser/types.ts";

/** Maximum number of replies in a repeated sequence. */
const LONGEST = 8;

/**
 * Returns the calls of the last sequence of replies if the same calls had the same results in that many consecutive
 * sequences; else null. The labels of calls, and their ids in results, are not compared. Equal calls within one reply
 * are not a repetition, because the model has not seen their results yet.
 * @param chat the document
 * @param most number of sequences; 0 disables the check
 * @returns ids in document order
 */
export function findRepeats(chat: Chat, most: number): readonly string[] | null {
  if (most === 0) return null;
  const replies = repliesSinceWords(chat, LONGEST * most);
  for (let period = 1; period <= LONGEST; period++) {
    const recent = replies.slice(-period * most);
    if (recent.length < period * most) return null;
    if (recent.every(({ key }, at) => at < period || key === recent[at - period]!.key)) {
      return recent.slice(-period).flatMap(({ ids }) => ids);
    }
  }
  return null;
}

/** A reply whose calls all have results. */
interface AnsweredReply {
  readonly ids: readonly string[];
  readonly key: string;
}

/** Returns the last replies with calls since the user or the model wrote other text, at most `most`, in order. */
function repliesSinceWords(chat: Chat, most: number): readonly AnsweredReply[] {
  const found: AnsweredReply[] = [];
  for (let index = chat.turns.length - 1; index >= 0 && found.length < most; index--) {
    const turn = chat.turns[index]!;
    if (turn.role === "You") {
      if (turn.segments.some(isWords)) break;
      continue;
    }
    if (turn.role !== "Assistant" || turn.calls.length === 0) break;
    const keys = turn.calls.map((call) => keyOf(call, chat.result(call.id)));
    if (keys.includes(null)) break;
    found.unshift({ ids: turn.calls.map(({ id }) => id), key: JSON.stringify(keys) });
  }
  return found;
}

function isWords(segment: Segment): boolean {
  return segment.kind === "text" ? segment.value.trim() !== "" : segment.kind !== "tool_result";
}

/** Returns what is compared of a call and its result; null while it has no result. */
function keyOf({ id, name, input, inputText, flaw }: Call, result: Result | undefined): string | null {
  if (result === undefined || isLifecycle(result.status)) return null;
  // A call that waited for a background job does not repeat another one, although the job may be in the same state.
  if (name === JOB_STATUS && typeof input.wait_seconds === "number" && input.wait_seconds > 0) return null;
  const { status, content } = result;
  // The label is for the user, and a model may word it differently for the same call, so it is not compared.
  const { label: _, ...rest } = input;
  return JSON.stringify([name, flaw === null ? rest : inputText, status, content.replaceAll(id, "")]);
}

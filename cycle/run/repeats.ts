// Detects a model that repeats the same calls with the same results, with no text in between.

import { isLifecycle } from "../../parser/text/status_words.ts";
import type { Call, Chat, Result, Segment } from "../../parser/types.ts";

/** Maximum number of calls in a repeated round. */
const LONGEST = 8;

/**
 * Returns the calls of the last round if the same calls had the same results in that many consecutive rounds; else
 * null. The labels of calls, and their ids in results, are not compared.
 * @param chat the document
 * @param most number of rounds; 0 disables the check
 * @returns ids in document order
 */
export function findRepeats(chat: Chat, most: number): readonly string[] | null {
  if (most === 0) return null;
  const calls = callsSinceWords(chat, LONGEST * most);
  for (let period = 1; period <= LONGEST; period++) {
    const recent = calls.slice(-period * most);
    if (recent.length < period * most) return null;
    if (recent.every(({ key }, at) => at < period || key === recent[at - period]!.key)) {
      return recent.slice(-period).map(({ id }) => id);
    }
  }
  return null;
}

interface Answered {
  readonly id: string;
  readonly key: string;
}

/** Returns the last calls since the user or the model wrote other text, at most `most`, in document order. */
function callsSinceWords(chat: Chat, most: number): readonly Answered[] {
  const found: Answered[] = [];
  for (let index = chat.turns.length - 1; index >= 0 && found.length < most; index--) {
    const turn = chat.turns[index]!;
    if (turn.role === "You") {
      if (turn.segments.some(isWords)) break;
      continue;
    }
    if (turn.role !== "Assistant" || turn.calls.length === 0) break;
    for (const call of turn.calls.toReversed()) {
      const result = chat.result(call.id);
      if (result === undefined || isLifecycle(result.status)) return found;
      found.unshift({ id: call.id, key: keyOf(call, result) });
    }
  }
  return found;
}

function isWords(segment: Segment): boolean {
  return segment.kind === "text" ? segment.value.trim() !== "" : segment.kind !== "tool_result";
}

function keyOf({ id, name, input, inputText, flaw }: Call, { status, content }: Result): string {
  // The label is for the user, and a model may word it differently for the same call, so it is not compared.
  const { label: _, ...rest } = input;
  return JSON.stringify([name, flaw === null ? rest : inputText, status, content.replaceAll(id, "")]);
}

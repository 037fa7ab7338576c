// Asks a model to summarize the beginning of a conversation, in parts if it does not fit in the context window.

import type { Outcome, Problem } from "../../base/problem.ts";
import { success } from "../../base/problem.ts";
import { CONTEXT_OVERFLOW } from "../../cycle/run/stop.ts";
import { parse } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";
import type { ChatSession } from "../types.ts";
import {
  appendSummaryRequest,
  compactChat,
  longResults,
  withShortResults,
} from "../conversation/compacted.ts";
import { type Cut, cutBeforeLast, halfOf } from "../conversation/cut.ts";
import { lastReply } from "../conversation/last_reply.ts";

/** Overrides for the session that asks for a summary: the run goes on, so no hook may report its end. */
export const SILENT = { enabled: false, on_pending: null, on_done: null, on_error: null };

/** A part of a conversation that is to be summarized. */
export interface Split {
  readonly chat: Chat;
  readonly cut: Cut;
}

/** How a summary is made. */
export interface Summarizing {
  /** Opens a text in memory, in order to send it. */
  readonly open: (bytes: Uint8Array) => Promise<Outcome<ChatSession>>;
  /** Instructions of the person for the summary; empty for none. */
  readonly instructions: string;
  /** Size of results in bytes from which they are shortened if the conversation is too long (`context.prune_over`). */
  readonly pruneOver: number;
  /** Name of the document in the text. */
  readonly label: string;
}

/**
 * Asks the model to summarize the conversation up to the cut. If that is too long, long results are shortened first;
 * if it still is, its first half is summarized, then the rest with that summary.
 *
 * @returns the summary. Fails with `no-summary`, or as a request does.
 */
export async function requestSummary({ chat, cut }: Split, how: Summarizing): Promise<Outcome<string>> {
  const summary = await askForSummary({ chat, cut }, how);
  if (summary.ok || summary.problem.code !== CONTEXT_OVERFLOW) return summary;
  const results = longResults(chat, cut, how.pruneOver);
  if (results.length > 0) {
    const short = parse(withShortResults(chat, results, how.pruneOver, () => how.label));
    return await requestSummary({ chat: short, cut: cutBeforeLast(short, cut.turns.length) }, how);
  }
  const half = halfOf(chat, cut);
  if (half === null) return summary;
  const first = await requestSummary({ chat, cut: half }, how);
  if (!first.ok) return first;
  const rest = parse(compactChat(chat, half, first.value, how.label));
  const restCut = cutBeforeLast(rest, cut.turns.length);
  // Without fewer messages, a single one is too long, and more requests would not end.
  if (restCut.summed.length >= cut.summed.length) return summary;
  return await requestSummary({ chat: rest, cut: restCut }, how);
}

/** Asks the model once to summarize the conversation up to the cut. */
async function askForSummary({ chat, cut }: Split, how: Summarizing): Promise<Outcome<string>> {
  const opened = await how.open(appendSummaryRequest(chat, cut, how.instructions));
  if (!opened.ok) return opened;
  await using asking = opened.value;
  const before = asking.chat.turns.length;
  const { reason, problem } = await asking.send();
  const replied = asking.chat.turns.slice(before).some(({ role }) => role === "Assistant");
  const summary = replied ? lastReply(asking.chat) : "";
  if (reason === "done" && summary !== "") return success(summary);
  return { ok: false, problem: problem ?? noSummary(reason === "cut", summary === "") };
}

function noSummary(isCut: boolean, isEmpty: boolean): Problem {
  const why = isCut ? "was cut off" : isEmpty ? "is empty" : "contains tool calls";
  return {
    code: "no-summary",
    message: `The document was not compacted, because the summary ${why}.`,
    next:
      "Try again, use another model (--model NAME), or only shorten results: flemma compact FILE --results-only",
  };
}

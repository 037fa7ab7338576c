// Reasons why a run of the cycle stops: a problem, a reply, or what the document waits for.

import type { Problem } from "../../base/problem.ts";
import type { Chat } from "../../parser/types.ts";
import { replyPlaceholder } from "../../parser/view/placeholder.ts";
import { waitsForBatch } from "../plan/batched.ts";
import { firstLine, summarizeOpenCalls } from "../plan/open_calls.ts";
import type { ProviderError } from "../../providers/types.ts";
import type { CompletedReply, Stop, StopReason } from "../types.ts";

/** Problem codes that have their own stop reason. */
const REASONS: Readonly<Record<string, StopReason>> = {
  "document-changed": "conflict",
  "last-word": "last-word",
  "context-full": "context-full",
  "budget-reached": "budget",
  "calls-repeat": "repeats",
  "hook-ended": "hook",
  "hook-blocked": "hook",
};

/** Creates a stop. The stop has no calls and no line unless they are given. */
export function createStop(reason: StopReason, rest: Partial<Omit<Stop, "reason">> = {}): Stop {
  return { ids: [], line: null, ...rest, reason };
}

/** The reason for which a run stops after a reply without calls, by the end of the reply. */
const REPLY_STOPS: Readonly<Record<CompletedReply, StopReason>> = {
  whole: "done",
  doubtful: "done",
  cut: "cut",
  full: "cut",
  empty: "stepped",
};

/** The problem of a reply for which the context window had no more room: continuing it would fail too. */
const WINDOW_FULL: Problem = {
  code: "context-full",
  message: "The conversation fills the model's context window.",
  next: "Continue in a smaller document: flemma compact FILE",
};

/** The problem of a reply of which something could not be read, or whose end is unclear. */
const REPLY_DOUBTFUL: Problem = {
  code: "reply-doubtful",
  message: "The reply has ended, but part of it may be missing.",
};

/** What a person must know about a reply, by its end. */
const REPLY_PROBLEMS: Readonly<Partial<Record<CompletedReply, Problem>>> = {
  doubtful: REPLY_DOUBTFUL,
  full: WINDOW_FULL,
};

/** Creates the stop after a reply; `hasCalls` is true if the reply has calls. */
export function createStopAfterReply(
  reply: CompletedReply,
  hasCalls: boolean,
  rest: Partial<Omit<Stop, "reason">>,
): Stop {
  if (hasCalls) return createStop("stepped", rest);
  const problem = REPLY_PROBLEMS[reply];
  return createStop(REPLY_STOPS[reply], problem === undefined ? rest : { ...rest, problem });
}

/** Code of a request that the provider refused because the conversation is too long for the model. */
export const CONTEXT_OVERFLOW = "provider-context-overflow";

/**
 * True if a run ended because the context window is full. If only the provider knows how much fits, it can say so again
 * after a compaction; another one would then not help.
 *
 * @param compactedFor the problem of the stop after which the run has compacted the document last
 */
export function isContextFull({ problem }: Stop, compactedFor: Problem | undefined): boolean {
  return problem?.code === "context-full" ||
    (problem?.code === CONTEXT_OVERFLOW && compactedFor?.code !== CONTEXT_OVERFLOW);
}

export function createStopBy(problem: Problem, rest: Partial<Omit<Stop, "reason">> = {}): Stop {
  const reason = isLimited(problem) ? "limited" : REASONS[problem.code] ?? "failed";
  return createStop(reason, { ...rest, problem });
}

/** True if the account's rate limit ended the run, so that a later run can go on. Spent credit is not such a case. */
function isLimited(problem: Problem & Partial<Pick<ProviderError, "retry">>): boolean {
  return problem.retry?.trouble === "limited";
}

/** Creates the stop of a document whose request is in a batch. */
export function stopForBatch(chat: Chat): Stop {
  const problem = waitsForBatch(chat);
  const line = replyPlaceholder(chat)?.place.start ?? null;
  return createStop("batched", problem === null ? { line } : { line, problem });
}

/** Creates a stop about some calls, with the line of the first of them. */
export function createStopAt(chat: Chat, reason: StopReason, ids: readonly string[]): Stop {
  return createStop(reason, { ids, line: firstLine(chat, ids) });
}

/**
 * Returns why a run stops once nothing runs. The reason is `end` if something ended the run, else what the document
 * waits for.
 * @param yielded the calls whose tools returned control to the user
 */
export function conclude(chat: Chat, end: Stop | null, yielded: readonly string[]): Stop {
  if (end !== null) return end.reason === "cancelled" ? createStopAt(chat, "cancelled", end.ids) : end;
  const { approved, pending, protected: guarded } = summarizeOpenCalls(chat);
  // A call that did not run stays approved; to run it, the person must do something else first.
  const held = approved.filter((id) => yielded.includes(id));
  if (held.length > 0) return createStopAt(chat, "yield", held);
  if (approved.length > 0) return createStopAt(chat, "throttled", approved);
  if (pending.length > 0) return createStopAt(chat, "pending", pending);
  if (guarded.length > 0) return createStopAt(chat, "protected", guarded);
  return yielded.length > 0 ? createStopAt(chat, "yield", yielded) : createStop("stepped");
}

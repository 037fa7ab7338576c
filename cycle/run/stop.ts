// Stops as values: how a run of the cycle may end, and which problem ends it how.

import type { Problem } from "../../base/problem.ts";
import type { CompletedReply, Stop, StopReason } from "../types.ts";

/** The problems that are more than a failure. */
const REASONS: Readonly<Record<string, StopReason>> = {
  "document-changed": "conflict",
  "last-word": "last-word",
  "context-full": "context-full",
  "budget-reached": "budget",
  "calls-repeat": "repeats",
};

/** How a run ends after a reply without calls. */
export const REPLY_STOPS: Readonly<Record<CompletedReply, StopReason>> = {
  whole: "done",
  cut: "cut",
  empty: "stepped",
};

/** A stop with no calls and no line unless given. */
export function stopped(reason: StopReason, rest: Partial<Omit<Stop, "reason">> = {}): Stop {
  return { ids: [], line: null, ...rest, reason };
}

/** The stop that a problem leads to. */
export function stoppedBy(problem: Problem, rest: Partial<Omit<Stop, "reason">> = {}): Stop {
  return stopped(REASONS[problem.code] ?? "failed", { ...rest, problem });
}

// What the end of a helper's run means for the call that asked it. Pure.

import type { Problem } from "../../../base/problem.ts";
import type { StopReason } from "../../../cycle/types.ts";
import type { ExecutionResult } from "../../../tools/definition.ts";
import type { OpenCall, RunResult } from "../../types.ts";

/** The helper of a call. */
export interface AskedHelper {
  readonly name: string;
  /** Path of its document, as messages show it. */
  readonly document: string;
  /** The last line of its results. */
  readonly line: string;
  /** Further lines of its results. */
  readonly notes: readonly string[];
}

/** Ends after which the call waits, because a person is needed or a later run can go on. */
const WAITS: ReadonlySet<StopReason> = new Set<StopReason>([
  "pending",
  "protected",
  "unanswered",
  "throttled",
  "stepped",
  "yield",
  "diagnostics",
  "conflict",
  "hook",
  "budget",
  "limited",
]);

/** Ends that also end the run of the caller. */
const ENDS_RUN: ReadonlySet<StopReason> = new Set<StopReason>(["budget", "limited"]);

/**
 * Returns the result of a call after its helper has stopped.
 *
 * @param reply the helper's last reply
 * @param open the calls of the helper that wait
 */
export function helperResult(
  stop: Pick<RunResult, "reason" | "problem">,
  helper: AskedHelper,
  { reply, open }: { readonly reply: string; readonly open: readonly Pick<OpenCall, "id" | "preview">[] },
): ExecutionResult {
  const { reason, problem } = stop;
  if (reason === "done" || reason === "answered") return answered(reply, helper, problem);
  if (WAITS.has(reason)) {
    const message = waitingSentence(stop, helper, open);
    const waits = { helper: helper.name, document: helper.document, message };
    return {
      success: false,
      waits: ENDS_RUN.has(reason) && problem !== undefined ? { ...waits, ends: problem } : waits,
    };
  }
  const why = problem === undefined
    ? REASONS[reason] ?? `stopped (${reason})`
    : `stopped: ${problem.message}`;
  const text = reply === "" ? [] : [`What it wrote last:\n\n${reply}`];
  return failedHelper(helper, `The helper ${why.replace(/\.$/, "")}.`, text);
}

/** Returns an error result about a helper that exists, so that the model can continue it. */
export function failedHelper(
  { line, notes }: AskedHelper,
  sentence: string,
  more: readonly string[] = [],
): ExecutionResult {
  return { success: false, error: [sentence, ...more, [...notes, line].join("\n")].join("\n\n") };
}

const REASONS: Readonly<Partial<Record<StopReason, string>>> = {
  "turn-limit": "stopped after as many replies with tool calls as it may give (subagents.max_turns)",
  cut: "was cut off at a limit",
  empty: "gave an empty reply",
  cancelled: "was cancelled",
};

function answered(
  reply: string,
  { line, notes }: AskedHelper,
  problem: Problem | undefined,
): ExecutionResult {
  const doubt = problem === undefined ? [] : [`[${problem.message}]`];
  return { success: true, output: [reply, ...doubt, [...notes, line].join("\n")].join("\n\n") };
}

function waitingSentence(
  { problem }: Pick<RunResult, "problem">,
  { name, document }: AskedHelper,
  open: readonly Pick<OpenCall, "id" | "preview">[],
): string {
  const [first, ...more] = open;
  if (first !== undefined) {
    const rest = more.length === 0 ? "" : ` and ${more.length} more`;
    return `The helper ${name} (${document}) waits for you: ${first.preview}${rest}.`;
  }
  return problem === undefined
    ? `The helper ${name} (${document}) has not finished.`
    : `The helper ${name} (${document}) has stopped: ${problem.message}`;
}

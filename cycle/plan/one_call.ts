// Plans the step for one call that the user executes, whatever its block contains.

import type { Problem } from "../../base/problem.ts";
import type { Call, Result } from "../../parser/types.ts";
import { invalidInput } from "./final_block.ts";
import { sourceMissing } from "./sentences.ts";
import { explainUnrunnable, resolutionText } from "./resolution.ts";
import { invalidAnswers } from "./refusals.ts";
import type { AnswersCheck, PlanInputs, Step } from "./types.ts";

/** The step for one call that the user executes by hand, or the reason why it cannot run. */
export type OneStep =
  | Extract<Step, { do: "run" | "resolve" }>
  | { readonly do: "refuse"; readonly problem: Problem };

/**
 * Returns the step for one call that the user executes by hand. Rejected and denied blocks become their error results,
 * an input that the schema rejects gives an error result, and every other call runs, whatever its block contains.
 */
export function planOne(
  call: Call,
  result: Result | undefined,
  inputs: Pick<PlanInputs, "toolKind" | "closestTool" | "unaskedSource"> & {
    readonly inputProblems: readonly string[];
    /** The check of the answers in its block; null if its server asked nothing. */
    readonly answers: AnswersCheck | null;
  },
): OneStep {
  const { answers } = inputs;
  const declines = result?.status === "rejected" && answers?.can === "send";
  const resolution = result === undefined || declines ? null : resolutionText(call, result);
  if (resolution !== null && resolution.because !== "aborted") {
    return { do: "resolve", id: call.id, ...resolution };
  }
  if (inputs.toolKind(call.name) === "unasked") {
    const message = sourceMissing(call.name, inputs.unaskedSource?.(call.name) ?? null);
    return { do: "refuse", problem: { code: "tool-source-missing", message } };
  }
  const refusal = explainUnrunnable(call.name, inputs);
  if (refusal !== null) return { do: "refuse", problem: { code: refusal.because, message: refusal.text } };
  if (answers?.can === "nothing") {
    return { do: "resolve", id: call.id, because: "questions-gone", text: answers.why };
  }
  if (answers?.can === "wait") return { do: "refuse", problem: invalidAnswers(call.id, answers.why) };
  if (inputs.inputProblems.length === 0) return { do: "run", id: call.id };
  return { do: "resolve", id: call.id, because: "invalid-input", text: invalidInput(inputs.inputProblems) };
}

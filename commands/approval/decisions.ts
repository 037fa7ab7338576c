// The words and exit codes for approval decisions that a command tests.

import type { ExplainedCall } from "../../agent/types.ts";
import { Exit } from "../io/exit.ts";

type Decision = ExplainedCall["decision"];

export const DECISION_WORDS: Readonly<Record<Decision, string>> = {
  approve: "approve",
  require_approval: "ask",
  deny: "deny",
};

/** Exit codes by decision, the strictest first. */
const EXITS: readonly (readonly [Decision, number])[] = [
  ["deny", Exit.failure],
  ["require_approval", Exit.person],
  ["approve", Exit.ok],
];

/** Returns the exit code for the strictest of these decisions. */
export function exitOfDecisions(tested: readonly { readonly decision: Decision }[]): number {
  return EXITS.find(([decision]) => tested.some((each) => each.decision === decision))?.[1] ?? Exit.ok;
}

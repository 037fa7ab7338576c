// What the model is told where the sandbox keeps a call from running.

import type { Problem } from "../../base/problem.ts";

/** For the model: what stands in the way is not the call, and another try changes nothing. */
export function sandboxSentence(problem: Problem): string {
  if ("forModel" in problem) return `Sandbox: ${problem.forModel}`;
  // The reasons of all backends are for the person, who is told them.
  const what = problem.code === "backend-unavailable"
    ? "no sandbox works here, so nothing ran."
    : problem.message;
  return `Sandbox: ${what} Do not repeat the call; a person has to mend this first.`;
}

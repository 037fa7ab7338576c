// Message for the model if the sandbox prevents a call from running.

import { type Problem, problemLine } from "../../base/problem.ts";

/** Tells the model that the cause is not the call and that a retry changes nothing. */
export function sandboxSentence(problem: Problem): string {
  // The sandbox is not the cause of this problem, and a person cannot fix it.
  if (problem.code === "arguments-too-long") return problemLine(problem);
  if ("forModel" in problem) return `Sandbox: ${problem.forModel}`;
  // The reasons of all backends are for the person and are shown to the person.
  const what = problem.code === "backend-unavailable"
    ? "No sandbox works on this machine, so nothing ran."
    : problem.message;
  return `Sandbox: ${what} Do not repeat the call; the user must fix this first.`;
}

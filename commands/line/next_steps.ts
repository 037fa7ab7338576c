// Suggests the next command for a document, whatever happened before.

import { joinNames } from "../../base/names.ts";
import { nextNeed } from "../../agent/views/next_need.ts";
import type { Problem } from "../../base/problem.ts";
import type { Chat } from "../../parser/types.ts";
import { formatCommand } from "./advice.ts";

/** Advice if the model's turn is last. `file` as in `formatCommand`. */
export function lastWordSentence(file: string | null): string {
  return `the last message is the model's: write below a line @You:, or ${
    formatCommand("advance", file)
  } --continue`;
}

/** The commands that decide about pending calls, with names that are short to type. `file` as in `formatCommand`. */
export function decisionAdvice(names: readonly string[], file: string | null): string {
  const one = formatCommand("approve", file, ...names.slice(0, 1));
  if (names.length < 2) return one;
  // `flemma review` works only on files.
  const first = file === null ? one : formatCommand("review", file);
  return `${first}, or all of them: ${formatCommand("approve", file)} --all`;
}

/** One sentence about what to do next, from the document alone. */
export function suggestNextStep(chat: Chat, file: string | null): string {
  const need = nextNeed(chat);
  const advance = formatCommand("advance", file);
  switch (need.kind) {
    case "advance":
      return `Continue with: ${advance}`;
    case "decide":
      return `Decide first: ${decisionAdvice(need.names, file)}`;
    case "look":
      return `Check ${joinNames(need.ids)} first: ${formatCommand("status", file)}`;
    case "write":
      return `Write below the last @You:, then: ${advance}`;
    case "go-on": {
      const sentence = lastWordSentence(file);
      return sentence.charAt(0).toUpperCase() + sentence.slice(1);
    }
  }
}

/**
 * What to do after a request failed; null if the problem's own advice is enough. Suggests looking at the
 * request if it would likely fail again and has no advice.
 */
export function suggestAfterProblem(problem: Problem, chat: Chat, file: string | null): string | null {
  // The same content would be refused again, so only the problem's own advice applies.
  if (problem.code === "provider-blocked") return null;
  // If the person has to do something first, the failure does not change that.
  if (nextNeed(chat).kind !== "advance" || mayPass(problem)) return suggestNextStep(chat, file);
  if (problem.next !== undefined) return null;
  return `The same request is likely to fail again. Inspect it with: ${
    formatCommand("advance --no-tools --dry-run", file)
  }`;
}

/** Whether the unchanged request may succeed later. */
function mayPass(problem: Problem): boolean {
  return "retry" in problem || problem.code === "provider-network" || problem.code === "provider-timeout";
}

// Suggests the next command for a document, whatever happened before.

import { joinNames } from "../../base/names.ts";
import { nextNeed } from "../../agent/views/next_need.ts";
import type { Problem } from "../../base/problem.ts";
import type { Chat } from "../../parser/types.ts";
import { formatCommand } from "./advice.ts";

/**
 * Returns advice for a document in which the model's turn is last. `file` has the same meaning as in `formatCommand`.
 */
export function lastWordSentence(file: string | null): string {
  return `the last message is the model's: write below a line @You:, or ${
    formatCommand("advance", file)
  } --continue`;
}

/**
 * Returns the commands that decide about pending calls, with names that are short to type. `file` has the same meaning
 * as in `formatCommand`.
 */
export function decisionAdvice(names: readonly string[], file: string | null): string {
  // All of them wait in the documents of helpers, through which review walks.
  if (names.length === 0) return formatCommand("review", file);
  const one = formatCommand("approve", file, ...names.slice(0, 1));
  if (names.length < 2) return one;
  // `flemma review` works only on files.
  const first = file === null ? one : formatCommand("review", file);
  return `${first}, or all of them: ${formatCommand("approve", file)} --all`;
}

/** Returns one sentence about what to do next, judging from the document alone. */
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
 * Returns what to do after a request failed; null if the problem's own advice is enough. If the request would likely
 * fail again and the problem has no advice, suggests looking at the request.
 */
export function suggestAfterProblem(problem: Problem, chat: Chat, file: string | null): string | null {
  // The same content would be refused again, so only the problem's own advice applies.
  if (problem.code === "provider-blocked") return null;
  // If the document needs something else before the next request, the failure of this request does not change that.
  if (nextNeed(chat).kind !== "advance" || mayPass(problem)) return suggestNextStep(chat, file);
  if (problem.next !== undefined) return null;
  return `The same request is likely to fail again. Inspect it with: ${
    formatCommand("advance --no-tools --dry-run", file)
  }`;
}

/** True if the unchanged request may succeed later. */
function mayPass(problem: Problem): boolean {
  return "retry" in problem || problem.code === "provider-network" || problem.code === "provider-timeout";
}

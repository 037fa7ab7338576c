// What works now: the words a person can follow after a run, however it ended.

import { listed } from "../../base/names.ts";
import { nextNeed } from "../../agent/views/next_need.ts";
import type { Problem } from "../../base/problem.ts";
import type { Chat } from "../../parser/types.ts";
import { formatCommand } from "./advice.ts";

/** What the person does when the model spoke last. `file` as in `formatCommand`. */
export function lastWordSentence(file: string | null): string {
  return `the last word is the model's: write below a line @You:, or ${
    formatCommand("advance", file)
  } --continue`;
}

/** The commands that decide about pending calls, named as a hand can type them. `file` as in `formatCommand`. */
export function decisionAdvice(names: readonly string[], file: string | null): string {
  const one = formatCommand("approve", file, ...names.slice(0, 1));
  if (names.length < 2) return one;
  // The dialogue is about files.
  const first = file === null ? one : formatCommand("review", file);
  return `${first}, or all of them: ${formatCommand("approve", file)} --all`;
}

/** One sentence that says what leads on from here, whatever was done before. */
export function wayOn(chat: Chat, file: string | null): string {
  const need = nextNeed(chat);
  const advance = formatCommand("advance", file);
  switch (need.kind) {
    case "advance":
      return `Go on with: ${advance}`;
    case "decide":
      return `Decide first: ${decisionAdvice(need.names, file)}`;
    case "look":
      return `Look at ${listed(need.ids)} first: ${formatCommand("status", file)}`;
    case "write":
      return `Write below the last @You:, then: ${advance}`;
    case "go-on": {
      const sentence = lastWordSentence(file);
      return sentence.charAt(0).toUpperCase() + sentence.slice(1);
    }
  }
}

/**
 * What leads on after a request that failed, in place of the way on where the same request would fail again: nothing
 * beside the advice of the problem itself, or a look at the request where that has none. Null: nothing to add.
 */
export function wayOnAfter(problem: Problem, chat: Chat, file: string | null): string | null {
  // What was refused for its content would be refused again as it stands: only what the sentence says itself leads on.
  if (problem.code === "provider-blocked") return null;
  // Where the person has something to do first, it is the same whatever failed.
  if (nextNeed(chat).kind !== "advance" || mayPass(problem)) return wayOn(chat, file);
  if (problem.next !== undefined) return null;
  return `The same request is likely to fail again. Look at it with: ${
    formatCommand("send", file)
  } --dry-run`;
}

/** Whether the same request may succeed later, nothing changed but the world. */
function mayPass(problem: Problem): boolean {
  return "retry" in problem || problem.code === "provider-network" || problem.code === "provider-timeout";
}

// Reports the problem of a command that could not do its work, and returns the exit code.

import type { Problem } from "../../base/problem.ts";
import { exitOf } from "./exit.ts";
import type { Messages } from "./messages.ts";

/** Commands that are useful on a document that was created a moment ago. */
const TAKE_NEW_ONES: ReadonlySet<string> = new Set([
  "advance",
  "send",
  "estimate",
  "check",
  "status",
  "watch",
]);

/** Reports the problem and returns its exit code. */
export function refuse(
  { messages, arguments: given }: {
    readonly messages: Messages;
    readonly arguments?: { readonly command: { readonly name: string } };
  },
  problem: Problem,
): number {
  const { code, next } = problem;
  // Other commands need a document with content, so the advice to create an empty document would not help.
  const helps = code !== "document-missing" || given === undefined || TAKE_NEW_ONES.has(given.command.name);
  messages.problem({ ...problem, next: helps ? next : "To see the documents here: flemma list" });
  return exitOf(problem);
}

// The end of a command that could not do what was asked: the problem is told, its exit code is the answer.

import type { Problem } from "../../base/problem.ts";
import { exitOf } from "./exit.ts";
import type { Messages } from "./messages.ts";

/** Commands to which a document that was made just now has something to say. */
const TAKE_NEW_ONES: ReadonlySet<string> = new Set(["advance", "send", "estimate", "check", "status"]);

/** Tells the problem; answers its exit code. */
export function refuse(
  { messages, arguments: given }: {
    readonly messages: Messages;
    readonly arguments?: { readonly command: { readonly name: string } };
  },
  problem: Problem,
): number {
  const { code, next } = problem;
  // What is to be read, changed or gone on from is somewhere else; an empty document does not help.
  const helps = code !== "document-missing" || given === undefined || TAKE_NEW_ONES.has(given.command.name);
  messages.problem({ ...problem, next: helps ? next : undefined });
  return exitOf(problem);
}

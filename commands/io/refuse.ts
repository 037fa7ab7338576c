// The end of a command that could not do what was asked: the problem is told, its exit code is the answer.

import type { Problem } from "../../base/problem.ts";
import { exitOf } from "./exit.ts";
import type { Messages } from "./messages.ts";

export function refuse({ messages }: { readonly messages: Messages }, problem: Problem): number {
  messages.problem(problem);
  return exitOf(problem);
}

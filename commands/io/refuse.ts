// The end of a command that could not do what was asked: the problem is told, its exit code is the answer.

import type { Problem } from "../../base/problem.ts";
import { exitOf } from "./exit.ts";
import type { Invocation } from "../invocation.ts";

export function refuse({ messages }: Invocation, problem: Problem): number {
  messages.problem(problem);
  return exitOf(problem);
}

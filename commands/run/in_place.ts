// `flemma FILE` at a terminal: asks about the calls that wait, then goes on.

import type { Environment } from "../../base/environment.ts";
import type { Invocation } from "../invocation.ts";
import { Exit } from "../io/exit.ts";
import type { Arguments } from "../line/options.ts";
import { drive, goesOn } from "./drive.ts";

/** Options with which a program, or a person who wants no questions, runs the document. */
const WITHOUT_QUESTIONS = [
  "json",
  "events",
  "messages",
  "cursor",
  "quiet",
  "only",
  "line",
  "no-tools",
  "dry-run",
];

/** True if the command line is `flemma FILE` and a person can answer: at a terminal, not in a CI job. */
export function asksInPlace(
  { arguments: { isBare, positionals, options }, environment }: Pick<Invocation, "environment"> & {
    readonly arguments: Pick<Arguments, "isBare" | "positionals" | "options">;
  },
  isTerminal = () => Deno.stdin.isTerminal() && Deno.stdout.isTerminal(),
): boolean {
  return isBare === true && positionals.length === 1 && positionals[0] !== "-" &&
    !WITHOUT_QUESTIONS.some((name) => options.has(name)) && !isInCi(environment) && isTerminal();
}

/** True in a CI job. `0` and `false` mean that it is none. */
function isInCi({ variables: { CI = "" } }: Pick<Environment, "variables">): boolean {
  return !["", "0", "false"].includes(CI.toLowerCase());
}

/** Runs the document, asks about the calls that wait, and runs it again until nothing waits or the person stops. */
export async function runInPlace(invocation: Invocation): Promise<number> {
  const [file = ""] = invocation.arguments.positionals;
  let goOn = goesOn(invocation);
  for (;;) {
    let waits = false;
    const exit = await drive(invocation, ({ session }) => session.advance({ goOn }), {
      compacts: true,
      ended: ({ stop, exit }) => waits = stop.reason === "pending" && exit === Exit.person,
    });
    if (!waits) return exit;
    const { reviewInPlace } = await import("../approval/review.ts");
    const reviewed = await reviewInPlace(invocation, file);
    if (reviewed !== Exit.ok) return reviewed;
    goOn = false;
  }
}

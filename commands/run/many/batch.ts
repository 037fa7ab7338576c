// Advances several documents in one process. Each has its own lock and settings, and all share the provider limits.

import { RequestLimiter } from "../../../providers/http/limiter.ts";
import { ownSignal, runInTurn } from "../../../batch/in_turn.ts";
import { callerOf } from "../../../base/paths.ts";
import { thrownText } from "../../../base/problem.ts";
import { knownPath } from "../../../cycle/storage/read.ts";
import { drive, goesOn } from "../drive.ts";
import type { Invocation } from "../../invocation.ts";
import { Exit, worstExit } from "../../io/exit.ts";
import { Interrupts } from "../../io/interrupt.ts";
import { BatchReport } from "./report.ts";

/** Advances every document of the command line; returns the worst exit code. */
export async function advanceMany(invocation: Invocation, jobs: number): Promise<number> {
  const { messages } = invocation;
  const files = await distinct(invocation);
  const report = new BatchReport(invocation, files.length);
  const limiter = new RequestLimiter();
  const interrupts = new Interrupts((fault, exit) => {
    if (fault !== null) messages.say(`flemma: Internal error: ${fault}`);
    report.end({ interrupted: true });
    messages.close(exit);
    return exit;
  });
  const advance = async (file: string): Promise<number> => {
    const { messages: own, among } = report.begin(file);
    using ended = ownSignal(interrupts.signal);
    const one = { ...invocation.arguments, positionals: [file] };
    let exit: number;
    try {
      exit = await drive(
        { ...invocation, arguments: one, messages: own },
        ({ session }) => session.advance({ goOn: goesOn(invocation) }),
        { among: { ...among, interrupts, limiter, signal: ended.signal }, compacts: true },
      );
    } catch (thrown) {
      // A fault in one document must not stop the others.
      own.say(`Internal error: ${thrownText(thrown)}`);
      exit = Exit.failure;
    }
    report.ended(file, exit);
    return exit;
  };
  try {
    const codes = await runInTurn(files, { jobs, signal: interrupts.signal }, advance);
    report.end({ interrupted: interrupts.received });
    const known = codes.filter((code) => code !== undefined);
    return interrupts.received ? Exit.interrupted : worstExit(known);
  } finally {
    interrupts.dispose();
  }
}

/** Returns each document once, under the first of its names, without the helpers of documents. */
async function distinct({ arguments: { positionals }, environment }: Invocation): Promise<readonly string[]> {
  const byPath = new Map<string, string>();
  for (const file of positionals) {
    const path = await knownPath(environment, file);
    if (!byPath.has(path)) byPath.set(path, file);
  }
  const helpers = [...byPath.keys()].filter((path) => callerOf(path) !== null);
  // A pattern such as **/*.chat also matches helpers. Their callers advance them.
  if (helpers.length < byPath.size) { for (const path of helpers) byPath.delete(path); }
  return [...byPath.values()];
}

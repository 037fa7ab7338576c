// `flemma batch fetch`: writes the replies that are there, and goes on with documents whose models called tools.

import { fetchDocuments } from "../../../batch/mod.ts";
import { journalProblem } from "../../../batch/journal.ts";
import { BatchOutcomes } from "../../../batch/library.ts";
import { plural } from "../../../base/text/plural.ts";
import type { Invocation } from "../../invocation.ts";
import { Exit } from "../../io/exit.ts";
import { Interrupts } from "../../io/interrupt.ts";
import { refuse } from "../../io/refuse.ts";
import { numberOption, switchOption } from "../../line/options.ts";
import { batchCommand } from "./files.ts";
import { BatchLines, writeBatchResult } from "./report.ts";

/** Batches that a fetch sends at most, unless told otherwise. */
const ROUNDS = 1;

export async function run(invocation: Invocation): Promise<number> {
  const { messages, arguments: given } = invocation;
  const read = await batchCommand(invocation);
  if (!read.ok) return refuse(invocation, read.problem);
  const { host, files, jobs } = read.value;
  const interrupts = new Interrupts((fault, exit) => {
    if (fault !== null) messages.say(`flemma: Internal error: ${fault}`);
    return exit;
  });
  const finishesLive = switchOption(given, "finish-live") === true;
  const lines = new BatchLines(invocation, { finishesLive });
  const outcomes = new BatchOutcomes();
  try {
    const result = await fetchDocuments({
      ...host,
      files,
      rounds: numberOption(given, "rounds") ?? ROUNDS,
      jobs,
      waits: switchOption(given, "wait") === true,
      finishesLive,
      signal: interrupts.signal,
      hear: lines.hear,
      tell: (event) => {
        lines.tell(event);
        outcomes.event(event);
      },
      begins: () => lines.begin(),
    });
    const { written } = lines;
    if (switchOption(given, "json") === true) writeBatchResult({ ...outcomes.value, out: result.out });
    if (interrupts.received) return Exit.interrupted;
    if (result.out === 0 && written === 0 && lines.exit === Exit.ok) messages.note("No batch is out.");
    else if (written > 0) messages.note(`${plural(written, "reply", "replies")} written, ${result.out} out.`);
    return lines.exit === Exit.ok && (result.out > 0 || result.needsPerson) ? Exit.person : lines.exit;
  } catch (thrown) {
    return refuse(invocation, journalProblem(thrown));
  } finally {
    interrupts.dispose();
  }
}

// `flemma batch send`: sends the requests of many documents as batches, at half price.

import { countOut, isLeftOut, sendDocuments } from "../../../batch/mod.ts";
import type { CollectedRequest } from "../../../batch/collect.ts";
import { journalProblem } from "../../../batch/journal.ts";
import { BatchOutcomes } from "../../../batch/library.ts";
import { plural } from "../../../base/text/plural.ts";
import type { Invocation } from "../../invocation.ts";
import { formatCount, money } from "../../io/amounts.ts";
import { Exit } from "../../io/exit.ts";
import { Interrupts } from "../../io/interrupt.ts";
import { refuse } from "../../io/refuse.ts";
import { switchOption } from "../../line/options.ts";
import { batchCommand } from "./files.ts";
import { asksAt, confirmed } from "./question.ts";
import { BatchLines, writeBatchResult } from "./report.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { messages, arguments: given } = invocation;
  const read = await batchCommand(invocation);
  if (!read.ok) return refuse(invocation, read.problem);
  const { host, files, jobs } = read.value;
  if (files.length === 0) {
    return refuse(invocation, {
      code: "usage",
      message: "No document is named.",
      next: "Name documents, or a list of them: flemma batch send --from LIST",
    });
  }
  const lines = new BatchLines(invocation);
  const outcomes = new BatchOutcomes();
  const interrupts = new Interrupts((fault, exit) => {
    if (fault !== null) messages.say(`flemma: Internal error: ${fault}`);
    return exit;
  });
  try {
    await sendDocuments(files, {
      ...host,
      jobs,
      signal: interrupts.signal,
      hear: lines.hear,
      tell: (event) => {
        if (isLeftOut(event)) lines.leftOut(event);
        else lines.tell(event);
        outcomes.event(event);
      },
      agree: async (requests, notices) => {
        for (const notice of notices) messages.say(`flemma: ${notice}`);
        messages.note(estimateLine(requests));
        if (switchOption(given, "yes") === true || !asksAt()) return true;
        const agrees = await confirmed(`Send ${plural(requests.length, "document")}?`, interrupts.signal);
        if (!agrees && !interrupts.received) messages.note("Nothing was sent.");
        return agrees;
      },
    });
    if (switchOption(given, "json") === true) {
      writeBatchResult({ ...outcomes.value, out: await countOut(host.environment) });
    }
    return interrupts.received ? Exit.interrupted : lines.exit;
  } catch (thrown) {
    return refuse(invocation, journalProblem(thrown));
  } finally {
    interrupts.dispose();
  }
}

/** Says what the requests cost, without their replies. */
function estimateLine(requests: readonly CollectedRequest[]): string {
  const tokens = requests.reduce((sum, request) => sum + request.tokens, 0);
  const costs = requests.flatMap(({ cost }) => cost ?? []);
  const unpriced = requests.length - costs.length;
  const sum = costs.reduce((total, cost) => total + cost, 0);
  const dollars = costs.length === 0 ? "price unknown" : `about ${money(sum)} at half price`;
  const more = unpriced > 0 && costs.length > 0
    ? ` and ${plural(unpriced, "document")} of unknown price`
    : "";
  return `${plural(requests.length, "document")}, about ${
    formatCount(tokens)
  } tokens in, ${dollars}${more}; the replies ` +
    "come on top.";
}

// `flemma batch cancel`: cancels batches at their providers.

import { cancelBatch } from "../../../batch/fetch.ts";
import { journalProblem, openItems, readBatches } from "../../../batch/journal.ts";
import { problemLine } from "../../../base/problem.ts";
import { knownPath } from "../../../cycle/storage/read.ts";
import type { Invocation } from "../../invocation.ts";
import { hostOptions } from "../../document/host.ts";
import { Exit } from "../../io/exit.ts";
import { refuse } from "../../io/refuse.ts";
import { BatchLines } from "./report.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { messages, environment, arguments: { positionals } } = invocation;
  const host = hostOptions(invocation);
  if (!host.ok) return refuse(invocation, host.problem);
  const open = (await readBatches(environment)).filter(({ isDone }) => !isDone);
  const wanted = new Set<string>();
  for (const name of positionals) {
    const path = await knownPath(environment, name);
    const found = open.find((record) =>
      record.head.id === name || openItems(record).some((item) => item.path === path)
    );
    if (found === undefined) {
      return refuse(invocation, {
        code: "batch-none",
        message: `${name} is neither a batch that is out nor a document in one.`,
        next: "List the batches: flemma batch status",
      });
    }
    wanted.add(found.head.id);
  }
  const lines = new BatchLines(invocation);
  let exit: number = Exit.ok;
  for (const record of open) {
    if (positionals.length > 0 && !wanted.has(record.head.id)) continue;
    const problem = await cancelBatch(record, { ...host.value, tell: lines.tell }).catch(journalProblem);
    if (problem === null) messages.note(words(record.head.id, record.remote !== null));
    else {
      messages.say(`Batch ${record.head.id}: ${problemLine(problem)}`);
      exit = Exit.failure;
    }
  }
  return lines.exit === Exit.ok ? exit : lines.exit;
}

function words(id: string, isOut: boolean): string {
  return isOut
    ? `Batch ${id}: canceled. Replies that were finished still come; free the documents with: flemma batch fetch`
    : `Batch ${id}: given up, and its documents are free again.`;
}

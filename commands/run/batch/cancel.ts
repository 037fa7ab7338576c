// `flemma batch cancel`: cancels batches at their providers.

import { cancelBatch, type CanceledBatch } from "../../../batch/fetch.ts";
import { journalProblem, openItems, readBatches } from "../../../batch/journal.ts";
import { type Outcome, problemLine } from "../../../base/problem.ts";
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
    const { id } = record.head;
    const options = { ...host.value, tell: lines.tell, hear: lines.hear };
    const canceled = await cancelBatch(record, options).catch(unwritable);
    if (canceled.ok) messages.note(`Batch ${id}: ${WORDS[canceled.value]}`);
    else {
      messages.say(`Batch ${id}: ${problemLine(canceled.problem)}`);
      exit = Exit.failure;
    }
  }
  return lines.exit === Exit.ok ? exit : lines.exit;
}

const WORDS: Readonly<Record<CanceledBatch, string>> = {
  "canceled": "canceled. Replies that were finished still come; free the documents with: flemma batch fetch",
  "given-up": "given up, and its documents are free again.",
  "ended": "it had ended already, and nothing of it is out any more.",
};

function unwritable(thrown: unknown): Outcome<CanceledBatch> {
  return { ok: false, problem: journalProblem(thrown) };
}

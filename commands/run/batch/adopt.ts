// `flemma batch adopt`: names the provider's batch of a send whose answer was lost.

import { adoptBatch } from "../../../batch/fetch.ts";
import { journalProblem, readBatches } from "../../../batch/journal.ts";
import type { Invocation } from "../../invocation.ts";
import { hostOptions } from "../../document/host.ts";
import { Exit } from "../../io/exit.ts";
import { refuse } from "../../io/refuse.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { messages, environment, arguments: { positionals: [id = "", remote = ""] } } = invocation;
  const host = hostOptions(invocation);
  if (!host.ok) return refuse(invocation, host.problem);
  const record = (await readBatches(environment)).find(({ head, isDone }) => head.id === id && !isDone);
  if (record === undefined) {
    return refuse(invocation, {
      code: "batch-none",
      message: `No batch ${id} is out.`,
      next: "List the batches: flemma batch status",
    });
  }
  const problem = await adoptBatch(record, remote, host.value).catch(journalProblem);
  if (problem !== null) return refuse(invocation, problem);
  messages.note(`Batch ${id}: it is ${remote} at its provider. Fetch it: flemma batch fetch`);
  return Exit.ok;
}

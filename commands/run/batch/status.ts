// `flemma batch status`: lists the batches that are out.

import { reportBatches } from "../../../batch/fetch.ts";
import { openItems } from "../../../batch/journal.ts";
import { problemLine } from "../../../base/problem.ts";
import { plural } from "../../../base/text/plural.ts";
import { visible } from "../../../base/visible.ts";
import type { Invocation } from "../../invocation.ts";
import { hostOptions } from "../../document/host.ts";
import { Exit } from "../../io/exit.ts";
import { refuse } from "../../io/refuse.ts";
import { writeLines } from "../../io/streams.ts";

export async function run(invocation: Invocation): Promise<number> {
  const host = hostOptions(invocation);
  if (!host.ok) return refuse(invocation, host.problem);
  const reports = await reportBatches(host.value);
  if (reports.length === 0) {
    writeLines("No batch is out.\n");
    return Exit.ok;
  }
  for (const report of reports) writeLines(`${visible(lineOf(report))}\n`);
  return Exit.person;
}

function lineOf({ record, state, problem }: Awaited<ReturnType<typeof reportBatches>>[number]): string {
  const { head } = record;
  const since = head.time.slice(0, 16).replace("T", " ");
  const about = `${head.id}  ${since} UTC  ${head.provider}/${head.model}  ${
    plural(openItems(record).length, "document")
  }`;
  if (problem !== null) return `${about}  ${problemLine(problem)}`;
  if (state === null) return `${about}  not known whether the provider took it`;
  if (state.kind === "failed") return `${about}  failed: ${state.message}`;
  if (state.kind === "ended") return `${about}  ready: flemma batch fetch`;
  return `${about}  ${state.done === null || state.done === 0 ? "out" : `${state.done} done`}`;
}

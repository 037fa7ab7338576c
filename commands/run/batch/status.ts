// `flemma batch status`: lists the batches that are out, as lines or as JSON.

import { reportBatches } from "../../../batch/fetch.ts";
import { openItems, readJournals } from "../../../batch/journal.ts";
import { type Problem, problemLine } from "../../../base/problem.ts";
import { plural } from "../../../base/text/plural.ts";
import { visible } from "../../../base/visible.ts";
import type { Invocation } from "../../invocation.ts";
import { hostOptions } from "../../document/host.ts";
import { Exit } from "../../io/exit.ts";
import { refuse } from "../../io/refuse.ts";
import { safeJson } from "../../io/safe_json.ts";
import { writeLines, writeOutput } from "../../io/streams.ts";
import { switchOption } from "../../line/options.ts";
import { damagedLine } from "./report.ts";

/** A batch that is out. */
interface BatchReport {
  readonly id: string;
  readonly provider: string;
  readonly model: string;
  /** When it was sent, in UTC. */
  readonly sent: string;
  /**
   * `unknown`: it is not known whether the provider took it, or the provider could not be asked. `ready`: all results that
   * will come are there.
   */
  readonly state: "unknown" | "working" | "ready" | "failed";
  /** Requests that the provider has answered; null if it does not say. */
  readonly answered: number | null;
  /** Paths of the documents that wait for it. */
  readonly documents: readonly string[];
  /** Why it failed, or why the provider could not be asked; null otherwise. */
  readonly problem: Pick<Problem, "code" | "message" | "next"> | null;
}

type Overview = Awaited<ReturnType<typeof reportBatches>>[number];

export async function run(invocation: Invocation): Promise<number> {
  const host = hostOptions(invocation);
  if (!host.ok) return refuse(invocation, host.problem);
  const overviews = await reportBatches(host.value);
  if (switchOption(invocation.arguments, "json") === true) {
    const report: { readonly batches: readonly BatchReport[] } = { batches: overviews.map(reportOf) };
    writeOutput(`${safeJson(report)}\n`);
  } else if (overviews.length === 0) writeLines("No batch is out.\n");
  else for (const overview of overviews) writeLines(`${visible(lineOf(overview))}\n`);
  const { damaged } = await readJournals(invocation.environment);
  for (const path of damaged) invocation.messages.say(damagedLine(path));
  if (damaged.length > 0) return Exit.failure;
  return overviews.length === 0 ? Exit.ok : Exit.person;
}

function reportOf({ record, state, problem }: Overview): BatchReport {
  const { id, provider, model, time } = record.head;
  const states = { working: "working", ended: "ready", failed: "failed" } as const;
  const failed: Problem | null = state?.kind === "failed"
    ? { code: "batch-failed", message: state.message }
    : null;
  const why = problem ?? failed;
  return {
    id,
    provider,
    model,
    sent: time,
    state: state === null ? "unknown" : states[state.kind],
    answered: state?.kind === "working" ? state.done : null,
    documents: openItems(record).map(({ path }) => path),
    problem: why === null ? null : { code: why.code, message: why.message, next: why.next },
  };
}

function lineOf({ record, state, problem }: Overview): string {
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

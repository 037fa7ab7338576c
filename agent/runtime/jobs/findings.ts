// What `check` and editors say about background jobs without a result in the document.

import type { Environment } from "../../../base/environment.ts";
import type { Chat, Diagnostic } from "../../../parser/types.ts";
import { documentJobs } from "../../../parser/view/jobs.ts";
import { type JobView, openJobsOf } from "./records.ts";

/** Returns a finding for each job whose result is missing. Jobs that another machine may run have none. */
export function jobFindings(environment: Environment, document: string, chat: Chat): readonly Diagnostic[] {
  const results = new Map(documentJobs(chat).map(({ id, result }) => [id, result]));
  return openJobsOf(environment, document, chat).flatMap((view): Diagnostic[] => {
    const words = wordsOf(view);
    const line = results.get(view.job)?.header.start;
    if (words === null || line === undefined) return [];
    return [{ ...words, type: "tool_result", id: view.call, start: line, end: line }];
  });
}

function wordsOf({ job, state, pid }: JobView): Pick<Diagnostic, "code" | "severity" | "message"> | null {
  switch (state) {
    case "lost": {
      const message =
        `The background job ${job} is lost: its program is gone. The next run writes its result.`;
      return { code: "job_lost", severity: "warning", message };
    }
    case "ended": {
      const message = `The background job ${job} has ended. The next run writes its result.`;
      return { code: "job_ended", severity: "info", message };
    }
    case "running":
      return {
        code: "job_running",
        severity: "info",
        message: `The background job ${job} runs (process ${pid}).`,
      };
    case "elsewhere":
      return null;
  }
}

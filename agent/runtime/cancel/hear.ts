// Receives cancel requests of other processes for a run, and reports the requests to the person who watches the run.

import type { Environment } from "../../../base/environment.ts";
import { type Problem, thrownText } from "../../../base/problem.ts";
import type { Cancelled } from "../../../cycle/mod.ts";
import { answerTo, type Cancellable } from "./answer.ts";
import { listen } from "./listen.ts";

export interface HearParts {
  readonly environment: Environment;
  /** Real path of the document. */
  readonly path: string;
  readonly run: Cancellable;
  /** Receives what another process cancelled, or the reason why no process can cancel anything. */
  tell(notice: Problem): void;
}

/** Starts listening; returns a function that stops it. A run that cannot listen continues anyway. */
export async function hear({ environment, path, run, tell }: HearParts): Promise<() => Promise<void>> {
  const reportFailure = (thrown: unknown) =>
    tell({
      code: "cancel-unheard",
      message: `flemma cancel cannot reach this run: ${thrownText(thrown)}. The run continues.`,
    });
  try {
    const end = await listen({
      environment,
      path,
      reportFailure,
      answer: ({ request, pid }) => {
        const answer = answerTo(request, run);
        if (answer.cancelled.length > 0) {
          const what = answer.cancelled.map(cancelledWords).join(", ");
          tell({ code: "cancelled-elsewhere", message: `Another process (${pid}) cancelled ${what}.` });
        }
        return answer;
      },
    });
    return () => end().catch(reportFailure);
  } catch (thrown) {
    reportFailure(thrown);
    return () => Promise.resolve();
  }
}

/** Returns words for what was cancelled, such as "the request", for use in a sentence. */
export function cancelledWords(cancelled: Cancelled): string {
  switch (cancelled.what) {
    case "request":
      return "the request";
    case "job":
      return `the background job ${cancelled.id}`;
    case "jobs":
      return "the wait for background jobs";
    case "step":
      return "the step about to start";
    case "call":
      return `${cancelled.id} (${cancelled.tool})`;
  }
}

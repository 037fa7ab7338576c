// Says to a person in an editor how a run ended: what happened, then what to do.

import { problemParagraph } from "../base/problem.ts";
import { joinNames } from "../base/names.ts";
import type { Stop } from "../cycle/types.ts";

/** A sentence, and whether something went wrong or the person is only needed. */
export interface StopWords {
  readonly level: "error" | "info";
  readonly text: string;
}

/** Returns what a person should know about the end of a run; null if the document shows it all. */
export function stopWords({ reason, ids, line, problem }: Stop): StopWords | null {
  const calls = `${ids.length === 1 ? "1 call" : `${ids.length} calls`} (${joinNames(ids)})`;
  const one = ids.length === 1;
  const info = (text: string): StopWords => ({ level: "info", text });
  switch (reason) {
    case "done":
      return problem === undefined ? null : info(`${problem.message} Check it.`);
    case "stepped":
    case "throttled":
      return null;
    case "cut":
      return info(
        `The reply is incomplete. ${
          problem === undefined
            ? "Write below the last @You:, or advance with continue."
            : problemParagraph(problem)
        }`,
      );
    case "answered":
      return info("There is nothing to do. Write below the last @You:.");
    case "last-word":
      return info("The last message is the model's: write below a line @You:, or advance with continue.");
    case "pending":
      return info(`${calls} ${one ? "waits" : "wait"} for you. Approve or reject ${one ? "it" : "them"}.`);
    case "unanswered":
      return info(
        `${calls} ${one ? "has" : "have"} no result yet, and a request needs all results. Advance.`,
      );
    case "protected":
      return info(
        `${calls} ${one ? "is" : "are"} approved, but there is text in the block (line ${
          line ?? 1
        }). Delete the ` +
          "text to run the call, or write pending to send the text as its result.",
      );
    case "turn-limit":
      return info(
        `Stopped before ${calls}: the turn limit is reached. Advance to continue.`,
      );
    case "batched":
    case "repeats":
    case "context-full":
    case "budget":
    case "hook":
    case "hook-limit":
      return info(
        `${problem?.message ?? "No further request was sent."} ${
          problem?.next ?? "Advance to send it anyway."
        }`,
      );
    case "yield":
      return info(`${calls} ${one ? "needs" : "need"} you. Advance to continue.`);
    case "cancelled":
      return info("Stopped. The reply so far is in the document.");
    case "diagnostics":
    case "conflict":
    case "failed":
    case "limited":
    case "empty":
      return { level: "error", text: problem === undefined ? "The run ended." : problemParagraph(problem) };
  }
}

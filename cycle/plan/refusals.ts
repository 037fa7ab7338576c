// The problems by which the cycle refuses a request, each with what to do next.

import type { Problem } from "../../base/problem.ts";
import { markerMeantFirst, markerMeantLast, noMarkerSentence } from "../../parser/view/near_marker.ts";
import type { Call, Chat, Diagnostic } from "../../parser/types.ts";
import type { ApprovalDecision } from "../../tools/approval/types.ts";

export function unknownCall(id: string): Problem {
  return { code: "unknown-call", message: `The document has no call with the id ${id}.` };
}

export function alreadyRunning(id: string): Problem {
  return {
    code: "already-running",
    message: `The call ${id} is running.`,
    next: "Wait until it ends, or cancel it.",
  };
}

/**
 * Refusal of a call that policy denies, even if the user executes it by hand, because nobody should override a
 * deliberate denial by accident.
 */
export function deniedByPolicy(
  { id }: Pick<Call, "id">,
  { detail }: Pick<ApprovalDecision, "detail">,
): Problem {
  return {
    code: "denied-by-policy",
    message: `The call ${id} is denied, so it did not run${detail === undefined ? "" : `: ${detail}`}.`,
    next: "To run the call, remove the setting that denies it. To see that setting: flemma approval explain",
  };
}

export function busyStarting(): Problem {
  return {
    code: "busy",
    message: "Another command is starting calls of this document.",
    next: "Wait until the calls have started, or cancel them.",
  };
}

export function busySending(): Problem {
  return {
    code: "busy",
    message: "A request for this document is running.",
    next: "Wait until the reply is complete, or cancel it.",
  };
}

/**
 * Returns the problem that there is nothing to send. Near misses, such as a marker with text on its line, are in the
 * details.
 */
export function noMessages(chat: Chat): Problem {
  const near = markerMeantFirst(chat);
  return {
    code: "no-messages",
    message: "The document has no message.",
    details: [
      ...chat.diagnostics.map(({ start, message }) => `Line ${start ?? 1}: ${message}`),
      ...near === null ? [] : [noMarkerSentence(near)],
    ],
    next: "Write a line @You: and your text below it.",
  };
}

/** Returns the problem that the model spoke last and does not continue its own turn. */
export function lastWord(chat: Chat): Problem {
  const near = markerMeantLast(chat);
  return {
    code: "last-word",
    message: "The last message is the model's.",
    ...near === null ? {} : { details: [noMarkerSentence(near)] },
    next: "Write your message below a line @You:, or let the model continue with --continue.",
  };
}

/** Converts the first of several diagnostics to a problem. The list may be empty. */
export function blockedBy(diagnostics: readonly Diagnostic[]): Problem {
  const [first] = diagnostics;
  return {
    code: first?.code ?? "blocked",
    message: first?.message ?? "The request was not sent.",
    next: "Correct the document, then advance again.",
  };
}

/** Returns the problem that the model repeats the same calls and gets the same results. */
export function goesInCircles(names: readonly string[], rounds: number): Problem {
  const what = [...new Set(names)].join(" and ");
  return {
    code: "calls-repeat",
    message: names.length === 1
      ? `The same call of ${what} gave the same result ${rounds} times in a row (tools.autopilot.max_repeats).`
      : `The same ${names.length} calls (${what}) gave the same results ${rounds} times in a row ` +
        "(tools.autopilot.max_repeats).",
    next: "Write below the last result what to do instead, or advance to continue anyway.",
  };
}

/**
 * Returns the problem that results for these ids exist already, so the reply would be sent back repeatedly without
 * running anything.
 */
export function reusedIds(): Problem {
  return {
    code: "reused-call-ids",
    message: "The calls of the reply reuse ids that already have results, so there is nothing to run.",
    next: "Give these calls new ids in the document, then advance.",
  };
}

/** The problem of answers that a server does not take. */
export function invalidAnswers(id: string, why: string): Problem {
  return { code: "invalid-answers", message: `The answers of ${id} cannot be sent: ${why}` };
}

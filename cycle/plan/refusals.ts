// The problems by which the cycle refuses a request, each with what to do next.

import type { Problem } from "../../base/problem.ts";
import { markerMeantFirst, markerMeantLast, noMarkerSentence } from "../../parser/view/near_marker.ts";
import type { Call, Chat, Diagnostic } from "../../parser/types.ts";
import type { ApprovalDecision } from "../../tools/approval/types.ts";

export function unknownCall(id: string): Problem {
  return { code: "unknown-call", message: `The document holds no call with the id ${id}.` };
}

export function alreadyRunning(id: string): Problem {
  return {
    code: "already-running",
    message: `The call ${id} is running.`,
    next: "Wait until it is done, or cancel it.",
  };
}

/** Policy denies the call even if the user executes it by hand: a deliberate denial is not overridden by accident. */
export function deniedByPolicy(
  { id }: Pick<Call, "id">,
  { detail }: Pick<ApprovalDecision, "detail">,
): Problem {
  return {
    code: "denied-by-policy",
    message: `The call ${id} is denied, so it did not run${detail === undefined ? "" : `: ${detail}`}.`,
    next: "See who says so with flemma approval explain; to run it, take that out of the settings.",
  };
}

export function busyStarting(): Problem {
  return {
    code: "busy",
    message: "Calls of this document are being started.",
    next: "Wait until that is done, or cancel it.",
  };
}

export function busySending(): Problem {
  return {
    code: "busy",
    message: "A request for this document is running.",
    next: "Wait until the reply is complete, or cancel it.",
  };
}

/** Nothing to send; near misses, such as a marker with text on its line, are in the details. */
export function noMessages(chat: Chat): Problem {
  const near = markerMeantFirst(chat);
  return {
    code: "no-messages",
    message: "The document holds no message.",
    details: [
      ...chat.diagnostics.map(({ start, message }) => `Line ${start ?? 1}: ${message}`),
      ...near === null ? [] : [noMarkerSentence(near)],
    ],
    next: "Write one: a line @You: and your text below it.",
  };
}

/** The model spoke last, and it does not continue its own turn. */
export function lastWord(chat: Chat): Problem {
  const near = markerMeantLast(chat);
  return {
    code: "last-word",
    message: "The last word is the model's.",
    ...near === null ? {} : { details: [noMarkerSentence(near)] },
    next: "Write below a line @You:, or let it go on with --continue.",
  };
}

/** The first of some diagnostics as a problem; the list may be empty. */
export function blockedBy(diagnostics: readonly Diagnostic[]): Problem {
  const [first] = diagnostics;
  return {
    code: first?.code ?? "blocked",
    message: first?.message ?? "The request was not sent.",
    next: "Correct the document, then advance again.",
  };
}

/** The model repeats the same calls and gets the same results. */
export function goesInCircles(names: readonly string[], rounds: number): Problem {
  const what = [...new Set(names)].join(" and ");
  return {
    code: "calls-repeat",
    message: names.length === 1
      ? `The same call of ${what} brought the same result ${rounds} times in a row (tools.autopilot.max_repeats).`
      : `The same ${names.length} calls (${what}) brought the same results ${rounds} times in a row ` +
        "(tools.autopilot.max_repeats).",
    next: "Write below the last result what to do instead, or advance to go on all the same.",
  };
}

/** Results for these ids exist already, so the reply would be sent back repeatedly without running anything. */
export function reusedIds(): Problem {
  return {
    code: "reused-call-ids",
    message: "The reply's calls have ids that older results answer already, so there is nothing to run.",
    next: "Give the new calls ids of their own in the document, then advance.",
  };
}

// Selects the calls to examine before planning: whose input is checked, and which the approval chain decides.

import type { Call, Chat } from "../../parser/types.ts";
import { liveCalls } from "./open_calls.ts";
import { abortedMessage, cannotRun } from "./resolution.ts";
import type { PlanInputs, RunningCalls } from "./types.ts";

/** Returns calls whose input must be checked before planning: those that may run now or once a person approves. */
export function callsToCheck(chat: Chat, running: RunningCalls): Call[] {
  return liveCalls(chat).filter((call) => {
    if (running.has(call.id)) return false;
    const result = chat.result(call.id);
    if (result === undefined) return abortedMessage(call) === null;
    return (result.status === "approved" || result.status === "pending") && result.content === "";
  });
}

/** Returns calls that the approval chain must decide; calls that cannot run are left out. */
export function questions(
  chat: Chat,
  inputs: Pick<PlanInputs, "invalid" | "changed" | "running" | "toolKind">,
): Call[] {
  return callsToCheck(chat, inputs.running).filter((call) =>
    !inputs.invalid.has(call.id) && !cannotRun(inputs.toolKind(call.name)) &&
    (chat.result(call.id) === undefined || inputs.changed.get(call.id) === "policy")
  );
}

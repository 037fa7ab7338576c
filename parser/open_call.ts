// Creates the sentence, shared by all commands, that says what a call without a final result waits for.

import type { Call, Result } from "./types.ts";

/**
 * Returns what a call waits for, and what the user can do about it. `result` is the block of the call, which is not
 * final.
 */
export function waitsFor({ id, name }: Pick<Call, "id" | "name">, result: Result | undefined): string {
  const call = `The call ${id} of ${name}`;
  if (result === undefined) return `${call} has no result yet; flemma sends nothing until it has one.`;
  const text = result.content === "" ? null : `line ${result.opener.start + 1}`;
  if (result.questions !== null) return waitsForAnswers(call, result.status, result.opener.start + 1);
  switch (result.status) {
    case "pending":
      return text === null
        ? `${call} waits for you; flemma sends nothing until you decide.`
        : `The next advance uses the text in the block of ${id} (${text}) as its result.`;
    case "approved":
      return text === null
        ? `${call} is approved but has not run; flemma sends nothing until it has run.`
        : `${id} is approved, but its block contains text (${text}). Delete the text to run the call, or write ` +
          "pending to send the text as its result.";
    default:
      return `${call} is ${result.status ?? "answered"}; the next advance reports this to the model.`;
  }
}

/** Does the same for a call in whose block a server asks something, on a line. */
function waitsForAnswers(call: string, status: Result["status"], line: number): string {
  if (status === "pending") {
    return `${call} waits for your answers (line ${line}). Then set it to approved to send them, or to rejected to ` +
      "decline.";
  }
  return status === "approved"
    ? `${call} has your answers (line ${line}); the next advance sends them.`
    : `${call} is ${status ?? "answered"}; the next advance reports this to the server or the model.`;
}

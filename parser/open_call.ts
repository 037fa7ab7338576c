// The sentence that tells what a call without a final result waits for, shared by all commands.

import type { Call, Result } from "./types.ts";

/** What a call waits for, and what the user can do about it. `result` is its block, which is not final. */
export function waitsFor({ id, name }: Pick<Call, "id" | "name">, result: Result | undefined): string {
  const call = `The call ${id} of ${name}`;
  if (result === undefined) return `${call} has no result yet; nothing is sent until it has.`;
  const text = result.content === "" ? null : `line ${result.opener.start + 1}`;
  switch (result.status) {
    case "pending":
      return text === null
        ? `${call} waits for you; nothing is sent until then.`
        : `The text in the block of ${id} (${text}) becomes its result with the next advance.`;
    case "approved":
      return text === null
        ? `${call} is approved and has not run; nothing is sent until it has.`
        : `${id} is approved, but there is text in its block (${text}). Delete the text to run the call, or write ` +
          "pending to send the text as its result.";
    default:
      return `${call} is ${result.status ?? "answered"}; the model is told with the next advance.`;
  }
}

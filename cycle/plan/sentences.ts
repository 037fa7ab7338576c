// The program's own sentences in results. Models read them, so each says only what happened. None contains a backtick
// or a line feed: fences and line counts of results must not depend on wording.

export { NO_RESULT, notExecutable, STOPPED as CANCELLED } from "../../tools/definition.ts";

export const DENIED = "This call was denied by policy and did not run.";

/** The user rejected the call and gave no reason. */
export const REJECTED = "The user rejected this call; it did not run.";

/** What a server needs to go on with a call is not known here, so the answers cannot be sent. */
export const QUESTIONS_GONE =
  "The server's questions are no longer known here, so the answers were not sent and the call did not go on. " +
  "Call the tool again if you still need it.";

/** The user declined to answer a server that does not wait for it. */
export const DECLINED = "The user declined to answer the server's questions; the call did not go on.";

/** The call is in a reply that was cut short without a marker that says why. */
export const INTERRUPTED = "The reply was interrupted before this call could run.";

/** The user message that asks the model to continue. */
export const CONTINUE = "Continue.";

export const UNKNOWN_ERROR = "The tool failed without an error message.";

/** Precedes the output of a tool that failed. */
export const PARTIAL_OUTPUT = "Partial output before the error:";

/** Precedes the list of problems of an input. */
export const INVALID_INPUT = "The input does not match the tool's schema, so the tool did not run:";

/** Returns the sentence for a call in the same reply as a call of a tool that runs alone. */
export function postponedSentence(name: string): string {
  return `This call did not run: ${plain(name)}, called in the same reply, must run alone. ` +
    "Call the tool again if you still need it.";
}

export function unknownTool(name: string, closest: string | null): string {
  const hint = closest === null ? "" : ` Did you mean ${plain(closest)}?`;
  return `There is no tool named ${plain(name)}.${hint}`;
}

/** Returns the sentence for a call of a tool whose source failed, was not asked, or has not answered. */
export function sourceMissing(name: string, source: string | null): string {
  return `The tool ${plain(name)} may come from ${source ?? "a source of tools"}, which is not available.`;
}

/**
 * Replaces backticks and line feeds in a name, because names come from the document and no sentence may contain these
 * characters.
 */
function plain(name: string): string {
  return name.replaceAll("`", "'").replace(/\s+/g, " ");
}

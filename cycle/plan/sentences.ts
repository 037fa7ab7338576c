// The program's own sentences inside results. They are read by models, so each says what happened and no more.
// None holds a backtick or a line feed: fences and line counts of results must not depend on wording.

/** What is said of a tool that gave nothing, was stopped, or is only a definition. */
export { NO_RESULT, notExecutable, STOPPED as CANCELLED } from "../../tools/definition.ts";

/** A policy denied the call. */
export const DENIED = "This call was denied by policy and did not run.";

/** The person rejected the call and gave no reason. */
export const REJECTED = "The user rejected this call; it did not run.";

/** The call is in a reply that was cut short without a marker that says why. */
export const INTERRUPTED = "The reply was interrupted before this call could run.";

/** What the person says who only wants the model to go on. */
export const CONTINUE = "Continue.";

/** The tool failed and did not say why. */
export const UNKNOWN_ERROR = "The tool failed without an error message.";

/** Stands above what a failed tool had put out. */
export const PARTIAL_OUTPUT = "Partial output before the error:";

/** Above the list of what is wrong with an input. */
export const INVALID_INPUT = "The input does not fit the tool's schema, so the tool did not run:";

/** A call in the same reply as one of a tool that runs alone. */
export function putOff(name: string): string {
  return `This call did not run: ${
    plain(name)
  }, which was called in the same reply, runs alone. Call the tool again if it is still needed.`;
}

/** An approved call of an unknown tool. */
export function unknownTool(name: string, closest: string | null): string {
  const hint = closest === null ? "" : ` The nearest name is ${plain(closest)}.`;
  return `There is no tool named ${plain(name)}.${hint}`;
}

/** A call of a tool that a source may have which failed, was not asked or has not answered. */
export function sourceMissing(name: string, source: string | null): string {
  return `The tool ${plain(name)} may come from ${source ?? "a source of tools"}, which could not be asked.`;
}

/** Names come from the document; what would break the promise above becomes an apostrophe or a space. */
function plain(name: string): string {
  return name.replaceAll("`", "'").replace(/\s+/g, " ");
}

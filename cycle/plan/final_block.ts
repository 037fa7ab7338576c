// Builds the result block from what a tool returned.

import type { FinalBlock } from "../../parser/edits/result_block.ts";
import { failed, type Outcome, success, thrownText } from "../../base/problem.ts";
import type { ExecutionResult } from "../../tools/definition.ts";
import type { CallResult } from "../types.ts";
import { CANCELLED, INVALID_INPUT, PARTIAL_OUTPUT, UNKNOWN_ERROR } from "./sentences.ts";

/** Returns the block for a result. If JSON cannot express the output, the block is an error. */
export function finalBlock(result: CallResult): FinalBlock {
  const { attachments = [], job } = result;
  return {
    ...blockOf(result),
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(job === undefined ? {} : { job: job.id }),
  };
}

function blockOf(result: ExecutionResult): FinalBlock {
  const output = written(result.output);
  if (!output.ok) return errorBlock(output.problem);
  const { text, language } = output.value;
  if (result.success) return { content: safe(text), error: false, language };
  const error = result.error === undefined || result.error === "" ? UNKNOWN_ERROR : result.error;
  return errorBlock(text === "" ? error : `${error}\n\n${PARTIAL_OUTPUT}\n${text}`);
}

export function errorBlock(text: string): FinalBlock {
  return { content: safe(text), error: true, language: "" };
}

/** Returns the block of a call that the user stopped: its output so far, then a note that it was stopped. */
export function stoppedBlock(result: ExecutionResult): FinalBlock {
  const output = written(result.output);
  const parts = [output.ok ? output.value.text : "", result.error ?? ""].map((part) => part.trimEnd())
    .filter((part) => part !== "");
  const partialText = parts.join("\n\n");
  if (partialText === "") return errorBlock(CANCELLED);
  return errorBlock(partialText.endsWith(CANCELLED) ? partialText : `${partialText}\n\n${CANCELLED}`);
}

/** Returns the text of an error result for an input that the schema rejects. */
export function invalidInput(problems: readonly string[]): string {
  return [INVALID_INPUT, ...problems.slice(0, 5)].join("\n");
}

/** Output as text, or the error message if it has no text. */
type Written = Outcome<{ readonly text: string; readonly language: "" | "json" }, string>;

function written(output: unknown): Written {
  if (output === undefined || output === null) return success({ text: "", language: "" });
  if (typeof output !== "object") return success({ text: String(output), language: "" });
  try {
    // `undefined`, despite its declared type, if the object's `toJSON` returns nothing.
    const text: string | undefined = JSON.stringify(output);
    return text === undefined ? written(undefined) : success({ text, language: "json" });
  } catch (thrown) {
    return failed(`The tool's output cannot be written as JSON: ${thrownText(thrown)}`);
  }
}

/** A NUL byte would make the document unreadable for every later run. */
function safe(text: string): string {
  return text.replaceAll("\0", "\uFFFD");
}

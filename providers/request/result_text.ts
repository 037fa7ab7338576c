// A tool's result as text, for APIs that have neither an error flag nor files in results.

import { isBlank } from "../../prompt/blank.ts";
import type { Part } from "../../prompt/types.ts";
import type { Answer } from "./turns.ts";

/** What a model is told of a call that has no result. */
export const NO_RESULT = "No result provided";

/** What stands for an error whose text is empty. */
const NO_ERROR_TEXT = "Tool execution failed";

/** The texts of a result joined; `binary` names what is no text. */
export function plainResult(
  parts: readonly Part[],
  binary: (path: string, mimeType: string | null) => string,
): string {
  return parts.map((part) => {
    if (part.kind === "text" || part.kind === "text_file") return part.text;
    if (part.kind === "unsupported_file") return binary(part.path, null);
    if (part.kind !== "image" && part.kind !== "pdf") return "";
    // What a tool gave back has its line in the text.
    return part.attached === true ? "" : binary(part.filename, part.mimeType);
  }).join("");
}

/** A text that says by itself that it is an error. */
export function errorText(text: string): string {
  return `Error: ${isBlank(text) ? NO_ERROR_TEXT : text}`;
}

/** An answer as nothing but text. */
export function answerText(
  { result }: Answer,
  binary: (filename: string, mimeType: string | null) => string,
): string {
  if (result === null) return errorText(NO_RESULT);
  const text = plainResult(result.parts, binary);
  return result.isError ? errorText(text) : text;
}

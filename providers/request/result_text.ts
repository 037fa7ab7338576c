// Conversion of a tool's result to text, for APIs without error flags or files in results.

import { isBlank } from "../../prompt/blank.ts";
import type { Part } from "../../prompt/types.ts";
import { requestName } from "./file_name.ts";
import type { CallAnswer } from "./turns.ts";

export const MISSING_RESULT = "No result provided";

const NO_ERROR_TEXT = "Tool execution failed";

/** Joins the texts of a result; `binary` describes files that are not text. */
export function plainResult(
  parts: readonly Part[],
  binary: (path: string, mimeType: string | null) => string,
): string {
  return parts.map((part) => {
    if (part.kind === "text" || part.kind === "text_file") return part.text;
    if (part.kind === "unsupported_file") return binary(requestName(part), null);
    if (part.kind !== "image" && part.kind !== "pdf") return "";
    // A file returned by a tool is already mentioned in the text.
    return part.attached === true ? "" : binary(requestName(part), part.mimeType);
  }).join("");
}

export function errorText(text: string): string {
  return `Error: ${isBlank(text) ? NO_ERROR_TEXT : text}`;
}

export function answerText(
  { result }: CallAnswer,
  binary: (filename: string, mimeType: string | null) => string,
): string {
  if (result === null) return errorText(MISSING_RESULT);
  const text = plainResult(result.parts, binary);
  return result.isError ? errorText(text) : text;
}

// The names of files that stand in the header of a result, behind `attachments=`.

import { readTokens } from "./status_words.ts";

const KEY = "attachments";

/**
 * The names that the inside of a header's parentheses gives, as they are written: digits alone would be a number as the value of
 * a token. Whether one is a name of anything is for whoever looks for the file.
 */
export function readAttachments(suffix: string): readonly string[] {
  const token = readTokens(suffix).findLast(({ key }) => key === KEY);
  if (token === undefined) return [];
  const written = suffix.slice(token.from + KEY.length + 1, token.to).replace(/^(["'])(.*)\1$/s, "$2");
  return written.split(",").map((name) => name.trim()).filter((name) => name !== "");
}

/** The token that gives these names. */
export function attachmentsToken(names: readonly string[]): string {
  return `${KEY}=${names.join(",")}`;
}

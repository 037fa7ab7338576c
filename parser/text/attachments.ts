// The names of files in the header of a result, after `attachments=`.

import { readTokens } from "./status_words.ts";

const KEY = "attachments";

/**
 * Returns the names inside a header's parentheses as written, because a token value of digits would be read as a
 * number. Does not check whether such a file exists.
 */
export function readAttachments(suffix: string): readonly string[] {
  const token = readTokens(suffix).findLast(({ key }) => key === KEY);
  if (token === undefined) return [];
  const written = suffix.slice(token.from + KEY.length + 1, token.to).replace(/^(["'])(.*)\1$/s, "$2");
  return written.split(",").map((name) => name.trim()).filter((name) => name !== "");
}

/** Returns the header token for these names. */
export function attachmentsToken(names: readonly string[]): string {
  return `${KEY}=${names.join(",")}`;
}

// The findings of a parse: their families and their sentences (chat-format 11).

import type { ParseCode } from "../types.ts";
import { nearest } from "../../base/nearest.ts";
import type { Diagnostic } from "../types.ts";

/** The roles a message can have and be sent. */
export const ROLES: readonly string[] = ["System", "You", "Assistant"];

/** Makes a parse diagnostic at a 1-based line. */
export function finding(
  code: ParseCode,
  message: string,
  start: number,
  extra: { end?: number; startCol?: number; id?: string } = {},
): Diagnostic {
  const type = code.startsWith("tool_use_")
    ? "tool_use"
    : code.startsWith("tool_result_")
    ? "tool_result"
    : "parse";
  return { code, type, severity: "warning", message, start, ...extra };
}

/** The known role a mistyped one may stand for, within edit distance 3. */
export function nearestRole(role: string): string | null {
  // Compared in lower case, because a wrong capital is the commonest mistake of all.
  const near = nearest(role.toLowerCase(), ROLES.map((known) => known.toLowerCase()));
  return ROLES.find((known) => known.toLowerCase() === near) ?? null;
}

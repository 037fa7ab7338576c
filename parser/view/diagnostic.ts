// Parse findings: their families, and the roles they refer to.

import type { ParseCode } from "../types.ts";
import { nearest } from "../../base/names.ts";
import type { Diagnostic } from "../types.ts";

/** The roles of messages that are sent. */
export const ROLES: readonly string[] = ["System", "You", "Assistant"];

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

/** Names of the roles in other programs. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  "user": "You",
  "human": "You",
  "me": "You",
  "ai": "Assistant",
  "bot": "Assistant",
  "model": "Assistant",
  "developer": "System",
};

/** Returns the known role that another name means, or that a name misspells within edit distance 3. */
export function nearestRole(role: string): string | null {
  // Names are compared in lower case, because wrong capitals are the most common mistake.
  const small = role.toLowerCase();
  if (Object.hasOwn(OTHER_NAMES, small)) return OTHER_NAMES[small]!;
  const near = nearest(small, ROLES.map((known) => known.toLowerCase()));
  return ROLES.find((known) => known.toLowerCase() === near) ?? null;
}

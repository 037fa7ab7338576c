// The findings of a parse: their families and their sentences (chat-format 11).

import { nearest } from "../../base/nearest.ts";
import type { Diagnostic } from "../types.ts";

/** Codes of the diagnostics that a parse can give. All of them are warnings. */
export type ParseCode =
  | "tool_use_missing_fence"
  | "tool_use_unclosed_fence"
  | "tool_use_unknown_language"
  | "tool_use_invalid_input"
  | "tool_result_missing_fence"
  | "tool_result_unclosed_fence"
  | "thinking_unclosed"
  | "fence_unclosed"
  | "role_unknown"
  | "text_before_first_message"
  | "result_orphan"
  | "result_duplicate"
  | "frontmatter_unclosed"
  | "template_unclosed"
  | "system_repeated"
  | "legacy_form"
  | "call_hidden_in_fence";

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

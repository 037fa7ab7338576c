// Exit codes (cli section 5), and which problem ends in which.

import type { Problem } from "../../base/problem.ts";

export const Exit = {
  ok: 0,
  failure: 1,
  usage: 2,
  /** A person is needed. */
  person: 3,
  /** Diagnostics of severity error block the request. */
  diagnostics: 4,
  /** The document is locked, or somebody else changed it. */
  conflict: 5,
  interrupted: 130,
  /** The reader of a report went away: what a shell says of programs that the signal for it ended. */
  readerGone: 141,
} as const;

const CODES: Readonly<Record<string, number>> = {
  "config-invalid": Exit.usage,
  "config-missing": Exit.usage,
  "config-unread": Exit.usage,
  "config-unreadable": Exit.usage,
  "usage": Exit.usage,
  "provider-unknown": Exit.usage,
  "base-url-invalid": Exit.usage,
  "target-needed": Exit.usage,
  "target-ambiguous": Exit.usage,
  "preview-cut": Exit.usage,
  "rule-invalid": Exit.usage,
  "rule-impossible": Exit.usage,
  "price-unknown": Exit.usage,
  "first-block-invalid": Exit.diagnostics,
  "last-word": Exit.person,
  "document-locked": Exit.conflict,
  "document-changed": Exit.conflict,
};

export function exitOf(problem: Problem): number {
  return CODES[problem.code] ?? Exit.failure;
}

/** Which of several codes counts for all: an interrupt before a mistake of usage, a failure, and so on down. */
const WORST: readonly number[] = [
  Exit.interrupted,
  Exit.usage,
  Exit.failure,
  Exit.conflict,
  Exit.diagnostics,
  Exit.person,
  Exit.ok,
];

/** The exit code of several documents together; that of none is 0. */
export function worstExit(codes: readonly number[]): number {
  return WORST.find((code) => codes.includes(code)) ?? (codes.length === 0 ? Exit.ok : Exit.failure);
}

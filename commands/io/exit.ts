// Exit codes, and the code for each problem or stop reason.

import type { Problem } from "../../base/problem.ts";
import type { Stop } from "../../cycle/types.ts";

export const Exit = {
  ok: 0,
  failure: 1,
  usage: 2,
  /** A person has to decide or write something. */
  person: 3,
  diagnostics: 4,
  /** The document is locked, or another program changed it. */
  conflict: 5,
  interrupted: 130,
  /** The reader of a report closed the pipe: 128 + SIGPIPE, as shells report it. */
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
  "batched": Exit.person,
  "document-locked": Exit.conflict,
  "document-changed": Exit.conflict,
};

export function exitOf(problem: Problem): number {
  return CODES[problem.code] ?? Exit.failure;
}

/** Returns the exit code for a run's stop; `interrupted` is true if the person pressed Ctrl-C. */
export function exitOfStop(
  { reason, problem }: Stop,
  { command, interrupted }: { readonly command: string; readonly interrupted: boolean },
): number {
  switch (reason) {
    case "answered":
      // If there is nothing to do, the command succeeds, except for `send`, whose request was not made.
      return command === "send" ? Exit.person : Exit.ok;
    case "done":
    case "cut":
    case "stepped":
    case "throttled":
      return Exit.ok;
    case "last-word":
    case "batched":
    case "unanswered":
    case "pending":
    case "protected":
    case "turn-limit":
    case "repeats":
    case "context-full":
    case "budget":
    case "hook":
    case "hook-limit":
    case "yield":
      return Exit.person;
    case "diagnostics":
    case "empty":
      return Exit.diagnostics;
    case "conflict":
      return Exit.conflict;
    case "failed":
    case "limited":
      return problem === undefined ? Exit.failure : exitOf(problem);
    case "cancelled":
      return interrupted ? Exit.interrupted : Exit.failure;
  }
}

/** Exit codes from worst to best. For several documents, the worst code is returned. */
const WORST: readonly number[] = [
  Exit.interrupted,
  Exit.usage,
  Exit.failure,
  Exit.conflict,
  Exit.diagnostics,
  Exit.person,
  Exit.ok,
];

/** Returns the exit code for several documents together; 0 if there are none. */
export function worstExit(codes: readonly number[]): number {
  return WORST.find((code) => codes.includes(code)) ?? (codes.length === 0 ? Exit.ok : Exit.failure);
}

// What is said of a result beside its text, the same in every way of showing it.

import type { ShownResult } from "./types.ts";

/** A result in words: `bad` for one that tells of a failure, `open` while something has to happen. */
export interface ResultWords {
  readonly words: string;
  readonly tone: "good" | "bad" | "open";
}

const OPEN: Readonly<Record<string, string>> = {
  pending: "waits for you",
  approved: "approved, has not run",
};

const BAD: Readonly<Record<string, string>> = {
  error: "failed",
  rejected: "rejected",
  denied: "denied",
  aborted: "stopped",
};

/** The words for a result. */
export function resultWords({ status, text }: ShownResult): ResultWords {
  if (status === null) return { words: text.trim() === "" ? "no output" : "result", tone: "good" };
  const open = OPEN[status];
  if (open !== undefined) return { words: open, tone: "open" };
  return { words: BAD[status] ?? status, tone: "bad" };
}

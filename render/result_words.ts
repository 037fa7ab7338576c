// Words for the status of a result, common to all renderers.

import type { ShownResult } from "./types.ts";

/** A status in words: tone `bad` for a failure, `open` while an action is pending. */
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

export function resultWords({ status, text }: ShownResult): ResultWords {
  if (status === null) return { words: text.trim() === "" ? "no output" : "result", tone: "good" };
  const open = OPEN[status];
  if (open !== undefined) return { words: open, tone: "open" };
  return { words: BAD[status] ?? status, tone: "bad" };
}

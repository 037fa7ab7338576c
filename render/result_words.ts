// Words for the status of a result and for a helper, common to all renderers.

import { own } from "../base/is_object.ts";
import type { Status } from "../parser/types.ts";
import type { HelperView, ResultView } from "./types.ts";

/** A status in words. The tone is `bad` for a failure, and `open` while an action is pending. */
export interface ResultWords {
  readonly words: string;
  readonly tone: "good" | "bad" | "open";
}

const WORDS: Readonly<Record<Status, ResultWords>> = {
  pending: { words: "waits for you", tone: "open" },
  approved: { words: "approved, has not run yet", tone: "open" },
  error: { words: "failed", tone: "bad" },
  rejected: { words: "rejected", tone: "bad" },
  denied: { words: "denied", tone: "bad" },
  aborted: { words: "stopped", tone: "bad" },
};

export function resultWords({ status, text, waitsIn }: ResultView): ResultWords {
  if (waitsIn !== undefined) return { words: `waits for the helper ${waitsIn}`, tone: "open" };
  if (status === null) return { words: text.trim() === "" ? "no output" : "result", tone: "good" };
  return own(WORDS, status) ?? { words: status, tone: "bad" };
}

/** Returns what follows the name of a helper in the line about it. */
export function helperWords({ state, cost, path }: HelperView): string {
  return [state, ...cost === null ? [] : [cost], path].join(", ");
}

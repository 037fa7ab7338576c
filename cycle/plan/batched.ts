// What a document that waits for the reply of a batch means for a run: nothing may be sent until the reply is there.

import type { Problem } from "../../base/problem.ts";
import type { Chat, Diagnostic } from "../../parser/types.ts";
import { findPlaceholder, replyPlaceholder } from "../../parser/view/placeholder.ts";

/** Returns the problem of a document whose request is in a batch; null for any other document. */
export function waitsForBatch(chat: Chat): Problem | null {
  const placeholder = replyPlaceholder(chat);
  if (placeholder === null) return null;
  return {
    code: "batched",
    message: `The request is in the batch ${placeholder.batch} (line ${placeholder.place.start}).`,
    next:
      "To take the document back, delete these lines. To write the reply when it is there: flemma batch fetch",
  };
}

/** Returns the finding that prevents requests because a placeholder is not complete. */
export function brokenPlaceholder(chat: Chat): readonly Diagnostic[] {
  const found = findPlaceholder(chat);
  if (found?.kind !== "broken") return [];
  const { line } = found.broken;
  return [{
    code: "placeholder_broken",
    type: "parse",
    severity: "error",
    message:
      "These lines were the placeholder of a reply from a batch, and parts of it are missing. Restore them, or delete " +
      "the rest to take the document back.",
    start: line,
    end: line,
  }];
}

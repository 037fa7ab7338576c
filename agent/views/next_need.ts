// Finds the next action for a document, from its text alone.

import { lastWordIsModels, nothingToSend, summarizeOpenCalls } from "../../cycle/plan/open_calls.ts";
import { shortCallNames } from "../../cycle/plan/targets.ts";
import { helperOf } from "../../parser/edits/result_block.ts";
import type { Chat } from "../../parser/types.ts";

/** What can be done next with a document. */
export type NextNeed =
  /** The next advance does everything that remains. */
  | { readonly kind: "advance" }
  /**
   * The person decides about pending calls; `names` are ids in a form that a person can type. Empty if all of them wait
   * in the documents of helpers.
   */
  | { readonly kind: "decide"; readonly names: readonly string[] }
  /** The person has to review approved calls whose blocks contain text; these calls do not run. */
  | { readonly kind: "look"; readonly ids: readonly string[] }
  /** The person writes into the existing empty message. */
  | { readonly kind: "write" }
  /** The model spoke last: the person writes a message, or lets the model continue. */
  | { readonly kind: "go-on" };

/** Finds the next action. What an advance can do comes before what the person must do. */
export function nextNeed(chat: Chat): NextNeed {
  const { open, approved, pending, protected: guarded, resolvable } = summarizeOpenCalls(chat);
  if (open.length + approved.length + resolvable.length > 0) return { kind: "advance" };
  if (pending.length > 0) {
    return { kind: "decide", names: namesOfPending(chat, pending) };
  }
  if (guarded.length > 0) return { kind: "look", ids: guarded };
  if (nothingToSend(chat)) return { kind: "write" };
  return { kind: lastWordIsModels(chat) ? "go-on" : "advance" };
}

/** Returns the names of pending calls, without those that wait in the documents of helpers. */
export function namesOfPending(chat: Chat, ids: readonly string[]): readonly string[] {
  return shortCallNames(
    chat,
    ids.filter((id) => {
      const result = chat.result(id);
      return result === undefined || helperOf(result) === null;
    }),
  );
}

/** True if calls of the document have no final result yet, no matter who must act on them. */
export function callsWait(chat: Chat): boolean {
  const { open, approved, pending, protected: guarded, resolvable } = summarizeOpenCalls(chat);
  return open.length + approved.length + pending.length + guarded.length + resolvable.length > 0;
}

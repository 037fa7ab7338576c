// What a document needs next, read off its text alone: what works now, whatever was done before.

import { lastWordIsModels, nothingToSend, summarizeOpenCalls } from "../../cycle/plan/open_calls.ts";
import { handyNames } from "../../cycle/plan/targets.ts";
import type { Chat } from "../../parser/types.ts";

/** What leads on from a document as it stands. */
export type NextNeed =
  /** An advance does all there is to do. */
  | { readonly kind: "advance" }
  /** The person decides about pending calls; `names` are what a hand can type for them. */
  | { readonly kind: "decide"; readonly names: readonly string[] }
  /** The person looks at approved blocks that hold text. */
  | { readonly kind: "look"; readonly ids: readonly string[] }
  /** The person writes in the message that is there for it. */
  | { readonly kind: "write" }
  /** The person writes a message, or lets the model go on where it spoke last. */
  | { readonly kind: "go-on" };

/** What leads on from the document. What an advance can do comes before what the person has to. */
export function nextNeed(chat: Chat): NextNeed {
  const { open, approved, pending, protected: guarded, resolvable } = summarizeOpenCalls(chat);
  if (open.length + approved.length + resolvable.length > 0) return { kind: "advance" };
  if (pending.length > 0) {
    return { kind: "decide", names: handyNames(chat, pending) };
  }
  if (guarded.length > 0) return { kind: "look", ids: guarded };
  if (nothingToSend(chat)) return { kind: "write" };
  return { kind: lastWordIsModels(chat) ? "go-on" : "advance" };
}

/** Whether calls of the document have no final result yet, whoever is needed for them. */
export function callsWait(chat: Chat): boolean {
  const { open, approved, pending, protected: guarded, resolvable } = summarizeOpenCalls(chat);
  return open.length + approved.length + pending.length + guarded.length + resolvable.length > 0;
}

// Decides whether a request may be sent without running anything, and how the run stops after the request.

import { isLifecycle } from "../../parser/text/status_words.ts";
import { replyPlaceholder } from "../../parser/view/placeholder.ts";
import type { Chat, Diagnostic } from "../../parser/types.ts";
import { summarizeOpenCalls } from "../plan/open_calls.ts";
import { noMessages } from "../plan/refusals.ts";
import type { SendOutcome, Stop } from "../types.ts";
import { createStop, createStopAfterReply, createStopAt, createStopBy, stopForBatch } from "./stop.ts";

/** A diagnostic, with its line if known. */
export type Blocker = Diagnostic & { readonly line?: number };

/** Returns why nothing may be sent; null if a request may be sent. A model must get the results of all its calls. */
export function sendObstacle(chat: Chat, [blocker]: readonly Blocker[]): Stop | null {
  if (chat.turns.length === 0) return createStop("empty", { problem: noMessages(chat) });
  if (blocker !== undefined) {
    const { code, message, line, start } = blocker;
    return createStop("diagnostics", { line: line ?? start ?? 1, problem: { code, message } });
  }
  if (replyPlaceholder(chat) !== null) return stopForBatch(chat);
  const open = unanswered(chat);
  if (open.length === 0) return null;
  const { pending, protected: guarded } = summarizeOpenCalls(chat);
  if (pending.length > 0) return createStopAt(chat, "pending", pending);
  return guarded.length > 0
    ? createStopAt(chat, "protected", guarded)
    : createStopAt(chat, "unanswered", open);
}

function unanswered(chat: Chat): string[] {
  const isOpen = (id: string) => {
    const result = chat.result(id);
    return result === undefined || isLifecycle(result.status);
  };
  return [...new Set(chat.calls.map(({ id }) => id))].filter(isOpen);
}

/** Returns why the run stops after a request if no step follows. */
export function stopAfter(outcome: Exclude<SendOutcome, { kind: "changed" }>, chat: Chat): Stop {
  switch (outcome.kind) {
    case "completed": {
      const open = unanswered(chat);
      return createStopAfterReply(outcome.reply, open.length > 0, { ids: open, line: chat.lineCount });
    }
    case "blocked": {
      const [first] = outcome.diagnostics.filter(({ severity }) => severity === "error");
      const { code, message } = first ?? { code: "blocked", message: "The request was not sent." };
      return createStop("diagnostics", { line: first?.start ?? null, problem: { code, message } });
    }
    case "cancelled":
      return createStop("cancelled");
    case "batched":
      return createStop("batched");
    case "failed":
      return createStopBy(outcome.problem);
  }
}

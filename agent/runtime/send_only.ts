// Only the request: it is refused while calls have no result, since a model must get them all.

import type { Problem } from "../../base/problem.ts";
import type { FrontmatterDiagnostic } from "../../config/document/first_block.ts";
import { nothingToSend, survey } from "../../cycle/plan/open_calls.ts";
import { goOn } from "../../cycle/plan/go_on.ts";
import { noMessages } from "../../cycle/plan/refusals.ts";
import { REPLY_STOPS, stopped, stoppedAt, stoppedBy } from "../../cycle/run/stop.ts";
import type { DocumentStore, Send, SendOutcome, Stop } from "../../cycle/types.ts";
import type { Chat } from "../../parser/types.ts";

/** What sending takes. */
export interface SendParts {
  readonly store: DocumentStore;
  readonly send: Send;
  /** Findings that keep every request from starting. */
  readonly blockers: readonly FrontmatterDiagnostic[];
}

/**
 * Sends the document as it stands and writes the reply; runs nothing and decides about no call. With `goOn` the model
 * is asked to continue where it, or nobody, spoke last.
 */
export async function sendOnly(
  { store, send, blockers }: SendParts,
  signal: AbortSignal,
  options: { readonly goOn?: boolean } = {},
): Promise<Stop> {
  if (store.chat.turns.length === 0) return stopped("empty", { problem: noMessages(store.chat) });
  const [blocker] = blockers;
  if (blocker !== undefined) {
    const { code, message, line, start } = blocker;
    return stopped("diagnostics", { line: line ?? start ?? 1, problem: { code, message } });
  }
  const open = openStop(store.chat);
  if (open !== null) return open;
  const problem = options.goOn === true ? await sayOn(store) : null;
  if (problem !== null) return stoppedBy(problem);
  if (nothingToSend(store.chat)) return stopped("answered", { line: store.chat.lineCount });
  return stopOf(await send(signal), store.chat);
}

async function sayOn(store: DocumentStore): Promise<Problem | null> {
  const edits = goOn(store.chat);
  return edits.length === 0 ? null : await store.commit(edits);
}

/** What is in the way while calls have no final result: the person first, then what an advance does; null if nothing. */
function openStop(chat: Chat): Stop | null {
  const open = unanswered(chat);
  if (open.length === 0) return null;
  const { pending, protected: guarded } = survey(chat);
  if (pending.length > 0) return stoppedAt(chat, "pending", pending);
  return guarded.length > 0 ? stoppedAt(chat, "protected", guarded) : stoppedAt(chat, "unanswered", open);
}

/** Ids of the calls without a final result. */
function unanswered(chat: Chat): string[] {
  const isOpen = (id: string) => {
    const result = chat.result(id);
    return result === undefined || (result.status !== null && result.status !== "error");
  };
  return [...new Set(chat.calls.map(({ id }) => id))].filter(isOpen);
}

function stopOf(outcome: SendOutcome, chat: Chat): Stop {
  switch (outcome.kind) {
    case "completed": {
      const open = unanswered(chat);
      const reason = open.length > 0 ? "stepped" : REPLY_STOPS[outcome.reply];
      return stopped(reason, { ids: open, line: chat.lineCount });
    }
    case "blocked": {
      const [first] = outcome.diagnostics.filter(({ severity }) => severity === "error");
      const { code, message } = first ?? { code: "blocked", message: "The request was not sent." };
      return stopped("diagnostics", { line: first?.start ?? null, problem: { code, message } });
    }
    case "cancelled":
      return stopped("cancelled");
    case "failed":
      return stoppedBy(outcome.problem);
  }
}

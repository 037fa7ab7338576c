// Only the request: it is refused while calls have no result, since a model must get them all.

import type { FrontmatterDiagnostic } from "../config/document/first_block.ts";
import { stopped } from "../cycle/press_outcome.ts";
import { noMessages } from "../cycle/refusals.ts";
import type { DocumentStore, Send, SendOutcome, Stop } from "../cycle/types.ts";
import type { Chat } from "../parser/types.ts";

/** What sending takes. */
export interface SendParts {
  readonly store: DocumentStore;
  readonly send: Send;
  /** Findings that keep every request from starting. */
  readonly blockers: readonly FrontmatterDiagnostic[];
}

/** Sends the document as it stands and writes the reply; runs nothing and decides about no call. */
export async function sendOnly({ store, send, blockers }: SendParts, signal: AbortSignal): Promise<Stop> {
  if (store.chat.turns.length === 0) return stopped("empty", { problem: noMessages() });
  const [blocker] = blockers;
  if (blocker !== undefined) {
    const { code, message, line, start } = blocker;
    return stopped("diagnostics", { line: line ?? start ?? 1, problem: { code, message } });
  }
  const open = unanswered(store.chat);
  const [first] = open;
  if (first !== undefined) {
    const line = store.chat.result(first)?.header.start ?? store.chat.call(first)?.place.start ?? null;
    return stopped("pending", { ids: open, line });
  }
  return stopOf(await send(signal), store.chat);
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
      return stopped(open.length > 0 ? "stepped" : "done", { ids: open, line: chat.lineCount });
    }
    case "blocked": {
      const [first] = outcome.diagnostics.filter(({ severity }) => severity === "error");
      const { code, message } = first ?? { code: "blocked", message: "The request was not sent." };
      return stopped("diagnostics", { line: first?.start ?? null, problem: { code, message } });
    }
    case "cancelled":
      return stopped("cancelled");
    case "failed":
      return stopped("failed", { problem: outcome.problem });
  }
}

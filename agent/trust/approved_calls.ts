// The calls whose empty blocks say `approved`: what the text of a document permits to run.

import { liveCalls } from "../../cycle/plan/open_calls.ts";
import type { Call, Chat } from "../../parser/types.ts";

export function approvedCalls(chat: Chat): Call[] {
  return liveCalls(chat).filter(({ id }) => isApproved(chat, id));
}

/** Whether the block of a call is empty and says `approved`. */
export function isApproved(chat: Chat, id: string): boolean {
  const result = chat.result(id);
  return result?.status === "approved" && result.content === "";
}

// The model's last message as plain text.

import { unescapeTurn } from "../../parser/edits/escape.ts";
import type { Chat } from "../../parser/types.ts";

/** Returns the text of the model's last message, without thinking and calls; empty if there is none. */
export function lastReply(chat: Chat): string {
  const turn = chat.turns.findLast(({ role }) => role === "Assistant");
  if (turn === undefined) return "";
  return unescapeTurn(chat, turn).map((segment) => segment.kind === "text" ? segment.value : "").join("")
    .trim();
}

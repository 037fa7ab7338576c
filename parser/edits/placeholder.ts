// Writes the placeholder of a reply that a batch will bring.

import type { Chat } from "../types.ts";
import type { Edit } from "./edit.ts";
import { openFenceAtEnd } from "./escape.ts";

/**
 * Returns the edit that puts a placeholder at the end of a document.
 *
 * @param chat the document, whose last message is the person's
 * @param batch id of the batch
 * @param item id of the request in the batch
 */
export function placePlaceholder(chat: Chat, batch: string, item: string): Edit {
  const { byteLength, eol } = chat;
  const endsLine = byteLength === 0 || chat.slice(byteLength - 1, byteLength)[0] === 0x0a;
  const last = chat.turns.at(-1);
  const fence = last === undefined ? 0 : openFenceAtEnd(chat, last);
  const lines = [
    ...(endsLine ? [] : [""]),
    ...(fence > 0 ? ["`".repeat(fence)] : []),
    "",
    `**Reply:** \`batch ${batch}\``,
    "",
    `\`\`\`flemma:reply status=batched item=${item}`,
    "```",
    "",
  ];
  return { from: byteLength, to: byteLength, insert: lines.join(eol) };
}

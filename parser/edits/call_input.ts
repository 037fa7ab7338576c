// The input of a call as text: the smallest edit that exchanges it.

import type { Edit } from "./edit.ts";
import type { Call, Chat } from "../types.ts";

const encoder = new TextEncoder();

/**
 * Exchanges the input of a call, written as the old one was: on one line, or on several.
 *
 * @param chat the document
 * @param call the call, one of the document's
 * @param input the new input
 * @returns the edit, which touches no byte that both have at their beginning or end; null when nothing changes
 */
export function replaceInput(
  chat: Chat,
  call: Call,
  input: Readonly<Record<string, unknown>>,
): Edit | null {
  const inLines = call.inputText.includes("\n");
  return replaceInputText(chat, call, inLines ? JSON.stringify(input, null, 2) : JSON.stringify(input));
}

/** Exchanges the text of the input of a call for another JSON text with line ends of LF; null when nothing changes. */
export function replaceInputText(chat: Chat, call: Call, written: string): Edit | null {
  const start = chat.lineStart(openerOf(chat, call) + 1);
  const before = chat.slice(start, chat.lineEnd(call.place.end - 1));
  const after = encoder.encode(written.replaceAll("\n", chat.eol));
  let head = 0;
  const shorter = Math.min(before.length, after.length);
  while (head < shorter && before[head] === after[head] && isWhole(before[head]!)) head++;
  let tail = 0;
  while (
    tail < shorter - head && before[before.length - 1 - tail] === after[after.length - 1 - tail] &&
    isWhole(before[before.length - 1 - tail]!)
  ) tail++;
  if (head + tail === before.length && head + tail === after.length) return null;
  return {
    from: start + head,
    to: start + before.length - tail,
    insert: new TextDecoder("utf-8", { ignoreBOM: true }).decode(after.subarray(head, after.length - tail)),
  };
}

/** The line of the fence that opens the input: the first below the header that is not blank. */
function openerOf(chat: Chat, { place }: Call): number {
  let line = place.start + 1;
  while (line < place.end && chat.lineText(line).trim() === "") line++;
  return line;
}

/** Whether a byte is a character of its own, so that no edit begins or ends within one. */
function isWhole(byte: number): boolean {
  return byte < 0x80;
}

// Creates the smallest edit that replaces the input of a call.

import type { Edit } from "./edit.ts";
import type { Call, Chat } from "../types.ts";

const encoder = new TextEncoder();

/**
 * Replaces the input of a call, formatted like the old one: on one line, or on several.
 * @param chat the document
 * @param call the call, one of the document's
 * @param input the new input
 * @returns the edit, without bytes that both inputs have at their beginning or end; null if nothing changes
 */
export function replaceInput(
  chat: Chat,
  call: Call,
  input: Readonly<Record<string, unknown>>,
): Edit | null {
  const inLines = call.inputText.includes("\n");
  return replaceInputText(chat, call, inLines ? JSON.stringify(input, null, 2) : JSON.stringify(input));
}

/** Replaces the text of a call's input with another JSON text with LF; null if nothing changes. */
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

/** Returns the line of the fence that opens the input: the first line below the header that is not blank. */
function openerOf(chat: Chat, { place }: Call): number {
  let line = place.start + 1;
  while (line < place.end && chat.lineText(line).trim() === "") line++;
  return line;
}

/** True if a byte is an ASCII character, so that no edit begins or ends inside a character. */
function isWhole(byte: number): boolean {
  return byte < 0x80;
}

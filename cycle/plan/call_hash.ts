// The hashes that bind an approval to the text of a call, and to the answers in its block.

import { toHex } from "../../base/hash.ts";
import { utf8Length } from "../../base/bytes.ts";
import type { Call, Chat } from "../../parser/types.ts";

const encoder = new TextEncoder();

/** Returns the SHA-256 of tool name and input text as in the document, in hexadecimal. */
export async function callHash({ name, inputText }: Pick<Call, "name" | "inputText">): Promise<string> {
  return await hashOfTexts(`${name}\0`, inputText);
}

/**
 * Returns the hash of everything that an approval of a call permits: its text, and the answers to what its server asked.
 * Without questions, this is the hash of the call.
 */
export async function permittedHash(chat: Chat, call: Call): Promise<string> {
  const hash = await callHash(call);
  const questions = chat.result(call.id)?.questions ?? null;
  return questions === null ? hash : await hashOfTexts(`${hash}\0`, questions);
}

async function hashOfTexts(before: string, text: string): Promise<string> {
  const name = encoder.encode(before);
  // The text is encoded as bytes without joining the strings, because an input may be very long.
  const bytes = new Uint8Array(name.length + utf8Length(text));
  bytes.set(name);
  encoder.encodeInto(text, bytes.subarray(name.length));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return toHex(digest);
}

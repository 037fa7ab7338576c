// The hash that binds an approval to the text of a call.

import { toHex } from "../../base/hash.ts";
import { utf8Length } from "../../base/bytes.ts";
import type { Call } from "../../parser/types.ts";

const encoder = new TextEncoder();

/** Returns the SHA-256 of tool name and input text as in the document, in hexadecimal. */
export async function callHash(call: Pick<Call, "name" | "inputText">): Promise<string> {
  const { inputText } = call;
  const name = encoder.encode(`${call.name}\0`);
  // The text is encoded as bytes without joining the strings, because an input may be very long.
  const bytes = new Uint8Array(name.length + utf8Length(inputText));
  bytes.set(name);
  encoder.encodeInto(inputText, bytes.subarray(name.length));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return toHex(digest);
}

// Binds an approval to the text of a call (S5).

import type { Call } from "../parser/types.ts";

/** SHA-256 over tool name and input text as they stand in the document, in hexadecimal. */
export async function callHash(call: Pick<Call, "name" | "inputText">): Promise<string> {
  const bytes = new TextEncoder().encode(`${call.name}\0${call.inputText}`);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

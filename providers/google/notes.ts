// By what it is noted which ids and signatures are Gemini's own, and which model made them.

/** Whose id a call has: only one that the API gave goes back to it. */
export function callNote(id: string): string {
  return `Gemini's call ${id}`;
}

/** Which model made a signature: another one refuses it. */
export function signatureNote(signature: string): string {
  return `Gemini's signature ${signature}`;
}

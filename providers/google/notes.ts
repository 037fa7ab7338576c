// Keys of notes about which call ids and signatures Gemini issued, and by which model.

/** Key for the provider that issued a call id: an id is only sent back to its own API. */
export function callNote(id: string): string {
  return `Gemini's call ${id}`;
}

/** Key for the model that made a signature, because another model refuses it. */
export function signatureNote(signature: string): string {
  return `Gemini's signature ${signature}`;
}

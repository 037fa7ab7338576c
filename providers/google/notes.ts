// Keys of notes about which call ids and signatures Gemini issued, and by which model.

/**
 * Returns the key of the note about the provider that issued a call id, because an id is only sent back to its own
 * API.
 */
export function callNote(id: string): string {
  return `Gemini's call ${id}`;
}

/** Returns the key of the note about the model that made a signature, because another model refuses it. */
export function signatureNote(signature: string): string {
  return `Gemini's signature ${signature}`;
}

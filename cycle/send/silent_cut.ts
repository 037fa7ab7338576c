// Detects servers that read less than they were sent. Some silently drop the beginning of a request that does not fit
// their window.

/** Upper bound of characters per token, far above any average; only a text of blanks may reach it. */
const MOST_CHARACTERS = 8;
/** Minimum number of characters to check; shorter requests fit every window. */
const LEAST_CHARACTERS = 8000;

/** Matches files in base64, which do not count as text. */
const DATA = /"(?:data:[^",]*,)?[A-Za-z0-9+/]{1000,}={0,2}"/g;

/**
 * Returns a warning if such a server counted fewer tokens than the request must have had; else null.
 * @param body the request as JSON
 * @param read tokens of the request as the server reported them; null if it did not
 */
export function silentCut(body: string, read: number | null): string | null {
  const characters = body.replace(DATA, "").length;
  if (read === null || read === 0 || characters < LEAST_CHARACTERS) return null;
  if (read >= characters / MOST_CHARACTERS) return null;
  const sent = Math.round(characters / 4 / 1000);
  return `The server read only ${read} of about ${sent},000 tokens, so it dropped the beginning of the conversation: its context window ` +
    "is too small. For Ollama, raise OLLAMA_CONTEXT_LENGTH, or num_ctx in the Modelfile.";
}

// What to check if a provider refuses a key.

import type { ProviderError } from "../types.ts";

/** Hint for a refused key; `hint` is the vendor's own. */
export function keyHint([variable]: readonly string[], hint?: string): string {
  const check = variable === undefined ? "Check the key." : `Check the key in the variable ${variable}.`;
  return hint === undefined ? check : `${check} ${hint}`;
}

/** Replaces the place of the key in the hint of `keyHint` with the one that the key is really from. */
export function withKeySource(error: ProviderError, place: string): ProviderError {
  const next = error.next?.replace(/^Check the key(?: in the variable \w+)?\./, `Check the key ${place}.`);
  return next === undefined ? error : { ...error, next };
}

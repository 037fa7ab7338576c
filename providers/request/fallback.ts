// Chooses what to leave out of a refused request before a retry, from the words of the refusal.

import type { ProviderError, RequestFallback } from "../types.ts";

/** Patterns for refusals, and what to leave out; the first match counts. */
export type FallbackRules = readonly (readonly [RegExp, RequestFallback])[];

export function createFallback(list: FallbackRules): (error: ProviderError) => RequestFallback | null {
  return (error) => {
    // A temporary error is retried with the same request, and a wrong key is wrong for any request.
    if (error.class === "authentication" || error.class === "rate_limit") return null;
    return list.find(([words]) => words.test(error.message))?.[1] ?? null;
  };
}

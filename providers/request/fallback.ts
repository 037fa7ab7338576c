// Chooses what to leave out of a refused request before a retry, from the codes and words of the refusal.

import type { ProviderError, RequestFallback } from "../types.ts";

/** Patterns for refusals, and what to leave out; the first match is the likeliest. */
export type FallbackRules = readonly (readonly [RegExp, RequestFallback])[];

/** Creates a provider's `fallbacks` from its rules. */
export function createFallbacks(list: FallbackRules): (error: ProviderError) => readonly RequestFallback[] {
  return (error) => {
    // No reduced request helps here: after a temporary error the same request is sent again, and a wrong key fails with
    // every request.
    if (error.class === "authentication" || error.class === "rate_limit") return [];
    const text = [error.message, ...error.codes ?? []].join("\n");
    return [...new Set(list.filter(([words]) => words.test(text)).map(([, fallback]) => fallback))];
  };
}

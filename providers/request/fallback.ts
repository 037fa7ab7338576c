// What a request that was refused may do without in another try, told from the words of the refusal.

import type { ProviderError, RequestFallback } from "../types.ts";

/** Words of a refusal, and what another try does without; the first that fits counts. */
export type FallbackRules = readonly (readonly [RegExp, RequestFallback])[];

/** A reader of refusals by a list. */
export function createFallback(list: FallbackRules): (error: ProviderError) => RequestFallback | null {
  return (error) => {
    // What may succeed later is asked again as it is, and a wrong key is wrong for any request.
    if (error.class === "authentication" || error.class === "rate_limit") return null;
    return list.find(([words]) => words.test(error.message))?.[1] ?? null;
  };
}

// What a request cost, from its token counts and the prices of the registry (providers section 13).

import type { Model } from "./models.ts";
import type { Usage } from "./types.ts";

/** Dollars. */
export interface Cost {
  readonly input: number;
  readonly output: number;
  readonly total: number;
}

export const NO_USAGE: Usage = { input: 0, output: 0, thoughts: 0, cache_read: 0, cache_write: 0 };

/** Lays a later report over an earlier one: each counter that it names is replaced. */
export function mergeUsage(earlier: Usage | null, report: Partial<Usage>): Usage {
  return { ...(earlier ?? NO_USAGE), ...report };
}

/**
 * The cost of one request. `outputIncludesThoughts` tells whether the provider counts thinking as output.
 * With `long` retention a cache write is priced as an hour's entry where the model has such a price.
 */
export function costOf(
  usage: Usage,
  model: Model,
  options: { readonly outputIncludesThoughts: boolean; readonly retention?: "short" | "long" | "none" },
): Cost {
  const { prices } = model;
  const hour = options.retention === "long" && model.longCacheFactor !== undefined
    ? prices.input * model.longCacheFactor
    : undefined;
  const written = usage.cache_write * (hour ?? prices.cacheWrite ?? prices.input);
  const input = usage.input * prices.input + usage.cache_read * (prices.cacheRead ?? prices.input) + written;
  const output = (usage.output + (options.outputIncludesThoughts ? 0 : usage.thoughts)) * prices.output;
  return { input: input / 1e6, output: output / 1e6, total: (input + output) / 1e6 };
}

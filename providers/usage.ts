// What a request cost, from its token counts and the prices of the model.

import type { Prices } from "./models/types.ts";
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

/** All tokens that were sent, those that the provider had at hand included: what steps of prices go by. */
export function promptTokens(usage: Usage): number {
  return usage.input + usage.cache_read + usage.cache_write;
}

/**
 * The cost of one request. `outputIncludesThoughts` tells whether the provider counts thinking as output.
 * With `long` retention a cache write is priced as an hour's entry where the model has such a price.
 *
 * @param prices what the model costs at that day and length of the prompt: `pricesAt`
 */
export function costOf(
  usage: Usage,
  prices: Prices,
  options: { readonly outputIncludesThoughts: boolean; readonly retention?: "short" | "long" | "none" },
): Cost {
  const hour = options.retention === "long" ? prices.cache_write_long : undefined;
  const written = usage.cache_write * (hour ?? prices.cache_write ?? prices.input);
  const input = usage.input * prices.input + usage.cache_read * (prices.cache_read ?? prices.input) + written;
  const output = (usage.output + (options.outputIncludesThoughts ? 0 : usage.thoughts)) * prices.output;
  return { input: input / 1e6, output: output / 1e6, total: (input + output) / 1e6 };
}

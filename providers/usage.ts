// The cost of a request, from its token counts and the model's prices.

import type { Prices } from "./models/types.ts";
import type { Usage } from "./types.ts";

/** Cost in US dollars. */
export interface Cost {
  readonly input: number;
  readonly output: number;
  readonly total: number;
}

export const NO_USAGE: Usage = { input: 0, output: 0, thoughts: 0, cache_read: 0, cache_write: 0 };

/** Merges a later report into an earlier one, and replaces each counter that the later one names. */
export function mergeUsage(earlier: Usage | null, report: Partial<Usage>): Usage {
  return { ...(earlier ?? NO_USAGE), ...report };
}

/** Returns the number of all input tokens, including cached ones; price tiers depend on this number. */
export function promptTokens(usage: Usage): number {
  return usage.input + usage.cache_read + usage.cache_write;
}

/**
 * Computes the cost of one request. `outputIncludesThoughts` is true if the provider counts thinking as output. With
 * `long` retention, cache writes use the one-hour price if the model has one.
 *
 * @param prices the model's prices for that day and prompt length, from `pricesAt`
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

// The cost of a request, from its token counts and the model's prices.

import type { Prices } from "./types.ts";
import type { Usage } from "../types.ts";

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

/** What the cost of a request depends on in addition to its tokens and prices. */
export interface CostOptions {
  /** True if the provider counts thinking as output. */
  readonly outputIncludesThoughts: boolean;
  /** With `long`, cache writes have the price of long cache writes. @default "short" */
  readonly retention?: "short" | "long" | "none";
  /** Dollars for one search by the provider; null if unknown. @default searches cost nothing */
  readonly searchPrice?: number | null;
}

/**
 * Computes the cost of one request; null if a price that it needs is unknown.
 *
 * @param prices the model's prices for that day and prompt length, from `pricesAt`
 */
export function costOf(usage: Usage, prices: Prices, options: CostOptions): Cost | null {
  const share = tierShare(usage.tier);
  const read = priced(usage.cache_read, prices.cache_read);
  const written = priced(
    usage.cache_write,
    options.retention === "long" ? prices.cache_write_long : prices.cache_write,
  );
  const searches = (usage.searches ?? 0) === 0
    ? 0
    : options.searchPrice === null
    ? null
    : usage.searches! * (options.searchPrice ?? 0);
  if (share === null || read === null || written === null || searches === null) return null;
  const input = (usage.input * prices.input + read + written) * share / 1e6;
  const output = (usage.output + (options.outputIncludesThoughts ? 0 : usage.thoughts)) * prices.output *
    share / 1e6;
  return { input, output, total: input + output + searches };
}

/** Returns the most that a request can have cost, for limits: unknown cache prices count as the highest usual ones. */
export function mostCost(usage: Usage, prices: Prices, options: CostOptions): number {
  const { input } = prices;
  const known = { cache_read: input, cache_write: input * 2, cache_write_long: input * 2, ...prices };
  return costOf({ ...usage, tier: undefined }, known, options)?.total ?? 0;
}

/** Multiplies tokens by their price; null if there are tokens and the price is unknown. */
function priced(tokens: number, price: number | undefined): number | null {
  return tokens === 0 ? 0 : price === undefined ? null : tokens * price;
}

/** Service tiers with the listed prices, as providers name them. */
const STANDARD_TIERS: ReadonlySet<string> = new Set(["standard", "default", "auto", "on_demand"]);

/** Returns the share of the listed prices that a service tier costs; null for a tier whose price is unknown. */
function tierShare(tier: string | undefined): number | null {
  if (tier === undefined || STANDARD_TIERS.has(tier)) return 1;
  return tier === "batch" ? 0.5 : null;
}

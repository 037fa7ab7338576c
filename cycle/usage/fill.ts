// How full a context window is, and the expected size and cost of a request. Pure.

import type { Prices } from "../../providers/models/types.ts";
import { promptTokens } from "../../providers/models/usage.ts";
import type { UsageRecord } from "../types.ts";

/** Number of bytes per token, for estimates. */
const BYTES_PER_TOKEN = 4;

/** How full a model's context window is. */
export interface Fill {
  readonly tokens: number;
  /** Number of tokens that the window holds; null if unknown. */
  readonly window: number | null;
  /** `tokens` as a share of the window, where 1 is full; null if the window is unknown. */
  readonly share: number | null;
  /** True if nothing was sent yet, so that the number is estimated from the length of the text. */
  readonly estimated: boolean;
}

/**
 * Returns how full the window was after the last request. Before the first request, it is estimated from the length of
 * the text.
 * @param last usage of the last request
 * @param bytes length of the document
 * @param window tokens that the context window of the next request's model holds; null if unknown
 */
export function fillOf(last: UsageRecord | undefined, bytes: number, window: number | null): Fill {
  const tokens = last === undefined ? Math.ceil(bytes / BYTES_PER_TOKEN) : usedTokens(last);
  const size = window ?? last?.context ?? null;
  return { tokens, window: size, share: size === null ? null : tokens / size, estimated: last === undefined };
}

/** Returns the number of tokens of a request and its reply. */
export function usedTokens({ usage }: UsageRecord): number {
  return promptTokens(usage) + usage.output;
}

/** A completed request with its earlier estimate. */
export interface Measured {
  /** Tokens estimated from the length of the request's body. */
  readonly rough: number;
  readonly record: UsageRecord;
}

/** Estimates the tokens of a request from the length of its body, corrected by the error of the last estimate. */
export function expectedTokens(rough: number, last: Measured | null): number {
  const counted = last === null ? 0 : promptTokens(last.record.usage);
  return last === null || counted === 0 ? rough : Math.ceil(rough * counted / last.rough);
}

/**
 * Returns the estimated cost of a request in dollars. Earlier content is read from the provider's cache if it has one,
 * and the reply is as long as the last one.
 * @param tokens of the request
 * @param last the previous request of this run; null for the first request, whose reply is estimated at zero tokens
 */
export function expectedCost(tokens: number, prices: Prices, last: Measured | null): number {
  const usage = last?.record.usage;
  const cached = usage === undefined || usage.cache_read + usage.cache_write === 0
    ? 0
    : Math.min(tokens, promptTokens(usage));
  const fresh = cached === 0 ? prices.input : prices.cache_write ?? prices.input;
  const input = cached * (prices.cache_read ?? prices.input) + (tokens - cached) * fresh;
  return (input + (usage?.output ?? 0) * prices.output) / 1e6;
}

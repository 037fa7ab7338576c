// How full a context window is, and the expected size and cost of a request. Pure.

import type { Prices } from "../../providers/models/types.ts";
import { promptTokens } from "../../providers/usage.ts";
import type { UsageRecord } from "../types.ts";

/** Bytes of a token, for estimates. */
const BYTES_PER_TOKEN = 4;

/** How much of a model's window a conversation takes. */
export interface Fill {
  readonly tokens: number;
  /** Tokens that the window holds; null if unknown. */
  readonly window: number | null;
  /** The part of it, from 0 on; null with it. */
  readonly share: number | null;
  /** Nothing was sent yet: the text alone was looked at, roughly. */
  readonly estimated: boolean;
}

/**
 * How full the window was by the end of the last request; before the first one by the length of the text.
 *
 * @param last what the last request used
 * @param bytes length of the document
 * @param window tokens that the window of the next request's model holds; null if unknown
 */
export function fillOf(last: UsageRecord | undefined, bytes: number, window: number | null): Fill {
  const tokens = last === undefined ? Math.ceil(bytes / BYTES_PER_TOKEN) : usedTokens(last);
  const size = window ?? last?.context ?? null;
  return { tokens, window: size, share: size === null ? null : tokens / size, estimated: last === undefined };
}

/** Tokens of a request and its reply. */
export function usedTokens({ usage }: UsageRecord): number {
  return promptTokens(usage) + usage.output;
}

/** A request that was answered, with what it was thought to be before. */
export interface Measured {
  /** Tokens by the length of its body. */
  readonly rough: number;
  readonly record: UsageRecord;
}

/** Tokens of a request by the length of its body, and by how far off that was the last time. */
export function expectedTokens(rough: number, last: Measured | null): number {
  const counted = last === null ? 0 : promptTokens(last.record.usage);
  return last === null || counted === 0 ? rough : Math.ceil(rough * counted / last.rough);
}

/**
 * Dollars that a request may cost: what was sent before is read from the provider's cache where it keeps one, and the reply
 * counts as long as the last one.
 *
 * @param tokens of the request
 * @param last the one before it in this run; null for the first, whose reply counts nothing
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

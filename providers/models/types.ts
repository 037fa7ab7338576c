// What is known of a model: limits, prices, how it thinks, what it refuses. Facts only, for every provider alike.

/** A day as `2026-11-28`; days compare as texts. */
export type Day = string;

/** Dollars per million tokens. */
export interface Prices {
  /** Tokens that are sent and that the provider does not have at hand. */
  readonly input: number;
  /** Tokens of the reply. */
  readonly output: number;
  /** Tokens that the provider had at hand. @default the input price */
  readonly cache_read?: number;
  /** For entries kept a short time (Anthropic: five minutes). @default the input price */
  readonly cache_write?: number;
  /** For entries kept an hour. @default the price of short ones */
  readonly cache_write_long?: number;
}

/** Prices for the time from one day to the next entry of the list. */
export interface PricePeriod extends Prices {
  /** The first day; absent for the first entry. */
  readonly from?: Day;
  /** What the whole request costs when the prompt, cached tokens included, is longer than so many tokens. */
  readonly above?: Prices & { readonly tokens: number };
}

/** The levels that settings know, weakest first. */
export const LEVELS = ["minimal", "low", "medium", "high", "max"] as const;

export type Level = typeof LEVELS[number];

/**
 * How a model is told to think: `adaptive` Anthropic's way of today, with an effort; `effort` by a word alone;
 * `budget` by a number of tokens, with or without an effort beside it; `switch` on or off; `none` not at all.
 */
export type ThinkingKind = "adaptive" | "effort" | "budget" | "budget+effort" | "switch" | "none";

export interface ModelThinking {
  readonly kind: ThinkingKind;
  /** What it does when a request says nothing: it thinks whatever is said, it thinks, or it does not. */
  readonly unasked: "always" | "on" | "off";
  /** The word that switches thinking off; absent where nothing does, or where saying nothing is enough. */
  readonly off?: string;
  /** The strongest effort that goes with thinking that is off. */
  readonly offUpTo?: string;
  /** The words for efforts that it takes, weakest first. */
  readonly words?: readonly string[];
  /** The word for each level of the settings. */
  readonly efforts?: Readonly<Record<Level, string>>;
  /** The effort that holds when none is named. */
  readonly defaultEffort?: string;
  /** Token budgets by level; a level without one uses the general table. */
  readonly budgets?: Readonly<Partial<Record<Level, number>>>;
  readonly minBudget?: number;
  readonly maxBudget?: number;
}

/** What the provider answers with an error of the request, instead of leaving it unread. */
export interface Refusals {
  /** A temperature other than 1, and other sampling values: in every request, or while the model thinks. */
  readonly temperature?: "always" | "thinking";
  /** A conversation that ends in the model's own turn. */
  readonly prefill?: "always" | "thinking";
  /** A choice of tools that forces a call. */
  readonly forcedTools?: "always" | "budget";
  /** A short time for which the prompt is kept (`prompt_cache_retention: "in_memory"`). */
  readonly shortRetention?: true;
}

export interface Model {
  /** As requests name it. */
  readonly id: string;
  /** Further names that the provider takes for it. */
  readonly aliases?: readonly string[];
  /** `current`: of the provider's present line; `older`: still served; `gone`: requests fail. */
  readonly state: "current" | "older" | "gone";
  readonly released?: Day;
  /** The announced day from which requests fail. */
  readonly ends?: Day;
  /** The model to use instead of one that ends or is gone. */
  readonly successor?: string;
  /** What a person who chooses it should know, as a short phrase. */
  readonly note?: string;
  /** Tokens that prompt and reply may have together. */
  readonly context: number;
  /** Tokens that the prompt may have, where that is less. */
  readonly maxInput?: number;
  /** Tokens that a reply may have, thinking included. */
  readonly maxOutput: number;
  /** What a share such as `50%` is taken of, where that is less. */
  readonly usualOutput?: number;
  readonly minOutput?: number;
  /** Oldest first; empty where no price is known. */
  readonly prices: readonly PricePeriod[];
  readonly thinking: ModelThinking;
  readonly refuses: Refusals;
  /** Tokens that a prompt must have to be cached. */
  readonly minCacheable?: number;
  /** Whose requests fail when text before signed thinking has changed: all, or those of accounts since 2026-08-31. */
  readonly prefixCheck?: "every account" | "new accounts";
}

/** The models that a provider is asked for when nobody names one. */
export interface Choice {
  /** Without any setting. */
  readonly standard: string;
  /** `$best`: the strongest. */
  readonly best: string;
  /** `$cheap`: the cheapest of the present line. */
  readonly cheap: string;
}

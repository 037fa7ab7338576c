// The facts known about a model of any provider: limits, prices, kind of thinking, refused parameters.

/** A day such as `2026-11-28`; days compare as strings. */
export type Day = string;

/** Prices in US dollars per million tokens. */
export interface Prices {
  /** Price of input tokens that are not cached. */
  readonly input: number;
  /** Price of output tokens. */
  readonly output: number;
  /** Price of input tokens read from the prompt cache; absent if unknown. */
  readonly cache_read?: number;
  /** Price of tokens written to the cache for a short time (Anthropic: five minutes); absent if unknown. */
  readonly cache_write?: number;
  /** Price of tokens written to the cache for a long time (Anthropic: an hour); absent if unknown. */
  readonly cache_write_long?: number;
}

/** Prices from one day until the next entry of the list. */
export interface PricePeriod extends Prices {
  /** First day of the period; absent for the first entry of the list. */
  readonly from?: Day;
  /** Prices of the whole request if the prompt, cached tokens included, has more than `tokens` tokens. */
  readonly above?: Prices & { readonly tokens: number };
}

/** Thinking levels of the settings, weakest first. */
export const LEVELS = ["minimal", "low", "medium", "high", "max"] as const;

export type NamedLevel = typeof LEVELS[number];

/**
 * How a model's thinking is configured. `adaptive` is Anthropic's current way, with an effort; `effort` takes only a
 * word; `budget` takes a number of tokens; `budget+effort` takes both; `switch` turns it on or off; `none` means that
 * it cannot be configured.
 */
export type ThinkingKind = "adaptive" | "effort" | "budget" | "budget+effort" | "switch" | "none";

export interface ModelThinking {
  readonly kind: ThinkingKind;
  /**
   * Behavior without a thinking parameter: the model thinks regardless of parameters, thinks by default, or does not
   * think.
   */
  readonly unasked: "always" | "on" | "off";
  /**
   * Effort that switches thinking off. Absent if there is no such effort, or if a request without the parameter has the
   * same effect.
   */
  readonly off?: string;
  /** Strongest effort that a request may have if thinking is switched off. */
  readonly offUpTo?: string;
  /** Accepted efforts, weakest first. */
  readonly words?: readonly string[];
  /** Effort for each level of the settings. */
  readonly efforts?: Readonly<Record<NamedLevel, string>>;
  /** Effort if the request names none. */
  readonly defaultEffort?: string;
  /** Token budgets by level. A level without a budget uses the general table. */
  readonly budgets?: Readonly<Partial<Record<NamedLevel, number>>>;
  readonly minBudget?: number;
  readonly maxBudget?: number;
}

/** Parts of a request that the provider refuses with an error instead of ignoring them. */
export interface Refusals {
  /**
   * When the provider refuses sampling parameters, except for a temperature of 1: in every request, or only while the
   * model thinks.
   */
  readonly temperature?: "always" | "thinking";
  /**
   * When the provider refuses a conversation that ends with the model's own turn: in every request, or only while the
   * model thinks.
   */
  readonly prefill?: "always" | "thinking";
  /** When the provider refuses a tool choice that forces a call: in every request, or only with a thinking budget. */
  readonly forcedTools?: "always" | "budget";
  /** Short cache retention (`prompt_cache_retention: "in_memory"`) is refused. */
  readonly shortRetention?: true;
}

export interface Model {
  /** Name of the model in requests. */
  readonly id: string;
  /** Other names that the provider accepts for the model. */
  readonly aliases?: readonly string[];
  /**
   * `current`: the model is part of the provider's current line; `older`: it is still served; `gone`: requests fail.
   */
  readonly state: "current" | "older" | "gone";
  readonly released?: Day;
  /** Announced day from which requests fail. */
  readonly ends?: Day;
  /** Replacement for a model that ends or is gone. */
  readonly successor?: string;
  /** Advice for choosing the model, as a short phrase. */
  readonly note?: string;
  /** Maximum tokens of prompt and reply together; null if unknown. */
  readonly context: number | null;
  /** Maximum tokens of the prompt, if less than `context`. */
  readonly maxInput?: number;
  /** Maximum tokens of a reply, including thinking; null if unknown. */
  readonly maxOutput: number | null;
  /** Number of tokens of which a percentage such as `50%` is taken, if it is less than `maxOutput`. */
  readonly usualOutput?: number;
  readonly minOutput?: number;
  /** Prices, oldest first; empty if no price is known. */
  readonly prices: readonly PricePeriod[];
  /** How thinking is configured; null if unknown. */
  readonly thinking: ModelThinking | null;
  /** Refused parts of requests; null if unknown. */
  readonly refuses: Refusals | null;
  /** Longest time for which the provider keeps a prompt cached on request, as `prompt_cache_options.ttl`. */
  readonly cacheTtl?: string;
  /** Number of tokens that a prompt must have to be cached. */
  readonly minCacheable?: number;
  /**
   * Accounts whose requests fail if text before signed thinking has changed: all, those created since 2026-08-31, or
   * none; null if unknown.
   */
  readonly prefixCheck: "every account" | "new accounts" | "none" | null;
}

/** A model of the built-in table, which states every fact. */
export type TabledModel =
  & Model
  & {
    readonly [K in "context" | "maxOutput" | "thinking" | "refuses" | "prefixCheck"]: NonNullable<Model[K]>;
  };

/** A provider's models for requests that name none. */
export interface Choice {
  /** Model that is used without any setting. */
  readonly standard: string;
  /** The strongest model, which `$best` names. */
  readonly best: string;
  /** The cheapest current model, which `$cheap` names. */
  readonly cheap: string;
}

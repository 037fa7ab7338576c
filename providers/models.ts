// Facts about known models: limits, prices and how they think (providers sections 8.3 and 14). Figures age; a
// name that is not here is used all the same, with a warning.

/** Dollars per million tokens. */
export interface Prices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  /** For entries kept five minutes. */
  readonly cacheWrite?: number;
}

export type Level = "minimal" | "low" | "medium" | "high" | "max";

/** How a model is told to think: by effort alone, by a token budget, by both, or not at all. */
export type ThinkingKind = "adaptive" | "budget" | "budget+effort" | "none";

export interface Model {
  readonly name: string;
  readonly prices: Prices;
  /** Tokens the context may hold. */
  readonly context: number;
  /** Tokens a reply may have. */
  readonly maxOutput: number;
  readonly minOutput?: number;
  readonly thinking: ThinkingKind;
  /** Token budgets by level; a level without one uses the general table. */
  readonly budgets?: Readonly<Partial<Record<Level, number>>>;
  readonly minBudget?: number;
  readonly maxBudget?: number;
  readonly efforts?: Readonly<Record<Level, string>>;
  /** The price factor for cache entries kept an hour, on the input price. */
  readonly longCacheFactor?: number;
}

const CLAUDE_BUDGETS = { minimal: 1024, low: 2048, medium: 8192, high: 16384 };
const EFFORTS_TO_MAX = { minimal: "low", low: "low", medium: "medium", high: "high", max: "max" };
const EFFORTS_TO_HIGH = { ...EFFORTS_TO_MAX, max: "high" };

const OPUS = { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 };
const OLDER_OPUS = { input: 15, output: 75, cacheRead: 1.5, cacheWrite: 18.75 };
const SONNET = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
const HAIKU = { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 };

function claude(
  names: string,
  prices: Prices,
  context: number,
  maxOutput: number,
  thinking: ThinkingKind,
  efforts?: Readonly<Record<Level, string>>,
): Model[] {
  const budgets = thinking === "none" ? {} : { budgets: CLAUDE_BUDGETS, minBudget: 1024 };
  return names.split(" ").map((name) => ({
    name,
    prices,
    context,
    maxOutput,
    thinking,
    ...budgets,
    ...(efforts === undefined ? {} : { efforts }),
    longCacheFactor: 2,
  }));
}

const ANTHROPIC: readonly Model[] = [
  ...claude("claude-opus-4-7 claude-opus-4-6", OPUS, 1_000_000, 128_000, "adaptive", EFFORTS_TO_MAX),
  ...claude("claude-sonnet-4-6", SONNET, 1_000_000, 64_000, "adaptive", EFFORTS_TO_HIGH),
  ...claude(
    "claude-sonnet-4-5 claude-sonnet-4-5-20250929 claude-sonnet-4-0 claude-sonnet-4-20250514",
    SONNET,
    200_000,
    64_000,
    "budget",
  ),
  ...claude("claude-haiku-4-5 claude-haiku-4-5-20251001", HAIKU, 200_000, 64_000, "budget"),
  ...claude(
    "claude-opus-4-5 claude-opus-4-5-20251101",
    OPUS,
    200_000,
    64_000,
    "budget+effort",
    EFFORTS_TO_HIGH,
  ),
  ...claude(
    "claude-opus-4-1 claude-opus-4-1-20250805 claude-opus-4-0 claude-opus-4-20250514",
    OLDER_OPUS,
    200_000,
    32_000,
    "budget",
  ),
  ...claude(
    "claude-3-haiku-20240307",
    { input: 0.25, output: 1.25, cacheRead: 0.03, cacheWrite: 0.3 },
    200_000,
    4096,
    "none",
  ),
];

const MODELS: Readonly<Record<string, readonly Model[]>> = { anthropic: ANTHROPIC };

/** The known models of a provider; empty for an unknown provider. */
export function modelsOf(provider: string): readonly Model[] {
  return MODELS[provider] ?? [];
}

/** A known model by its exact name, or null. */
export function findModel(provider: string, name: string): Model | null {
  return modelsOf(provider).find((model) => model.name === name) ?? null;
}

/**
 * Whether a model goes on from a beginning of its own reply, that is, takes a conversation that ends in its turn. All
 * that think adaptively refuse it; the older ones take it while they do not think.
 */
export function takesPrefill(model: Model): boolean {
  return model.thinking !== "adaptive";
}

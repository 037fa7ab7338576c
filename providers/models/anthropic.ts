// Anthropic's models as of November 2026.

import type { Model, ModelTable, ModelThinking, PricePeriod, Refusals } from "./types.ts";

const MILLION = { context: 1_000_000, maxOutput: 128_000 } as const;
const OLDER_LIMITS = { context: 200_000, maxOutput: 64_000 } as const;

const FIVE = ["low", "medium", "high", "xhigh", "max"] as const;
const EFFORTS = { minimal: "low", low: "low", medium: "medium", high: "high", max: "max" } as const;

/** Thinking that a model does by its own measure, on which requests only have an effort. */
function adaptive(
  unasked: ModelThinking["unasked"],
  defaultEffort: string,
  rest: Partial<ModelThinking> = {},
): ModelThinking {
  return { kind: "adaptive", unasked, words: FIVE, efforts: EFFORTS, defaultEffort, ...rest };
}

/** Thinking that is switched on with a number of tokens. */
const BUDGET: ModelThinking = {
  kind: "budget",
  unasked: "off",
  budgets: { minimal: 1024, low: 2048, medium: 8192, high: 16384 },
  minBudget: 1024,
};

const NEWEST: Refusals = { temperature: "always", prefill: "always", forcedTools: "always" };
const NEW: Refusals = { temperature: "always", prefill: "always" };
const SINCE_4_6: Refusals = { temperature: "thinking", prefill: "always", forcedTools: "budget" };
const BEFORE: Refusals = { temperature: "thinking", prefill: "thinking", forcedTools: "budget" };

/** The usual prices of a cache: a quarter more for five minutes, twice for an hour, a tenth for reading. */
function prices(input: number, output: number, cacheRead = input / 10): PricePeriod {
  return { input, output, cache_read: cacheRead, cache_write: input * 1.25, cache_write_long: input * 2 };
}

const OPUS = [prices(5, 25)];
const SONNET = [prices(3, 15)];
const OLD_OPUS = [prices(15, 75)];
const FABLE_5_1 = [prices(10, 50, 0.25)];

const MODELS: readonly Model[] = [
  {
    id: "claude-opus-5-5",
    state: "current",
    released: "2026-09-22",
    note: "the vendor's advice to start with",
    ...MILLION,
    prices: [prices(4, 20, 0.2)],
    thinking: adaptive("always", "medium"),
    refuses: NEWEST,
    minCacheable: 512,
    prefixCheck: "new accounts",
  },
  {
    id: "claude-sonnet-5-5",
    state: "current",
    released: "2026-09-28",
    ...MILLION,
    prices: [prices(2, 10, 0.2), { ...prices(2, 10, 0.1), from: "2026-10-07" }],
    thinking: adaptive("on", "high", { off: "between_tools", offUpTo: "high" }),
    refuses: NEWEST,
    minCacheable: 512,
    prefixCheck: "new accounts",
  },
  {
    id: "claude-haiku-5-5",
    state: "current",
    released: "2026-10-07",
    ...MILLION,
    prices: [{ ...prices(0.1, 0.5), above: { tokens: 100_000, ...prices(0.5, 2.5) } }],
    thinking: adaptive("on", "medium", { off: "disabled", offUpTo: "high" }),
    refuses: NEW,
    minCacheable: 512,
    prefixCheck: "new accounts",
  },
  {
    id: "claude-fable-5-2",
    state: "current",
    released: "2026-11-09",
    note: "the strongest",
    ...MILLION,
    prices: [prices(8, 40, 0.2)],
    thinking: adaptive("always", "high"),
    refuses: NEWEST,
    minCacheable: 512,
    prefixCheck: "every account",
  },
  {
    id: "claude-mythos-5-2",
    state: "current",
    released: "2026-11-09",
    note: "for verified organisations",
    ...MILLION,
    prices: [prices(8, 40, 0.2)],
    thinking: adaptive("always", "high"),
    refuses: NEWEST,
    minCacheable: 512,
    prefixCheck: "every account",
  },
  {
    id: "claude-mythos-5-1",
    state: "current",
    note: "for invited organisations",
    ...MILLION,
    prices: FABLE_5_1,
    thinking: adaptive("always", "high"),
    refuses: NEWEST,
    minCacheable: 512,
    prefixCheck: "every account",
  },
  {
    id: "claude-fable-5-1",
    state: "older",
    released: "2026-09-01",
    successor: "claude-fable-5-2",
    ...MILLION,
    prices: FABLE_5_1,
    thinking: adaptive("always", "high"),
    refuses: NEWEST,
    minCacheable: 512,
    prefixCheck: "new accounts",
  },
  {
    id: "claude-opus-5",
    state: "older",
    released: "2026-07-24",
    successor: "claude-opus-5-5",
    ...MILLION,
    prices: OPUS,
    thinking: adaptive("on", "high", { off: "disabled", offUpTo: "high" }),
    refuses: NEW,
    minCacheable: 512,
  },
  {
    id: "claude-sonnet-5",
    state: "older",
    successor: "claude-sonnet-5-5",
    ...MILLION,
    prices: [prices(2, 10)],
    thinking: adaptive("on", "high", { off: "disabled" }),
    refuses: NEW,
    minCacheable: 1024,
  },
  {
    id: "claude-fable-5",
    state: "older",
    successor: "claude-fable-5-2",
    ...MILLION,
    prices: [prices(10, 50)],
    thinking: adaptive("always", "high"),
    refuses: NEW,
    minCacheable: 512,
  },
  {
    id: "claude-opus-4-8",
    state: "older",
    successor: "claude-opus-5-5",
    ...MILLION,
    prices: OPUS,
    thinking: adaptive("off", "high"),
    refuses: NEW,
    minCacheable: 1024,
  },
  {
    id: "claude-opus-4-7",
    state: "older",
    successor: "claude-opus-5-5",
    ...MILLION,
    prices: OPUS,
    thinking: adaptive("off", "high"),
    refuses: NEW,
    minCacheable: 2048,
  },
  {
    id: "claude-opus-4-6",
    state: "older",
    successor: "claude-opus-5-5",
    ...MILLION,
    prices: OPUS,
    thinking: adaptive("off", "high", { words: ["low", "medium", "high", "max"] }),
    refuses: SINCE_4_6,
    minCacheable: 4096,
  },
  {
    id: "claude-sonnet-4-6",
    state: "older",
    successor: "claude-sonnet-5-5",
    ...MILLION,
    prices: SONNET,
    thinking: adaptive("off", "high", { words: ["low", "medium", "high", "max"] }),
    refuses: SINCE_4_6,
    minCacheable: 1024,
  },
  {
    id: "claude-opus-4-5-20251101",
    aliases: ["claude-opus-4-5"],
    state: "older",
    successor: "claude-opus-5-5",
    note: "may end any day since 2026-11-24",
    ...OLDER_LIMITS,
    prices: OPUS,
    thinking: {
      ...BUDGET,
      kind: "budget+effort",
      words: ["low", "medium", "high"],
      efforts: { ...EFFORTS, max: "high" },
      defaultEffort: "high",
    },
    refuses: BEFORE,
    minCacheable: 4096,
  },
  {
    id: "claude-haiku-4-5-20251001",
    aliases: ["claude-haiku-4-5"],
    state: "older",
    successor: "claude-haiku-5-5",
    note: "may end any day since 2026-10-15",
    ...OLDER_LIMITS,
    prices: [prices(1, 5)],
    thinking: BUDGET,
    refuses: BEFORE,
    minCacheable: 4096,
  },
  {
    id: "claude-sonnet-4-5-20250929",
    aliases: ["claude-sonnet-4-5"],
    state: "older",
    ends: "2026-11-30",
    successor: "claude-sonnet-5-5",
    ...OLDER_LIMITS,
    prices: SONNET,
    thinking: BUDGET,
    refuses: BEFORE,
    minCacheable: 1024,
  },
  {
    id: "claude-opus-4-1-20250805",
    aliases: ["claude-opus-4-1"],
    state: "gone",
    ends: "2026-08-05",
    successor: "claude-opus-5-5",
    context: 200_000,
    maxOutput: 32_000,
    prices: OLD_OPUS,
    thinking: BUDGET,
    refuses: BEFORE,
  },
  {
    id: "claude-opus-4-20250514",
    aliases: ["claude-opus-4-0"],
    state: "gone",
    ends: "2026-06-15",
    successor: "claude-opus-5-5",
    context: 200_000,
    maxOutput: 32_000,
    prices: OLD_OPUS,
    thinking: BUDGET,
    refuses: BEFORE,
  },
  {
    id: "claude-sonnet-4-20250514",
    aliases: ["claude-sonnet-4-0"],
    state: "gone",
    ends: "2026-06-15",
    successor: "claude-sonnet-5-5",
    ...OLDER_LIMITS,
    prices: SONNET,
    thinking: BUDGET,
    refuses: BEFORE,
  },
  {
    id: "claude-3-haiku-20240307",
    state: "gone",
    ends: "2026-04-20",
    successor: "claude-haiku-5-5",
    context: 200_000,
    maxOutput: 4096,
    prices: [{ input: 0.25, output: 1.25, cache_read: 0.03, cache_write: 0.3 }],
    thinking: { kind: "none", unasked: "off" },
    refuses: {},
  },
];

export const ANTHROPIC: ModelTable = {
  models: MODELS,
  choice: { standard: "claude-sonnet-5-5", best: "claude-fable-5-2", cheap: "claude-haiku-5-5" },
};

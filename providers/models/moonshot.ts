// Moonshot's models as of November 2026.

import type { Model, ModelTable, ModelThinking } from "./types.ts";

const LIMITS = { maxOutput: 1_000_000, usualOutput: 131_072 } as const;

const K3: ModelThinking = {
  kind: "effort",
  unasked: "always",
  words: ["low", "high", "max"],
  efforts: { minimal: "low", low: "low", medium: "high", high: "high", max: "max" },
  defaultEffort: "max",
};
const OPTIONAL: ModelThinking = { kind: "switch", unasked: "on", off: "disabled" };
const FORCED: ModelThinking = { kind: "switch", unasked: "always" };
const NONE: ModelThinking = { kind: "none", unasked: "off" };

const FIXED = { temperature: "always" } as const;

/** The K2 series, which ends with the year, for accounts that had it before November. */
const K2 = { state: "older", ends: "2027-01-01", successor: "kimi-k3.1-pro", refuses: FIXED } as const;
const K2_LIMITS = { context: 262_144, maxOutput: 65_536 } as const;
const NO_NEW_ACCOUNTS = "not for accounts made since November 2026";
const GONE = { state: "gone", successor: "kimi-k3.1-pro", refuses: FIXED } as const;

const MODELS: readonly Model[] = [
  {
    id: "kimi-k3.1-pro",
    state: "current",
    released: "2026-10-24",
    note: "a fee for cache writes exists that this table does not know",
    context: 1_000_000,
    ...LIMITS,
    prices: [{ input: 2, output: 10 }],
    thinking: K3,
    refuses: FIXED,
  },
  {
    id: "kimi-k3.1-pro-highspeed",
    state: "current",
    released: "2026-10-24",
    note: "dearer than kimi-k3.1-pro",
    context: 1_000_000,
    ...LIMITS,
    prices: [],
    thinking: K3,
    refuses: FIXED,
  },
  {
    id: "kimi-k3",
    state: "older",
    released: "2026-07-16",
    successor: "kimi-k3.1-pro",
    context: 1_048_576,
    ...LIMITS,
    prices: [{ input: 3, output: 15, cache_read: 0.3 }],
    thinking: K3,
    refuses: FIXED,
  },
  { id: "kimi-k2.7-code", ...K2, note: NO_NEW_ACCOUNTS, ...K2_LIMITS, prices: [], thinking: OPTIONAL },
  {
    id: "kimi-k2.6",
    ...K2,
    note: NO_NEW_ACCOUNTS,
    ...K2_LIMITS,
    minOutput: 16_000,
    prices: [{ input: 0.95, output: 4, cache_read: 0.16 }],
    thinking: OPTIONAL,
  },
  {
    id: "kimi-k2.5",
    ...GONE,
    ...K2_LIMITS,
    minOutput: 16_000,
    prices: [{ input: 0.6, output: 3, cache_read: 0.1 }],
    thinking: OPTIONAL,
  },
  ...["kimi-k2-thinking", "kimi-k2-thinking-turbo"].map((id): Model => ({
    id,
    ...GONE,
    ...K2_LIMITS,
    minOutput: 16_000,
    prices: [],
    thinking: FORCED,
  })),
  ...["kimi-k2-0905-preview", "kimi-k2-0711-preview", "kimi-k2-turbo-preview"].map((id): Model => ({
    id,
    ...GONE,
    ...K2_LIMITS,
    prices: [],
    thinking: NONE,
  })),
  ...moonshotV1("8k", 8192, 0.2, 2),
  ...moonshotV1("32k", 32_768, 1, 3),
  ...moonshotV1("128k", 131_072, 2, 5),
];

function moonshotV1(size: string, tokens: number, input: number, output: number): readonly Model[] {
  return [{
    id: `moonshot-v1-${size}`,
    aliases: [`moonshot-v1-${size}-vision-preview`],
    state: "older",
    successor: "kimi-k3.1-pro",
    context: tokens,
    maxOutput: tokens,
    prices: [{ input, output }],
    thinking: NONE,
    refuses: {},
  }];
}

export const MOONSHOT: ModelTable = {
  models: MODELS,
  choice: { standard: "kimi-k3.1-pro", best: "kimi-k3.1-pro", cheap: "kimi-k3.1-pro" },
};

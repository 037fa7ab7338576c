// OpenAI's models as of November 2026.

import type { Model, ModelTable, ModelThinking, PricePeriod, Prices } from "./types.ts";

const LARGE = { context: 1_050_000, maxInput: 922_000, maxOutput: 128_000 } as const;
const MIDDLE = { context: 400_000, maxInput: 272_000, maxOutput: 128_000 } as const;
const SMALL = { context: 128_000, maxOutput: 16_384 } as const;
const LONG = { context: 1_047_576, maxOutput: 32_768 } as const;
const O_SERIES = { context: 200_000, maxOutput: 100_000 } as const;

const LONG_PROMPT = 272_000;

/** Prices for prompts of up to 272,000 tokens; longer ones cost twice for all that is sent, half more for the reply. */
function stepped(prices: Prices): PricePeriod[] {
  const twice = (price: number | undefined) => price === undefined ? undefined : price * 2;
  const above = {
    tokens: LONG_PROMPT,
    input: prices.input * 2,
    output: Math.round(prices.output * 1500) / 1000,
    cache_read: twice(prices.cache_read),
    cache_write: twice(prices.cache_write),
  };
  return [{ ...prices, above }];
}

/** Prices of one size, without a fee for writing to the cache. */
function flat(input: number, output: number, cacheRead: number): PricePeriod[] {
  return [{ input, output, cache_read: cacheRead }];
}

function effort(words: readonly string[], efforts: ModelThinking["efforts"], off?: string): ModelThinking {
  return {
    kind: "effort",
    unasked: off === undefined ? "always" : "on",
    ...(off === undefined ? {} : { off }),
    words,
    efforts,
    defaultEffort: "medium",
  };
}

const WORDS = { minimal: "low", low: "low", medium: "medium", high: "high", max: "max" } as const;
const TO_XHIGH = { ...WORDS, max: "xhigh" } as const;
const TO_HIGH = { ...WORDS, max: "high" } as const;

const THINKS_ALWAYS = effort(["low", "medium", "high", "xhigh", "max"], WORDS);
const THINKS = effort(["none", "low", "medium", "high", "xhigh", "max"], WORDS, "none");
const FIVE_2 = effort(["none", "low", "medium", "high", "xhigh"], TO_XHIGH, "none");
const PRO = effort(["medium", "high", "xhigh"], { ...TO_XHIGH, minimal: "medium", low: "medium" });
const FIVE_1 = effort(["none", "low", "medium", "high"], TO_HIGH, "none");
const FIVE = effort(["minimal", "low", "medium", "high"], { ...TO_HIGH, minimal: "minimal" });
const HIGH = { minimal: "high", low: "high", medium: "high", high: "high", max: "high" } as const;
const ONLY_HIGH = { ...effort(["high"], HIGH), defaultEffort: "high" };
const O = effort(["low", "medium", "high"], TO_HIGH);
const NONE: ModelThinking = { kind: "none", unasked: "off" };

const HOT = { temperature: "thinking" } as const;
const NEW = { temperature: "thinking", shortRetention: true } as const;

/** Models that differ in nothing but their names. */
function alike(ids: readonly string[], facts: Omit<Model, "id">): Model[] {
  return ids.map((id) => ({ id, ...facts }));
}

const MODELS: readonly Model[] = [
  {
    id: "gpt-6.1-sol",
    state: "current",
    released: "2026-09-29",
    ...LARGE,
    prices: stepped({ input: 2, output: 10, cache_read: 0.1, cache_write: 2.5 }),
    thinking: THINKS_ALWAYS,
    refuses: NEW,
  },
  {
    id: "gpt-6.1-terra",
    state: "current",
    released: "2026-10-26",
    ...LARGE,
    prices: stepped({ input: 1, output: 5, cache_read: 0.05, cache_write: 1.25 }),
    thinking: THINKS,
    refuses: NEW,
  },
  {
    id: "gpt-6-luna",
    state: "current",
    released: "2026-09-22",
    ...LARGE,
    prices: stepped({ input: 0.1, output: 0.5, cache_read: 0.01, cache_write: 0.125 }),
    thinking: THINKS,
    refuses: NEW,
  },
  {
    id: "gpt-6-astra",
    state: "current",
    released: "2026-09-03",
    note: "the strongest",
    ...LARGE,
    prices: stepped({ input: 10, output: 50, cache_read: 1, cache_write: 12.5 }),
    thinking: THINKS_ALWAYS,
    refuses: NEW,
  },
  {
    id: "gpt-6-sol",
    state: "older",
    released: "2026-09-22",
    successor: "gpt-6.1-sol",
    ...LARGE,
    prices: stepped({ input: 2, output: 10, cache_read: 0.2, cache_write: 2.5 }),
    thinking: THINKS,
    refuses: NEW,
  },
  {
    id: "gpt-5.6-sol",
    aliases: ["gpt-5.6"],
    state: "older",
    released: "2026-07-09",
    note: "a promotion, promised until 2026-11-21 at least; before it 5 and 30 dollars",
    successor: "gpt-6.1-sol",
    ...LARGE,
    prices: stepped({ input: 4, output: 20, cache_read: 0.4, cache_write: 5 }),
    thinking: THINKS,
    refuses: NEW,
  },
  {
    id: "gpt-5.6-terra",
    state: "older",
    released: "2026-07-09",
    successor: "gpt-6.1-terra",
    ...LARGE,
    prices: stepped({ input: 2, output: 12, cache_read: 0.2, cache_write: 2.5 }),
    thinking: THINKS,
    refuses: NEW,
  },
  {
    id: "gpt-5.6-luna",
    state: "older",
    released: "2026-07-09",
    successor: "gpt-6-luna",
    ...LARGE,
    prices: stepped({ input: 0.2, output: 1.2, cache_read: 0.02, cache_write: 0.25 }),
    thinking: THINKS,
    refuses: NEW,
  },
  {
    id: "gpt-5.5",
    aliases: ["gpt-5.5-2026-04-23"],
    state: "older",
    successor: "gpt-6.1-sol",
    ...LARGE,
    prices: stepped({ input: 5, output: 30, cache_read: 0.5 }),
    thinking: FIVE_2,
    refuses: NEW,
  },
  {
    id: "gpt-5.5-pro",
    aliases: ["gpt-5.5-pro-2026-04-23"],
    state: "older",
    successor: "gpt-6-astra",
    ...LARGE,
    prices: stepped({ input: 30, output: 180, cache_read: 30 }),
    thinking: PRO,
    refuses: NEW,
  },
  {
    id: "gpt-5.4-pro",
    state: "older",
    successor: "gpt-6-astra",
    ...LARGE,
    prices: stepped({ input: 30, output: 180, cache_read: 30 }),
    thinking: PRO,
    refuses: HOT,
  },
  {
    id: "gpt-5.4",
    aliases: ["gpt-5.4-2026-03-05"],
    state: "older",
    successor: "gpt-6.1-sol",
    ...LARGE,
    prices: stepped({ input: 2.5, output: 15, cache_read: 0.25 }),
    thinking: FIVE_2,
    refuses: HOT,
  },
  {
    id: "gpt-5.4-mini",
    state: "older",
    successor: "gpt-6-luna",
    ...MIDDLE,
    prices: flat(0.75, 4.5, 0.075),
    thinking: FIVE_2,
    refuses: HOT,
  },
  {
    id: "gpt-5.4-nano",
    state: "older",
    ends: "2027-04-01",
    successor: "gpt-6-luna",
    ...MIDDLE,
    prices: flat(0.2, 1.25, 0.02),
    thinking: FIVE_2,
    refuses: HOT,
  },
  ...alike(["gpt-5.2", "gpt-5.2-codex"], {
    state: "older",
    successor: "gpt-6.1-sol",
    ...MIDDLE,
    prices: flat(1.75, 14, 0.175),
    thinking: FIVE_2,
    refuses: HOT,
  }),
  {
    id: "gpt-5.3-codex",
    state: "older",
    ends: "2027-04-01",
    successor: "gpt-6.1-sol",
    ...MIDDLE,
    prices: flat(1.75, 14, 0.175),
    thinking: FIVE_2,
    refuses: HOT,
  },
  {
    id: "gpt-5.3-codex-spark",
    state: "older",
    successor: "gpt-6-luna",
    context: 128_000,
    maxInput: 100_000,
    maxOutput: 32_000,
    prices: flat(1.75, 14, 0.175),
    thinking: FIVE_2,
    refuses: HOT,
  },
  {
    id: "gpt-5.2-pro",
    state: "older",
    successor: "gpt-6-astra",
    ...MIDDLE,
    prices: flat(21, 168, 21),
    thinking: PRO,
    refuses: HOT,
  },
  ...alike(["gpt-5.2-chat-latest", "gpt-5.3-chat-latest"], {
    state: "gone",
    ends: "2026-08-10",
    successor: "chat-latest",
    ...SMALL,
    prices: flat(1.75, 14, 0.175),
    thinking: FIVE_2,
    refuses: HOT,
  }),
  ...alike(["gpt-5.1", "gpt-5.1-codex", "gpt-5.1-codex-max"], {
    state: "older",
    ends: "2027-04-01",
    successor: "gpt-6.1-sol",
    ...MIDDLE,
    prices: flat(1.25, 10, 0.125),
    thinking: FIVE_1,
    refuses: HOT,
  }),
  {
    id: "gpt-5.1-codex-mini",
    state: "older",
    successor: "gpt-6-luna",
    ...MIDDLE,
    prices: flat(0.25, 2, 0.025),
    thinking: FIVE_1,
    refuses: HOT,
  },
  ...alike(["gpt-5", "gpt-5-codex"], {
    state: "older",
    ends: "2026-12-11",
    successor: "gpt-6.1-sol",
    ...MIDDLE,
    prices: flat(1.25, 10, 0.125),
    thinking: FIVE,
    refuses: HOT,
  }),
  {
    id: "gpt-5-mini",
    state: "older",
    ends: "2026-12-11",
    successor: "gpt-6-luna",
    ...MIDDLE,
    prices: flat(0.25, 2, 0.025),
    thinking: FIVE,
    refuses: HOT,
  },
  {
    id: "gpt-5-nano",
    state: "older",
    ends: "2026-12-11",
    successor: "gpt-6-luna",
    ...MIDDLE,
    prices: flat(0.05, 0.4, 0.005),
    thinking: FIVE,
    refuses: HOT,
  },
  {
    id: "gpt-5-pro",
    state: "older",
    ends: "2026-12-11",
    successor: "gpt-6-astra",
    ...MIDDLE,
    maxOutput: 272_000,
    prices: flat(15, 120, 15),
    thinking: ONLY_HIGH,
    refuses: HOT,
  },
  {
    id: "o3",
    state: "older",
    ends: "2026-12-11",
    successor: "gpt-6.1-sol",
    ...O_SERIES,
    prices: flat(2, 8, 0.5),
    thinking: O,
    refuses: HOT,
  },
  {
    id: "o3-pro",
    state: "older",
    ends: "2026-12-11",
    successor: "gpt-6-astra",
    ...O_SERIES,
    prices: flat(20, 80, 20),
    thinking: NONE,
    refuses: {},
  },
  {
    id: "gpt-4.1",
    aliases: ["gpt-4.1-2025-04-14"],
    state: "older",
    ends: "2027-01-14",
    successor: "gpt-6-luna",
    ...LONG,
    prices: flat(2, 8, 0.5),
    thinking: NONE,
    refuses: {},
  },
  {
    id: "gpt-4.1-mini",
    aliases: ["gpt-4.1-mini-2025-04-14"],
    state: "older",
    ends: "2027-01-14",
    successor: "gpt-6-luna",
    ...LONG,
    prices: flat(0.4, 1.6, 0.1),
    thinking: NONE,
    refuses: {},
  },
  {
    id: "gpt-4o",
    aliases: ["gpt-4o-2024-11-20", "gpt-4o-2024-08-06"],
    state: "older",
    ends: "2027-01-14",
    successor: "gpt-6-luna",
    ...SMALL,
    prices: flat(2.5, 10, 1.25),
    thinking: NONE,
    refuses: {},
  },
  {
    id: "gpt-4o-mini",
    aliases: ["gpt-4o-mini-2024-07-18"],
    state: "older",
    ends: "2027-01-14",
    successor: "gpt-6-luna",
    ...SMALL,
    prices: flat(0.15, 0.6, 0.075),
    thinking: NONE,
    refuses: {},
  },
  ...alike(["o1", "o3-mini", "o4-mini"], {
    state: "gone",
    ends: "2026-10-23",
    successor: "gpt-6-luna",
    ...O_SERIES,
    prices: [],
    thinking: O,
    refuses: HOT,
  }),
  ...alike(["o1-pro"], {
    state: "gone",
    ends: "2026-10-23",
    successor: "gpt-6-astra",
    ...O_SERIES,
    prices: [],
    thinking: NONE,
    refuses: {},
  }),
  ...alike(["gpt-4.1-nano", "gpt-4o-2024-05-13", "gpt-4-turbo", "gpt-4", "gpt-3.5-turbo"], {
    state: "gone",
    ends: "2026-10-23",
    successor: "gpt-6-luna",
    context: 8192,
    maxOutput: 4096,
    prices: [],
    thinking: NONE,
    refuses: {},
  }),
];

export const OPENAI: ModelTable = {
  models: MODELS,
  choice: { standard: "gpt-6.1-sol", best: "gpt-6-astra", cheap: "gpt-6-luna" },
};

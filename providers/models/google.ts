// Google's models as of November 2026, behind both of its doors: AI Studio and Vertex AI.

import type { Model, ModelTable, ModelThinking } from "./types.ts";

const LIMITS = { context: 1_048_576, maxOutput: 65_536 } as const;

const TO_HIGH = { minimal: "LOW", low: "LOW", medium: "MEDIUM", high: "HIGH", max: "HIGH" } as const;
const PRO: ModelThinking = {
  kind: "effort",
  unasked: "always",
  words: ["LOW", "MEDIUM", "HIGH"],
  efforts: TO_HIGH,
  defaultEffort: "HIGH",
};
const FOUR: ModelThinking = { ...PRO, defaultEffort: "MEDIUM" };
const FLASH: ModelThinking = {
  ...PRO,
  words: ["MINIMAL", "LOW", "MEDIUM", "HIGH"],
  efforts: { ...TO_HIGH, minimal: "MINIMAL" },
};

const FROM_DECEMBER = { from: "2026-12-01", input: 4, output: 20, cache_read: 0.2 } as const;
const FOUR_PRICES = [{ input: 2, output: 10, cache_read: 0.1 }, FROM_DECEMBER] as const;

const MODELS: readonly Model[] = [
  {
    id: "gemini-3.8-flash",
    state: "current",
    released: "2026-09-02",
    ...LIMITS,
    prices: [{ input: 0.75, output: 3.75 }, { from: "2027-01-01", input: 1.5, output: 7.5 }],
    thinking: FLASH,
    refuses: {},
  },
  {
    id: "gemini-4-argon",
    state: "current",
    released: "2026-10-13",
    note: "costs twice as much from December on",
    ...LIMITS,
    prices: FOUR_PRICES,
    thinking: FOUR,
    refuses: {},
  },
  {
    id: "gemini-4-carbon",
    state: "current",
    released: "2026-11-10",
    note: "the strongest; paid accounts only",
    ...LIMITS,
    prices: FOUR_PRICES,
    thinking: FOUR,
    refuses: {},
  },
  {
    id: "gemini-3.5-flash-lite",
    state: "current",
    released: "2026-07-21",
    ...LIMITS,
    prices: [{ input: 0.3, output: 2.5 }],
    thinking: FLASH,
    refuses: {},
  },
  { id: "gemini-3.7-flash", state: "older", ...LIMITS, prices: [], thinking: FLASH, refuses: {} },
  {
    id: "gemini-3.6-flash",
    state: "older",
    ...LIMITS,
    prices: [{ input: 1.5, output: 7.5, cache_read: 0.15 }],
    thinking: FLASH,
    refuses: {},
  },
  { id: "gemini-3.5-flash", state: "older", ...LIMITS, prices: [], thinking: FLASH, refuses: {} },
  {
    id: "gemini-3.1-flash-lite",
    state: "older",
    ends: "2027-05-07",
    successor: "gemini-3.5-flash-lite",
    ...LIMITS,
    prices: [],
    thinking: FLASH,
    refuses: {},
  },
  {
    id: "gemini-3.1-flash-lite-preview",
    state: "older",
    successor: "gemini-3.5-flash-lite",
    ...LIMITS,
    prices: [{ input: 0.25, output: 1.5, cache_read: 0.025 }],
    thinking: FLASH,
    refuses: {},
  },
  {
    id: "gemini-3.1-pro-preview",
    state: "older",
    successor: "gemini-4-argon",
    ...LIMITS,
    prices: [{
      input: 2,
      output: 12,
      cache_read: 0.2,
      above: { tokens: 200_000, input: 4, output: 18, cache_read: 0.4 },
    }],
    thinking: PRO,
    refuses: {},
  },
  {
    id: "gemini-3-flash-preview",
    state: "older",
    successor: "gemini-3.8-flash",
    ...LIMITS,
    prices: [{ input: 0.5, output: 3, cache_read: 0.05 }],
    thinking: FLASH,
    refuses: {},
  },
  {
    id: "gemini-3-pro-preview",
    state: "gone",
    ends: "2026-03-09",
    successor: "gemini-4-argon",
    ...LIMITS,
    prices: [],
    thinking: PRO,
    refuses: {},
  },
  ...budgeted("gemini-2.5-pro", "gemini-4-argon", { input: 1.25, output: 10, cache_read: 0.125 }, {
    budgets: { minimal: 128, low: 2048, medium: 8192, high: 32768 },
    minBudget: 1,
    maxBudget: 32768,
  }),
  ...budgeted("gemini-2.5-flash", "gemini-3.8-flash", { input: 0.3, output: 2.5, cache_read: 0.03 }, {
    budgets: { minimal: 128, low: 2048, medium: 8192, high: 24576 },
    minBudget: 1,
    maxBudget: 24576,
  }),
  ...budgeted(
    "gemini-2.5-flash-lite",
    "gemini-3.5-flash-lite",
    { input: 0.1, output: 0.4, cache_read: 0.01 },
    {
      budgets: { minimal: 512, low: 2048, medium: 8192, high: 24576 },
      minBudget: 512,
      maxBudget: 24576,
    },
  ),
  ...["gemini-2.0-flash", "gemini-2.0-flash-lite"].map((id): Model => ({
    id,
    aliases: [`${id}-001`],
    state: "gone",
    ends: "2026-06-01",
    successor: "gemini-3.5-flash-lite",
    context: 1_048_576,
    maxOutput: 8192,
    prices: [],
    thinking: { kind: "none", unasked: "off" },
    refuses: {},
  })),
];

function budgeted(
  id: string,
  successor: string,
  prices: Model["prices"][number],
  thinking: Pick<ModelThinking, "budgets" | "minBudget" | "maxBudget">,
): readonly Model[] {
  return [{
    id,
    state: "older",
    successor,
    ...LIMITS,
    prices: [prices],
    thinking: { kind: "budget", unasked: "on", ...thinking },
    refuses: {},
  }];
}

const CHOICE = {
  standard: "gemini-3.8-flash",
  best: "gemini-4-carbon",
  cheap: "gemini-3.5-flash-lite",
} as const;

/** At AI Studio. */
export const GEMINI: ModelTable = { models: MODELS, choice: CHOICE };

/** At Vertex AI, which has no Gemini 2.5 any more. */
export const VERTEX: ModelTable = {
  models: MODELS.map((model) =>
    model.id.startsWith("gemini-2.5-") ? { ...model, state: "gone", ends: "2026-10-20" } : model
  ),
  choice: CHOICE,
};

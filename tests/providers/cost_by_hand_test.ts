// What replies cost, against arithmetic written out by hand: caches, thinking, tiers, steps of the price and its days.

import assert from "node:assert/strict";
import { money } from "../../commands/io/amounts.ts";
import { DEFAULT_SETTINGS, type Settings } from "../../config/settings.generated.ts";
import { recordOf } from "../../cycle/usage/record.ts";
import { getProvider } from "../../providers/registry.ts";
import type { Usage } from "../../providers/types.ts";
import { mergeUsage } from "../../providers/models/usage.ts";

type Event = Readonly<Record<string, unknown>>;

interface Reply {
  readonly provider: string;
  readonly model: string;
  /** @default 2026-11-30 */
  readonly day?: string;
  /** @default short */
  readonly retention?: "short" | "long" | "none";
  readonly events: readonly Event[];
  /** Dollars, computed by hand; null if a needed price is unknown. */
  readonly dollars: number | null;
  readonly shown: string | null;
  readonly servers?: Settings["providers"];
}

const claude = (start: Event, end: Event): readonly Event[] => [
  { type: "message_start", message: { usage: start } },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: end },
];
const gpt = (usage: Event, rest: Event = {}): readonly Event[] => [
  { type: "response.completed", response: { status: "completed", output: [], usage, ...rest } },
];
const gemini = (usageMetadata: Event, modelVersion?: string): readonly Event[] => [
  {
    candidates: [{ content: { parts: [{ text: "Well." }] }, finishReason: "STOP" }],
    usageMetadata,
    modelVersion,
  },
];
const chat = (usage: Event): readonly Event[] => [
  { choices: [{ delta: { content: "Well." }, finish_reason: "stop" }] },
  { choices: [], usage },
];

const REPLIES: Readonly<Record<string, Reply>> = {
  "Sonnet 5.5 without a cache": {
    provider: "anthropic",
    model: "claude-sonnet-5-5",
    events: claude({ input_tokens: 1000, output_tokens: 1 }, { output_tokens: 800 }),
    dollars: (1000 * 2 + 800 * 10) / 1_000_000,
    shown: "$0.01",
  },
  "Sonnet 5.5 with a cache for five minutes": {
    provider: "anthropic",
    model: "claude-sonnet-5-5",
    events: claude(
      { input_tokens: 1000, cache_read_input_tokens: 50_000, cache_creation_input_tokens: 2000 },
      { output_tokens: 800 },
    ),
    dollars: (1000 * 2 + 50_000 * 0.1 + 2000 * 2.5 + 800 * 10) / 1_000_000,
    shown: "$0.02",
  },
  "Sonnet 5.5 with a cache for an hour": {
    provider: "anthropic",
    model: "claude-sonnet-5-5",
    retention: "long",
    events: claude(
      { input_tokens: 1000, cache_read_input_tokens: 50_000, cache_creation_input_tokens: 2000 },
      { output_tokens: 800 },
    ),
    dollars: (1000 * 2 + 50_000 * 0.1 + 2000 * 4 + 800 * 10) / 1_000_000,
    shown: "$0.023",
  },
  "Sonnet 5.5 on the last day of the dearer cache": {
    provider: "anthropic",
    model: "claude-sonnet-5-5",
    day: "2026-10-06",
    events: claude({ input_tokens: 0, cache_read_input_tokens: 1_000_000 }, { output_tokens: 0 }),
    dollars: 0.2,
    shown: "$0.20",
  },
  "Opus 5.5, whose output includes its thinking": {
    provider: "anthropic",
    model: "claude-opus-5-5",
    events: claude(
      { input_tokens: 10_000 },
      { output_tokens: 5000, output_tokens_details: { thinking_tokens: 4000 } },
    ),
    dollars: (10_000 * 4 + 5000 * 20) / 1_000_000,
    shown: "$0.14",
  },
  "Haiku 5.5 with a prompt of exactly 100,000 tokens": {
    provider: "anthropic",
    model: "claude-haiku-5-5",
    events: claude(
      { input_tokens: 10_000, cache_read_input_tokens: 80_000, cache_creation_input_tokens: 10_000 },
      { output_tokens: 1000 },
    ),
    dollars: (10_000 * 0.1 + 80_000 * 0.01 + 10_000 * 0.125 + 1000 * 0.5) / 1_000_000,
    shown: "$0.0036",
  },
  "Haiku 5.5 with a prompt of one token more": {
    provider: "anthropic",
    model: "claude-haiku-5-5",
    events: claude(
      { input_tokens: 10_001, cache_read_input_tokens: 80_000, cache_creation_input_tokens: 10_000 },
      { output_tokens: 1000 },
    ),
    dollars: (10_001 * 0.5 + 80_000 * 0.05 + 10_000 * 0.625 + 1000 * 2.5) / 1_000_000,
    shown: "$0.018",
  },
  "Fable 5.2 in a batch, at half the price": {
    provider: "anthropic",
    model: "claude-fable-5-2",
    events: claude({ input_tokens: 100_000, service_tier: "batch" }, {
      output_tokens: 10_000,
      service_tier: "batch",
    }),
    dollars: (100_000 * 8 + 10_000 * 40) / 1_000_000 / 2,
    shown: "$0.60",
  },
  "Sonnet 5.5 in a tier whose price is unknown": {
    provider: "anthropic",
    model: "claude-sonnet-5-5",
    events: claude({ input_tokens: 1000 }, { output_tokens: 800, service_tier: "priority" }),
    dollars: null,
    shown: null,
  },
  "Opus 5.5 in two rounds, of which the counters of the request contain one": {
    provider: "anthropic",
    model: "claude-opus-5-5",
    events: claude({ input_tokens: 1000 }, {
      output_tokens: 100,
      iterations: [
        { type: "compaction", input_tokens: 200_000, output_tokens: 3000 },
        { type: "message", input_tokens: 1000, output_tokens: 100, cache_read_input_tokens: 5000 },
      ],
    }),
    dollars: (201_000 * 4 + 5000 * 0.2 + 3100 * 20) / 1_000_000,
    shown: "$0.867",
  },
  "GPT-6.2 Sol with a cache and reasoning, which the output includes": {
    provider: "openai",
    model: "gpt-6.2-sol",
    events: gpt({
      input_tokens: 10_000,
      input_tokens_details: { cached_tokens: 6000, cache_write_tokens: 3000 },
      output_tokens: 500,
      output_tokens_details: { reasoning_tokens: 300 },
    }, { service_tier: "default" }),
    dollars: (1000 * 2 + 6000 * 0.1 + 3000 * 2.5 + 500 * 10) / 1_000_000,
    shown: "$0.015",
  },
  "GPT-6.2 Sol with a cache for twelve hours": {
    provider: "openai",
    model: "gpt-6.2-sol",
    retention: "long",
    events: gpt({
      input_tokens: 10_000,
      input_tokens_details: { cached_tokens: 6000, cache_write_tokens: 3000 },
      output_tokens: 500,
    }),
    dollars: (1000 * 2 + 6000 * 0.1 + 3000 * 5 + 500 * 10) / 1_000_000,
    shown: "$0.023",
  },
  "GPT-6.2 Sol above 272,000 tokens, where the whole request costs more": {
    provider: "openai",
    model: "gpt-6.2-sol",
    events: gpt({
      input_tokens: 300_000,
      input_tokens_details: { cached_tokens: 200_000 },
      output_tokens: 10_000,
    }),
    dollars: (100_000 * 4 + 200_000 * 0.2 + 10_000 * 15) / 1_000_000,
    shown: "$0.59",
  },
  "GPT-5.4 kept for a day, which has no price of its own": {
    provider: "openai",
    model: "gpt-5.4",
    retention: "long",
    events: gpt({
      input_tokens: 20_000,
      input_tokens_details: { cached_tokens: 16_000 },
      output_tokens: 1000,
    }),
    dollars: (4000 * 2.5 + 16_000 * 0.25 + 1000 * 15) / 1_000_000,
    shown: "$0.029",
  },
  "GPT-6.2 Astra without a cache": {
    provider: "openai",
    model: "gpt-6.2-astra",
    events: gpt({ input_tokens: 250_000, output_tokens: 20_000 }),
    dollars: (250_000 * 8 + 20_000 * 40) / 1_000_000,
    shown: "$2.80",
  },
  "GPT-6.2 Astra with a cache, whose price is unknown": {
    provider: "openai",
    model: "gpt-6.2-astra",
    events: gpt({ input_tokens: 250_000, input_tokens_details: { cached_tokens: 1 }, output_tokens: 20_000 }),
    dollars: null,
    shown: null,
  },
  "GPT-6 Luna in a batch": {
    provider: "openai",
    model: "gpt-6-luna",
    events: gpt({ input_tokens: 100_000, output_tokens: 4000 }, { service_tier: "batch" }),
    dollars: (100_000 * 0.1 + 4000 * 0.5) / 1_000_000 / 2,
    shown: "$0.006",
  },
  "Gemini 3.8 Flash, whose thoughts are billed beside its output": {
    provider: "gemini",
    model: "gemini-3.8-flash",
    events: gemini({
      promptTokenCount: 10_000,
      cachedContentTokenCount: 4000,
      candidatesTokenCount: 200,
      thoughtsTokenCount: 300,
    }),
    dollars: (6000 * 0.75 + 4000 * 0.075 + 500 * 3.75) / 1_000_000,
    shown: "$0.0067",
  },
  "Gemini 4 Argon on the last day before its price doubles": {
    provider: "gemini",
    model: "gemini-4-argon",
    events: gemini({ promptTokenCount: 100_000, candidatesTokenCount: 1000, thoughtsTokenCount: 9000 }),
    dollars: (100_000 * 2 + 10_000 * 10) / 1_000_000,
    shown: "$0.30",
  },
  "Gemini 4 Argon at Vertex AI on the day after": {
    provider: "vertex",
    model: "gemini-4-argon",
    day: "2026-12-01",
    events: gemini({ promptTokenCount: 100_000, candidatesTokenCount: 1000, thoughtsTokenCount: 9000 }),
    dollars: (100_000 * 4 + 10_000 * 20) / 1_000_000,
    shown: "$0.60",
  },
  "Gemini 3.1 Pro above 200,000 tokens": {
    provider: "gemini",
    model: "gemini-3.1-pro-preview",
    events: gemini({
      promptTokenCount: 200_001,
      cachedContentTokenCount: 100_000,
      candidatesTokenCount: 1000,
    }),
    dollars: (100_001 * 4 + 100_000 * 0.4 + 1000 * 18) / 1_000_000,
    shown: "$0.458",
  },
  "Gemini 3.7 Flash, answered by 3.8 Flash": {
    provider: "gemini",
    model: "gemini-3.7-flash",
    events: gemini({ promptTokenCount: 1_000_000, candidatesTokenCount: 0 }, "models/gemini-3.8-flash"),
    dollars: 0.75,
    shown: "$0.75",
  },
  "Kimi K3.1 with a cache": {
    provider: "moonshot",
    model: "kimi-k3.1-pro",
    events: chat({
      prompt_tokens: 10_000,
      completion_tokens: 2000,
      cached_tokens: 7000,
      completion_tokens_details: { reasoning_tokens: 1500 },
    }),
    dollars: (3000 * 2 + 7000 * 0.2 + 2000 * 10) / 1_000_000,
    shown: "$0.027",
  },
  "a server of the person's own, with prices of the settings": {
    provider: "openrouter",
    model: "x/y",
    servers: {
      openrouter: {
        kind: "openai_chat",
        models: { "x/y": { prices: { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 } } },
      },
    },
    retention: "long",
    events: chat({
      prompt_tokens: 30_000,
      completion_tokens: 1000,
      prompt_tokens_details: { cached_tokens: 20_000, cache_write_tokens: 4000 },
    }),
    dollars: (6000 * 3 + 20_000 * 0.3 + 4000 * 3.75 + 1000 * 15) / 1_000_000,
    shown: "$0.054",
  },
};

for (const [what, reply] of Object.entries(REPLIES)) {
  Deno.test(`the cost is what arithmetic by hand gives: ${what}`, async () => {
    const { provider: name, model, day = "2026-11-30", retention = "short", events, servers = {} } = reply;
    const settings: Settings = { ...DEFAULT_SETTINGS, provider: name, model, providers: servers };
    const provider = await getProvider(name, settings);
    assert.ok(provider.ok);
    const reader = provider.value.reader();
    let usage: Usage | null = null;
    let answered: string | null = null;
    for (const effect of events.flatMap((event) => reader.event(event))) {
      if (effect.kind === "usage") usage = mergeUsage(usage, effect.usage);
      else if (effect.kind === "answering") answered = effect.model;
    }
    assert.ok(usage !== null);
    const { cost } = recordOf({
      begun: new Date(`${day}T12:00:00Z`),
      seconds: 1,
      document: null,
      provider: name,
      model,
      ended: "completed",
      usage,
    }, { settings, answered, outputIncludesThoughts: provider.value.outputIncludesThoughts, retention });
    if (reply.dollars === null) assert.equal(cost, null);
    else assert.ok(Math.abs((cost ?? NaN) - reply.dollars) < 1e-12, `${cost} instead of ${reply.dollars}`);
    assert.equal(cost === null ? null : money(cost), reply.shown);
  });
}

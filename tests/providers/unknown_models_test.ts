// A fact that nobody stated about a model stays unknown: each decision asks for its own fact, and no guess is shown.

import assert from "node:assert/strict";
import { contextFill } from "../../agent/conversation/context_fill.ts";
import { DEFAULT_SETTINGS, type Settings } from "../../config/settings.generated.ts";
import type { ModelSetting } from "../../config/values.ts";
import { bindingOf } from "../../providers/anthropic/binding.ts";
import { findModel } from "../../providers/models/find.ts";
import { readList } from "../../providers/models/listing.ts";
import { getProvider } from "../../providers/registry.ts";
import { costOf, NO_USAGE } from "../../providers/models/usage.ts";
import { serve } from "./loopback.ts";
import { sendOnce } from "./send_once.ts";

const PRICES = { input: 5, output: 25 };

/** A model of each provider that no table lists yet. */
const NEW_MODELS: Readonly<Record<string, string>> = {
  anthropic: "claude-next-6",
  openai: "gpt-9-nova",
  gemini: "gemini-9-pro",
  vertex: "gemini-9-pro",
  moonshot: "kimi-k9",
  openai_chat: "qwen9",
};

function settingsFor(provider: string, model: string, facts: ModelSetting | null): Settings {
  return {
    ...DEFAULT_SETTINGS,
    provider,
    model,
    parameters: { ...DEFAULT_SETTINGS.parameters, temperature: 0.5, vertex: { project_id: "demo" } },
    providers: facts === null ? {} : { [provider]: { models: { [model]: facts } } },
  };
}

/** Returns what a request about a model contains, apart from the conversation. */
async function bodyOf(settings: Settings): Promise<Record<string, unknown>> {
  const provider = await getProvider(settings.provider, settings);
  assert.ok(provider.ok);
  const { request } = provider.value.buildRequest({
    prompt: {
      system: null,
      history: [{ role: "user", parts: [{ kind: "text", text: "hi" }] }],
      unresolved: [],
      diagnostics: [],
      blocked: false,
      files: [],
    },
    tools: [],
    settings,
    cacheKey: null,
    key: "k",
    baseUrl: "http://localhost",
    day: "2026-11-30",
  });
  return JSON.parse(request.body);
}

for (const [provider, model] of Object.entries(NEW_MODELS)) {
  Deno.test(`for a new model of ${provider}, stated prices, a day of retirement or no facts at all change nothing in the request`, async () => {
    const plain = await bodyOf(settingsFor(provider, model, null));
    for (const facts of [{ prices: PRICES }, {}, { ends: "2027-05-05" }]) {
      assert.deepEqual(await bodyOf(settingsFor(provider, model, facts)), plain, JSON.stringify(facts));
    }
  });
}

Deno.test("a new Claude model known only by its price thinks, is protected by the prefix check and gets no temperature", async () => {
  const settings = settingsFor("anthropic", "claude-next-6", { prices: PRICES });
  const body = await bodyOf(settings);
  assert.deepEqual(body.thinking, { type: "adaptive", display: "summarized" });
  assert.equal(body.temperature, undefined);
  assert.equal(body.max_tokens, 16_000);
  assert.equal(bindingOf(settings, "anthropic"), "drop");
  const explicit = { ...settings.parameters, anthropic: { effort: "xhigh" } };
  assert.deepEqual((await bodyOf({ ...settings, parameters: explicit })).output_config, { effort: "xhigh" });
});

Deno.test("each fact that is stated has its own effect, and the others stay unknown", async () => {
  const of = (facts: ModelSetting) => findModel("anthropic", "x", settingsFor("anthropic", "x", facts))!;
  assert.deepEqual([of({ context: 9 }).context, of({ context: 9 }).maxOutput], [9, null]);
  assert.deepEqual([of({ max_output: 9 }).context, of({ max_output: 9 }).maxOutput], [null, 9]);
  assert.equal(of({ context: 5, max_output: 9 }).maxOutput, 5);
  assert.equal(of({ context: 9 }).thinking, null);
  assert.equal(of({ thinking: "adaptive" }).refuses, null);
  assert.equal(of({ ends: "2027-01-01" }).ends, "2027-01-01");
  const limits = [
    [{}, 16_000],
    [{ context: 8192 }, 4096],
    [{ context: 1_000_000 }, 16_000],
    [{ max_output: 64_000 }, 32_000],
  ] as const;
  for (const [facts, tokens] of limits) {
    const body = await bodyOf(settingsFor("openai_chat", "qwen9", facts));
    assert.equal(body.max_tokens, tokens, JSON.stringify(facts));
  }
});

Deno.test("the fill of an unknown context window has no share", () => {
  const settings = settingsFor("anthropic", "claude-next-6", { prices: PRICES });
  assert.deepEqual(contextFill(settings, 400_000, []), {
    tokens: 100_000,
    window: null,
    share: null,
    estimated: true,
  });
});

Deno.test("a run with a model known only by its price does not stop at a share of a guessed window", async () => {
  const answer =
    'data: {"choices":[{"delta":{"content":"Well."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
  const server = serve(() => ({ headers: { "content-type": "text/event-stream" }, body: answer }));
  try {
    const { outcome } = await sendOnce(`@You:\n${"word ".repeat(200_000)}\n`, {
      provider: "openai_chat",
      model: "qwen9",
      url: server.url,
      providers: { openai_chat: { base_url: server.url, models: { qwen9: { prices: PRICES } } } },
    });
    assert.equal(outcome.kind, "completed");
  } finally {
    await server.close();
  }
});

Deno.test("a reply cut at the limit that flemma chose says so", async () => {
  const answer =
    'data: {"choices":[{"delta":{"content":"Well"},"finish_reason":"length"}]}\n\ndata: [DONE]\n\n';
  const server = serve(() => ({ headers: { "content-type": "text/event-stream" }, body: answer }));
  const warned = async (parameters: Record<string, unknown>) => {
    const { outcome } = await sendOnce("@You:\nhi\n", {
      provider: "openai_chat",
      model: "qwen9",
      url: server.url,
      parameters,
    });
    assert.ok(outcome.kind === "completed");
    return outcome.warnings.join();
  };
  try {
    assert.match(await warned({}), /it reached 16000 tokens, which flemma chose/);
    assert.match(await warned({ max_tokens: 50 }), /its output limit \(max_tokens\)/);
  } finally {
    await server.close();
  }
});

Deno.test("a cost that depends on an unknown price is unknown", () => {
  const options = { outputIncludesThoughts: true };
  const cost = (usage: Partial<typeof NO_USAGE>, prices: object, retention?: "long") =>
    costOf({ ...NO_USAGE, ...usage }, { ...PRICES, ...prices }, { ...options, retention })?.total ?? null;
  const million = 1_000_000;
  assert.equal(cost({ input: million, output: million }, {}), 30);
  assert.equal(cost({ cache_read: 1 }, {}), null);
  assert.equal(cost({ cache_write: 1 }, {}), null);
  assert.equal(cost({ cache_read: million }, { cache_read: 0.5 }), 0.5);
  assert.equal(cost({ cache_write: million }, { cache_write: 6 }), 6);
  assert.equal(cost({ cache_write: million }, { cache_write: 6 }, "long"), null);
  assert.equal(cost({ cache_write: million }, { cache_write: 6, cache_write_long: 10 }, "long"), 10);
});

Deno.test("a reply of the tier batch costs half, and one of an unknown tier has no known cost", () => {
  const cost = (tier?: string) =>
    costOf({ ...NO_USAGE, input: 1_000_000, ...(tier === undefined ? {} : { tier }) }, PRICES, {
      outputIncludesThoughts: true,
    })?.total ?? null;
  for (const tier of [undefined, "standard", "default", "auto", "on_demand"]) {
    assert.equal(cost(tier), 5, tier);
  }
  assert.equal(cost("batch"), 2.5);
  for (const tier of ["priority", "flex", "scale"]) assert.equal(cost(tier), null, tier);
});

Deno.test("the list of Anthropic is read in its own shape", () => {
  const yes = { supported: true };
  const no = { supported: false };
  const row = (id: string, thinking: object, rest: object = {}) => ({
    id,
    lifecycle: "active",
    max_input_tokens: 1_000_000,
    max_tokens: 128_000,
    capabilities: {
      thinking,
      effort: { supported: true, low: yes, medium: yes, high: yes, xhigh: null, max: no },
    },
    ...rest,
  });
  const types = (adaptive: object, enabled: object, disabled: object, between_tools: object) => ({
    supported: true,
    types: { adaptive, enabled, disabled, between_tools },
  });
  const common = { context: 1_000_000, max_output: 128_000, efforts: ["low", "medium", "high"] };
  assert.deepEqual(
    readList({
      data: [
        row("a", types(yes, no, yes, yes)),
        row("b", types(yes, no, no, yes)),
        row("c", types(yes, no, no, no)),
        row("d", types(no, yes, yes, no)),
        row("e", { ...types(no, no, yes, no), supported: false }),
        row("f", types(yes, no, no, no), {
          lifecycle: "deprecated",
          retires_at: "2027-01-22T00:00:00Z",
          max_tokens: null,
        }),
        row("g", types(yes, no, no, no), { lifecycle: "retired" }),
        { id: "h", capabilities: null, max_input_tokens: null, retires_at: null },
      ],
    }),
    {
      a: { ...common, thinking: "adaptive", thinking_off: "disabled" },
      b: { ...common, thinking: "adaptive", thinking_off: "between_tools" },
      c: { ...common, thinking: "adaptive" },
      d: { ...common, thinking: "budget" },
      e: { ...common, thinking: "none" },
      f: { context: 1_000_000, efforts: common.efforts, thinking: "adaptive", ends: "2027-01-22" },
      h: {},
    },
  );
});

Deno.test("the lists of other vendors and servers are read in their own shapes", () => {
  const rows: readonly (readonly [object, ModelSetting])[] = [
    // OpenAI
    [{ object: "model", owned_by: "openai", shutdown_date: "2027-03-01" }, { ends: "2027-03-01" }],
    // llama.cpp
    [{ meta: { n_ctx: 4096, n_ctx_train: 131_072 } }, { context: 4096 }],
    // vLLM
    [{ max_model_len: 32_768 }, { context: 32_768 }],
    // Groq
    [{ context_window: 131_072, max_completion_tokens: 8192 }, { context: 131_072, max_output: 8192 }],
    // Mistral
    [{ max_context_length: 131_072, capabilities: { completion_chat: true } }, { context: 131_072 }],
    // OpenRouter
    [
      {
        context_length: 200_000,
        top_provider: { context_length: 200_000, max_completion_tokens: 64_000 },
        pricing: {
          prompt: "0.000003",
          completion: "0.000015",
          input_cache_read: "0.0000003",
          input_cache_write: "0.00000375",
          image: "0",
        },
        expiration_date: "2027-01-01",
      },
      {
        context: 200_000,
        max_output: 64_000,
        prices: { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 },
        ends: "2027-01-01",
      },
    ],
    [{ pricing: { prompt: "0", completion: "0" } }, { prices: { input: 0, output: 0 } }],
    [{ pricing: { prompt: "-1", completion: "-1" } }, {}],
    [{ pricing: { prompt: "0.1" } }, {}],
    // Together
    [{ context_length: 8192, pricing: { input: 0.2, output: 0.6 } }, {
      context: 8192,
      prices: { input: 0.2, output: 0.6 },
    }],
    [{ pricing: { input: 0, output: 0 } }, {}],
    // Gemini
    [{ inputTokenLimit: 9, outputTokenLimit: 5, thinking: false }, {
      context: 9,
      max_output: 5,
      thinking: "none",
    }],
    [{ inputTokenLimit: 9, thinking: true }, { context: 9 }],
  ];
  for (const [row, facts] of rows) {
    assert.deepEqual(readList({ data: [{ id: "m", ...row }] }), { m: facts }, JSON.stringify(row));
  }
  assert.deepEqual(readList([{ id: "m", context_length: 5 }]), { m: { context: 5 } });
});

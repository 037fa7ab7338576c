import assert from "node:assert/strict";
import { choiceOf } from "../../providers/models/choice.ts";
import listed from "../../providers/models/models.json" with { type: "json" };
import { findModel, isGone, modelsOf, pricesAt } from "../../providers/models/find.ts";
import { effortsOf, listedModels, listedProviders } from "../../providers/models/table.ts";
import { modelWarnings, otherModel } from "../../providers/models/warnings.ts";
import { LEVELS } from "../../providers/models/types.ts";

const TODAY = "2026-11-28";

for (const provider of listedProviders()) {
  Deno.test(`the table of ${provider} contains each model once, and its default and successors are available models`, () => {
    const models = modelsOf(provider);
    const names = models.flatMap(({ id, aliases = [] }) => [id, ...aliases]);
    assert.equal(new Set(names).size, names.length);
    const successors = models.flatMap(({ successor }) => successor === undefined ? [] : [successor]);
    for (const name of new Set([...Object.values(choiceOf(provider)!), ...successors])) {
      if (name === "chat-latest") continue;
      const model = findModel(provider, name);
      assert.ok(model !== null && model.state === "current" && !isGone(model, TODAY), name);
    }
  });

  Deno.test(`the facts about ${provider}'s models are consistent`, () => {
    for (const model of listedModels(provider)) {
      const { id, thinking, prices, aliases = [] } = model;
      assert.ok(!aliases.includes(id), id);
      assert.ok(model.maxOutput <= model.context, id);
      assert.ok((model.maxInput ?? 0) < model.context, id);
      assert.ok((model.minOutput ?? 0) < model.maxOutput, id);
      assert.ok((model.usualOutput ?? 1) <= model.maxOutput, id);
      assert.equal(thinking.off !== undefined && thinking.unasked === "always", false, id);
      assert.equal(thinking.kind === "none" && thinking.unasked !== "off", false, id);
      assert.equal(model.state === "gone" && model.successor === undefined, false, id);
      const { words, efforts } = thinking;
      if (efforts !== undefined) assert.deepEqual(Object.keys(efforts), LEVELS, id);
      for (const word of Object.values(efforts ?? {})) assert.ok(words!.includes(word), `${id} ${word}`);
      if (thinking.defaultEffort !== undefined) assert.ok(words!.includes(thinking.defaultEffort), id);
      const days = prices.map(({ from }) => from ?? "");
      assert.deepEqual(days, [...new Set(days)].sort(), id);
      assert.ok(days.length === 0 || days[0] === "", id);
    }
  });
}

const PRICES = ["input", "output", "cache_read", "cache_write", "cache_write_long", "tiers"];

/** The members of models.json by the member that holds them; a list holds those of its entries. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  provider: ["id", "like", "default", "best", "cheap", "models"],
  model: [
    ...[
      "id",
      "aliases",
      "state",
      "release_date",
      "ends",
      "successor",
      "note",
      "limit",
      "cost",
      "later_costs",
    ],
    ...[
      "reasoning",
      "reasoning_options",
      "thinking",
      "refuses",
      "cache_ttl",
      "min_cacheable",
      "prefix_check",
    ],
  ],
  limit: ["context", "input", "output", "usual_output", "min_output"],
  cost: PRICES,
  later_costs: ["from", ...PRICES],
  tiers: [...PRICES, "tier"],
  tier: ["type", "size"],
  reasoning_options: ["type", "values", "min", "max"],
  thinking: ["adaptive", "unasked", "off", "off_up_to", "default_effort", "budgets"],
  budgets: LEVELS,
  refuses: ["temperature", "prefill", "forced_tools", "short_retention"],
};

/** The words that a member of models.json may have. */
const WORDS: Readonly<Record<string, readonly unknown[]>> = {
  state: ["current", "older", "gone"],
  "reasoning_options.type": ["effort", "budget_tokens", "toggle"],
  "tier.type": ["context"],
  "thinking.adaptive": [true],
  "thinking.unasked": ["always", "on", "off"],
  "refuses.temperature": ["always", "thinking"],
  "refuses.prefill": ["always", "thinking"],
  "refuses.forced_tools": ["always", "budget"],
  "refuses.short_retention": [true],
  prefix_check: ["every account", "new accounts"],
};

/** What a part of models.json holds that nothing reads. */
function strangeFacts(part: unknown, of: string): string[] {
  if (Array.isArray(part)) return part.flatMap((entry) => strangeFacts(entry, of));
  if (typeof part !== "object" || part === null) return [];
  return Object.entries(part).flatMap(([name, value]) => {
    if (!MEMBERS[of]?.includes(name)) return [`${of}.${name}`];
    const words = WORDS[name] ?? WORDS[`${of}.${name}`];
    if (words !== undefined && !words.includes(value)) return [`${of}.${name}: ${value}`];
    return MEMBERS[name] === undefined ? [] : strangeFacts(value, name);
  });
}

Deno.test("the program reads every field and value of models.json", () => {
  for (const [provider, { models, ...rest }] of Object.entries(listed)) {
    assert.equal(rest.id, provider);
    assert.deepEqual(strangeFacts(rest, "provider"), []);
    for (const [id, model] of Object.entries(models)) {
      assert.equal(model.id, id);
      assert.deepEqual(strangeFacts(model, "model"), [], id);
      if ("reasoning" in model) assert.equal("thinking" in model, model.reasoning, id);
    }
  }
  const strange = {
    color: 1,
    state: "new",
    limit: { max: 1 },
    cost: { tiers: [{ tier: { type: "day" } }] },
  };
  assert.deepEqual(strangeFacts(strange, "model"), [
    "model.color",
    "model.state: new",
    "limit.max",
    "tier.type: day",
  ]);
});

Deno.test("an effort that a model lacks is replaced by the next stronger effort, or else by the model's strongest", () => {
  const rows = [
    [["low", "medium", "high", "xhigh"], "low low medium high xhigh"],
    [["minimal", "low"], "minimal low low low low"],
    [["medium", "high"], "medium medium medium high high"],
    [["LOW", "HIGH"], "LOW LOW HIGH HIGH HIGH"],
  ] as const;
  for (const [words, expected] of rows) {
    assert.equal(Object.values(effortsOf(words)).join(" "), expected, words.join());
  }
});

Deno.test("a model is found by each of its names, but only at its own provider", () => {
  assert.equal(findModel("anthropic", "claude-haiku-4-5")?.id, "claude-haiku-4-5-20251001");
  assert.equal(findModel("anthropic", "claude-haiku-4-5-20251001")?.id, "claude-haiku-4-5-20251001");
  assert.equal(findModel("anthropic", "gpt-6.1-sol"), null);
  assert.equal(findModel("nobody", "gpt-6.1-sol"), null);
  assert.deepEqual([modelsOf("nobody"), choiceOf("nobody")], [[], null]);
});

Deno.test("the price of a request depends on its date", () => {
  const rows = [
    ["anthropic", "claude-sonnet-5-5", "2026-10-06", "cache_read", 0.2],
    ["anthropic", "claude-sonnet-5-5", "2026-10-07", "cache_read", 0.1],
    ["gemini", "gemini-4-argon", "2026-11-30", "input", 2],
    ["gemini", "gemini-4-argon", "2026-12-01", "input", 4],
    ["vertex", "gemini-3.8-flash", "2026-12-31", "output", 3.75],
    ["vertex", "gemini-3.8-flash", "2027-01-01", "output", 7.5],
  ] as const;
  for (const [provider, id, day, part, dollars] of rows) {
    assert.equal(pricesAt(findModel(provider, id)!, day, 1)?.[part], dollars, `${id} ${day}`);
  }
  assert.equal(pricesAt(findModel("gemini", "gemini-3.7-flash")!, TODAY, 1), null);
});

Deno.test("if a prompt is longer than the limit of the price table, all of its tokens cost the higher price", () => {
  const haiku = findModel("anthropic", "claude-haiku-5-5")!;
  assert.equal(pricesAt(haiku, TODAY, 100_000)?.output, 0.5);
  const raised = { input: 0.5, output: 2.5, cache_read: 0.05, cache_write: 0.625, cache_write_long: 1 };
  assert.deepEqual(pricesAt(haiku, TODAY, 100_001), raised);
  const sol = findModel("openai", "gpt-6.1-sol")!;
  assert.deepEqual(pricesAt(sol, TODAY, 272_001), {
    input: 4,
    output: 15,
    cache_read: 0.2,
    cache_write: 5,
    cache_write_long: 10,
  });
});

Deno.test("a model that is unknown, retired or about to retire is reported with its replacement", () => {
  const stated = (provider: string, name: string, day = TODAY) =>
    modelWarnings(provider, name, findModel(provider, name), day).join();
  assert.equal(stated("anthropic", "claude-sonnet-5-5"), "");
  assert.match(stated("anthropic", "claude-sonet-5-5"), /used as given\. Did you mean claude-sonnet-5-5\?/);
  assert.match(stated("anthropic", "x"), /used as given\.$/);
  for (
    const [provider, name] of [
      ["anthropic", "claude-opus-6"],
      ["anthropic", "claude-fable-5-3"],
      ["openai", "gpt-7-sol"],
      ["openai", "gpt-6.3-sol"],
      ["gemini", "gemini-4.5-argon"],
      ["moonshot", "kimi-k4-pro"],
    ] as const
  ) {
    assert.match(
      stated(provider, name),
      /is newer than the table of known models; it is used as given\.$/,
      name,
    );
  }
  assert.match(stated("openai", "gpt-6.0-sol"), /Did you mean/);
  assert.equal(stated("openai_chat", "qwen3"), "");
  assert.match(stated("anthropic", "claude-opus-4-1"), /no longer served since 2026-08-05.*claude-opus-5-5/);
  assert.match(
    stated("anthropic", "claude-sonnet-4-5", "2026-11-29"),
    /will be retired on 2026-11-30.*claude-sonnet-5-5/,
  );
  assert.match(stated("anthropic", "claude-sonnet-4-5", "2026-11-30"), /no longer served since 2026-11-30/);
  assert.equal(stated("anthropic", "claude-sonnet-4-5", "2026-10-30"), "");
  assert.match(stated("anthropic", "claude-sonnet-4-5", "2026-10-31"), /will be retired on/);
  assert.match(stated("vertex", "gemini-2.5-pro"), /no longer served since 2026-10-20/);
  assert.equal(stated("gemini", "gemini-2.5-pro"), "");
});

Deno.test("a reply by a different model than requested is reported, but not a reply by the same model under another name", () => {
  const rows = [
    ["claude-sonnet-5-5", "claude-sonnet-5-5", false],
    ["claude-haiku-4-5", "claude-haiku-4-5-20251001", false],
    ["claude-haiku-4-5-20251001", "claude-haiku-4-5", false],
    ["claude-next", "claude-next-20270101", false],
    ["claude-sonnet-5-5", "claude-haiku-5-5", true],
    ["claude-next", "claude-nextish", true],
    ["claude-fable-5-2", "unheard-of", true],
  ] as const;
  for (const [asked, answering, reported] of rows) {
    assert.equal(otherModel("anthropic", asked, answering) !== null, reported, `${asked} ${answering}`);
  }
  assert.match(
    otherModel("anthropic", "a", "b") ?? "",
    /^The reply is from b instead of the requested model a\.$/,
  );
});

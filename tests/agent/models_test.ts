// The list of models, merged in this order: flemma's table, the provider's list, the person's settings.

import assert from "node:assert/strict";
import { modelList, refreshModels } from "../../agent/views/models.ts";
import { listedModels } from "../../providers/models/table.ts";
import { differences } from "../../scripts/release/models.ts";
import { learnedModels, withLearned } from "../../providers/models/learned.ts";
import { DEFAULT_SETTINGS, type Settings } from "../../config/settings.generated.ts";
import type { ModelSetting } from "../../config/values.ts";
import { findModel, isGone } from "../../providers/models/find.ts";
import { readList } from "../../providers/models/listing.ts";
import { testInPlace as test } from "./place.ts";

const NOW = new Date("2026-11-28T12:00:00Z");

function settingsWith(
  provider: string,
  models: Readonly<Record<string, ModelSetting>>,
  rest: Partial<Settings> = {},
): Settings {
  return { ...DEFAULT_SETTINGS, providers: { [provider]: { models } }, ...rest };
}

/** A server that gives an answer for each path, and takes down what it was asked. */
function serving(answer: (request: Request) => Response) {
  const asked: { readonly path: string; readonly headers: Headers }[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    asked.push({ path: new URL(request.url).pathname, headers: new Headers(request.headers) });
    return answer(request);
  });
  const url = `http://127.0.0.1:${server.addr.port}`;
  return { url, asked, [Symbol.asyncDispose]: () => server.shutdown() };
}

const LIST = {
  data: [
    {
      id: "claude-opus-5-5",
      max_input_tokens: 900_000,
      max_tokens: 100_000,
      capabilities: { thinking: { types: ["adaptive"] } },
    },
    {
      id: "claude-next-6",
      max_input_tokens: 2_000_000,
      max_tokens: 200_000,
      capabilities: { thinking: { adaptive: true, disabled: true } },
    },
    { id: "claude-odd" },
    { name: 7 },
    null,
  ],
};

test("the list of models contains the current model, the default, and the models that $best and $cheap stand for", async ({ environment }) => {
  const list = await modelList({ environment, settings: DEFAULT_SETTINGS, provider: "anthropic", now: NOW });
  const marked = list.models.flatMap(({ name, marks }) => marks.map((mark) => `${mark} ${name}`)).sort();
  assert.deepEqual(marked, [
    "$best claude-fable-5-2",
    "$cheap claude-haiku-5-5",
    "default claude-sonnet-5-5",
    "in force claude-sonnet-5-5",
  ]);
  assert.equal(list.read, null);
  assert.ok(!list.models.some(({ name }) => name.startsWith("claude-3")), "what is gone is left out");
  const later = new Date("2026-12-01T00:00:00Z");
  const then = await modelList({
    environment,
    settings: DEFAULT_SETTINGS,
    provider: "anthropic",
    now: later,
  });
  assert.ok(
    !then.models.some(({ name }) => name === "claude-sonnet-4-5-20250929"),
    "and what has ended since",
  );
  const other = { ...DEFAULT_SETTINGS, model: "claude-haiku-4-5" };
  const alias = await modelList({ environment, settings: other, provider: "anthropic", now: NOW });
  assert.deepEqual(
    alias.models.find(({ marks }) => marks.includes("in force"))?.name,
    "claude-haiku-4-5-20251001",
  );
  const unknown = { ...DEFAULT_SETTINGS, model: "claude-x" };
  const last = (await modelList({ environment, settings: unknown, provider: "anthropic", now: NOW })).models
    .at(-1);
  assert.deepEqual([last?.name, last?.state, last?.prices], ["claude-x", "unknown", null]);
});

test("a provider's model list is fetched with the key and cached; it overrides the built-in table, and settings override both", async ({ environment }) => {
  await using server = serving(() => Response.json(LIST));
  const keyed = {
    ...environment,
    variables: {
      ...environment.variables,
      ANTHROPIC_API_KEY: "k",
      FLEMMA_ANTHROPIC_BASE_URL: `${server.url}/`,
    },
  };
  const question = { environment: keyed, settings: DEFAULT_SETTINGS, provider: "anthropic", now: NOW };
  const refreshed = await refreshModels(question);
  assert.deepEqual(refreshed, { ok: true, value: 3 });
  assert.equal(server.asked[0]!.path, "/v1/models");
  assert.equal(server.asked[0]!.headers.get("x-api-key"), "k");
  const row = async (name: string, settings = DEFAULT_SETTINGS) =>
    (await modelList({ ...question, settings })).models.find((model) => model.name === name);
  assert.deepEqual([(await row("claude-opus-5-5"))?.context, (await row("claude-opus-5-5"))?.listed], [
    900_000,
    true,
  ]);
  assert.deepEqual([(await row("claude-next-6"))?.context, (await row("claude-next-6"))?.state], [
    2_000_000,
    "unknown",
  ]);
  assert.deepEqual([(await row("claude-odd"))?.context, (await row("claude-odd"))?.maxOutput], [null, null]);
  assert.equal((await row("claude-sonnet-5-5"))?.listed, false);
  const own = settingsWith("anthropic", { "claude-opus-5-5": { context: 5000 } });
  assert.equal((await row("claude-opus-5-5", own))?.context, 5000);
  // What is sent goes by the same: the table keeps how its models think, and the list tells of the others.
  const learned = await withLearned(keyed, DEFAULT_SETTINGS);
  assert.equal(findModel("anthropic", "claude-opus-5-5", learned)?.thinking?.unasked, "always");
  assert.equal(findModel("anthropic", "claude-next-6", learned)?.maxOutput, 200_000);
  assert.equal(
    await withLearned(environment, { ...DEFAULT_SETTINGS, provider: "openai" }).then(({ providers }) =>
      providers.openai
    ),
    undefined,
  );
});

test("if a model list is unreadable, the known models stay the same, and the reason is reported", async ({ environment }) => {
  const cases: readonly (readonly [string, () => Response, string, RegExp])[] = [
    [
      "anthropic",
      () => Response.json({ error: { type: "authentication_error", message: "no" } }, { status: 401 }),
      "authentication",
      /no/,
    ],
    ["anthropic", () => new Response("<html>"), "models-unreadable", /is not a model list/],
    ["anthropic", () => Response.json({ data: {} }), "models-unreadable", /is not a model list/],
    ["vertex", () => Response.json(LIST), "models-unlisted", /no model list/],
  ];
  for (const [provider, answer, code, says] of cases) {
    await using server = serving(answer);
    const variables = {
      ...environment.variables,
      ANTHROPIC_API_KEY: "k",
      VERTEX_ACCESS_TOKEN: "t",
      FLEMMA_ANTHROPIC_BASE_URL: server.url,
      FLEMMA_VERTEX_BASE_URL: server.url,
    };
    const keyed = { ...environment, variables };
    const settings = { ...DEFAULT_SETTINGS, provider };
    const outcome = await refreshModels({ environment: keyed, settings, provider, now: NOW });
    assert.ok(!outcome.ok);
    assert.ok(outcome.problem.code.includes(code), outcome.problem.code);
    assert.match(outcome.problem.message, says);
    assert.equal(await learnedModels(keyed, provider), null);
  }
});

test("a corrupted cache of a model list is ignored", async ({ environment, folder }) => {
  const path = `${folder}/state/flemma/models`;
  await Deno.mkdir(path, { recursive: true });
  for (const text of ["", "{", "[]", '{"day":1,"models":{}}', '{"day":"x"}']) {
    await Deno.writeTextFile(`${path}/anthropic.json`, text);
    assert.equal(await learnedModels(environment, "anthropic"), null, text);
  }
});

Deno.test("model lists are read in the format of every provider, and unreadable fields of a model are skipped", () => {
  assert.deepEqual(readList({ data: [{ id: "gpt-6-luna", shutdown_date: null }] }), { "gpt-6-luna": {} });
  assert.deepEqual(
    readList({ models: [{ name: "models/gemini-4-argon", inputTokenLimit: 10, outputTokenLimit: 5 }] }),
    {
      "gemini-4-argon": { context: 10, max_output: 5 },
    },
  );
  assert.deepEqual(readList({ data: [{ id: "qwen", max_model_len: 4096, max_tokens: "many" }] }), {
    qwen: { context: 4096 },
  });
  assert.deepEqual(readList({ data: [{ id: "old", capabilities: { thinking: ["enabled", "disabled"] } }] }), {
    old: { thinking: "budget" },
  });
  for (const body of [null, [], {}, { data: "x" }, "list"]) assert.equal(readList(body), null);
});

Deno.test("settings can define a model as a copy of another model with some facts changed", () => {
  const settings = settingsWith("anthropic", {
    "claude-next-6": { like: "claude-opus-5-5", prices: { input: 5, output: 25, cache_write_long: 9 } },
    "claude-bare": {},
    "gateway/llama": { thinking: "switch", context: 8192 },
    "claude-haiku-4-5": { max_output: 1000 },
  });
  const found = (name: string) => findModel("anthropic", name, settings)!;
  assert.equal(found("claude-next-6").id, "claude-next-6");
  assert.equal(found("claude-next-6").thinking?.unasked, "always");
  assert.deepEqual(found("claude-next-6").prices, [{ input: 5, output: 25, cache_write_long: 9 }]);
  const { id: _id, ...bare } = found("claude-bare");
  assert.deepEqual(bare, {
    state: "current",
    context: null,
    maxOutput: null,
    prices: [],
    thinking: null,
    refuses: null,
    prefixCheck: null,
  });
  assert.deepEqual([found("gateway/llama").thinking?.kind, found("gateway/llama").maxOutput], [
    "switch",
    null,
  ]);
  assert.deepEqual([found("claude-haiku-4-5").maxOutput, found("claude-haiku-4-5").context], [1000, 200_000]);
  assert.equal(findModel("openai", "claude-next-6", settings), null);
  assert.equal(findModel("anthropic", "constructor", settings), null);
});

test("a refreshed list makes nothing worse: it adds facts, and never replaces better ones", async ({ environment }) => {
  const supported = { supported: true };
  const rows = [
    {
      id: "claude-next-6",
      max_input_tokens: 2_000_000,
      max_tokens: null,
      pricing: { input: 9, output: 9 },
      capabilities: { thinking: { supported: true, types: { adaptive: supported, disabled: supported } } },
    },
    {
      id: "claude-opus-5-5",
      pricing: { input: 9, output: 9 },
      lifecycle: "deprecated",
      retires_at: "2026-11-01T00:00:00Z",
      capabilities: { thinking: { supported: true, types: { enabled: supported } } },
    },
    { id: "claude-opus-4-5-20251101", lifecycle: "deprecated", retires_at: "2027-02-01T00:00:00Z" },
    { id: "claude-bare" },
  ];
  await using server = serving(() => Response.json({ data: rows }));
  const variables = {
    ...environment.variables,
    ANTHROPIC_API_KEY: "k",
    FLEMMA_ANTHROPIC_BASE_URL: server.url,
  };
  const keyed = { ...environment, variables };
  const question = { environment: keyed, settings: DEFAULT_SETTINGS, provider: "anthropic", now: NOW };
  assert.deepEqual(await refreshModels(question), { ok: true, value: 4 });
  const found = async (name: string, models: Readonly<Record<string, ModelSetting>> = {}) =>
    findModel("anthropic", name, await withLearned(keyed, settingsWith("anthropic", models)));
  const plain = findModel("anthropic", "claude-opus-5-5")!;
  assert.deepEqual(await found("claude-opus-5-5"), { ...plain });
  assert.equal((await found("claude-opus-4-5-20251101"))?.ends, "2027-02-01");
  const next = (await found("claude-next-6"))!;
  assert.deepEqual([next.context, next.maxOutput, next.refuses, next.prefixCheck], [
    2_000_000,
    null,
    null,
    null,
  ]);
  assert.deepEqual([next.thinking?.kind, next.thinking?.off], ["adaptive", "disabled"]);
  assert.deepEqual(next.prices, [{ input: 9, output: 9 }]);
  // The person's prices do not hide what the list states about the same model.
  const priced = (await found("claude-next-6", { "claude-next-6": { prices: { input: 1, output: 2 } } }))!;
  assert.deepEqual([priced.context, priced.thinking?.kind, priced.prices], [
    2_000_000,
    "adaptive",
    [{ input: 1, output: 2 }],
  ]);
  const like = (await found("claude-next-6", { "claude-next-6": { like: "claude-opus-5-5" } }))!;
  assert.deepEqual([like.context, like.maxOutput, like.thinking], [2_000_000, 128_000, plain.thinking]);
  const list = await modelList(question);
  const row = list.models.find(({ name }) => name === "claude-bare");
  assert.deepEqual([row?.context, row?.maxOutput, row?.prices], [null, null, null]);
});

test("an empty list does not replace an earlier one", async ({ environment }) => {
  let rows: readonly unknown[] = [{ id: "deepseek-chat", context_length: 1000 }];
  await using server = serving(() => Response.json({ object: "list", data: rows }));
  const variables = { ...environment.variables, DEEPSEEK_API_KEY: "k", FLEMMA_DEEPSEEK_BASE_URL: server.url };
  const keyed = { ...environment, variables };
  const question = { environment: keyed, settings: DEFAULT_SETTINGS, provider: "deepseek", now: NOW };
  assert.deepEqual(await refreshModels(question), { ok: true, value: 1 });
  assert.equal(server.asked[0]!.headers.get("authorization"), "Bearer k");
  rows = [];
  const refreshed = await refreshModels(question);
  assert.ok(!refreshed.ok && refreshed.problem.code === "models-none");
  assert.deepEqual((await learnedModels(keyed, "deepseek"))?.models, { "deepseek-chat": { context: 1000 } });
});

test("the list of a cloud adds what it states, and keeps what is known about its maker's models", async ({ environment }) => {
  const capabilities = { thinking: { types: { enabled: { supported: true } } } };
  const rows = [{ id: "claude-opus-5-5", capabilities, pricing: { input: 9, output: 9 } }, { id: "other" }];
  await using server = serving(() => Response.json({ data: rows }));
  const variables = { ...environment.variables, CLOUD_KEY: "k" };
  const settings = {
    ...DEFAULT_SETTINGS,
    provider: "cloud",
    providers: {
      cloud: {
        kind: "anthropic",
        auth: "bearer",
        base_url: `${server.url}/anthropic`,
        key_env: ["CLOUD_KEY"],
      },
    },
  } as const;
  const keyed = { ...environment, variables };
  assert.deepEqual(await refreshModels({ environment: keyed, settings, provider: "cloud", now: NOW }), {
    ok: true,
    value: 2,
  });
  assert.equal(server.asked[0]!.path, "/anthropic/v1/models");
  const found = findModel("cloud", "claude-opus-5-5", await withLearned(keyed, settings))!;
  const maker = findModel("anthropic", "claude-opus-5-5")!;
  assert.deepEqual(found.thinking, maker.thinking);
  assert.deepEqual(found.prices, [{ input: 9, output: 9 }]);
});

Deno.test("the maintainer's command names every difference between the table and a vendor's list", () => {
  const day = "2026-11-28";
  const names = listedModels("moonshot").filter((model) => !isGone(model, day)).map(({ id }) => id);
  const same = Object.fromEntries(names.map((name) => [name, {}]));
  assert.deepEqual(differences("moonshot", same, day), []);
  const { "kimi-k3": _left, ...others } = same;
  const listed = {
    ...others,
    "kimi-k3.1-pro": {
      context: 5,
      max_output: 1_000_000,
      prices: { input: 2, output: 11 },
      ends: "2027-01-01",
    },
    "kimi-k2.5": {},
    "kimi-k9": {},
  };
  assert.deepEqual(differences("moonshot", listed, day), [
    "kimi-k3.1-pro: context is 1000000, listed as 5",
    "kimi-k3.1-pro: output price is 10, listed as 11",
    "kimi-k3.1-pro: ends is unknown, listed as 2027-01-01",
    "kimi-k3: not in the vendor's list",
    "kimi-k2.5: still in the vendor's list",
    "kimi-k9: not in the table",
  ]);
  assert.deepEqual(differences("deepseek", { "deepseek-chat": {} }, day), []);
});

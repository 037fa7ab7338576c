// Reading lists of models and token counts: valid values of a provider, and nothing that only looks like one.

import assert from "node:assert/strict";
import { anthropic } from "../../providers/anthropic/provider.ts";
import { moonshot } from "../../providers/chat_completions/moonshot.ts";
import { chatProvider } from "../../providers/chat_completions/openai_chat.ts";
import { gemini, vertex } from "../../providers/google/provider.ts";
import { ownProvider } from "../../providers/known.ts";
import { openai } from "../../providers/openai/provider.ts";
import { listRequest, readList } from "../../providers/models/listing.ts";
import { countedTokens, countRequest, estimateRequestTokens } from "../../providers/request/count.ts";
import type { ProviderRequest } from "../../providers/types.ts";

const one = (row: unknown) => readList({ data: [row] });

Deno.test("a listed model has the name that requests use, and an entry without a name is skipped", () => {
  assert.deepEqual(one({ id: "a", name: "Model A" }), { a: {} });
  assert.deepEqual(one({ id: "", name: "models/b" }), { b: {} });
  assert.deepEqual(one({ id: 5, name: "b" }), { b: {} });
  for (const row of [{}, { id: "" }, { name: "" }, { name: 5 }, "a", null, ["a"]]) {
    assert.deepEqual(one(row), {}, JSON.stringify(row));
  }
  assert.deepEqual(readList({ models: [{ name: "models/c" }] }), { c: {} });
});

Deno.test("a size in a list of models is used only if it is a whole number above zero", () => {
  assert.deepEqual(one({ id: "a", context_length: 1, max_tokens: 2 }), { a: { context: 1, max_output: 2 } });
  for (const value of [0, -1, 1.5, "5", null, true]) {
    assert.deepEqual(one({ id: "a", max_input_tokens: value, max_tokens: value }), { a: {} }, String(value));
  }
});

Deno.test("the kind of thinking of a model is read from every form in which providers list it", () => {
  const rows: readonly (readonly [unknown, string | undefined])[] = [
    [{ thinking: ["adaptive", "enabled"] }, "adaptive"],
    [{ thinking: ["enabled"] }, "budget"],
    [{ thinking: { types: ["adaptive"] } }, "adaptive"],
    [{ thinking: { types: { enabled: {}, adaptive: null } } }, "budget"],
    [{ thinking: { adaptive: { supported: true } } }, "adaptive"],
    [{ thinking: { adaptive: false, enabled: true } }, "budget"],
    [{ thinking: { adaptive: null, enabled: null } }, undefined],
    [{ thinking: ["disabled"] }, undefined],
    [{ thinking: true }, undefined],
    [{ thinking: "adaptive" }, undefined],
    [["adaptive"], undefined],
    ["adaptive", undefined],
  ];
  for (const [capabilities, thinking] of rows) {
    const expected = thinking === undefined ? {} : { thinking };
    assert.deepEqual(one({ id: "a", capabilities }), { a: expected }, JSON.stringify(capabilities));
  }
});

Deno.test("a list of models is requested in each provider's own way, and never from Vertex AI", () => {
  const bearer = { path: "/v1/models", headers: { authorization: "Bearer k" } };
  const rows = [
    [anthropic, {
      path: "/v1/models",
      query: "limit=1000",
      headers: { "x-api-key": "k", "anthropic-version": "2023-06-01" },
    }],
    [gemini, { path: "/v1beta/models", query: "pageSize=1000", headers: { "x-goog-api-key": "k" } }],
    [vertex, null],
    [openai, bearer],
    [moonshot, bearer],
  ] as const;
  for (const [provider, expected] of rows) {
    assert.deepEqual(listRequest(provider, "k"), expected, provider.name);
  }
  assert.deepEqual(listRequest(chatProvider(ownProvider("mine")), ""), { path: "/v1/models", headers: {} });
});

const BODY = {
  model: "m",
  contents: [],
  messages: [{ role: "user", content: "hi" }],
  max_tokens: 1,
  max_output_tokens: 1,
  max_completion_tokens: 1,
  stream: true,
  stream_options: {},
  store: false,
  temperature: 1,
  include: [],
  prompt_cache_key: "k",
  thinking: {},
  generationConfig: {},
  toolConfig: {},
  tools: [],
};

function asked(provider: string, url: string): { url: string; body: Record<string, unknown> } {
  const request: ProviderRequest = { method: "POST", url, headers: {}, body: JSON.stringify(BODY) };
  const counting = countRequest(provider, request);
  assert.ok(counting !== null);
  return { url: counting.url, body: JSON.parse(counting.body) };
}

Deno.test("a token count is requested at each provider's own address, without fields that are refused there", () => {
  const claude = asked("anthropic", "https://api.anthropic.com/v1/messages?beta=1");
  assert.equal(claude.url, "https://api.anthropic.com/v1/messages/count_tokens?beta=1");
  for (const name of ["max_tokens", "stream", "temperature"]) assert.ok(!(name in claude.body), name);
  assert.ok("thinking" in claude.body && "tools" in claude.body);
  const openai = asked("openai", "https://api.openai.com/v1/responses");
  assert.equal(openai.url, "https://api.openai.com/v1/responses/input_tokens");
  for (const name of ["stream", "store", "max_output_tokens", "temperature", "include", "prompt_cache_key"]) {
    assert.ok(!(name in openai.body), name);
  }
  const vertex = asked("vertex", "https://h/v1/models/gemini-4:streamGenerateContent?alt=sse");
  assert.equal(vertex.url, "https://h/v1/models/gemini-4:countTokens");
  assert.ok(!("generationConfig" in vertex.body) && !("toolConfig" in vertex.body) && "tools" in vertex.body);
  const gemini = asked("gemini", "https://h/v1beta/models/gemini-4:streamGenerateContent?alt=sse");
  assert.equal((gemini.body.generateContentRequest as { model: string }).model, "models/gemini-4");
  const kimi = asked("moonshot", "https://api.moonshot.ai/v1/chat/completions");
  assert.equal(kimi.url, "https://api.moonshot.ai/v1/tokenizers/estimate-token-count");
  assert.ok(!("stream_options" in kimi.body) && "messages" in kimi.body);
});

Deno.test("a token count is read from each provider's own field, and any other response contains no count", () => {
  assert.equal(countedTokens("anthropic", { input_tokens: 12 }), 12);
  assert.equal(countedTokens("vertex", { totalTokens: 0 }), 0);
  assert.equal(countedTokens("moonshot", { data: { total_tokens: 7 } }), 7);
  for (
    const answer of [{}, null, "12", { input_tokens: "12" }, { input_tokens: -1 }, { input_tokens: 1.5 }]
  ) {
    assert.equal(countedTokens("anthropic", answer), null, JSON.stringify(answer));
  }
  assert.equal(countedTokens("moonshot", { data: 7 }), null);
  assert.equal(countedTokens("openai_chat", { input_tokens: 1 }), null);
});

Deno.test("a request that counts tokens has the key of the original request, and its query unless the query asks for a stream", () => {
  const asks = (url: string) => {
    const request = { method: "POST", url, headers: { "x-api-key": "k" }, body: "{}" } as const;
    return countRequest("vertex", request);
  };
  const path = "https://h/v1beta/models/m:streamGenerateContent";
  assert.deepEqual(asks(path)?.headers, { "x-api-key": "k" });
  assert.equal(asks(`${path}?alt=json`)?.url, "https://h/v1beta/models/m:countTokens?alt=json");
  assert.equal(countRequest("openai_chat", { method: "POST", url: path, headers: {}, body: "{}" }), null);
});

Deno.test("if tokens cannot be counted, four bytes count as one token", () => {
  const of = (body: string) => estimateRequestTokens({ method: "POST", url: "http://h/", headers: {}, body });
  assert.deepEqual([of(""), of("a"), of("abcd"), of("abcde"), of("ü€")], [0, 1, 1, 2, 2]);
});

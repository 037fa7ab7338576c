import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../config/settings.ts";
import { estimate } from "../../cycle/send/estimate.ts";
import { parse } from "../../parser/mod.ts";
import { getProvider } from "../../providers/registry.ts";
import { countedTokens, countRequest } from "../../providers/request/count.ts";
import type { ProviderRequest } from "../../providers/types.ts";
import { type Answer, serve } from "../providers/loopback.ts";

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

Deno.test("each provider is asked in its own place, without what it refuses there", () => {
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

Deno.test("the number is read where each provider puts it, and anything else is none", () => {
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

async function estimated(name: string, model: string, answer: Answer) {
  const server = serve(() => answer);
  try {
    const provider = await getProvider(name);
    assert.ok(provider.ok);
    const outcome = await estimate({
      chat: parse(new TextEncoder().encode("@You:\nhi there\n")),
      document: null,
      settings: {
        ...DEFAULT_SETTINGS,
        provider: name,
        model,
        providers: { [name]: { base_url: server.url } },
      },
      environment: { cwd: "/", home: "/", variables: { ANTHROPIC_API_KEY: "key" } },
      provider: provider.value,
      tools: [],
      now: new Date("2026-11-28"),
    });
    return { outcome, requests: server.requests };
  } finally {
    await server.close();
  }
}

const JSON_TYPE = { "content-type": "application/json" };

Deno.test("a document is counted by its provider and priced; nothing is sent to the model", async () => {
  const { outcome, requests } = await estimated("anthropic", "claude-sonnet-5-5", {
    headers: JSON_TYPE,
    body: '{"input_tokens": 500000}',
  });
  assert.ok(outcome.ok, JSON.stringify(outcome));
  const { tokens, rough, cost, prices, context } = outcome.value;
  assert.deepEqual([tokens, rough, cost], [500_000, false, prices!.input / 2]);
  assert.equal(context, 1_000_000);
  assert.deepEqual(requests.map(({ path }) => path), ["/v1/messages/count_tokens"]);
});

Deno.test("a server that does not count is not asked, and the number is called rough", async () => {
  const { outcome, requests } = await estimated("openai_chat", "mine", { body: "" });
  assert.ok(outcome.ok);
  assert.deepEqual([outcome.value.rough, outcome.value.cost, requests.length], [true, null, 0]);
  assert.ok(outcome.value.tokens > 0);
});

Deno.test("a refusal is told as that of a request, and an answer without a number as none", async () => {
  const refused = await estimated("anthropic", "claude-sonnet-5-5", {
    status: 401,
    headers: JSON_TYPE,
    body: '{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}',
  });
  assert.ok(!refused.outcome.ok);
  assert.equal(refused.outcome.problem.code, "provider-authentication");
  const page = await estimated("anthropic", "claude-sonnet-5-5", { headers: JSON_TYPE, body: "<html>" });
  assert.ok(!page.outcome.ok);
  assert.equal(page.outcome.problem.code, "not-counted");
});

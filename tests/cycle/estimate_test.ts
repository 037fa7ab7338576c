import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { estimate } from "../../cycle/send/estimate.ts";
import { parse } from "../../parser/mod.ts";
import { getProvider } from "../../providers/registry.ts";
import { type Answer, serve } from "../providers/loopback.ts";

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

Deno.test("for an estimate, the provider counts the tokens and flemma computes the price; the model gets no request", async () => {
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

Deno.test("if a server cannot count tokens, flemma requests no count and calls its estimate rough", async () => {
  const { outcome, requests } = await estimated("openai_chat", "mine", { body: "" });
  assert.ok(outcome.ok);
  assert.deepEqual([outcome.value.rough, outcome.value.cost, requests.length], [true, null, 0]);
  assert.ok(outcome.value.tokens > 0);
});

Deno.test("if the server refuses to count tokens, flemma reports this like a refused request; a response without a count is a separate error", async () => {
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

// Every provider against independent servers: their streams are read, and they accept our requests.

// deno-lint-ignore-file no-console -- the second server tells its console of every request, which is silenced here

import assert from "node:assert/strict";
import { LLMock } from "@copilotkit/aimock";
import mockServer from "@dwmkerr/mock-llm/dist/server.js";
import { parse } from "../../parser/mod.ts";
import { sendOnce } from "./send_once.ts";

const PROVIDERS = [
  ["anthropic", "claude-sonnet-5-5"],
  ["openai", "gpt-6.1-sol"],
  ["vertex", "gemini-4-argon"],
  ["gemini", "gemini-3.8-flash"],
  ["moonshot", "kimi-k3.1-pro"],
  ["openai_chat", "qwen3:8b"],
] as const;

const WEATHER = {
  name: "weather",
  description: "Tells it.",
  input_schema: { type: "object", properties: {} },
};

/** Keeps no connection open after a reply: a server stops only when all of them are closed, idle ones too. */
const client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });

const send = (document: string, [provider, model]: readonly [string, string], url: string) =>
  sendOnce(document, {
    provider,
    model,
    url,
    tools: () => [WEATHER],
    fetch: (input, init) => fetch(input, { ...init, client }),
  });

for (const provider of PROVIDERS) {
  Deno.test(`an independent mock server of all APIs works with ${provider[0]}: text, reasoning, a call, its result, and an error`, async () => {
    const mock = new LLMock({ port: 0, strict: true, logLevel: "silent" });
    const answered = (messages: readonly { role: string }[]) => messages.some(({ role }) => role === "tool");
    mock.on({ userMessage: /weather/, predicate: ({ messages }) => !answered(messages) }, {
      content: "I will look. 😀",
      reasoning: "The place is Perth.",
      toolCalls: [{ name: "weather", arguments: '{"place":"Perth","days":[1,2]}' }],
    });
    mock.on({ userMessage: /weather/, predicate: ({ messages }) => answered(messages) }, {
      content: "It rains.",
    });
    mock.on({ userMessage: /broken/ }, {
      error: { message: "Out of order.", type: "server_error" },
      status: 400,
    });
    await mock.start();
    try {
      // This server has Vertex AI at another version of its API than the usual one.
      const url = provider[0] === "vertex" ? `${mock.url}/v1` : mock.url;
      const first = await send("@System:\nBe brief.\n\n@You:\nWhat is the weather?\n", provider, url);
      assert.ok(first.outcome.kind === "completed", JSON.stringify(first.outcome));
      const chat = parse(new TextEncoder().encode(first.after));
      const [call] = chat.turns.flatMap(({ calls }) => calls);
      assert.equal(call?.name, "weather");
      assert.deepEqual(call?.input, { place: "Perth", days: [1, 2] });
      assert.match(first.after, /I will look\. 😀/);
      assert.match(first.after, /The place is Perth\./);
      const result = `${first.after}**Tool Result:** \`${call!.id}\`\n\n\`\`\`\nrain\n\`\`\`\n`;
      const second = await send(result, provider, url);
      assert.ok(second.outcome.kind === "completed", JSON.stringify(second.outcome));
      assert.ok(second.after.endsWith("It rains.\n\n@You:\n\n"), second.after);
      const broken = await send("@You:\nbroken\n", provider, url);
      assert.ok(broken.outcome.kind === "failed");
      assert.match(broken.outcome.problem.message, /Out of order/);
      assert.equal(broken.after, "@You:\nbroken\n");
      const unknown = await send("@You:\nnobody knows\n", provider, url);
      assert.equal(unknown.outcome.kind, "failed");
    } finally {
      await mock.stop();
    }
  });
}

/** What the server tells its console goes nowhere. */
function quietly<T>(make: () => T): T {
  const { log } = console;
  console.log = () => {};
  try {
    return make();
  } finally {
    console.log = log;
  }
}

const stated = (content: string) =>
  JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
  });

Deno.test("a second independent mock server of Chat Completions works, with its streams and with an error", async () => {
  const rules = [
    {
      path: "/v1/chat/completions",
      method: "POST",
      match: "@",
      response: { status: 200, content: stated("Well, 😀 hello.") },
    },
    {
      path: "/v1/chat/completions",
      method: "POST",
      match: "contains(body.messages[-1].content, 'broken')",
      response: { status: 400, content: '{"error":{"message":"Out of order."}}' },
    },
  ];
  const app = quietly(() =>
    mockServer.createServer({ streaming: { chunkSize: 3, chunkIntervalMs: 1 }, rules }, "127.0.0.1", 0)
  );
  const listening = await new Promise<ReturnType<typeof app.listen>>((resolve) => {
    const server = app.listen(0, "127.0.0.1", () => resolve(server));
  });
  const address = listening.address();
  assert.ok(typeof address === "object" && address !== null);
  const url = `http://127.0.0.1:${address.port}`;
  const real = console.log;
  console.log = () => {};
  try {
    for (const base of [url, `${url}/v1`, `${url}/v1/chat/completions`]) {
      const { outcome, after } = await send("@You:\nhi\n", ["openai_chat", "m"], base);
      assert.ok(outcome.kind === "completed", JSON.stringify(outcome));
      assert.equal(after, "@You:\nhi\n\n@Assistant:\nWell, 😀 hello.\n\n@You:\n\n");
    }
    const broken = await send("@You:\nbroken\n", ["openai_chat", "m"], url);
    assert.ok(broken.outcome.kind === "failed");
    assert.match(broken.outcome.problem.message, /Out of order/);
  } finally {
    console.log = real;
    await new Promise((resolve) => listening.close(resolve));
  }
});

// The request of each provider, by model and settings, and what it omits.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS, type Settings } from "../../config/settings.generated.ts";
import { parse } from "../../parser/mod.ts";
import { evaluateChat } from "../../prompt/evaluate.ts";
import { getProvider } from "../../providers/registry.ts";
import { budgetObstacle } from "../../providers/request/checks/budget.ts";
import type { OfferedTool } from "../../providers/types.ts";

// deno-lint-ignore no-explicit-any -- bodies are looked into
type Body = any;

interface Given {
  readonly provider: string;
  readonly model?: string;
  readonly document?: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly servers?: Settings["providers"];
  readonly tools?: readonly OfferedTool[];
  readonly cacheKey?: string;
  readonly baseUrl?: string;
}

async function build(given: Given): Promise<{ body: Body; warnings: readonly string[] }> {
  const { provider: name, servers = {}, parameters = {} } = given;
  const settings: Settings = {
    ...DEFAULT_SETTINGS,
    model: given.model ?? null,
    parameters: { ...DEFAULT_SETTINGS.parameters, ...parameters } as Settings["parameters"],
    providers: servers,
  };
  const provider = await getProvider(name, settings);
  assert.ok(provider.ok);
  const chat = parse(new TextEncoder().encode(given.document ?? "@You:\nhi\n"));
  const prompt = await evaluateChat(chat, {
    document: null,
    environment: { cwd: "/", home: "/", variables: {} },
  });
  const { request, warnings } = provider.value.buildRequest({
    prompt,
    tools: given.tools ?? [],
    settings,
    cacheKey: given.cacheKey ?? null,
    key: "k",
    baseUrl: given.baseUrl ?? "http://x",
    day: "2026-11-28",
  });
  return { body: JSON.parse(request.body), warnings };
}

const level = (thinking: unknown) => ({ thinking: { level: thinking, foreign: "preserve" } });
const sealed = (id: string, summary = "") =>
  btoa(JSON.stringify({
    id,
    type: "reasoning",
    summary: summary === "" ? [] : [{ type: "summary_text", text: summary }],
    encrypted_content: "ZW5j",
  }));
const openaiThought = (id: string, words = "", shown = words) =>
  `<thinking openai:signature="${sealed(id, words)}">\n${shown === "" ? "" : `${shown}\n`}</thinking>\n`;
const USE = (id: string) => `**Tool Use:** \`ls\` (\`${id}\`)\n\n\`\`\`json\n{}\n\`\`\`\n`;
const RESULT = (id: string) => `**Tool Result:** \`${id}\`\n\n\`\`\`\nout\n\`\`\`\n`;

Deno.test("OpenAI gets the effort that the model supports for a thinking level; the person is informed if thinking cannot be turned off", async () => {
  const rows = [
    ["gpt-6.1-sol", "high", "high", 0],
    ["gpt-6.1-sol", "minimal", "low", 0],
    ["gpt-6.1-sol", "max", "max", 0],
    ["gpt-6.1-sol", false, "low", 1],
    ["gpt-6.1-terra", false, "none", 0],
    ["gpt-5.4", "max", "xhigh", 0],
    ["gpt-5.4", 5000, "medium", 0],
    ["gpt-5.4", 0, "none", 0],
    ["gpt-4o", "high", undefined, 0],
    ["gpt-9-new", "high", "high", 1],
    ["gpt-9-new", "max", "high", 1],
    ["gpt-9-new", false, "low", 2],
    ["o9", "medium", "medium", 1],
    ["my-proxy", "high", undefined, 1],
    ["my-proxy", "low", undefined, 2],
  ] as const;
  for (const [model, thinking, effort, warnings] of rows) {
    const built = await build({ provider: "openai", model, parameters: level(thinking) });
    const what = `${model} ${thinking}: ${built.warnings.join("; ")}`;
    assert.equal(built.body.reasoning?.effort, effort, what);
    assert.equal(built.warnings.length, warnings, what);
    // Sealed reasoning comes along exactly where there is some.
    assert.equal(built.body.include !== undefined, effort !== undefined && effort !== "none", what);
  }
});

Deno.test("OpenAI's own effort setting takes precedence, and for a model without any effort the person gets a warning", async () => {
  const effort = async (model: string, reasoning: string) =>
    await build({ provider: "openai", model, parameters: { openai: { reasoning } } });
  assert.equal((await effort("gpt-6.1-sol", "xhigh")).body.reasoning.effort, "xhigh");
  assert.equal((await effort("gpt-5.4", "max")).body.reasoning.effort, "xhigh");
  assert.equal((await effort("gpt-9-new", "ultra")).body.reasoning.effort, "ultra");
  const without = await effort("gpt-4o", "high");
  assert.equal(without.body.reasoning, undefined);
  assert.ok(without.warnings.some((warning) => /does not accept an effort/.test(warning)));
});

Deno.test("a temperature is sent to OpenAI only if the model does not think, and never to Kimi K3 or later", async () => {
  const hot = { temperature: 0.5 };
  assert.equal((await build({ provider: "openai", model: "gpt-4o", parameters: hot })).body.temperature, 0.5);
  const thinks = await build({ provider: "openai", model: "gpt-6.1-terra", parameters: hot });
  assert.equal(thinks.body.temperature, undefined);
  assert.match(thinks.warnings.join(), /does not accept a temperature while it thinks; 0\.5 is ignored/);
  const off = { ...hot, ...level(false) };
  assert.equal(
    (await build({ provider: "openai", model: "gpt-6.1-terra", parameters: off })).body.temperature,
    0.5,
  );
  const kimi = await build({ provider: "moonshot", model: "kimi-k3.1-pro", parameters: off });
  assert.equal(kimi.body.temperature, undefined);
  assert.match(kimi.warnings.join(), /does not accept a temperature; 0\.5/);
  assert.equal((await build({ provider: "gemini", parameters: hot })).body.generationConfig.temperature, 0.5);
});

Deno.test("OpenAI gets the cache options that the model accepts, with the document's cache key", async () => {
  const cacheKey = "0123456789abcdef";
  const cache = async (model: string, cache_retention: string) => {
    const { body } = await build({ provider: "openai", model, parameters: { cache_retention }, cacheKey });
    return [body.prompt_cache_key, body.prompt_cache_retention, body.prompt_cache_options];
  };
  assert.deepEqual(await cache("gpt-5.4", "short"), [cacheKey, "in_memory", undefined]);
  assert.deepEqual(await cache("gpt-5.4", "long"), [cacheKey, "24h", undefined]);
  assert.deepEqual(await cache("gpt-5.5", "long"), [cacheKey, "24h", undefined]);
  assert.deepEqual(await cache("gpt-5.5", "short"), [cacheKey, undefined, undefined]);
  for (const model of ["gpt-5.6-luna", "gpt-6.1-sol", "gpt-6.2-astra"]) {
    assert.deepEqual(await cache(model, "short"), [cacheKey, undefined, undefined]);
    assert.deepEqual(await cache(model, "long"), [cacheKey, undefined, { ttl: "12h" }]);
  }
  assert.deepEqual(await cache("gpt-9-new", "long"), [cacheKey, undefined, undefined]);
  assert.deepEqual(await cache("gpt-5.4", "none"), [undefined, undefined, undefined]);
});

/** Items of a request in short: what they are and what tells them apart. */
const short = (body: Body): string[] =>
  body.input.map((item: Body) =>
    item.type === "reasoning"
      ? item.id
      : item.type === "function_call"
      ? `call ${item.call_id}`
      : item.type === "function_call_output"
      ? `out ${item.call_id}`
      : `${item.role}: ${typeof item.content === "string" ? item.content : item.content[0].text}`
  );

Deno.test("OpenAI reasoning is sent back before the item that followed it; in the older layout, before all items", async () => {
  const now = `@You:\nq\n\n@Assistant:\nFirst.\n\n${openaiThought("rs_1")}\n${USE("a")}\n${
    openaiThought("rs_2")
  }\n${USE("b")}\n@You:\n${RESULT("a")}\n${RESULT("b")}`;
  assert.deepEqual(short((await build({ provider: "openai", document: now })).body), [
    "user: q",
    "assistant: First.",
    "rs_1",
    "call a",
    "rs_2",
    "call b",
    "out a",
    "out b",
  ]);
  const older = `@You:\nq\n\n@Assistant:\nFirst.\n\n${USE("a")}\n${openaiThought("rs_1")}\n@You:\n${
    RESULT("a")
  }`;
  assert.deepEqual(short((await build({ provider: "openai", document: older })).body), [
    "user: q",
    "rs_1",
    "assistant: First.",
    "call a",
    "out a",
  ]);
});

Deno.test("OpenAI reasoning is omitted if no item follows it, if it is not encrypted, or if its text was edited; the last causes a warning", async () => {
  const alone = await build({
    provider: "openai",
    document: `@You:\nq\n\n@Assistant:\n${openaiThought("rs_1")}\n@You:\nr\n`,
  });
  assert.deepEqual(short(alone.body), ["user: q", "user: r"]);
  const unsealed = btoa(JSON.stringify({ id: "rs_1", type: "reasoning", summary: [] }));
  for (const signature of [unsealed, "bm9uc2Vuc2U=", "%"]) {
    const document =
      `@You:\nq\n\n@Assistant:\n<thinking openai:signature="${signature}">\n</thinking>\n\nWell.\n\n@You:\nr\n`;
    const built = await build({ provider: "openai", document });
    assert.deepEqual(short(built.body), ["user: q", "assistant: Well.", "user: r"], signature);
    assert.deepEqual(built.warnings, []);
  }
  const edited = await build({
    provider: "openai",
    document: `@You:\nq\n\n@Assistant:\n${
      openaiThought("rs_1", "Two words.", "Other words.")
    }\nWell.\n\n@You:\nr\n`,
  });
  assert.deepEqual(short(edited.body), ["user: q", "assistant: Well.", "user: r"]);
  assert.match(edited.warnings.join(), /was edited/);
});

Deno.test("a model's text before a call is sent as commentary, and its text after all calls as the final answer", async () => {
  const document = `@You:\nq\n\n@Assistant:\nOne.\n\n${USE("a")}\nTwo.\n\n@You:\n${RESULT("a")}`;
  const phases = async (experimental?: unknown) =>
    (await build({ provider: "openai", document, parameters: { openai: { experimental } } })).body.input
      .filter(({ role }: Body) => role === "assistant").map(({ phase }: Body) => phase);
  assert.deepEqual(await phases(), ["commentary", "final_answer"]);
  assert.deepEqual(await phases({ phase: false }), [undefined, undefined]);
  for (const other of ["phase", null, {}, { phase: true }, { phase: null }]) {
    assert.deepEqual(await phases(other), ["commentary", "final_answer"], JSON.stringify(other));
  }
});

Deno.test("Gemini 3 and later get a thinking level, older models a number of tokens, and models of unknown families neither, which is reported", async () => {
  const rows = [
    ["gemini-4-argon", "max", { includeThoughts: true, thinkingLevel: "HIGH" }, 0],
    ["gemini-4-argon", "minimal", { includeThoughts: true, thinkingLevel: "LOW" }, 0],
    ["gemini-3.8-flash", "minimal", { includeThoughts: true, thinkingLevel: "MINIMAL" }, 0],
    ["gemini-3.8-flash", false, { includeThoughts: true, thinkingLevel: "MINIMAL" }, 1],
    ["gemini-2.5-pro", "high", { includeThoughts: true, thinkingBudget: 32768 }, 0],
    ["gemini-2.5-pro", false, undefined, 0],
    ["gemini-9-xenon", "high", { includeThoughts: true, thinkingLevel: "HIGH" }, 1],
    ["gemini-9-xenon", "minimal", { includeThoughts: true, thinkingLevel: "LOW" }, 1],
    ["learnlm", "high", undefined, 1],
    ["learnlm", "low", undefined, 2],
  ] as const;
  for (const [model, thinking, config, warnings] of rows) {
    const built = await build({ provider: "gemini", model, parameters: level(thinking) });
    assert.deepEqual(built.body.generationConfig.thinkingConfig, config, `${model} ${thinking}`);
    assert.equal(built.warnings.length, warnings, built.warnings.join("; "));
  }
  const budget = { gemini: { thinking_budget: 3000 } };
  const argon = await build({ provider: "gemini", model: "gemini-4-argon", parameters: budget });
  assert.equal(argon.body.generationConfig.thinkingConfig.thinkingLevel, "LOW");
});

Deno.test("signatures are sent to Gemini unchanged; an unsigned call in the current turn gets a placeholder, one in an earlier turn does not", async () => {
  const signed = (id: string, value: string) =>
    `<thinking gemini:signature="${value}">\n</thinking>\n\n${USE(id)}`;
  const document =
    `@You:\nq\n\n@Assistant:\n${USE("a")}\n@You:\n${RESULT("a")}\n@Assistant:\nDone.\n\n@You:\nmore\n\n` +
    `@Assistant:\n${signed("b", "c2ln")}\n${USE("c")}\n@You:\n${RESULT("b")}\n${RESULT("c")}\n@Assistant:\n${
      USE("d")
    }\n${USE("e")}\n@You:\n${RESULT("d")}\n${RESULT("e")}`;
  const signatures = async (model: string) =>
    (await build({ provider: "gemini", model, document })).body.contents.flatMap(({ parts }: Body) => parts)
      .filter((part: Body) => part.functionCall !== undefined).map((part: Body) => part.thoughtSignature);
  const standIn = "skip_thought_signature_validator";
  assert.deepEqual(await signatures("gemini-4-argon"), [undefined, "c2ln", undefined, standIn, undefined]);
  assert.deepEqual(await signatures("gemini-9-xenon"), [undefined, "c2ln", undefined, standIn, undefined]);
  assert.deepEqual(await signatures("gemini-2.5-pro"), [undefined, "c2ln", undefined, undefined, undefined]);
});

Deno.test("blank texts, empty system prompts and messages without content are not sent to Gemini", async () => {
  const { body } = await build({
    provider: "gemini",
    document: "@System:\n\n@You:\nq\n\n@Assistant:\n<thinking>\n</thinking>\n\n@You:\nr\n",
  });
  assert.equal(body.systemInstruction, undefined);
  assert.deepEqual(body.contents.map(({ role }: Body) => role), ["user", "user"]);
});

Deno.test("Kimi K3 gets one of three efforts, Kimi K2 gets thinking on or off; while thinking is on, a call without reasoning gets an empty one", async () => {
  const document = `@You:\nq\n\n@Assistant:\n${USE("a")}\n@You:\n${RESULT("a")}`;
  const kimi = async (model: string, thinking: unknown) =>
    (await build({ provider: "moonshot", model, document, parameters: level(thinking) })).body;
  for (
    const [thinking, effort] of [["minimal", "low"], ["medium", "high"], ["max", "max"], [
      false,
      "low",
    ]] as const
  ) {
    const body = await kimi("kimi-k3.1-pro", thinking);
    assert.equal(body.reasoning_effort, effort);
    assert.equal(body.thinking, undefined);
    assert.equal(body.messages[1].reasoning_content, "");
    assert.equal(body.max_tokens, undefined);
  }
  assert.deepEqual((await kimi("kimi-k2.6", "high")).thinking, { type: "enabled" });
  const off = await kimi("kimi-k2.6", false);
  assert.deepEqual(off.thinking, { type: "disabled" });
  assert.equal(off.messages[1].reasoning_content, undefined);
  const unknown = await kimi("kimi-k9", "high");
  assert.equal(unknown.reasoning_effort, undefined);
  assert.equal(unknown.messages[1].reasoning_content, "");
});

Deno.test("the person's own server gets all explicitly set parameters and no others", async () => {
  const plain = (await build({ provider: "openai_chat", model: "m" })).body;
  assert.deepEqual(Object.keys(plain), ["max_tokens", "model", "stream", "stream_options", "messages"]);
  const ls = { name: "ls", description: "", input_schema: { type: "object" } };
  const reported = await build({
    provider: "lab",
    model: "m",
    tools: [ls],
    parameters: { openai_chat: { thinking: { level: "max", foreign: "drop" }, max_tokens: 5 } },
    servers: {
      lab: {
        kind: "openai_chat",
        max_tokens_key: "max_completion_tokens",
        reasoning_key: "reasoning",
        parallel_tool_calls: false,
        extra_body: { chat_template_kwargs: { enable_thinking: true }, seed: 7 },
      },
    },
  });
  const { max_completion_tokens, reasoning, parallel_tool_calls, chat_template_kwargs, seed, tool_choice } =
    reported.body;
  assert.deepEqual(
    [max_completion_tokens, reasoning, parallel_tool_calls, chat_template_kwargs, seed, tool_choice],
    [5, { effort: "high" }, false, { enable_thinking: true }, 7, undefined],
  );
});

Deno.test("the server's settings define which messages are sent with their reasoning; by default all are, except to vendors that refuse it", async () => {
  const document =
    `@You:\nq\n\n@Assistant:\n<thinking>\nold\n</thinking>\n\nDone.\n\n@You:\nr\n\n@Assistant:\n<thinking>\nnew\n</thinking>\n\n${
      USE("a")
    }\n@You:\n${RESULT("a")}`;
  const back = async (reasoning_back: "always" | "tools" | "never" | undefined, baseUrl?: string) =>
    (await build({
      baseUrl,
      provider: "lab",
      model: "m",
      document,
      servers: { lab: { kind: "openai_chat", reasoning_back, reasoning_field: "reasoning" } },
    })).body.messages.filter(({ role }: Body) => role === "assistant").map(({ reasoning }: Body) =>
      reasoning
    );
  assert.deepEqual(await back(undefined), ["old", "new"]);
  assert.deepEqual(await back("tools"), [undefined, "new"]);
  assert.deepEqual(await back("always"), ["old", "new"]);
  for (const host of ["api.groq.com", "api.cerebras.ai", "api.mistral.ai"]) {
    assert.deepEqual(await back(undefined, `https://${host}/openai/v1`), [undefined, undefined], host);
    assert.deepEqual(await back("always", `https://${host}`), ["old", "new"], host);
  }
  assert.deepEqual(await back(undefined, "https://notgroq.com"), ["old", "new"]);
  assert.deepEqual(await back("never"), [undefined, undefined]);
});

Deno.test("reasoning details are sent back to a gateway unchanged, instead of the reasoning text", async () => {
  const details = [{ type: "reasoning.text", text: "Hm.", signature: "s", index: 0 }];
  const signature = btoa(JSON.stringify(details));
  const document =
    `@You:\nq\n\n@Assistant:\n<thinking openaichat:signature="${signature}">\nHm.\n</thinking>\n\n${
      USE("a")
    }\n@You:\n${RESULT("a")}`;
  const { body } = await build({ provider: "openai_chat", model: "m", document });
  assert.deepEqual(body.messages[1].reasoning_details, details);
  assert.equal(body.messages[1].reasoning_content, undefined);
});

Deno.test("extra_body is added to the requests of every provider; members of objects are merged", async () => {
  const models = {
    anthropic: undefined,
    openai: "gpt-5.4",
    gemini: undefined,
    vertex: undefined,
    moonshot: undefined,
    openai_chat: "m",
  };
  const extra = { seed: 7, generationConfig: { topP: 0.5 }, model: "other" };
  for (const [provider, model] of Object.entries(models)) {
    const parameters = { vertex: { project_id: "demo" } };
    const { body } = await build({
      provider,
      model,
      parameters,
      servers: { [provider]: { extra_body: extra } },
    });
    assert.deepEqual([body.seed, body.model], [7, "other"], provider);
    assert.equal(body.generationConfig.topP, 0.5);
    if (provider === "gemini") assert.ok(body.generationConfig.maxOutputTokens > 0);
  }
});

Deno.test("requests ask Gemini to store nothing; requests to Vertex AI have no such field", async () => {
  assert.equal((await build({ provider: "gemini" })).body.store, false);
  const vertex = await build({ provider: "vertex", parameters: { vertex: { project_id: "demo" } } });
  assert.equal(vertex.body.store, undefined);
});

Deno.test("a number of tokens for thinking that leaves fewer than 1,024 for the reply is an error before sending", () => {
  const of = (provider: string, model: string, parameters: Readonly<Record<string, unknown>>) =>
    budgetObstacle(provider, {
      ...DEFAULT_SETTINGS,
      provider,
      model,
      parameters: { ...DEFAULT_SETTINGS.parameters, ...parameters },
    } as Settings)?.code ?? null;
  const sonnet = (budget: number, max_tokens: number) =>
    of("anthropic", "claude-sonnet-4-5", { anthropic: { thinking_budget: budget, max_tokens } });
  assert.equal(sonnet(8000, 9024), null);
  assert.equal(sonnet(8000, 9023), "thinking-budget-too-large");
  assert.equal(sonnet(-1, 1), null);
  assert.equal(
    of("gemini", "gemini-2.5-pro", { ...level(8000), max_tokens: 8000 }),
    "thinking-budget-too-large",
  );
  assert.equal(of("gemini", "gemini-2.5-pro", { ...level("high"), max_tokens: 8000 }), null);
  assert.equal(of("gemini", "gemini-4-argon", { ...level(8000), max_tokens: 8000 }), null);
  assert.equal(of("anthropic", "claude-next-6", { ...level(8000), max_tokens: 8000 }), null);
});

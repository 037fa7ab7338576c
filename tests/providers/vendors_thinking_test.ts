// How each vendor is told to think, and where it gets reasoning of earlier replies back.

import assert from "node:assert/strict";
import { VENDORS } from "../../providers/vendors.ts";
import { build, type Built, problems, TALK } from "./built_request.ts";

type Thinking = readonly [
  vendor: string,
  model: string,
  level: unknown,
  expected: Readonly<Record<string, unknown>>,
];

const THINKING: readonly Thinking[] = [
  ["deepseek", "deepseek-chat", "minimal", { thinking: { type: "enabled" }, reasoning_effort: "low" }],
  ["deepseek", "deepseek-chat", "medium", { thinking: { type: "enabled" }, reasoning_effort: "high" }],
  ["deepseek", "deepseek-chat", "max", { thinking: { type: "enabled" }, reasoning_effort: "max" }],
  ["deepseek", "deepseek-chat", false, { thinking: { type: "disabled" } }],
  ["zai", "glm-5", "high", { thinking: { type: "enabled" } }],
  ["zai", "glm-5", false, { thinking: { type: "disabled" } }],
  ["zai-coding", "glm-5", 2048, { thinking: { type: "enabled" } }],
  ["qwen", "qwen3-max", "low", { enable_thinking: true }],
  ["qwen", "qwen3-max", 0, { enable_thinking: false }],
  ["openrouter", "a/b", "max", { reasoning: { effort: "high" } }],
  ["openrouter", "a/b", false, { reasoning: { effort: "none" } }],
  ["ollama", "llama4", "high", { reasoning_effort: "high" }],
];

for (const [vendor, model, level, expected] of THINKING) {
  Deno.test(`${vendor} gets the thinking level ${level} in its own fields, and nothing unless the person asks`, async () => {
    const fields = ["thinking", "reasoning_effort", "reasoning", "enable_thinking"];
    const of = ({ body }: Built) =>
      Object.fromEntries(fields.flatMap((name) => body[name] === undefined ? [] : [[name, body[name]]]));
    const options = {
      model,
      variables: { [VENDORS[vendor]!.keyVariables[0] ?? "NONE"]: "k" },
      ...(vendor === "qwen" ? { entry: { base_url: "https://ws.example/v1" } } : {}),
    };
    const asked = await build(vendor, { ...options, parameters: { openai_chat: { thinking: level } } });
    assert.deepEqual(of(asked), expected);
    assert.deepEqual(await problems("openai_chat", asked), []);
    assert.deepEqual(of(await build(vendor, options)), {});
  });
}

Deno.test("xAI gets an effort only if the person asks for one", async () => {
  const options = { model: "grok-5", variables: { XAI_API_KEY: "k" } };
  assert.equal((await build("xai", options)).body.reasoning, undefined);
  const asked = await build("xai", { ...options, parameters: { openai: { reasoning: "low" } } });
  assert.equal(asked.body.reasoning.effort, "low");
});

Deno.test("reasoning goes back to each vendor in the place where its server reads it", async () => {
  const messages = async (vendor: string, model: string, recall?: (about: string) => string | null) => {
    const variables = { [VENDORS[vendor]!.keyVariables[0] ?? "NONE"]: "k" };
    const { body } = await build(vendor, { model, variables, recall });
    return body.messages.filter(({ role }: { role: string }) => role === "assistant");
  };
  const [called, done] = await messages("minimax", "MiniMax-M3");
  assert.equal(called.content, "<think>\nI look.\n</think>");
  assert.equal(done.content, "<think>\nNow I know.\n</think>\n\nDone.");
  // A MiniMax model that has sent a member of its own gets it back there.
  const [seen] = await messages("minimax", "MiniMax-M3", () => "reasoning_content");
  assert.deepEqual([seen.content, seen.reasoning_content], [undefined, "I look."]);
  for (const vendor of ["ollama", "vllm"]) {
    assert.deepEqual((await messages(vendor, "m")).map((each: { reasoning: string }) => each.reasoning), [
      "I look.",
      "Now I know.",
    ]);
  }
  for (const vendor of ["deepseek", "zai", "llamacpp"]) {
    const sent = await messages(vendor, "m");
    assert.equal(sent[0].reasoning_content, "I look.", vendor);
  }
  for (const vendor of ["groq", "cerebras", "mistral"]) {
    for (const each of await messages(vendor, "m")) {
      assert.ok(!("reasoning_content" in each) && !("reasoning" in each), vendor);
    }
  }
});

Deno.test("DeepSeek gets an empty reasoning for a call of another model, which it would refuse otherwise", async () => {
  const document = TALK.replaceAll(/<thinking>[^]*?<\/thinking>\n/g, "");
  const built = await build("deepseek", {
    model: "deepseek-chat",
    variables: { DEEPSEEK_API_KEY: "k" },
    document,
  });
  assert.equal(built.body.messages[2].reasoning_content, "");
  assert.deepEqual(await problems("openai_chat", built), []);
});

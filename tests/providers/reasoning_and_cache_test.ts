// Reasoning goes back where the server sent it, and a cache retention without effect is reported.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS, type Settings } from "../../config/settings.generated.ts";
import { quickHash } from "../../base/hash.ts";
import type { Prompt } from "../../prompt/types.ts";
import { reasoningField } from "../../providers/chat_completions/stream.ts";
import { getProvider } from "../../providers/registry.ts";
import type { Effect, RequestFallback } from "../../providers/types.ts";

type Message = Readonly<Record<string, unknown>>;

const READ = { kind: "tool_use", id: "c1", name: "read", input: {}, inputText: "{}" } as const;
const RESULT = {
  kind: "tool_result",
  toolUseId: "c1",
  isError: false,
  parts: [{ kind: "text", text: "out" }],
} as const;

function promptOf(history: Prompt["history"]): Prompt {
  return { system: null, history, unresolved: [], diagnostics: [], blocked: false, files: [] };
}

const TALK = promptOf([
  { role: "user", parts: [{ kind: "text", text: "hi" }] },
  { role: "assistant", parts: [{ kind: "thinking", content: "hm", redacted: false }, READ] },
  { role: "user", parts: [RESULT] },
  {
    role: "assistant",
    parts: [{ kind: "thinking", content: "\nso\n", redacted: false }, { kind: "text", text: "Well." }],
  },
  { role: "user", parts: [{ kind: "text", text: "on" }] },
]);

async function request(provider: string, given: {
  readonly prompt?: Prompt;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly server?: Settings["providers"][string];
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly noted?: string;
  readonly fallbacks?: readonly RequestFallback[];
}): Promise<{ readonly body: Readonly<Record<string, unknown>>; readonly warnings: readonly string[] }> {
  const settings: Settings = {
    ...DEFAULT_SETTINGS,
    provider,
    model: given.model ?? null,
    parameters: { ...DEFAULT_SETTINGS.parameters, vertex: { project_id: "demo" }, ...given.parameters },
    providers: { [provider]: given.server ?? {} },
  };
  const found = await getProvider(provider, settings);
  assert.ok(found.ok);
  const built = found.value.buildRequest({
    prompt: given.prompt ?? TALK,
    tools: [],
    settings,
    cacheKey: "k",
    key: "k",
    baseUrl: given.baseUrl ?? "http://localhost",
    day: "2026-11-30",
    recall: (about) => about === reasoningField(provider) ? given.noted ?? null : null,
    fallbacks: new Set(given.fallbacks),
  });
  return { body: JSON.parse(built.request.body), warnings: built.warnings };
}

/** The model's messages: their content and the members about reasoning. */
async function stated(given: Parameters<typeof request>[1]): Promise<readonly unknown[]> {
  const { body } = await request("openai_chat", { model: "m", ...given });
  return (body.messages as readonly Message[]).filter(({ role }) => role === "assistant")
    .map(({ content, reasoning_content, reasoning }) => [content, reasoning_content, reasoning]);
}

const IN_FIELD = [[undefined, "hm", undefined], ["Well.", "so", undefined]];
const IN_REASONING = [[undefined, undefined, "hm"], ["Well.", undefined, "so"]];
const IN_CONTENT = [
  ["<think>\nhm\n</think>", undefined, undefined],
  ["<think>\nso\n</think>\n\nWell.", undefined, undefined],
];
const NOWHERE = [[undefined, undefined, undefined], ["Well.", undefined, undefined]];

const PLACES: readonly (readonly [string, Parameters<typeof stated>[0], readonly unknown[]])[] = [
  ["an unknown server", {}, IN_FIELD],
  ["a server that sent it in `reasoning`", { noted: "reasoning" }, IN_REASONING],
  ["a server that sent it in think tags", { noted: "<think>" }, IN_CONTENT],
  ["MiniMax", { baseUrl: "https://api.minimax.io/v1" }, IN_CONTENT],
  ["MiniMax in China", { baseUrl: "https://api.minimaxi.com/v1" }, IN_CONTENT],
  ["MiniMax with `reasoning_split`, which sends a member", {
    baseUrl: "https://api.minimax.io/v1",
    noted: "reasoning_content",
  }, IN_FIELD],
  ["an own entry at Groq, which refuses it", { baseUrl: "https://api.groq.com/openai/v1" }, NOWHERE],
  ["an own entry at Mistral", { baseUrl: "https://api.mistral.ai/v1" }, NOWHERE],
  ["an own entry at DeepSeek", { noted: "<think>", baseUrl: "https://api.deepseek.com" }, IN_FIELD],
  ["a host that only resembles MiniMax's", { baseUrl: "https://notminimax.io/v1" }, IN_FIELD],
  ["a server whose field the settings name", {
    noted: "<think>",
    server: { reasoning_field: "reasoning" },
  }, IN_REASONING],
  ["a server that gets none", { noted: "<think>", server: { reasoning_back: "never" } }, NOWHERE],
  ["a server that refused it", { noted: "<think>", fallbacks: ["reasoning-field"] }, NOWHERE],
  ["a server that misses `reasoning_content`", { noted: "<think>", fallbacks: ["bare-calls"] }, IN_FIELD],
];

for (const [what, given, expected] of PLACES) {
  Deno.test(`reasoning goes back in the right place: ${what}`, async () => {
    assert.deepEqual(await stated(given), expected);
  });
}

Deno.test("a reply with think tags notes that its reasoning is in the content, once", async () => {
  const found = await getProvider("openai_chat");
  assert.ok(found.ok);
  const reader = found.value.reader();
  const say = (content: string, rest: object = {}) =>
    reader.event({ choices: [{ delta: { content }, ...rest }] });
  const effects: Effect[] = [
    ...say("<think>\nhm"),
    ...say(" so\n</think>\n\nWell."),
    ...say("", { finish_reason: "stop" }),
  ];
  assert.deepEqual(effects.filter(({ kind }) => kind === "note"), [
    { kind: "note", about: reasoningField("openai_chat"), value: "<think>" },
  ]);
  assert.notEqual(quickHash(reasoningField("openai_chat")), quickHash(reasoningField("lab")));
});

const RETENTION: readonly (readonly [string, string | undefined, string, boolean])[] = [
  ["anthropic", "claude-sonnet-5-5", "long", false],
  ["anthropic", "claude-next-6", "long", false],
  ["anthropic", "claude-sonnet-5-5", "none", false],
  ["openai", "gpt-6.2-sol", "long", false],
  ["openai", "gpt-5.4", "long", false],
  ["openai", "gpt-6.2-sol", "none", false],
  ["openai", "gpt-9-nova", "long", true],
  ["openai", "gpt-9-nova", "none", false],
  ["openai", "gpt-9-nova", "short", false],
  ...["gemini", "vertex", "moonshot", "openai_chat"].flatMap((provider) => [
    [provider, provider === "openai_chat" ? "qwen3" : undefined, "long", true] as const,
    [provider, provider === "openai_chat" ? "qwen3" : undefined, "none", true] as const,
    [provider, provider === "openai_chat" ? "qwen3" : undefined, "short", false] as const,
  ]),
];

for (const [provider, model, cache_retention, isReported] of RETENTION) {
  Deno.test(`cache_retention ${cache_retention} for ${model ?? "the default model"} of ${provider} ${isReported ? "is reported as without effect" : "has its effect"}`, async () => {
    const { warnings, body } = await request(provider, { model, parameters: { cache_retention } });
    const reported = warnings.filter((words) =>
      words.startsWith(`cache_retention ${cache_retention} has no effect`)
    );
    assert.equal(reported.length, isReported ? 1 : 0, warnings.join("\n"));
    const plain = await request(provider, { model });
    const changes = JSON.stringify(plain.body) !== JSON.stringify(body);
    assert.equal(changes, !isReported && cache_retention !== "short");
  });
}

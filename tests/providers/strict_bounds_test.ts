// The limits of the replay servers' rules: for each the last accepted request and the first refused one.

import assert from "node:assert/strict";
import type { Asked, JsonObject } from "../../providers/replay/dialect.ts";
import { refusals } from "../../providers/replay/strict/anthropic.ts";
import { REFUSALS } from "../../providers/replay/strict/mod.ts";

/** `says` null: the request is taken. */
type Row = readonly [what: string, change: JsonObject, says: RegExp | null, path?: string];

function table(
  name: string,
  refusals: (asked: Asked) => readonly string[],
  path: string,
  good: JsonObject,
  rows: readonly Row[],
): void {
  Deno.test(`${name}: for each rule, the last accepted and the first refused request`, () => {
    for (const [what, change, says, other = path] of rows) {
      const text = JSON.stringify({ ...good, ...change });
      const refused = refusals({ path: other, text, body: JSON.parse(text), headers: new Headers() });
      if (says === null) assert.deepEqual(refused, [], what);
      else assert.match(refused.join("; "), says, what);
    }
  });
}

const MESSAGES = ({ text, body }: Asked) => refusals(text, body);
const PNG = "data:image/png;base64,iVBORw0KGgo=";
const deep = (levels: number) => JSON.parse('{"a":'.repeat(levels) + "1" + "}".repeat(levels));

// OpenAI Responses

const hi = { role: "user", content: [{ type: "input_text", text: "hi" }] };
const input = (...items: readonly unknown[]) => ({ input: items });
const asks = (...content: readonly unknown[]) => input({ role: "user", content });
const effort = (model: string, word: string) => ({ model, reasoning: { effort: word } });
const sealed = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "ZW5j" };
const words = {
  type: "message",
  role: "assistant",
  id: "m1",
  content: [{ type: "output_text", text: "x", annotations: [] }],
};
const call = { type: "function_call", call_id: "c1", name: "read", arguments: "{}" };
const answer = { type: "function_call_output", call_id: "c1", output: "text" };
const tool = { name: "a", parameters: {} };
const strict = (parameters: unknown) => ({ tools: [{ name: "a", strict: true, parameters }] });
const closed = { type: "object", properties: {}, additionalProperties: false };

table("OpenAI", REFUSALS.openai, "/v1/responses", { model: "gpt-5.4", stream: true, input: [hi] }, [
  ["a string instead of a list", { input: "hi" }, null],
  ["no model", { model: undefined }, /'model'/],
  ["an empty name", { model: "" }, /'model'/],
  ["an invalid model name", { model: 5 }, /'model'/],
  ["an invalid input", { input: 5 }, /'input'/],
  ["an empty list", input(), /'input'/],
  ["a body of 128 levels", { metadata: deep(127) }, null],
  ["a body of 129 levels", { metadata: deep(128) }, /nested too deeply/],
  ["a cache key of 64 characters", { prompt_cache_key: "ü".repeat(64) }, null],
  ["a cache key of 65 characters", { prompt_cache_key: "ü".repeat(65) }, /got 65/],
  ["in-memory caching for an older model", { prompt_cache_retention: "in_memory" }, null],
  ["caching for a day", { prompt_cache_retention: "24h" }, null],
  ["caching for a day with a new model", { model: "gpt-6-luna", prompt_cache_retention: "24h" }, null],
  ["in-memory caching with 5.5", { model: "gpt-5.5", prompt_cache_retention: "in_memory" }, /24h/],
  ["only cache options", { model: "gpt-6-luna", prompt_cache_options: { ttl: "30m" } }, null],
  ["a cache of 12 hours", { model: "gpt-5.6", prompt_cache_options: { ttl: "12h" } }, null],
  ["a cache of a day", { model: "gpt-5.6", prompt_cache_options: { ttl: "24h" } }, /'24h' is not supported/],
  ["cache options before 5.6", { model: "gpt-5.5", prompt_cache_options: { ttl: "12h" } }, /not supported/],
  ...([
    ["gpt-6.1-sol", "low", true],
    ["gpt-6.1-sol", "none", false],
    ["gpt-6-luna", "none", true],
    ["gpt-6-luna", "minimal", false],
    ["gpt-5.6", "max", true],
    ["gpt-5-pro", "high", true],
    ["gpt-5-pro", "medium", false],
    ["gpt-5.2-pro", "medium", true],
    ["gpt-5.2-pro", "xhigh", true],
    ["gpt-5.2-pro", "low", false],
    ["gpt-5.2", "xhigh", true],
    ["gpt-5.2", "minimal", false],
    ["gpt-5.1", "none", true],
    ["gpt-5.1", "xhigh", false],
    ["gpt-5", "minimal", true],
    ["gpt-5", "none", false],
    ["o3", "high", true],
    ["o3", "minimal", false],
  ] as const).map(([model, word, taken]): Row => [
    `${word} of ${model}`,
    effort(model, word),
    taken ? null : /does not support/,
  ]),
  ["an effort for a chat model", effort("gpt-5.1-chat-latest", "low"), /'reasoning.effort' is not/],
  ["encrypted reasoning for a chat model", {
    model: "gpt-5-chat-latest",
    include: ["reasoning.encrypted_content"],
  }, /Encrypted content/],
  ["encrypted reasoning for a model that thinks", { include: ["reasoning.encrypted_content"] }, null],
  ["another value to include", { model: "gpt-4o", include: ["logprobs"] }, null],
  ["a temperature without thinking", { ...effort("gpt-5.4", "none"), temperature: 0.5 }, null],
  ["a temperature of a model that does not think", { model: "gpt-4o", temperature: 0 }, null],
  ["the highest temperature", { model: "gpt-4o", temperature: 2 }, null],
  ["a temperature below the minimum", { model: "gpt-4o", temperature: -0.1 }, /from 0 to 2/],
  ["a temperature above the maximum", { model: "gpt-4o", temperature: 2.1 }, /from 0 to 2/],
  ["the smallest token limit", { max_output_tokens: 16 }, null],
  ["less than the smallest token limit", { max_output_tokens: 15 }, /below minimum/],
  ["half a token", { max_output_tokens: 20.5 }, /below minimum/],
  ["a token limit as text", { max_output_tokens: "100" }, /below minimum/],
  ["the largest token limit", { max_output_tokens: 272_000 }, null],
  ["more than the largest token limit", { max_output_tokens: 272_001 }, /above maximum/],
  ["a tool choice", { tools: [tool], tool_choice: "auto" }, null],
  ["tools without a choice", { tools: [tool] }, null],
  ["a name of 64 characters", { tools: [{ ...tool, name: "a".repeat(64) }] }, null],
  ["a name of 65 characters", { tools: [{ ...tool, name: "a".repeat(65) }] }, /\.name/],
  ["a schema that is a string", { tools: [{ ...tool, parameters: "{}" }] }, /\.parameters/],
  [
    "an open schema that is not strict",
    { tools: [{ ...tool, parameters: { properties: { a: {} } } }] },
    null,
  ],
  ["a closed schema", strict(closed), null],
  ["a schema without properties", strict({ type: "object" }), null],
  [
    "a schema without additionalProperties",
    strict({ ...closed, additionalProperties: undefined }),
    /false/,
  ],
  ["an optional property", strict({ ...closed, properties: { a: {} } }), /Missing 'a'/],
  ["a required property", strict({ ...closed, properties: { a: {} }, required: ["a"] }), null],
  ["an open schema of items", strict({ type: "array", items: { properties: {} } }), /\(items\).*false/],
  ["a closed schema of items", strict({ type: "array", items: closed }), null],
  ["an item identified by its role", input({ role: "user", content: "hi" }), null],
  ["an item without role and type", input(hi, {}), /none of the supported values/],
  ["a developer message", input({ role: "developer", content: "x" }, hi), null],
  ["a system message", input({ role: "system", content: "x" }, hi), null],
  ["a content that is not text", input({ role: "user", content: "" }), /must not be empty/],
  ["a content that is missing", input({ role: "user" }), /must not be empty/],
  ["a phase that is null", input(hi, { ...words, phase: null }, hi), null],
  ["a phase of commentary", input(hi, { ...words, phase: "commentary" }, hi), null],
  [
    "a refusal by the model",
    input(hi, { ...words, content: [{ type: "refusal", refusal: "no" }] }, hi),
    null,
  ],
  ["a refusal by the person", asks({ type: "refusal", refusal: "no" }), /Supported values at/],
  ["a text that is a number", asks({ type: "input_text", text: 5 }), /'input\[0\]\.content\[0\]\.text'/],
  ["an image", asks({ type: "input_image", image_url: PNG }), null],
  ["an image by its URL", asks({ type: "input_image", image_url: "https://x/a.png" }), /image_url/],
  [
    "a named file",
    asks({ type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERg==" }),
    null,
  ],
  [
    "a file with an empty name",
    asks({ type: "input_file", filename: "", file_data: "data:application/pdf;base64,JVBERg==" }),
    /named file/,
  ],
  [
    "a file with truncated data",
    asks({ type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,JVB" }),
    /named file/,
  ],
  ["a call and its output", input(hi, call, answer), null],
  [
    "an id of 64 characters",
    input(hi, { ...call, call_id: "c".repeat(64) }, { ...answer, call_id: "c".repeat(64) }),
    null,
  ],
  ["an empty id", input(hi, { ...call, call_id: "" }, { ...answer, call_id: "" }), /1 to 64/],
  ["an id that is a number", input(hi, { ...call, call_id: 1 }, { ...answer, call_id: 1 }), /1 to 64/],
  ["an input that is null", input(hi, { ...call, arguments: "null" }, answer), /JSON of an object/],
  ["an input that is an object already", input(hi, { ...call, arguments: {} }, answer), /JSON of an object/],
  ["an output in parts", input(hi, call, { ...answer, output: [{ type: "input_text", text: "x" }] }), null],
  [
    "an output in the model's content parts",
    input(hi, call, { ...answer, output: [{ type: "output_text", text: "x" }] }),
    /Supported values/,
  ],
  ["an empty output", input(hi, call, { ...answer, output: "" }), null],
  ["an output before its call", input(hi, answer, call), /No tool call found/],
  ["reasoning before text", input(hi, sealed, words, hi), null],
  ["reasoning before a call", input(hi, sealed, call, answer), null],
  ["two reasoning items before a call", input(hi, sealed, { ...sealed, id: "rs_2" }, call, answer), null],
  [
    "reasoning before a call's output",
    input(hi, call, sealed, answer),
    /without its required following/,
  ],
  [
    "reasoning with null as encrypted content",
    input(hi, { ...sealed, encrypted_content: null }, words, hi),
    /not persisted/,
  ],
  [
    "reasoning with empty encrypted content",
    input(hi, { ...sealed, encrypted_content: "" }, words, hi),
    /not persisted/,
  ],
  ["reasoning without a summary", input(hi, { ...sealed, summary: undefined }, words, hi), /'summary'/],
  ["text without ids", input(hi, { ...words, id: undefined }, hi, { ...words, id: undefined }, hi), null],
]);

// Chat Completions

const user = { role: "user", content: "hi" };
const messages = (...given: readonly unknown[]) => ({ messages: given });
const chatCall = { id: "c1", type: "function", function: { name: "read", arguments: "{}" } };
const calls = (...tool_calls: readonly unknown[]) => ({ role: "assistant", tool_calls });
const result = { role: "tool", tool_call_id: "c1", content: "text" };
const chatTool = { function: { name: "read", parameters: { type: "object" } } };
const called = (change: JsonObject) => messages(user, calls({ ...chatCall, ...change }), result);
const parts = (...content: readonly unknown[]) => messages({ role: "user", content });

table(
  "A Chat Completions server",
  REFUSALS.chat,
  "/v1/chat/completions",
  { model: "m", messages: [user] },
  [
    ["no model", { model: undefined }, /model parameter/],
    ["an invalid model name", { model: 5 }, /model parameter/],
    ["a body of 128 levels", { extra: deep(127) }, null],
    ["a body of 129 levels", { extra: deep(128) }, /nested too deeply/],
    ["the smallest token limit", { max_tokens: 1 }, null],
    ["the token limit under its new name", { max_completion_tokens: 1 }, null],
    ["a token limit of zero under its new name", { max_completion_tokens: 0 }, /at least 1/],
    ["half a token", { max_tokens: 1.5 }, /at least 1/],
    ["a token limit as text", { max_tokens: "5" }, /at least 1/],
    ["the lowest temperature", { temperature: 0 }, null],
    ["the highest temperature", { temperature: 2 }, null],
    ["a temperature above the maximum", { temperature: 2.1 }, /from 0 to 2/],
    ["a temperature as text", { temperature: "1" }, /from 0 to 2/],
    ["options of a stream", { stream: true, stream_options: {} }, null],
    ["options of a reply without a stream setting", { stream_options: {} }, /only allowed when 'stream'/],
    ...["auto", "none", "required"].map((
      choice,
    ): Row => [choice, { tools: [chatTool], tool_choice: choice }, null]),
    ["a tool choice without tools", { tool_choice: "auto" }, /only allowed when 'tools'/],
    ["parallel calls without tools", { parallel_tool_calls: true }, /only allowed when 'tools'/],
    ["parallel calls", { tools: [chatTool], parallel_tool_calls: true }, null],
    ["a missing schema", { tools: [{ function: { name: "a" } }] }, /type: "object"/],
    ["an invalid tool", { tools: [{}] }, /function\.name/],
    ["a system message", messages({ role: "system", content: "x" }, user), null],
    ["a developer message", messages({ role: "developer", content: "x" }, user), null],
    ["an empty system message", messages({ role: "system", content: "" }, user), /must not be empty/],
    ["a content that is null", messages({ role: "user", content: null }), /must not be empty/],
    ["a content without parts", parts(), /must not be empty/],
    ["a model message", messages(user, { role: "assistant", content: "x" }, user), null],
    ["a call without text", messages(user, calls(chatCall), result), null],
    ["a call with text", messages(user, { ...calls(chatCall), content: "x" }, result), null],
    ["a text", parts({ type: "text", text: "x" }), null],
    ["a text that is a number", parts({ type: "text", text: 5 }), /must not be empty/],
    ["an image", parts({ type: "image_url", image_url: { url: PNG } }), null],
    ["an image by its URL", parts({ type: "image_url", image_url: { url: "https://x/a.png" } }), null],
    ["an image without a URL", parts({ type: "image_url" }), /unsupported image/],
    ["a call without id", called({ id: undefined }), /\.id'/],
    ["a call of another type", called({ type: "custom" }), /\.type'/],
    ["a call without function", called({ function: undefined }), /function\.name/],
    ["a call whose input is a list", called({ function: { name: "a", arguments: "[]" } }), /item pairs/],
    [
      "two calls and their results",
      messages(user, calls(chatCall, { ...chatCall, id: "c2" }), result, { ...result, tool_call_id: "c2" }),
      null,
    ],
    [
      "one result of two calls",
      messages(user, calls(chatCall, { ...chatCall, id: "c2" }), result),
      /Missing: c2\./,
    ],
    [
      "a result after the person's text",
      messages(user, calls(chatCall), user, result),
      /response to a preceding/,
    ],
  ],
);

table("Moonshot", REFUSALS.chat, "/v1/chat/completions", { model: "kimi-k3.1-pro", messages: [user] }, [
  ["the model's own temperature", { temperature: 1 }, null],
  ["a temperature before K2.5", { model: "kimi-k2", temperature: 0.6 }, null],
  ["a temperature of K2.6", { model: "kimi-k2.6", temperature: 0.6 }, /only 1/],
  ["enabled thinking", { thinking: { type: "enabled" } }, null],
  ["disabled thinking, before K3", { model: "kimi-k2.6", thinking: { type: "disabled" } }, null],
  ["no effort", {}, null],
  ...["low", "medium", "high", "xhigh", "max"].map((word): Row => [word, { reasoning_effort: word }, null]),
  ["an effort before K3", { model: "kimi-k2.6", reasoning_effort: "low" }, /unknown parameter/],
  ["a call without reasoning while thinking is disabled", {
    model: "kimi-k2.6",
    thinking: { type: "disabled" },
    ...messages(user, calls(chatCall), result),
  }, null],
  ["a call without reasoning of a model that does not think", {
    model: "moonshot-v1",
    ...messages(user, calls(chatCall), result),
  }, null],
  [
    "a call with reasoning that is not text",
    messages(user, { ...calls(chatCall), reasoning_content: 5 }, result),
    /missing in assistant tool call message at index 1/,
  ],
  ["text without reasoning", messages(user, { role: "assistant", content: "x" }, user), null],
  ["a retired model", { model: "kimi-k2-thinking" }, /Not found/],
]);

table("OpenAI by Chat Completions", REFUSALS.chat, "/v1/chat/completions", {
  model: "gpt-5.4",
  messages: [user],
}, [
  ["the model's own temperature", { temperature: 1 }, null],
  [
    "the old name of the token limit, for a model that does not think",
    { model: "gpt-4o", max_tokens: 5 },
    null,
  ],
  ["a temperature of a model that does not think", { model: "gpt-4o", temperature: 0.5 }, null],
  ["a temperature for a chat model", { model: "gpt-5-chat-latest", temperature: 0.5 }, null],
  ["tools of a model before 6", { tools: [chatTool] }, null],
  [
    "tools for 6 without thinking",
    { model: "gpt-6-luna", tools: [chatTool], reasoning_effort: "none" },
    null,
  ],
  ["6 without tools", { model: "gpt-6-luna", reasoning_effort: "low" }, null],
  [
    "tools for 6 with thinking",
    { model: "gpt-6-luna", tools: [chatTool], reasoning_effort: "low" },
    /Function tools/,
  ],
  ...["reasoning", "reasoning_details"].map((member): Row => [
    member,
    messages(user, { role: "assistant", content: "x", [member]: [] }, user),
    new RegExp(`messages\\[1\\]\\.${member}'`),
  ]),
]);

// Gemini

const door = (model: string) => `/v1beta/models/${model}:streamGenerateContent`;
const vertex = (model: string) =>
  `/v1beta1/projects/p/locations/global/publishers/google/models/${model}:streamGenerateContent`;
const says = (role: string, ...given: readonly unknown[]) => ({ role, parts: given });
const contents = (...given: readonly unknown[]) => ({ contents: given });
const config = (change: JsonObject) => ({ generationConfig: change });
const thinks = (thinkingConfig: JsonObject) => config({ thinkingConfig });
const declared = (...functionDeclarations: readonly unknown[]) => ({ tools: [{ functionDeclarations }] });
const hello = says("user", { text: "hi" });
const functionCall = { name: "read", args: {} };
const functionResponse = { name: "read", response: {} };
const made = says("model", { functionCall, thoughtSignature: "c2ln" });
const inline = (mimeType: string, rest: JsonObject = {}) =>
  contents(says("user", { inlineData: { mimeType, data: "iVBORw==", ...rest } }));

table("Gemini", REFUSALS.google, door("gemini-3.8-flash"), { contents: [hello] }, [
  ["a body of 100 levels", { labels: deep(99) }, null],
  ["a body of 101 levels", { labels: deep(100) }, /Nesting too deep/],
  ["2.5 where it is still available", {}, null, door("gemini-2.5-pro")],
  ["2.5 where it is no longer available", {}, /is not found/, vertex("gemini-2.5-pro")],
  ["3.8 on Vertex AI", {}, null, vertex("gemini-3.8-flash")],
  ["a system instruction", { systemInstruction: { parts: [{ text: "x" }] } }, null],
  ["a system instruction that is a string", { systemInstruction: "x" }, /system_instruction/],
  ["a system instruction with one empty part", {
    systemInstruction: { parts: [{ text: "x" }, { text: "" }] },
  }, /system_instruction/],
  [
    "a system instruction that is an image",
    { systemInstruction: { parts: [{ inlineData: {} }] } },
    /system_instruction/,
  ],
  ["an invalid configuration", { generationConfig: 5 }, /expected an object/],
  ["the smallest token limit", config({ maxOutputTokens: 1 }), null],
  ["the largest token limit", config({ maxOutputTokens: 65_536 }), null],
  ["a token limit as text", config({ maxOutputTokens: "5" }), /maxOutputTokens value/],
  ["the lowest temperature", config({ temperature: 0 }), null],
  ["the highest temperature", config({ temperature: 2 }), null],
  ["a temperature below the minimum", config({ temperature: -0.1 }), /temperature value/],
  ["a temperature as text", config({ temperature: "1" }), /temperature value/],
  ["a level", thinks({ thinkingLevel: "low" }), null],
  ["the lowest level for a small model", thinks({ thinkingLevel: "MINIMAL" }), null],
  ["a number of tokens for 3", thinks({ thinkingBudget: 1024 }), null],
  ["a number of tokens for 4", thinks({ thinkingBudget: 1024 }), /budget is not/, door("gemini-4-argon")],
  ["no tokens", thinks({ thinkingBudget: 0 }), null, door("gemini-2.5-flash-lite")],
  ["an unlimited number of tokens", thinks({ thinkingBudget: -1 }), null, door("gemini-2.5-flash-lite")],
  ["a negative number of tokens", thinks({ thinkingBudget: -2 }), /between 0 and/],
  [
    "the fewest tokens for a small model",
    thinks({ thinkingBudget: 512 }),
    null,
    door("gemini-2.5-flash-lite"),
  ],
  [
    "too few tokens for a small model",
    thinks({ thinkingBudget: 511 }),
    /between 512/,
    door("gemini-2.5-flash-lite"),
  ],
  ["the fewest tokens for a large model", thinks({ thinkingBudget: 128 }), null, door("gemini-2.5-pro")],
  [
    "too few tokens for a large model",
    thinks({ thinkingBudget: 127 }),
    /between 128/,
    door("gemini-2.5-pro"),
  ],
  ["the most tokens", thinks({ thinkingBudget: 32_768 }), null],
  ["too many tokens", thinks({ thinkingBudget: 32_769 }), /and 32768/],
  ["a tool", declared({ name: "a", description: "" }), null],
  ["a tool with one form of schema", declared({ name: "a", description: "", parameters: {} }), null],
  [
    "a tool with the other form of schema",
    declared({ name: "a", description: "", parametersJsonSchema: {} }),
    null,
  ],
  ["a tool without description", declared({ name: "a" }), /description is required/],
  ["a tool choice", { ...declared({ name: "a", description: "" }), toolConfig: {} }, null],
  ["a tool choice of none", { toolConfig: {} }, /without function_declarations/],
  ["a content without role", contents({ parts: [{ text: "x" }] }), /valid role/],
  ["an image", inline("image/png"), null],
  ["a HEIC image", inline("image/heic"), null],
  ["a sound", inline("audio/wav"), null],
  ["an archive", inline("application/zip"), /Unsupported MIME/],
  ["a data name on Vertex AI", inline("image/png", { displayName: "a" }), null, vertex("gemini-3.8-flash")],
  ["a call and its answer", contents(hello, made, says("user", { functionResponse })), null],
  [
    "a call whose name has a dot",
    contents(
      hello,
      says("model", { functionCall: { name: "a.b", args: {} }, thoughtSignature: "c2ln" }),
      says("user", { functionResponse: { name: "a.b", response: {} } }),
    ),
    /a name and an object of args/,
  ],
  [
    "an answer that is a string",
    contents(hello, made, says("user", { functionResponse: { name: "read", response: "x" } })),
    /an object as response/,
  ],
  [
    "an answer whose name has a dot",
    contents(hello, made, says("user", { functionResponse: { name: "a.b", response: {} } })),
    /a name and an object as response/,
  ],
  [
    "a call after the model's text",
    contents(hello, says("model", { text: "x" }), made, says("user", { functionResponse })),
    /immediately after a user turn/,
  ],
  [
    "an unsigned call of an earlier turn",
    contents(
      hello,
      says("model", { functionCall }),
      says("user", { functionResponse }),
      says("model", { text: "x" }),
      hello,
    ),
    null,
  ],
  [
    "an unsigned call of the current turn",
    contents(hello, says("model", { functionCall }), says("user", { functionResponse })),
    /missing a thought_signature/,
  ],
  [
    "an unsigned call of the turn before a text with an image",
    contents(
      hello,
      says("model", { functionCall }),
      says("user", { functionResponse }),
      says("user", { text: "x" }, { inlineData: { mimeType: "image/png", data: "iVBORw==" } }),
    ),
    null,
  ],
  [
    "an unsigned call before the model's text",
    contents(
      hello,
      says("model", { functionCall }),
      says("user", { functionResponse }),
      says("model", { text: "x" }),
      says("user", { inlineData: { mimeType: "image/png", data: "iVBORw==" } }),
    ),
    /missing a thought_signature/,
  ],
  [
    "an unsigned call of an older model",
    contents(hello, says("model", { functionCall }), says("user", { functionResponse })),
    null,
    door("gemini-2.5-pro"),
  ],
  [
    "a signed second call",
    contents(
      hello,
      says("model", { functionCall }, { functionCall, thoughtSignature: "c2ln" }),
      says("user", { functionResponse }, { functionResponse }),
    ),
    /Function call position 1/,
  ],
  [
    "a truncated signed text of an earlier turn",
    contents(hello, says("model", { text: "x", thoughtSignature: "c2l" }), hello),
    /Corrupted/,
  ],
]);

// Anthropic Messages

const plain = (text: string) => ({ type: "text", text });
const person = (...content: readonly unknown[]) => ({ role: "user", content });
const model = (...content: readonly unknown[]) => ({ role: "assistant", content });
const ask = person(plain("hi"));
const use = { type: "tool_use", id: "c1", name: "bash", input: {} };
const outcome = { type: "tool_result", tool_use_id: "c1", content: "out" };
const picture = (media_type: string, data: string) => ({
  type: "image",
  source: { type: "base64", media_type, data },
});
const mark = (ttl?: string) => ({ type: "ephemeral", ...(ttl === undefined ? {} : { ttl }) });
const marked = (...ttls: readonly (string | undefined)[]) => ({
  system: ttls.map((ttl) => ({ ...plain("x"), cache_control: mark(ttl) })),
});
const asked = (name: string, thinking: JsonObject, effort?: string) => ({
  model: name,
  thinking,
  ...(effort === undefined ? {} : { output_config: { effort } }),
});
const budget = (tokens: unknown) => ({ type: "enabled", budget_tokens: tokens });
const ADAPTIVE = { type: "adaptive" };
const OFF = { type: "disabled" };
const BETWEEN = { type: "between_tools" };
const choice = (name: string, type: string, rest: JsonObject = {}) => ({
  model: name,
  tools: [{ name: "bash", input_schema: {} }],
  tool_choice: { type },
  ...rest,
});

table("Anthropic", MESSAGES, "/v1/messages", {
  model: "claude-sonnet-4-6",
  max_tokens: 2000,
  messages: [ask],
}, [
  ["an unknown field", { reasoning: {} }, /reasoning: Extra inputs/],
  ["known fields that flemma never sends", { stop_sequences: [], metadata: {}, top_p: 0.5 }, null],
  ["a body of 128 levels", { metadata: deep(127) }, null],
  ["a body of 129 levels", { metadata: deep(128) }, /nested too deeply/],
  ["the smallest token limit", { max_tokens: 1 }, null],
  ["no room", { max_tokens: 0 }, /at least 1/],
  ["half a token", { max_tokens: 1.5 }, /at least 1/],
  ["a token limit as text", { max_tokens: "5" }, /at least 1/],
  ["the largest token limit", { max_tokens: 128_000 }, null],
  ["more than the largest token limit", { max_tokens: 128_001 }, /128001 > 128000/],
  ["the largest token limit of an older model", { model: "claude-haiku-4-5", max_tokens: 64_000 }, null],
  [
    "more than the largest token limit of an older model",
    { model: "claude-haiku-4-5", max_tokens: 64_001 },
    /64001 > 64000, which is the maximum allowed/,
  ],
  ["the token limit of a compatible server", { model: "glm-5", max_tokens: 500_000 }, null],
  ["the smallest budget", asked("claude-sonnet-4-6", budget(1024)), null],
  ["less than the smallest budget", asked("claude-sonnet-4-6", budget(1023)), /at least 1024/],
  ["a budget of all tokens but one", asked("claude-sonnet-4-6", budget(1999)), null],
  ["a budget of all tokens", asked("claude-sonnet-4-6", budget(2000)), /must be greater/],
  ["a budget as text", asked("claude-sonnet-4-6", budget("1024")), /budget_tokens: Field required/],
  ["a budget for a new model", asked("claude-opus-4-7", budget(1024)), /"thinking.type.enabled" is not/],
  ["thinking that is not an object", { thinking: true }, /should be an object/],
  ["an unknown type of thinking", asked("claude-opus-4-7", { type: "on" }), /Input tag/],
  [
    "an unknown field of thinking",
    asked("claude-opus-4-7", { ...ADAPTIVE, mode: 1 }),
    /thinking\.mode/,
  ],
  ...["summarized", "omitted", "updates"].map((display): Row => [
    display,
    asked("claude-opus-4-7", { ...ADAPTIVE, display }),
    null,
  ]),
  [
    "a display setting with a budget",
    asked("claude-sonnet-4-6", { ...budget(1024), display: "omitted" }),
    null,
  ],
  [
    "an unknown display setting",
    asked("claude-opus-4-7", { ...ADAPTIVE, display: "full" }),
    /display: Input/,
  ],
  [
    "a display setting without thinking",
    asked("claude-sonnet-4-6", { ...OFF, display: "omitted" }),
    /display: not supported/,
  ],
  ["disabled thinking", asked("claude-opus-4-7", OFF), null],
  ["disabled thinking for Sonnet 5.5", asked("claude-sonnet-5-5", OFF), /disabled" is not supported for/],
  ["disabled thinking for a model that always thinks", asked("claude-opus-5-5", OFF), /is not supported for/],
  ["disabled thinking with effort", asked("claude-haiku-5-5", OFF, "high"), null],
  [
    "disabled thinking with the highest effort",
    asked("claude-haiku-5-5", OFF, "xhigh"),
    /with the effort xhigh/,
  ],
  [
    "disabled thinking with the highest effort for a model that accepts it",
    asked("claude-opus-4-7", OFF, "max"),
    null,
  ],
  ["adaptive thinking for an older model", asked("claude-haiku-4-5", ADAPTIVE), /adaptive thinking is not/],
  ["adaptive thinking since 4.6", asked("claude-sonnet-4-6", ADAPTIVE), null],
  [
    "adaptive thinking with a budget",
    asked("claude-opus-4-7", { ...ADAPTIVE, budget_tokens: 1024 }),
    /adaptive\.budget/,
  ],
  ["thinking between tools", asked("claude-sonnet-5-5", BETWEEN, "high"), null],
  [
    "thinking between tools with another model",
    asked("claude-opus-5-5", BETWEEN),
    /between_tools" is not/,
  ],
  [
    "thinking between tools with the highest effort",
    asked("claude-sonnet-5-5", BETWEEN, "max"),
    /effort max/,
  ],
  [
    "thinking between tools with a budget",
    asked("claude-sonnet-5-5", { ...BETWEEN, budget_tokens: 1024 }),
    /between_tools: Extra/,
  ],
  [
    "a binding setting without its beta header",
    asked("claude-opus-5-5", { ...ADAPTIVE, block_binding: { prefix_mismatch_behavior: "error" } }),
    /block_binding: Extra/,
  ],
  ...([
    ["claude-opus-4-7", "xhigh", null],
    ["claude-sonnet-4-6", "max", null],
    ["claude-sonnet-4-6", "xhigh", /xhigh is not supported/],
    ["claude-opus-4-5", "high", null],
    ["claude-opus-4-5", "max", /max is not supported/],
    ["claude-haiku-4-5", "low", /does not support the effort/],
    ["claude-opus-4-7", "minimal", /Input should be/],
    ["claude-opus-4-7", 5, /Input should be/],
    ["claude-opus-4-8", "xhigh", null],
    ["claude-opus-4-5", "low", null],
    ["claude-opus-5", "low", null],
  ] as const).map(([name, effort, says]): Row => [
    `${effort} of ${name}`,
    { model: name, output_config: { effort } },
    says,
  ]),
  ["a configuration without effort", { output_config: {} }, null],
  ["the lowest temperature", { temperature: 0 }, null],
  ["a temperature below the minimum", { temperature: -0.1 }, /from 0 to 1/],
  ["the highest temperature", { temperature: 1 }, null],
  ["a temperature above the maximum", { temperature: 1.1 }, /from 0 to 1/],
  ["a temperature for a new model", { model: "claude-opus-4-7", temperature: 0.5 }, /`temperature` is not/],
  ["the temperature that a new model has", { model: "claude-opus-4-7", temperature: 1 }, null],
  ["a new model's own top_p", { model: "claude-opus-4-7", top_p: 0.99 }, null],
  ["top_p for a new model", { model: "claude-opus-4-7", top_p: 0.5 }, /`top_p` is not/],
  ["top_k for a new model", { model: "claude-opus-4-7", top_k: 5 }, /`top_k` is not/],
  [
    "a temperature while thinking",
    { ...asked("claude-sonnet-4-6", ADAPTIVE), temperature: 0.5 },
    /while thinking/,
  ],
  ["a temperature with thinking disabled", { ...asked("claude-sonnet-4-6", OFF), temperature: 0.5 }, null],
  ["a choice of any tool", choice("claude-sonnet-4-6", "any"), null],
  ["a choice of any tool with a new model", choice("claude-opus-5-5", "any"), /not supported for this model/],
  [
    "a choice of one tool with a new model",
    choice("claude-opus-5-5", "tool"),
    /not supported for this model/,
  ],
  ["a free choice with a new model", choice("claude-opus-5-5", "auto"), null],
  [
    "a choice of any tool with a budget",
    choice("claude-sonnet-4-6", "any", { thinking: budget(1024) }),
    /not supported/,
  ],
  [
    "a choice of any tool with adaptive thinking",
    choice("claude-sonnet-4-6", "any", { thinking: ADAPTIVE }),
    null,
  ],
  ["a tool choice without tools", { tool_choice: { type: "auto" } }, /while providing tools/],
  ["two tools", { tools: [{ name: "a", input_schema: {} }, { name: "b", input_schema: {} }] }, null],
  [
    "two tools with one name",
    { tools: [{ name: "a", input_schema: {} }, { name: "a", input_schema: {} }] },
    /unique/,
  ],
  ["a name of 128 characters", { tools: [{ name: "a".repeat(128), input_schema: {} }] }, null],
  ["a name of 129 characters", { tools: [{ name: "a".repeat(129), input_schema: {} }] }, /tools\.0\.name/],
  ["a tool without a schema", { tools: [{ name: "a" }] }, /input_schema: Field required/],
  ["four marks", marked(undefined, undefined, undefined, undefined), null],
  ["five marks", { ...marked(undefined, undefined, undefined, undefined), cache_control: mark() }, /Found 5/],
  ["a cache mark for an hour before a shorter one", marked("1h", "5m"), null],
  ["a cache mark for an hour after a shorter one", marked("5m", "1h"), /must not come after/],
  ["cache marks for an hour", marked("1h", "1h"), null],
  ["a cache mark for a day", marked("1d"), /for 5m or 1h/],
  ["a cache mark of another type", { cache_control: { type: "lasting" } }, /for 5m or 1h/],
  ["an invalid cache mark", { cache_control: "x" }, /for 5m or 1h/],
  ["text with spaces around it", messages(person(plain(" x "))), null],
  ["an image by its URL", messages(person({ type: "image", source: { type: "url" } })), null],
  ["an image whose data matches its type", messages(person(picture("image/png", "iVBORw0KGgo="))), null],
  [
    "an image without data",
    messages(person({ type: "image", source: { type: "base64", media_type: "image/png" } })),
    /cannot be empty/,
  ],
  [
    "a document",
    messages(person({
      type: "document",
      source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" },
    })),
    null,
  ],
  [
    "an image by the model",
    messages(ask, model(picture("image/png", "iVBORw0KGgo=")), ask),
    /not permitted in assistant/,
  ],
  ["a call and its result", messages(ask, model(use), person(outcome)), null],
  [
    "a call whose input is a list",
    messages(ask, model({ ...use, input: [] }), person(outcome)),
    /valid dictionary/,
  ],
  [
    "a call whose id has a dot",
    messages(ask, model({ ...use, id: "c.1" }), person({ ...outcome, tool_use_id: "c.1" })),
    /\.id: String/,
  ],
  [
    "a call whose name is empty",
    messages(ask, model({ ...use, name: "" }), person(outcome)),
    /\.name: String/,
  ],
  ["a result, then text", messages(ask, model(use), person(outcome, plain("x"))), null],
  ["text, then a result", messages(ask, model(use), person(plain("x"), outcome)), /must come before/],
  ["an error with text", messages(ask, model(use), person({ ...outcome, is_error: true })), null],
  [
    "an error in blocks",
    messages(ask, model(use), person({ ...outcome, is_error: true, content: [plain("x")] })),
    null,
  ],
  ...[undefined, "", []].map((content): Row => [
    `an error that says ${JSON.stringify(content)}`,
    messages(ask, model(use), person({ ...outcome, is_error: true, content })),
    /cannot be empty/,
  ]),
  ["an empty result", messages(ask, model(use), person({ ...outcome, content: "" })), null],
  [
    "a result with a blank text",
    messages(ask, model(use), person({ ...outcome, content: [plain(" ")] })),
    /non-whitespace/,
  ],
  [
    "a call that is answered later",
    messages(ask, model(use), ask, person(outcome)),
    /immediately after: c1/,
  ],
  [
    "a call that is answered twice",
    messages(ask, model(use), person(outcome, outcome)),
    /single result/,
  ],
  ["a result without a call", messages(person(outcome)), /unexpected `tool_use_id`/],
  [
    "two calls with one id",
    messages(ask, model(use), person(outcome), model(use), person(outcome)),
    /must be unique/,
  ],
  [
    "thinking that is not text",
    messages(ask, model({ type: "thinking", thinking: 5 }, plain("x")), ask),
    /thinking: Field/,
  ],
  [
    "empty thinking",
    messages(ask, model({ type: "thinking", thinking: "", signature: "s" }, plain("x")), ask),
    null,
  ],
  [
    "hidden thinking",
    messages(ask, model({ type: "redacted_thinking", data: "x" }, plain("x")), ask),
    null,
  ],
  [
    "redacted thinking without data",
    messages(ask, model({ type: "redacted_thinking", data: "" }, plain("x")), ask),
    /data: Field/,
  ],
  [
    "redacted thinking with data that is not text",
    messages(ask, model({ type: "redacted_thinking", data: 5 }, plain("x")), ask),
    /data: Field/,
  ],
  ["the model's text at the end", messages(ask, model(plain("x"))), /prefill/],
  ["an older model's text at the end", {
    model: "claude-haiku-4-5",
    messages: [ask, model(plain("x"))],
  }, null],
  ["the model's text at the end with thinking disabled", {
    ...asked("claude-haiku-4-5", OFF),
    messages: [ask, model(plain("x"))],
  }, null],
  [
    "another provider's model's text at the end",
    { model: "glm-5", messages: [ask, model(plain("x"))] },
    /prefill/,
  ],
  ...([
    ["thinking", { type: "thinking", thinking: "x", signature: "s" }, null],
    ["hidden thinking", { type: "redacted_thinking", data: "x" }, null],
    ["words", plain("x"), /must start with a thinking block/],
  ] as const).map(([what, first, says]): Row => [
    `${what} before calls, with a budget`,
    { ...asked("claude-opus-4-5", budget(1024)), messages: [ask, model(first, use), person(outcome)] },
    says,
  ]),
  ["text before calls, with a budget, since 4.6", {
    ...asked("claude-sonnet-4-6", budget(1024)),
    messages: [ask, model(plain("x"), use), person(outcome)],
  }, null],
  ["text before calls of an earlier turn, with a budget", {
    ...asked("claude-opus-4-5", budget(1024)),
    messages: [ask, model(plain("x"), use), person(outcome), model(plain("x")), ask],
  }, null],
  ["a token limit at the maximum of Opus 5", { model: "claude-opus-5", max_tokens: 128_000 }, null],
  ...([
    ["claude-opus-4-6", budget(1024), null],
    ["claude-haiku-4-5", budget(undefined), /budget_tokens: Field required/],
    ["claude-opus-5", ADAPTIVE, null],
    ["claude-sonnet-5-5", ADAPTIVE, null],
    ["claude-sonnet-5-5", { ...ADAPTIVE, budget_tokens: 1024 }, /adaptive\.budget_tokens/],
    ["claude-sonnet-5-5", { ...ADAPTIVE, display: "summarized" }, null],
    ["claude-sonnet-5-5", BETWEEN, null],
    ["claude-sonnet-5-5", { ...BETWEEN, display: "summarized" }, /thinking\.display/],
    ["claude-opus-5", BETWEEN, /between_tools" is not supported/],
    ["claude-fable-5-2", OFF, /"thinking\.type\.disabled" is not supported/],
    ["claude-haiku-5-5", OFF, null],
    ["claude-opus-5", OFF, null],
    ["claude-opus-5", { ...OFF, display: "omitted" }, /thinking\.display/],
  ] as const).map(([name, thinking, says]): Row => [
    `${JSON.stringify(thinking)} of ${name}`,
    asked(name, thinking),
    says,
  ]),
  ["a choice of any tool with Sonnet 5.5", choice("claude-sonnet-5-5", "any"), /"any" are not supported/],
  ["a choice of any tool with Haiku 5.5", choice("claude-haiku-5-5", "any"), null],
  ["a choice of one tool", choice("claude-haiku-4-5", "tool"), null],
  [
    "a choice of one tool with a budget",
    choice("claude-haiku-4-5", "tool", { thinking: budget(1024) }),
    /are not supported/,
  ],
  ...["claude-sonnet-5-5", "claude-haiku-5-5"].flatMap((name): Row[] => [
    [`a temperature of ${name}`, { model: name, temperature: 0.5 }, /`temperature` is not supported/],
    [`the own temperature of ${name}`, { model: name, temperature: 1 }, null],
  ]),
  ["top_k", { top_k: 5 }, null],
  ["a cache mark for an hour after one without a time", marked(undefined, "1h"), /must not come after/],
  ["a cache mark for an hour before one without a time", marked("1h", undefined), null],
  ["a tool whose name has a dot", { tools: [{ name: "a.b" }] }, /tools\.0\.name/],
  ["a blank system text", { system: [plain(" ")] }, /system: text.*non-whitespace/],
  ["no message", messages(), /at least one message/],
  ["an unknown role", messages({ role: "system", content: "x" }), /unexpected role/],
  ["a message without content", messages(ask, model(), ask), /non-empty content/],
  ["an empty text", messages(person(plain(""))), /must be non-empty/],
  ["a blank text", messages(person(plain(" \n"))), /non-whitespace/],
  ["an image of an unknown type", messages(person(picture("image/bmp", "iVBORw0KGgo="))), /media_type/],
  ["an invalid image", messages(person(picture("image/jpeg", "iVBORw0KGgo="))), /does not match/],
  ["an empty image", messages(person(picture("image/png", ""))), /cannot be empty/],
  [
    "an empty document",
    messages(person({ ...picture("application/pdf", ""), type: "document" })),
    /cannot be empty/,
  ],
  ["a block of unknown type", messages(person({ type: "sound" })), /Input tag 'sound'/],
  ["a call by the person", messages(person(plain("a"), use)), /`tool_use` blocks are not permitted in user/],
  [
    "thinking by the person",
    messages(person(plain("a"), { type: "thinking", thinking: "x", signature: "s" })),
    /not permitted in user/,
  ],
  ["thinking without its text", messages(ask, model({ type: "thinking" }), ask), /thinking: Field required/],
  ["a call without result", messages(ask, model(use), ask), /without `tool_result`/],
  [
    "a call whose name has a colon",
    messages(ask, model({ ...use, name: "a:b" }), person(outcome)),
    /content\.0\.name/,
  ],
  [
    "a call whose id has a space",
    messages(ask, model({ ...use, id: "c 1" }), person({ ...outcome, tool_use_id: "c 1" })),
    /content\.0\.id/,
  ],
  [
    "an invalid image in a result",
    messages(ask, model(use), person({ ...outcome, content: [picture("image/gif", "iVBORw0KGgo=")] })),
    /content\.0\.content\.0\.source/,
  ],
  ["the model's text at the end while thinking", {
    ...asked("claude-haiku-4-5", budget(1024)),
    messages: [ask, model(plain("Well"))],
  }, /prefill/],
  ["a call alone, with a budget", {
    ...asked("claude-haiku-4-5", budget(1024)),
    messages: [ask, model(use), person(outcome)],
  }, /must start with a thinking block/],
]);

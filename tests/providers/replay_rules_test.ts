import assert from "node:assert/strict";
import { refusals } from "../../providers/replay/strict/anthropic.ts";
import { startReplay } from "../../providers/replay/server.ts";

const PNG = "iVBORw0KGgo=";
const CALL = { type: "tool_use", id: "c1", name: "bash", input: {} };
const RESULT = { type: "tool_result", tool_use_id: "c1", content: "out" };
const user = (...content: readonly unknown[]) => ({ role: "user", content });
const assistant = (...content: readonly unknown[]) => ({ role: "assistant", content });
const text = (words: string) => ({ type: "text", text: words });
const image = (media_type: string, data: string) => ({
  type: "image",
  source: { type: "base64", media_type, data },
});

const GOOD = {
  model: "claude-sonnet-4-6",
  max_tokens: 2000,
  system: [text("Be brief.")],
  tools: [{ name: "bash", input_schema: {} }],
  messages: [user(text("hi"), image("image/png", PNG)), assistant(CALL), user(RESULT)],
};

function refused(change: Readonly<Record<string, unknown>>): string {
  const body = { ...GOOD, ...change };
  return refusals(JSON.stringify(body), body).join("; ");
}

Deno.test("a request that breaks no rule is taken, and so is a text in place of a list of blocks", () => {
  assert.equal(refused({}), "");
  assert.equal(refused({ system: "Be brief.", messages: [{ role: "user", content: "hi" }] }), "");
});

const messages = (...given: readonly unknown[]) => ({ messages: given });

const ROWS: readonly (readonly [what: string, change: Readonly<Record<string, unknown>>, says: RegExp])[] = [
  ["the last word is the model's", messages(user(text("hi")), assistant(text("Well"))), /prefill/],
  [
    "the same for a model that takes it, but thinks",
    {
      ...messages(user(text("hi")), assistant(text("Well"))),
      model: "claude-haiku-4-5",
      thinking: { type: "enabled", budget_tokens: 1024 },
    },
    /prefill/,
  ],
  ["no message", messages(), /at least one message/],
  ["an unknown role", messages({ role: "system", content: "x" }), /unexpected role/],
  [
    "a message without content",
    messages(user(text("hi")), assistant(), user(text("x"))),
    /non-empty content/,
  ],
  ["an empty text", messages(user(text(""))), /must be non-empty/],
  ["a blank text", messages(user(text(" \n"))), /non-whitespace/],
  ["a blank system text", { system: [text(" ")] }, /system: text.*non-whitespace/],
  ["an image of another type", messages(user(image("image/bmp", PNG))), /media_type/],
  ["an image that is none", messages(user(image("image/jpeg", PNG))), /does not match/],
  ["an empty image", messages(user(image("image/png", ""))), /cannot be empty/],
  [
    "an empty document",
    messages(user({ ...image("application/pdf", ""), type: "document" })),
    /cannot be empty/,
  ],
  [
    "a call without result",
    messages(user(text("a")), assistant(CALL), user(text("b"))),
    /without `tool_result`/,
  ],
  ["a call with two", messages(user(text("a")), assistant(CALL), user(RESULT, RESULT)), /single result/],
  ["a result without call", messages(user(RESULT)), /unexpected `tool_use_id`/],
  [
    "an id used twice",
    messages(user(text("a")), assistant(CALL), user(RESULT), assistant(CALL), user(RESULT)),
    /must be unique/,
  ],
  [
    "an input that is no object",
    messages(user(text("a")), assistant({ ...CALL, input: [] }), user(RESULT)),
    /valid dictionary/,
  ],
  [
    "a name with a colon",
    messages(user(text("a")), assistant({ ...CALL, name: "a:b" }), user(RESULT)),
    /content\.0\.name/,
  ],
  [
    "an id with a blank",
    messages(
      user(text("a")),
      assistant({ ...CALL, id: "c 1" }),
      user({ ...RESULT, tool_use_id: "c 1" }),
    ),
    /content\.0\.id/,
  ],
  ["a tool whose name has a dot", { tools: [{ name: "a.b" }] }, /tools\.0\.name/],
  [
    "an error without words",
    messages(user(text("a")), assistant(CALL), user({ ...RESULT, content: "", is_error: true })),
    /cannot be empty if is_error/,
  ],
  [
    "an image in a result that is none",
    messages(user(text("a")), assistant(CALL), user({ ...RESULT, content: [image("image/gif", PNG)] })),
    /content\.0\.content\.0\.source/,
  ],
  ["no room for the reply", { max_tokens: 0 }, /max_tokens/],
  ["more thinking than reply", { thinking: { type: "enabled", budget_tokens: 2000 } }, /budget_tokens/],
  ["too little thinking", { thinking: { type: "enabled", budget_tokens: 1000 } }, /budget_tokens/],
];

for (const [what, change, says] of ROWS) {
  Deno.test(`the replay server refuses: ${what}`, () => assert.match(refused(change), says));
}

const on = (model: string, members: Readonly<Record<string, unknown>>) => ({ ...members, model });
const thinks = (model: string, thinking: unknown, effort?: string) =>
  on(model, { thinking, ...(effort === undefined ? {} : { output_config: { effort } }) });
const ADAPTIVE = { type: "adaptive" };
const BETA = "thinking-binding-controls-2026-08-01";
const marked = (ttl?: string) => ({
  ...text("x"),
  cache_control: { type: "ephemeral", ...(ttl === undefined ? {} : { ttl }) },
});
const LOOP = [user(text("a")), assistant(CALL), user(RESULT)];

/** What the API refuses of a model, each beside a request that differs in nothing else and is taken. */
const PAIRS: readonly (readonly [
  what: string,
  refused: Readonly<Record<string, unknown>>,
  says: RegExp,
  taken: Readonly<Record<string, unknown>>,
])[] = [
  [
    "a budget on a model that thinks by itself",
    thinks("claude-opus-4-7", { type: "enabled", budget_tokens: 1024 }),
    /"thinking.type.enabled" is not supported/,
    thinks("claude-opus-4-6", { type: "enabled", budget_tokens: 1024 }),
  ],
  [
    "thinking with a budget of no size",
    { ...thinks("claude-haiku-4-5", { type: "enabled" }), ...messages(user(text("a"))) },
    /budget_tokens: Field required/,
    {
      ...thinks("claude-haiku-4-5", { type: "enabled", budget_tokens: 1024 }),
      ...messages(user(text("a"))),
    },
  ],
  [
    "thinking by itself on a model of before",
    thinks("claude-haiku-4-5", ADAPTIVE),
    /adaptive thinking is not supported/,
    thinks("claude-sonnet-4-6", ADAPTIVE),
  ],
  [
    "a budget for a model that thinks by itself",
    thinks("claude-sonnet-5-5", { ...ADAPTIVE, budget_tokens: 1024 }),
    /adaptive.budget_tokens/,
    thinks("claude-sonnet-5-5", ADAPTIVE),
  ],
  ...["claude-fable-5-2", "claude-opus-5-5", "claude-sonnet-5-5"].map((model) =>
    [
      `thinking off on ${model}`,
      thinks(model, { type: "disabled" }),
      /"thinking.type.disabled" is not supported/,
      thinks("claude-haiku-5-5", { type: "disabled" }),
    ] as const
  ),
  [
    "thinking off with a strong effort",
    thinks("claude-haiku-5-5", { type: "disabled" }, "xhigh"),
    /not supported with the effort xhigh/,
    thinks("claude-haiku-5-5", { type: "disabled" }, "high"),
  ],
  [
    "thinking between tools elsewhere",
    thinks("claude-opus-5", { type: "between_tools" }),
    /between_tools" is not supported/,
    thinks("claude-sonnet-5-5", { type: "between_tools" }),
  ],
  [
    "thinking between tools with a strong effort",
    thinks("claude-sonnet-5-5", { type: "between_tools" }, "max"),
    /not supported with the effort max/,
    thinks("claude-sonnet-5-5", { type: "between_tools" }, "high"),
  ],
  [
    "thinking between tools with a display",
    thinks("claude-sonnet-5-5", { type: "between_tools", display: "summarized" }),
    /thinking.display/,
    thinks("claude-sonnet-5-5", { ...ADAPTIVE, display: "summarized" }),
  ],
  [
    "a display of thinking that is off",
    thinks("claude-opus-5", { type: "disabled", display: "omitted" }),
    /thinking.display/,
    thinks("claude-opus-5", { type: "disabled" }),
  ],
  [
    "a display that nobody knows",
    thinks("claude-opus-5", { ...ADAPTIVE, display: "all" }),
    /thinking.display: Input/,
    thinks("claude-opus-5", { ...ADAPTIVE, display: "updates" }),
  ],
  [
    "a kind of thinking that nobody knows",
    thinks("claude-opus-5", { type: "deep" }),
    /thinking.type/,
    thinks("claude-opus-5", ADAPTIVE),
  ],
  [
    "a member of thinking that nobody knows",
    thinks("claude-opus-5", { ...ADAPTIVE, depth: 1 }),
    /thinking.depth: Extra inputs/,
    thinks("claude-opus-5", ADAPTIVE),
  ],
  [
    "a word about binding without its beta",
    thinks("claude-opus-5-5", { ...ADAPTIVE, block_binding: { prefix_mismatch_behavior: "error" } }),
    /block_binding: Extra inputs/,
    thinks("claude-opus-5-5", ADAPTIVE),
  ],
  [
    "a call that is forced",
    on("claude-sonnet-5-5", { tool_choice: { type: "any" } }),
    /"any" are not supported/,
    on("claude-haiku-5-5", { tool_choice: { type: "any" } }),
  ],
  [
    "a call that is forced while thinking with a budget",
    {
      ...thinks("claude-haiku-4-5", { type: "enabled", budget_tokens: 1024 }),
      tool_choice: { type: "tool" },
    },
    /are not supported/,
    on("claude-haiku-4-5", { tool_choice: { type: "tool" } }),
  ],
  [
    "a choice among no tools",
    { tools: undefined, tool_choice: { type: "auto" } },
    /tool_choice/,
    { tool_choice: { type: "auto" } },
  ],
  ...["claude-sonnet-5-5", "claude-opus-4-7", "claude-haiku-5-5"].map((model) =>
    [
      `a temperature on ${model}`,
      on(model, { temperature: 0.5 }),
      /`temperature` is not supported/,
      on(model, { temperature: 1 }),
    ] as const
  ),
  ["a top_k", on("claude-opus-5", { top_k: 5 }), /`top_k`/, on("claude-sonnet-4-6", { top_k: 5 })],
  ["a top_p", on("claude-opus-5", { top_p: 0.5 }), /`top_p`/, on("claude-sonnet-4-6", { top_p: 0.5 })],
  [
    "a temperature while thinking",
    { ...thinks("claude-sonnet-4-6", ADAPTIVE), temperature: 0.5 },
    /while thinking/,
    on("claude-sonnet-4-6", { temperature: 0.5 }),
  ],
  ["a temperature above 1", on("claude-sonnet-4-6", { temperature: 1.5 }), /from 0 to 1/, {}],
  [
    "an effort on a model without",
    on("claude-haiku-4-5", { output_config: { effort: "low" } }),
    /does not support the effort/,
    on("claude-opus-4-5", { output_config: { effort: "low" } }),
  ],
  [
    "an effort that a model does not have",
    on("claude-sonnet-4-6", { output_config: { effort: "xhigh" } }),
    /xhigh is not supported/,
    on("claude-opus-4-8", { output_config: { effort: "xhigh" } }),
  ],
  [
    "the strongest effort on Opus 4.5",
    on("claude-opus-4-5", { output_config: { effort: "max" } }),
    /max is not supported/,
    on("claude-sonnet-4-6", { output_config: { effort: "max" } }),
  ],
  [
    "an effort that nobody knows",
    on("claude-opus-5", { output_config: { effort: "minimal" } }),
    /output_config.effort: Input/,
    on("claude-opus-5", { output_config: { effort: "low" } }),
  ],
  [
    "a longer reply than there can be",
    on("claude-haiku-4-5", { max_tokens: 64_001 }),
    /max_tokens: 64001 > 64000/,
    on("claude-opus-5", { max_tokens: 128_000 }),
  ],
  [
    "a loop with a budget that does not begin with thinking",
    { ...thinks("claude-haiku-4-5", { type: "enabled", budget_tokens: 1024 }), ...messages(...LOOP) },
    /must start with a thinking block/,
    on("claude-haiku-4-5", messages(...LOOP)),
  ],
  [
    "a member that nobody knows",
    { sampling: 1 },
    /sampling: Extra inputs/,
    { metadata: {} },
  ],
  [
    "a tool without a schema",
    { tools: [{ name: "bash" }] },
    /input_schema: Field required/,
    {},
  ],
  [
    "two tools of one name",
    { tools: [...GOOD.tools, ...GOOD.tools] },
    /must be unique/,
    { tools: [...GOOD.tools, { name: "read", input_schema: {} }] },
  ],
  [
    "a block that nobody knows",
    messages(user({ type: "sound" })),
    /Input tag 'sound'/,
    messages(user(text("a"))),
  ],
  [
    "a call of the person's",
    messages(user(text("a"), CALL)),
    /`tool_use` blocks are not permitted in user/,
    messages(user(text("a"))),
  ],
  [
    "thinking of the person's",
    messages(user(text("a"), { type: "thinking", thinking: "x", signature: "s" })),
    /not permitted in user/,
    messages(user(text("a"))),
  ],
  [
    "a picture of the model's",
    messages(user(text("a")), assistant(image("image/png", PNG)), user(text("b"))),
    /not permitted in assistant/,
    messages(user(image("image/png", PNG))),
  ],
  [
    "thinking without its text",
    messages(user(text("a")), assistant({ type: "thinking", signature: "s" }), user(text("b"))),
    /thinking: Field required/,
    messages(user(text("a")), assistant({ type: "thinking", thinking: "", signature: "s" }), user(text("b"))),
  ],
  [
    "redacted thinking without its data",
    messages(user(text("a")), assistant({ type: "redacted_thinking", data: "" }), user(text("b"))),
    /data: Field required/,
    messages(user(text("a")), assistant({ type: "redacted_thinking", data: "x" }), user(text("b"))),
  ],
  [
    "a result behind other words",
    messages(user(text("a")), assistant(CALL), user(text("so"), RESULT)),
    /must come before other content/,
    messages(user(text("a")), assistant(CALL), user(RESULT, text("so"))),
  ],
  [
    "five marks for the cache",
    { system: [marked(), marked(), marked(), marked(), marked()] },
    /maximum of 4/,
    { system: [marked(), marked(), marked(), marked()] },
  ],
  [
    "a mark for an hour behind one for five minutes",
    { system: [marked(), marked("1h")] },
    /must not come after/,
    { system: [marked("1h"), marked()] },
  ],
  [
    "a mark for a time that there is not",
    { system: [marked("1d")] },
    /for 5m or 1h/,
    { system: [marked("1h")] },
  ],
];

for (const [what, bad, says, good] of PAIRS) {
  Deno.test(`the replay server refuses ${what}, and takes the same without that`, () => {
    assert.match(refused(bad), says);
    assert.equal(refused(good), "");
  });
}

Deno.test("a word about binding is taken with its beta, by every kind of thinking but those that refuse it", () => {
  const asked = (model: string, type: string, behavior: string) => {
    const thinking = { type, block_binding: { prefix_mismatch_behavior: behavior } };
    const body = { ...GOOD, model, thinking };
    return refusals(JSON.stringify(body), body, { betas: new Set([BETA]) }).join();
  };
  assert.equal(asked("claude-opus-5-5", "adaptive", "drop_block"), "");
  assert.equal(asked("claude-opus-5-5", "adaptive", "error"), "");
  assert.match(asked("claude-opus-5-5", "adaptive", "keep"), /'error' or 'drop_block'/);
  assert.match(asked("claude-sonnet-5-5", "between_tools", "error"), /Extra inputs/);
  assert.match(asked("claude-haiku-5-5", "disabled", "error"), /block_binding/);
});

Deno.test("over the wire a model that is gone, a beta that nobody knows and a missing version are refused", async () => {
  await using replay = await startReplay({ replies: [{ reply: [{ text: "Hi" }] }] });
  const ask = async (
    change: object,
    headers: Readonly<Record<string, string>> = { "anthropic-version": "2023-06-01" },
  ) => {
    const body = JSON.stringify({ ...GOOD, ...change });
    const answer = await fetch(`${replay.url}/v1/messages`, { method: "POST", headers, body });
    return `${answer.status} ${await answer.text()}`;
  };
  assert.match(await ask({ model: "claude-3-haiku-20240307" }), /^404 .*not_found_error/);
  assert.match(await ask({}, {}), /^400 .*anthropic-version/);
  assert.match(
    await ask({}, { "anthropic-version": "2023-06-01", "anthropic-beta": "dreams-2027-01-01" }),
    /^400 .*Unexpected value.*dreams/,
  );
  assert.match(await ask({}), /^200 /);
});

Deno.test("an older model that does not think goes on from the beginning of its own reply", () => {
  const prefilled = { ...messages(user(text("hi")), assistant(text("Well"))), model: "claude-haiku-4-5" };
  assert.equal(refused(prefilled), "");
});

Deno.test("a body nested deeper than readers of JSON take is refused", () => {
  const input = JSON.parse('{"a":'.repeat(130) + "1" + "}".repeat(130));
  assert.match(
    refused(messages(user(text("a")), assistant({ ...CALL, input }), user(RESULT))),
    /nested too deeply/,
  );
});

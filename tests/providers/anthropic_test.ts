import assert from "node:assert/strict";
import { DEFAULT_SETTINGS, type Settings } from "../../config/settings.generated.ts";
import { parse } from "../../parser/mod.ts";
import { evaluateChat } from "../../prompt/evaluate.ts";
import { anthropic } from "../../providers/anthropic/provider.ts";
import { getProvider } from "../../providers/registry.ts";
import type { OfferedTool } from "../../providers/types.ts";
import { findModel, pricesAt } from "../../providers/models/find.ts";
import { costOf, NO_USAGE } from "../../providers/models/usage.ts";
import { toolName, WireIds } from "../../providers/request/wire.ts";

interface Built {
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly warnings: readonly string[];
}

async function build(
  document: string,
  settings: Settings = DEFAULT_SETTINGS,
  tools: readonly OfferedTool[] = [],
): Promise<Built> {
  const chat = parse(new TextEncoder().encode(document));
  const prompt = await evaluateChat(chat, {
    document: null,
    environment: { cwd: "/", home: "/", variables: {} },
  });
  const { request, warnings } = anthropic.buildRequest({
    prompt,
    tools,
    settings,
    cacheKey: null,
    key: "k",
    baseUrl: "http://x",
    day: "2026-11-28",
  });
  return { body: JSON.parse(request.body), text: request.body, warnings };
}

function settingsWith(model: string | null, parameters: Readonly<Record<string, unknown>>): Settings {
  return {
    ...DEFAULT_SETTINGS,
    model,
    parameters: { ...DEFAULT_SETTINGS.parameters, ...parameters } as Settings["parameters"],
  };
}

const thinking = (level: unknown) => ({ thinking: { level, foreign: "preserve" } });

Deno.test("for each model, thinking and effort are sent as the table of models defines", async () => {
  const off = [undefined, undefined] as const;
  const rows: readonly (readonly [string, unknown, unknown, unknown])[] = [
    ["claude-opus-4-7", "minimal", undefined, "low"],
    ["claude-opus-4-6", "max", undefined, "max"],
    ["claude-sonnet-4-6", "max", undefined, "max"],
    ["claude-sonnet-4-6", 5000, undefined, "medium"],
    ["claude-opus-4-5", "medium", 8192, "medium"],
    ["claude-opus-4-5", "max", 16384, "high"],
    ["claude-sonnet-4-5", "minimal", 1024, undefined],
    ["claude-sonnet-4-5", "max", 16384, undefined],
    ["claude-haiku-4-5", 5000.9, 5000, undefined],
    ["claude-haiku-4-5", 10, 1024, undefined],
    ["claude-haiku-4-5", false, ...off],
    ["claude-opus-4-7", 0, ...off],
    ["claude-3-haiku-20240307", "high", ...off],
  ];
  for (const [model, level, budget, effort] of rows) {
    const { body } = await build("@You:\nhi\n", settingsWith(model, thinking(level)));
    const sent = body.thinking as { budget_tokens?: number } | undefined;
    assert.equal(sent?.budget_tokens, budget, `${model} ${level}`);
    assert.equal(
      (body.output_config as { effort?: string } | undefined)?.effort,
      effort,
      `${model} ${level}`,
    );
  }
});

Deno.test("a thinking budget leaves 1,024 tokens for the reply, and is omitted if there is no room; the settings of the provider itself take precedence", async () => {
  const low = await build("@You:\nhi\n", settingsWith("claude-sonnet-4-5", { max_tokens: 2048 }));
  assert.deepEqual(low.body.thinking, { type: "enabled", budget_tokens: 1024 });
  assert.match(low.warnings.join(), /budget of \d+ is lowered to 1024/);
  const none = await build("@You:\nhi\n", settingsWith("claude-sonnet-4-5", { max_tokens: 2047 }));
  assert.equal(none.body.thinking, undefined);
  assert.match(none.warnings.join(), /max_tokens of at least 2048 to think/);
  const own = settingsWith("claude-sonnet-4-5", {
    anthropic: { thinking_budget: 3000.5, max_tokens: 9000 },
  });
  const table = await build("@You:\nhi\n", own);
  assert.deepEqual(table.body.thinking, { type: "enabled", budget_tokens: 3000 });
  assert.equal(table.body.max_tokens, 9000);
  const offBudget = await build(
    "@You:\nhi\n",
    settingsWith("claude-sonnet-4-5", {
      temperature: 0.1,
      anthropic: { thinking_budget: -1, temperature: 0.7 },
    }),
  );
  assert.equal(offBudget.body.thinking, undefined);
  assert.equal(offBudget.body.temperature, 0.7);
  const effort = settingsWith("claude-opus-4-7", { ...thinking(false), anthropic: { effort: "xhigh" } });
  assert.deepEqual((await build("@You:\nhi\n", effort)).body.output_config, { effort: "xhigh" });
});

Deno.test("max_tokens in percent never exceeds the model's limit, and the person gets a warning if flemma changes the number", async () => {
  const cases = [
    ["claude-sonnet-4-6", "50%", 64_000, 0],
    ["claude-3-haiku-20240307", "50%", 2048, 1],
    ["claude-sonnet-4-6", "1%", 1280, 0],
    ["claude-haiku-4-5", "1%", 1024, 1],
    ["claude-opus-4-1", 99999, 32000, 2],
    ["claude-sonnet-4-6", "half", 16_000, 1],
    ["claude-sonnet-4-6", "120%", 128_000, 1],
    ["claude-sonnet-4-6", "100%", 128_000, 0],
  ] as const;
  for (const [model, given, tokens, warnings] of cases) {
    const built = await build("@You:\nhi\n", settingsWith(model, { max_tokens: given }));
    assert.equal(built.body.max_tokens, tokens);
    assert.equal(built.warnings.length, warnings);
  }
  const unknown = await build("@You:\nhi\n", settingsWith("claude-next", {}));
  assert.equal(unknown.body.max_tokens, 16_000);
  assert.equal(unknown.body.model, "claude-next");
  const hot = await build("@You:\nhi\n", settingsWith("claude-sonnet-4-6", { temperature: 0.2 }));
  assert.match(hot.warnings[0] ?? "", /not accept a temperature while it thinks; 0\.2 is ignored/);
  assert.equal(hot.body.temperature, undefined);
});

Deno.test("a new Claude model gets adaptive thinking; an unknown model gets no setting that it could refuse", async () => {
  const rows = [
    ["claude-opus-9", "high", "adaptive", "high"],
    ["claude-opus-9", "minimal", "adaptive", "low"],
    ["claude-opus-9", "max", "adaptive", "max"],
    ["claude-opus-9", 5000, "adaptive", "medium"],
    ["claude-opus-9", false, "adaptive", "low"],
    ["gateway/llama", "high", undefined, undefined],
  ] as const;
  for (const [model, level, type, effort] of rows) {
    const { body } = await build("@You:\nhi\n", settingsWith(model, thinking(level)));
    assert.equal((body.thinking as { type?: string } | undefined)?.type, type, `${model} ${level}`);
    assert.equal(
      (body.output_config as { effort?: string } | undefined)?.effort,
      effort,
      `${model} ${level}`,
    );
  }
});

Deno.test("if thinking is disabled, the request turns it off in the model's own way, or asks for the minimum", async () => {
  const rows = [
    ["claude-sonnet-5-5", { type: "between_tools" }, undefined, 0],
    ["claude-haiku-5-5", { type: "disabled" }, undefined, 0],
    ["claude-opus-5", { type: "disabled" }, undefined, 0],
    ["claude-opus-4-8", undefined, undefined, 0],
    ["claude-opus-5-5", { type: "adaptive", display: "summarized" }, "low", 1],
    ["claude-fable-5-2", { type: "adaptive", display: "summarized" }, "low", 1],
  ] as const;
  for (const [model, sent, effort, warnings] of rows) {
    const built = await build("@You:\nhi\n", settingsWith(model, thinking(false)));
    assert.deepEqual(built.body.thinking, sent, model);
    assert.equal((built.body.output_config as { effort?: string } | undefined)?.effort, effort, model);
    assert.equal(built.warnings.length, warnings, model);
  }
});

Deno.test("if a model lacks an effort, the strongest lower effort is sent, and the person gets a message", async () => {
  const rows = [
    ["claude-sonnet-4-6", "xhigh", "high", 1],
    ["claude-sonnet-5-5", "xhigh", "xhigh", 0],
    ["claude-opus-9", "xhigh", "xhigh", 1],
    ["claude-opus-4-5", "max", "high", 1],
    ["claude-haiku-4-5", "low", undefined, 1],
  ] as const;
  for (const [model, effort, sent, warnings] of rows) {
    const built = await build("@You:\nhi\n", settingsWith(model, { anthropic: { effort } }));
    assert.equal((built.body.output_config as { effort?: string } | undefined)?.effort, sent, model);
    assert.equal(built.warnings.length, warnings, `${model} ${built.warnings}`);
  }
});

Deno.test("a temperature is sent only to a model that accepts it, and never if it is 1, the default", async () => {
  const rows = [
    ["claude-sonnet-5-5", 0.5, "high", undefined, 1],
    ["claude-sonnet-5-5", 1, "high", undefined, 0],
    ["claude-haiku-5-5", 0.5, false, undefined, 1],
    ["claude-sonnet-4-6", 0.5, false, 0.5, 0],
    ["claude-sonnet-4-6", 0.5, "high", undefined, 1],
    ["claude-opus-9", 0.5, "high", undefined, 2],
    ["gateway/llama", 0.5, "high", 0.5, 1],
  ] as const;
  for (const [model, temperature, level, sent, warnings] of rows) {
    const built = await build("@You:\nhi\n", settingsWith(model, { ...thinking(level), temperature }));
    assert.equal(built.body.temperature, sent, `${model} ${level}`);
    assert.equal(built.warnings.length, warnings, `${model} ${level} ${built.warnings}`);
  }
});

const USE = (id: string) =>
  `**Tool Use:** \`bash\` (\`${id}\`)\n\n\`\`\`json\n{ "b": 1.0,  "a": 12345678901234567890 }\n\`\`\`\n`;
const RESULT = (id: string) => `**Tool Result:** \`${id}\`\n\n\`\`\`\nout\n\`\`\`\n`;

interface Message {
  readonly role: string;
  readonly content: readonly Readonly<Record<string, unknown>>[];
}

/** Calls and results in the order they are sent, with their ids. */
function exchanges(built: Built): string[] {
  return (built.body.messages as readonly Message[]).flatMap(({ content }) => content).flatMap((block) =>
    block.type === "tool_use"
      ? [`use ${block.id}`]
      : block.type === "tool_result"
      ? [`result ${block.tool_use_id} ${block.content}`]
      : []
  );
}

function shape(built: Built): string[] {
  return (built.body.messages as readonly Message[]).map(({ role, content }) =>
    `${role}: ${
      content.map((block) => block.text ?? block.thinking ?? block.tool_use_id ?? block.id ?? block.data)
        .join(", ")
    }`
  );
}

Deno.test("for a call without a result, a result that says so is sent at the start of the following user turn", async () => {
  const built = await build(
    `@You:\ngo\n@Assistant:\n${USE("a")}\n${USE("b")}\n@You:\n${RESULT("b")}\nand then\n@Assistant:\nok\n`,
  );
  assert.deepEqual(shape(built), ["user: go", "assistant: a, b", "user: b, a, \nand then", "assistant: ok"]);
  const last = await build(`@Assistant:\n${USE("a")}`);
  assert.deepEqual(shape(last), ["assistant: a", "user: a"]);
  const between = await build(`@Assistant:\n${USE("a")}\n@Assistant:\nmore\n`);
  assert.deepEqual(shape(between), ["assistant: a", "user: a", "assistant: more"]);
});

Deno.test("if calls in two turns have the same id, they are sent with unique ids, each with its own result", async () => {
  const result = (text: string) => RESULT("call_0").replace("out", text);
  const built = await build(
    `@You:\ngo\n@Assistant:\n${USE("call_0")}\n@You:\n${result("one")}\n@Assistant:\n${
      USE("call_0")
    }\n@You:\n${result("two")}`,
  );
  assert.deepEqual(exchanges(built), [
    "use call_0",
    "result call_0 one",
    "use call_0_2",
    "result call_0_2 two",
  ]);
  const reused = await build(
    `@You:\ngo\n@Assistant:\n${USE("call_0")}\n@You:\n${result("one")}\n@Assistant:\n${USE("call_0")}`,
  );
  assert.deepEqual(exchanges(reused), [
    "use call_0",
    "result call_0 one",
    "use call_0_2",
    "result call_0_2 No result provided",
  ]);
  assert.match(reused.warnings.join("\n"), /call_0 .*sent without a result/);
  const twins = await build(
    `@You:\ngo\n@Assistant:\n${USE("x")}\n${USE("x")}\n@You:\n${RESULT("x").replace("out", "1")}\n${
      RESULT("x").replace("out", "2")
    }`,
  );
  assert.deepEqual(exchanges(twins), ["use x", "use x_2", "result x 1", "result x_2 2"]);
});

Deno.test("if two calls in one message have the same id, one result is assigned to the last call, and two results are assigned in order", async () => {
  const calls = `@You:\nhi\n\n@Assistant:\n\n${USE("x")}\n${USE("x")}\n@You:\n\n`;
  const one = await build(`${calls}${RESULT("x")}`);
  const blocks = (built: Built) => (built.body.messages as readonly Message[]).at(-1)!.content;
  assert.deepEqual(
    blocks(one).map(({ tool_use_id, content }) => [tool_use_id, content]),
    [["x_2", "out"], ["x", "No result provided"]],
  );
  assert.match(one.warnings.join(), /has the id of another call/);
  const two = await build(`${calls}${RESULT("x")}\n${RESULT("x").replace("out", "second")}`);
  assert.deepEqual(
    blocks(two).map(({ tool_use_id, content }) => [tool_use_id, content]),
    [["x", "out"], ["x_2", "second"]],
  );
});

Deno.test("if a call has two results, only the last is sent, and a result far from its call is moved to where the API accepts it", async () => {
  const twice = await build(
    `@You:\ngo\n@Assistant:\n${USE("a")}\n@You:\n${RESULT("a")}\n${RESULT("a").replace("out", "later")}`,
  );
  assert.deepEqual(exchanges(twice), ["use a", "result a later"]);
  const late = await build(
    `@You:\ngo\n@Assistant:\n${USE("a")}\n@You:\nwait\n@Assistant:\nfine\n@You:\n${RESULT("a")}\nnow\n`,
  );
  assert.deepEqual(
    shape(late),
    [
      "user: go",
      "assistant: a",
      "user: a, wait\n",
      "assistant: fine",
      "user: \nnow\n",
    ].map((line) => line.replace(/\n$/, "")),
  );
  const early = await build(`@You:\n${RESULT("a")}\ngo\n@Assistant:\n${USE("a")}`);
  assert.deepEqual(shape(early), ["user: \ngo", "assistant: a", "user: a"]);
});

Deno.test("an empty error result, which the API refuses, is sent with a sentence; an empty successful result is sent unchanged", async () => {
  const emptied = (suffix: string) => `**Tool Result:** \`a\`${suffix}\n\n\`\`\`\n\`\`\`\n`;
  const failed = await build(`@You:\ngo\n@Assistant:\n${USE("a")}\n@You:\n${emptied(" (error)")}`);
  assert.deepEqual(exchanges(failed), ["use a", "result a The call failed without an error message."]);
  const silent = await build(`@You:\ngo\n@Assistant:\n${USE("a")}\n@You:\n${emptied("")}`);
  assert.deepEqual(exchanges(silent), ["use a", "result a "]);
});

Deno.test("a result without a call is omitted, and a call's input is sent exactly as the model wrote it", async () => {
  const built = await build(`@You:\n${RESULT("ghost")}\nhi\n@Assistant:\n${USE("a")}\n@You:\n${RESULT("a")}`);
  assert.ok(!built.text.includes("ghost"));
  assert.ok(built.text.includes('"input":{"b":1.0,"a":12345678901234567890}'));
});

Deno.test("thinking is sent in document order; in the older layout, where it follows the other content, it is moved to the front", async () => {
  const T = (word: string) => `<thinking anthropic:signature="s">\n${word}\n</thinking>\n`;
  const foreign = "<thinking>\nelse\n</thinking>\n";
  const first = await build(
    `@You:\nq\n@Assistant:\n${T("one")}\nFirst.\n\n${T("two")}\n${USE("a")}\n${foreign}`,
  );
  assert.equal(shape(first)[1], "assistant: one, <thinking>\nelse\n</thinking>, First., two, a");
  const last = await build(
    `@You:\nq\n@Assistant:\nFirst.\n\n${USE("a")}\nAfter.\n${
      T("one")
    }\n<thinking redacted>\nR\n</thinking>\n`,
  );
  assert.equal(shape(last)[1], "assistant: one, R, First., After., a");
  const dropped = settingsWith(null, { thinking: { level: "high", foreign: "drop" } });
  assert.equal(shape(await build(`@You:\nq\n@Assistant:\n${foreign}hi\n`, dropped))[1], "assistant: hi");
});

Deno.test("text before thinking stays before it, even if a call follows in the same reply", async () => {
  const T = '<thinking anthropic:signature="s">\nnote\n</thinking>\n';
  const built = await build(`@You:\nq\n@Assistant:\nLook.\n\n${T}\n${USE("a")}\n@You:\n${RESULT("a")}`);
  assert.equal(shape(built)[1], "assistant: Look., note, a");
  const between = await build(`@You:\nq\n@Assistant:\n${USE("a")}\n${T}\n${USE("b")}\n${T}`);
  assert.equal(shape(between)[1], "assistant: a, note, b, note");
});

Deno.test("if a series of tool calls does not begin with thinking, the request to a model with a thinking budget turns thinking off", async () => {
  const signed = '<thinking anthropic:signature="s">\nplan\n</thinking>\n\n';
  const redacted = "<thinking redacted>\nR\n</thinking>\n\n";
  const loop = (before: string, after = "") =>
    `@You:\ngo\n@Assistant:\n${before}${USE("a")}\n@You:\n${RESULT("a")}${after}`;
  const rows = [
    ["claude-haiku-4-5", loop(""), false],
    ["claude-opus-4-5", loop("", "and then\n"), false],
    ["claude-haiku-4-5", loop("Look.\n\n"), false],
    ["claude-haiku-4-5", loop(signed), true],
    ["claude-haiku-4-5", loop(redacted), true],
    ["claude-haiku-4-5", `${loop("")}\n@Assistant:\nok\n@You:\nmore\n`, true],
    ["claude-haiku-4-5", "@You:\nq\n@Assistant:\nok\n@You:\nmore\n", true],
    ["claude-sonnet-5-5", loop(""), true],
  ] as const;
  for (const [model, document, thinks] of rows) {
    const { body, warnings } = await build(document, settingsWith(model, {}));
    assert.equal(body.thinking !== undefined, thinks, `${model} ${document}`);
    assert.equal(warnings.some((words) => words.includes("continues without thinking")), !thinks);
  }
});

Deno.test("lines of an earlier reply that were escaped in the document are sent as the model wrote them", async () => {
  const built = await build("@You:\nq\n@Assistant:\n\\@You:\nx\n");
  assert.deepEqual(shape(built), ["user: q", "assistant: @You:\nx"]);
});

Deno.test("ids are made valid for the API and stay unique, even if shortening would make them equal", () => {
  const ids = new WireIds();
  const long = "x".repeat(64);
  assert.equal(ids.next("urn:a b_"), "urn_a_b");
  assert.equal(ids.next("urn_a_b"), "urn_a_b_2");
  assert.equal(ids.next("urn:a b_"), "urn_a_b_3");
  assert.notEqual(ids.next(`${long}1`), ids.next(`${long}2`));
  assert.match(ids.next("___"), /^[A-Za-z0-9_-]{1,64}$/);
});

Deno.test("a tool with two underscores in its own name is recognized by that name in a reply", () => {
  const tool = { name: "a__b", description: "", input_schema: {} };
  assert.equal(toolName("a__b", [tool]), "a__b");
  assert.equal(toolName("slack__list", [tool]), "slack:list");
});

Deno.test("a call with an invalid name, for example one that a model invented, does not make the request invalid", async () => {
  const odd = USE("a").replace("`bash`", "`functions.bash é😀`");
  const built = await build(`@You:\ngo\n@Assistant:\n${odd}\n@You:\n${RESULT("a")}`);
  assert.ok(built.text.includes('"name":"functions__bash___"'));
  assert.equal(toolName("my_tool", [{ name: "my tool", description: "", input_schema: {} }]), "my tool");
});

Deno.test("the description of a tool in the request includes the form of its output", async () => {
  const tool = {
    name: "t",
    description: "Does.",
    input_schema: { type: "object" },
    output_schema: { type: "string" },
  };
  const { body } = await build("@You:\nhi\n", DEFAULT_SETTINGS, [tool]);
  const [sent] = body.tools as readonly { description: string }[];
  assert.equal(
    sent!.description,
    'Does.\n\nReturns (JSON Schema): {"$schema":"https://json-schema.org/draft/2020-12/schema","type":"string"}',
  );
});

Deno.test("a different order of tools or of the keys in their schemas does not change a byte of the request", async () => {
  const a = { name: "a", description: "A", input_schema: { type: "object", properties: { x: {}, y: {} } } };
  const b = { name: "b", description: "B", input_schema: { type: "object" } };
  const turned = {
    name: "a",
    input_schema: { properties: { y: {}, x: {} }, type: "object" },
    description: "A",
  };
  const document = `@System:\ns\n@You:\ngo\n@Assistant:\n${USE("c")}\n@You:\n${RESULT("c")}`;
  const one = await build(document, DEFAULT_SETTINGS, [a, b]);
  const other = await build(document, DEFAULT_SETTINGS, [b, turned]);
  assert.equal(one.text, other.text);
  const longer = await build(`${document}\n@Assistant:\nok\n@You:\nmore\n`, DEFAULT_SETTINGS, [a, b]);
  const prefix = one.text.slice(0, -"]}".length);
  assert.equal(longer.text.slice(0, prefix.length), prefix);
});

Deno.test("if the provider refuses the signature of thinking, the message says how to repair the document", () => {
  const message = "messages.1.content.0: Invalid `signature` in `thinking` block";
  const error = anthropic.readError(
    { type: "error", error: { type: "invalid_request_error", message } },
    null,
    400,
  );
  assert.equal(error.message, `invalid_request_error — ${message}`);
  assert.match(error.next ?? "", /Remove the signature from the opening tag/);
});

Deno.test("thinking without its signature is sent as text, to every model", async () => {
  const block = (tag: string) => `@You:\nq\n@Assistant:\n${tag}\nedited\n</thinking>\nhi\n`;
  const signed = await build(
    block('<thinking anthropic:signature="s">'),
    settingsWith("claude-opus-4-7", {}),
  );
  assert.ok(signed.text.includes('{"signature":"s","thinking":"edited","type":"thinking"}'));
  const bare = await build(block("<thinking>"));
  assert.deepEqual(shape(bare), ["user: q", "assistant: <thinking>\nedited\n</thinking>, hi"]);
});

Deno.test("tokens written to the one-hour cache cost twice the input price", () => {
  const prices = pricesAt(findModel("anthropic", "claude-sonnet-4-6")!, "2026-11-28", 1000)!;
  const usage = { ...NO_USAGE, cache_write: 1_000_000 };
  assert.equal(costOf(usage, prices, { outputIncludesThoughts: true })?.total, 3.75);
  assert.equal(costOf(usage, prices, { outputIncludesThoughts: true, retention: "long" })?.total, 6);
});

Deno.test("an unknown provider is refused, and the nearest name is suggested", async () => {
  const answer = await getProvider("antropic");
  assert.ok(!answer.ok);
  assert.equal(answer.problem.next, "Did you mean anthropic?");
  assert.ok((await getProvider("anthropic")).ok);
});

Deno.test("for a block that is written only once it is complete, flemma reports how much has arrived", () => {
  const reader = anthropic.reader();
  const start = (index: number, content_block: unknown) => ({
    type: "content_block_start",
    index,
    content_block,
  });
  const delta = (index: number, delta: unknown) => ({ type: "content_block_delta", index, delta });
  const progress = (block: string, characters: number, more = {}) => [
    { kind: "progress", block, characters, ...more },
  ];
  const call = { type: "tool_use", id: "t", name: "bash", input: {} };
  assert.deepEqual(reader.event(start(0, { type: "thinking", thinking: "" })), progress("thinking", 0));
  const thought = { type: "thinking_delta", thinking: "Well." };
  assert.deepEqual(reader.event(delta(0, thought)), progress("thinking", 5));
  assert.deepEqual(reader.event(delta(0, thought)), progress("thinking", 10));
  assert.deepEqual(reader.event(start(1, call)), progress("call", 0, { name: "bash" }));
  const piece = { type: "input_json_delta", partial_json: '{"a":' };
  assert.deepEqual(reader.event(delta(1, piece)), progress("call", 5, { name: "bash" }));
});

Deno.test("a request of several rounds is billed for all rounds, and thinking tokens are counted", () => {
  const used = (usage: Record<string, unknown>) => {
    const reader = anthropic.reader();
    const effects = reader.event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage });
    return effects.flatMap((effect) => effect.kind === "usage" ? [effect.usage] : []);
  };
  const rounds = [
    { type: "compaction", input_tokens: 100, output_tokens: 20, cache_read_input_tokens: 5 },
    { type: "fallback_message", input_tokens: 10, output_tokens: 3, cache_creation_input_tokens: 7 },
    "of another kind",
    { type: "message", input_tokens: 1, output_tokens: null },
  ];
  const sum = { input: 111, output: 23, cache_read: 5, cache_write: 7 };
  assert.deepEqual(used({ output_tokens: 3, iterations: rounds }), [sum]);
  assert.deepEqual(used({ output_tokens: 3, iterations: [] }), [{ output: 3 }]);
  assert.deepEqual(used({ output_tokens: 3, iterations: null }), [{ output: 3 }]);
  const thought = { output_tokens: 3, output_tokens_details: { thinking_tokens: 2 } };
  assert.deepEqual(used(thought), [{ output: 3, thoughts: 2 }]);
  assert.deepEqual(used({}), []);
});

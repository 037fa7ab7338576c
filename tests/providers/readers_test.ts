// Streams as many servers send them, event by event, and the result of each.

import assert from "node:assert/strict";
import { getProvider } from "../../providers/registry.ts";
import type { Effect } from "../../providers/types.ts";

/** An effect on one line; progress, notes and counts of tokens apart. */
function line(effect: Effect): string | null {
  switch (effect.kind) {
    case "text":
      return effect.text;
    case "thinking":
      return `<${effect.content}>${effect.signature?.value ? " signed" : ""}`;
    case "tool_use":
      return `${effect.name}(${effect.inputText}) ${effect.id}`;
    case "stop":
      return `${effect.outcome}: ${effect.reason}`;
    case "error":
      return `error: ${effect.error.message}`;
    case "notice":
      return `notice: ${effect.message}`;
    default:
      return null;
  }
}

const DONE = "[DONE]";
const LOST = "lost";

/** What the events come to; `LOST` stands for a line that could not be read. */
async function read(provider: string, events: readonly unknown[]): Promise<string[]> {
  const found = await getProvider(provider);
  assert.ok(found.ok);
  const reader = found.value.reader([{ name: "slack:list", description: "", input_schema: {} }]);
  return events.flatMap((event) => {
    if (event === LOST) {
      reader.damaged();
      return [];
    }
    return event === DONE ? reader.done?.() ?? [] : reader.event(event);
  }).map(line).filter((shown) => shown !== null);
}

const delta = (member: unknown, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: member, finish_reason }],
});
const calls = (...tool_calls: readonly unknown[]) => delta({ tool_calls });
const fn = (name: string | undefined, args: unknown) => ({ function: { name, arguments: args } });

const CHAT: Readonly<Record<string, readonly [events: readonly unknown[], lines: readonly string[]]>> = {
  "an end without a reason": [[delta({ content: "Hi" }), DONE], ["Hi", "normal: stop"]],
  "only an end": [[DONE], []],
  "an end with nothing after it": [[delta({ content: "Hi" }), delta({}, "stop")], ["Hi", "normal: stop"]],
  "two ends": [[delta({ content: "Hi" }, "stop"), delta({}, "stop"), DONE], ["Hi", "normal: stop"]],
  "an end with content": [[delta({ content: "Hi" }, "stop")], ["Hi", "normal: stop"]],
  "an end with a server-specific reason": [[delta({ content: "Hi" }, "eos")], ["Hi", "normal: eos"]],
  "an end with an unknown reason": [[delta({ content: "Hi" }, "abort")], ["Hi", "blocked: abort"]],
  "the limit": [[delta({ content: "Hi" }, "length")], ["Hi", "truncated: max_tokens"]],
  "a whole message instead of a delta": [
    [{ choices: [{ message: { content: "Hi" }, finish_reason: "stop" }] }],
    ["Hi", "normal: stop"],
  ],
  "a second choice": [
    [
      { choices: [{ index: 1, delta: { content: "No" } }, { index: 0, delta: { content: "Yes" } }] },
      delta({}, "stop"),
    ],
    ["Yes", "normal: stop"],
  ],
  "no choice at all": [[{ choices: [], prompt_filter_results: [] }, delta({ content: "Hi" }, "stop")], [
    "Hi",
    "normal: stop",
  ]],
  "content in parts": [
    [delta(
      { content: [{ type: "thinking", thinking: [{ text: "Hm" }] }, { type: "text", text: "Hi" }] },
      "stop",
    )],
    ["<Hm>", "Hi", "normal: stop"],
  ],
  "a refusal": [[delta({ refusal: "I will not." }), delta({}, "stop")], ["I will not.", "blocked: refusal"]],
  "reasoning, then text": [
    [delta({ reasoning_content: "a" }), delta({ reasoning_content: "b" }), delta({ content: "Hi" }, "stop")],
    ["<ab>", "Hi", "normal: stop"],
  ],
  "reasoning in two fields together": [
    [delta({ reasoning_content: "a", reasoning: "a" }), delta({ content: "Hi" }, "stop")],
    ["<a>", "Hi", "normal: stop"],
  ],
  "reasoning with details": [
    [
      delta({ reasoning_details: [{ type: "reasoning.summary", summary: "a", index: 0 }] }),
      delta({ content: "Hi" }, "stop"),
    ],
    ["<a> signed", "Hi", "normal: stop"],
  ],
  "reasoning details with a lost line": [
    [
      delta({ reasoning_details: [{ type: "reasoning.text", text: "a", index: 0 }] }),
      LOST,
      delta({ content: "Hi" }, "stop"),
    ],
    ["<a>", "Hi", "normal: stop"],
  ],
  "thinking tags, cut anywhere": [
    [
      delta({ content: "\n<th" }),
      delta({ content: "ink>a<" }),
      delta({ content: "b</thi" }),
      delta({ content: "nk>Hi" }, "stop"),
    ],
    ["<a<b>", "Hi", "normal: stop"],
  ],
  "a thinking tag that is never closed": [[delta({ content: "<think>a" }, "length")], [
    "<a>",
    "truncated: max_tokens",
  ]],
  "a thinking tag in the middle": [[delta({ content: "Hi <think>" }, "stop")], [
    "Hi <think>",
    "normal: stop",
  ]],
  "a beginning that only looks like the thinking tag": [
    [delta({ content: "<thi" }), delta({ content: "s>" }, "stop")],
    ["<this>", "normal: stop"],
  ],
  "half a thinking tag and the end": [[delta({ content: "<thi" }, "stop")], ["<thi", "normal: stop"]],
  "calls with numbers, in interleaved pieces": [
    [
      calls({ index: 1, id: "b", ...fn("ls", "") }),
      calls({ index: 0, id: "a", ...fn("slack__list", "{") }),
      calls({ index: 1, ...fn(undefined, "{}") }),
      calls({ index: 0, ...fn(undefined, "}") }),
      delta({}, "tool_calls"),
    ],
    ["slack:list({}) a", "ls({}) b", "normal: tool_calls"],
  ],
  "whole calls that all have the same number": [
    [
      calls({ index: 0, id: "a", ...fn("ls", "{}") }),
      calls({ index: 0, id: "b", ...fn("ls", "{}") }),
      delta({}, "stop"),
    ],
    ["ls({}) a", "ls({}) b", "normal: stop"],
  ],
  "whole calls with the same number and id": [
    [
      calls({ index: 0, id: "a", ...fn("ls", "{}") }),
      calls({ index: 0, id: "a", ...fn("ls", '{"x":1}') }),
      delta({}, "stop"),
    ],
    ["ls({}) a", 'ls({"x":1}) a', "normal: stop"],
  ],
  "calls without numbers and ids": [
    [calls(fn("ls", "{}"), fn("ls", '{"x":1}')), delta({}, "stop")],
    ["ls({}) call_1", 'ls({"x":1}) call_2', "normal: stop"],
  ],
  "a name and an id that are repeated with every piece": [
    [
      calls({ index: 0, id: "a", ...fn("ls", '{"x"') }),
      calls({ index: 0, id: "a", ...fn("ls", ":1}") }),
      delta({}, "stop"),
    ],
    ['ls({"x":1}) a', "normal: stop"],
  ],
  "an input that is an object": [[calls({ index: 0, id: "a", ...fn("ls", { x: 1 }) }), delta({}, "stop")], [
    'ls({"x":1}) a',
    "normal: stop",
  ]],
  "a call in the older format": [
    [
      delta({ function_call: { name: "ls", arguments: "" } }),
      delta({ function_call: { arguments: "{}" } }, "function_call"),
    ],
    ["ls({}) call_1", "normal: function_call"],
  ],
  "an input that is not an object": [
    [calls({ index: 0, id: "a", ...fn("ls", "[1]") }), delta({}, "stop")],
    ["error: The input of a call to ls was not a JSON object or was incomplete; the call was not written."],
  ],
  "a call with a lost line": [
    [
      calls({ index: 0, id: "a", ...fn("ls", '{"x":"a') }),
      LOST,
      calls({ index: 0, ...fn(undefined, 'b"}') }),
      delta({}, "stop"),
    ],
    ["error: The input of a call to ls was not a JSON object or was incomplete; the call was not written."],
  ],
  "a call without a name": [
    [calls({ index: 0, id: "a", ...fn(undefined, "{}") }), delta({}, "stop")],
    ["error: The input of a call to a tool whose name did not arrive was not a JSON object or was incomplete; the call was not written."],
  ],
  "the token limit after a whole call": [
    [calls({ index: 0, id: "a", ...fn("ls", "{}") }), delta({}, "length")],
    ["ls({}) a", "truncated: max_tokens"],
  ],
  "the token limit before an input": [
    [calls({ index: 0, id: "a", ...fn("ls", "") }), delta({}, "length")],
    ["error: The reply reached its token limit inside the input of a call to ls; the call was not written."],
  ],
  "calls of a withdrawn reply": [
    [calls({ index: 0, id: "a", ...fn("ls", "{}") }), delta({}, "content_filter")],
    ["blocked: content_filter"],
  ],
  "an error next to a choice": [
    [delta({ content: "Hi" }), {
      error: { code: 502, message: "gone" },
      choices: [{ delta: {}, finish_reason: "error" }],
    }],
    ["Hi", "error: gone"],
  ],
  "an error that is a string": [[{ error: "gone" }], ["error: gone"]],
  "an error of vLLM": [[{ object: "error", message: "gone", code: 400 }], ["error: gone"]],
  "an error of FastAPI": [[{ detail: [{ loc: ["body", "model"], msg: "missing" }] }], [
    "error: model: missing",
  ]],
  "a line that is not an object": [[[], 1, "x", null, delta({ content: "Hi" }, "stop")], [
    "Hi",
    "normal: stop",
  ]],
};

const item = (output_index: number, value: unknown) => ({
  type: "response.output_item.done",
  output_index,
  item: value,
});
const added = (output_index: number, value: unknown) => ({
  type: "response.output_item.added",
  output_index,
  item: value,
});
const stated = (text: string, output_index = 0) => ({
  type: "response.output_text.delta",
  output_index,
  content_index: 0,
  delta: text,
});
const message = (text: string) => ({ type: "message", content: [{ type: "output_text", text }] });
const call = (args: unknown, rest = {}) => ({
  type: "function_call",
  call_id: "a",
  name: "ls",
  arguments: args,
  ...rest,
});
const completed = (output?: readonly unknown[]) => ({ type: "response.completed", response: { output } });

const OPENAI: typeof CHAT = {
  "an item without deltas": [[item(0, message("Hi")), completed()], ["Hi", "normal: null"]],
  "an item that contains more than its deltas": [[stated("H"), item(0, message("Hi")), completed()], [
    "H",
    "i",
    "normal: null",
  ]],
  "a text with a lost delta": [
    [stated("H"), LOST, stated("t"), item(0, message("Hit")), completed()],
    [
      "H",
      "t",
      "normal: null",
    ],
  ],
  "items that arrive only with the end": [[completed([message("Hi"), call("{}")])], [
    "Hi",
    "ls({}) a",
    "normal: null",
  ]],
  "items that arrive twice": [[
    stated("Hi"),
    item(0, message("Hi")),
    item(1, call("{}")),
    completed([message("Hi"), call("{}")]),
  ], ["Hi", "ls({}) a", "normal: null"]],
  "a call with a lost end": [
    [added(0, call("")), completed()],
    ["error: The input of a call to ls was not a JSON object or was incomplete; the call was not written."],
  ],
  "a call with a lost end that the final event repeats": [[added(0, call("")), completed([call("{}")])], [
    "ls({}) a",
    "normal: null",
  ]],
  "a call that is marked as incomplete": [
    [item(0, call('{"x":1}', { status: "incomplete" })), {
      type: "response.incomplete",
      response: { incomplete_details: { reason: "max_output_tokens" } },
    }],
    ["error: The reply reached its token limit inside the input of a call to ls; the call was not written."],
  ],
  "a call without ids": [[item(0, call("{}", { call_id: undefined })), completed()], [
    "ls({}) call_1",
    "normal: null",
  ]],
  "a call with its item's id": [[item(0, call("{}", { call_id: undefined, id: "fc_1" })), completed()], [
    "ls({}) fc_1",
    "normal: null",
  ]],
  "a refusal": [[
    { type: "response.refusal.delta", output_index: 0, content_index: 0, delta: "No." },
    completed(),
  ], ["No.", "blocked: refusal"]],
  "a refusal that arrives as a whole": [[
    item(0, { type: "message", content: [{ type: "refusal", refusal: "No." }] }),
    completed(),
  ], ["No.", "blocked: refusal"]],
  "a filter": [
    [stated("Hi"), {
      type: "response.incomplete",
      response: { incomplete_details: { reason: "content_filter" } },
    }],
    ["Hi", "blocked: content_filter"],
  ],
  "two items of reasoning": [
    [
      item(0, {
        type: "reasoning",
        id: "r1",
        summary: [{ text: "a" }, { text: "b" }],
        encrypted_content: "x",
      }),
      item(1, { type: "reasoning", id: "r2", summary: [], content: [{ text: "c" }] }),
      completed(),
    ],
    ["<a\n\nb> signed", "<c> signed", "normal: null"],
  ],
  "items of new types": [
    [added(0, { type: "shell_call" }), item(0, { type: "shell_call" }), stated("Hi", 1), completed()],
    [
      'notice: The reply contains an item of the unknown type "shell_call", which is left out.',
      "Hi",
      "normal: null",
    ],
  ],
  "a failure without a message": [[{ type: "response.failed", response: {} }], ["error: Response failed"]],
  "an error with a body": [[{ type: "error", error: { message: "gone", code: "server_error" } }], [
    "error: gone",
  ]],
  "an error without a body": [[{ type: "error", code: "slow_down", message: "Slow" }], [
    "error: OpenAI stream error (code: slow_down): Slow",
  ]],
};

const parts = (given: readonly unknown[], finishReason?: string) => ({
  candidates: [{ content: { parts: given }, finishReason }],
});

const GEMINI: typeof CHAT = {
  "thoughts, then a text with a signature": [
    [parts([{ text: "a", thought: true }]), parts([{ text: "Hi", thoughtSignature: "cw==" }], "STOP")],
    ["<a> signed", "Hi", "normal: STOP"],
  ],
  "a signature in the middle of a text, which is not split": [
    [
      parts([{ text: "Hi " }]),
      parts([{ text: "you", thoughtSignature: "cw==" }]),
      parts([{ text: "." }], "STOP"),
    ],
    ["Hi ", "you", ".", "<> signed", "normal: STOP"],
  ],
  "a signature at the very end": [
    [parts([{ text: "Hi" }]), parts([{ text: "", thoughtSignature: "cw==" }], "STOP")],
    ["Hi", "<> signed", "normal: STOP"],
  ],
  "thoughts without a signature": [[parts([{ text: "a", thought: true }, { text: "Hi" }], "STOP")], [
    "<a>",
    "Hi",
    "normal: STOP",
  ]],
  "calls, of which only the first has a signature": [
    [parts([
      { text: "a", thought: true },
      { functionCall: { name: "ls", id: "1" }, thoughtSignature: "cw==" },
      { functionCall: { name: "ls", id: "2", args: { x: 1 } } },
    ], "STOP")],
    ["<a> signed", "ls({}) 1", 'ls({"x":1}) 2', "normal: STOP"],
  ],
  "only thoughts up to the token limit": [
    [parts([{ text: "a", thought: true }], "MAX_TOKENS")],
    [
      "<a>",
      "notice: The model used all its tokens for thinking and wrote nothing; raise the parameter max_tokens.",
      "truncated: max_tokens",
    ],
  ],
  "a blocked question": [[{ promptFeedback: { blockReason: "SAFETY" } }], ["blocked: SAFETY"]],
  "an error in a list": [[[{ error: { code: 503, message: "gone", status: "UNAVAILABLE" } }]], [
    "error: gone (Status: UNAVAILABLE)",
  ]],
  "a reply in a list": [[[parts([{ text: "Hi" }], "STOP")]], ["Hi", "normal: STOP"]],
  "a part of a new type": [
    [parts([{ executableCode: { code: "1" } }, { text: "Hi" }], "STOP")],
    [
      'notice: The reply contains a part of the unknown type "executableCode", which is left out.',
      "Hi",
      "normal: STOP",
    ],
  ],
};

for (const [provider, table] of [["openai_chat", CHAT], ["openai", OPENAI], ["gemini", GEMINI]] as const) {
  for (const [what, [events, lines]] of Object.entries(table)) {
    Deno.test(`the ${provider} reader reads a stream with ${what}`, async () =>
      assert.deepEqual(await read(provider, events), lines));
  }
}

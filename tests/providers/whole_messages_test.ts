// A whole message, as a batch brings it, means the same as the stream of the same message; what a stream lacks is dropped.

import assert from "node:assert/strict";
import { anthropic } from "../../providers/anthropic/provider.ts";
import { gemini } from "../../providers/google/provider.ts";
import { openai } from "../../providers/openai/provider.ts";
import { chatProvider } from "../../providers/chat_completions/openai_chat.ts";
import { KNOWN_PROVIDERS } from "../../providers/known.ts";
import type { Effect, Provider, Usage } from "../../providers/types.ts";
import { mergeUsage } from "../../providers/models/usage.ts";

const INPUT = { path: "a.txt", deep: { list: [1, 2.5, null] } };
const TEXT = "Two lines\nand `code`.";

interface Row {
  readonly provider: Provider;
  readonly stream: readonly object[];
  readonly whole: object;
}

const USAGE = { input_tokens: 10, cache_read_input_tokens: 4, cache_creation_input_tokens: 2 };

const ANTHROPIC = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-5-5",
};

const RESPONSE = {
  id: "resp_1",
  object: "response",
  model: "gpt-5.4",
  status: "completed",
  service_tier: "default",
  usage: { input_tokens: 16, output_tokens: 7, input_tokens_details: { cached_tokens: 4 } },
};

const ITEMS = [
  {
    type: "reasoning",
    id: "rs_1",
    summary: [{ type: "summary_text", text: "Hm." }],
    encrypted_content: "c2VjcmV0",
  },
  {
    type: "message",
    id: "msg_1",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: TEXT, annotations: [] }],
  },
  {
    type: "function_call",
    id: "fc_1",
    call_id: "call_1",
    name: "read",
    arguments: JSON.stringify(INPUT),
    status: "completed",
  },
];

const PARTS = [
  { text: "Hm.", thought: true },
  { text: TEXT },
  { functionCall: { name: "read", args: INPUT }, thoughtSignature: "c2ln" },
];

const GEMINI = { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 2 };

const CALL = { id: "call_1", type: "function", function: { name: "read", arguments: JSON.stringify(INPUT) } };

const ROWS: Readonly<Record<string, Row>> = {
  "Anthropic": {
    provider: anthropic,
    stream: [
      {
        type: "message_start",
        message: { ...ANTHROPIC, content: [], usage: { ...USAGE, output_tokens: 0 } },
      },
      {
        type: "content_block_start",
        index: 0,
        content_block: { type: "thinking", thinking: "", signature: "" },
      },
      { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Hm." } },
      { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "c2ln" } },
      { type: "content_block_stop", index: 0 },
      { type: "content_block_start", index: 1, content_block: { type: "redacted_thinking", data: "cmVk" } },
      { type: "content_block_stop", index: 1 },
      { type: "content_block_start", index: 2, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 2, delta: { type: "text_delta", text: TEXT.slice(0, 5) } },
      { type: "content_block_delta", index: 2, delta: { type: "text_delta", text: TEXT.slice(5) } },
      { type: "content_block_stop", index: 2 },
      {
        type: "content_block_start",
        index: 3,
        content_block: { type: "tool_use", id: "toolu_1", name: "read", input: {} },
      },
      {
        type: "content_block_delta",
        index: 3,
        delta: { type: "input_json_delta", partial_json: JSON.stringify(INPUT) },
      },
      { type: "content_block_stop", index: 3 },
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 7 } },
      { type: "message_stop" },
    ],
    whole: {
      ...ANTHROPIC,
      container: null,
      content: [
        { type: "thinking", thinking: "Hm.", signature: "c2ln" },
        { type: "redacted_thinking", data: "cmVk" },
        { type: "text", text: TEXT, citations: null },
        { type: "tool_use", id: "toolu_1", name: "read", input: INPUT, caller: null },
      ],
      context_management: null,
      stop_reason: "tool_use",
      stop_sequence: null,
      usage: { ...USAGE, output_tokens: 7, server_tool_use: null },
    },
  },
  "Responses": {
    provider: openai,
    stream: [
      { type: "response.created", response: { ...RESPONSE, output: [], usage: null, status: "in_progress" } },
      ...ITEMS.flatMap((item, output_index) => [
        { type: "response.output_item.added", output_index, item: { ...item, content: [] } },
        ...(item.type === "message"
          ? [{ type: "response.output_text.delta", output_index, content_index: 0, delta: TEXT }]
          : []),
        { type: "response.output_item.done", output_index, item },
      ]),
      { type: "response.completed", response: { ...RESPONSE, output: ITEMS } },
    ],
    whole: { ...RESPONSE, output: ITEMS, background: false, error: null, metadata: {}, text: {}, tools: [] },
  },
  "Gemini": {
    provider: gemini,
    stream: [
      ...PARTS.slice(0, 2).map((part) => ({
        candidates: [{ content: { parts: [part] } }],
        modelVersion: "gemini-3",
      })),
      {
        candidates: [{ content: { parts: [PARTS[2]] }, finishReason: "STOP" }],
        usageMetadata: GEMINI,
        modelVersion: "gemini-3",
      },
    ],
    whole: {
      candidates: [{
        content: { role: "model", parts: PARTS },
        finishReason: "STOP",
        index: 0,
        avgLogprobs: -0.1,
      }],
      usageMetadata: { ...GEMINI, totalTokenCount: 17, promptTokensDetails: [] },
      modelVersion: "gemini-3",
      responseId: "r1",
    },
  },
  "Chat Completions": {
    provider: chatProvider(KNOWN_PROVIDERS.openai_chat),
    stream: [
      { model: "m", choices: [{ index: 0, delta: { role: "assistant", reasoning_content: "Hm." } }] },
      { model: "m", choices: [{ index: 0, delta: { content: TEXT } }] },
      { model: "m", choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...CALL }] } }] },
      { model: "m", choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
      { model: "m", choices: [], usage: { prompt_tokens: 10, completion_tokens: 7 } },
    ],
    whole: {
      id: "c1",
      object: "chat.completion",
      model: "m",
      choices: [{
        index: 0,
        message: {
          role: "assistant",
          reasoning_content: "Hm.",
          content: TEXT,
          tool_calls: [CALL],
          refusal: null,
          annotations: [],
        },
        logprobs: null,
        finish_reason: "tool_calls",
      }],
      usage: { prompt_tokens: 10, completion_tokens: 7 },
    },
  },
};

/** What the effects amount to: without progress, with joined text and the last usage. Ids that a reader makes up are equal. */
function meaning(effects: readonly Effect[]): unknown {
  let usage: Usage | null = null;
  let text = "";
  const rest: unknown[] = [];
  for (const effect of effects) {
    if (effect.kind === "usage") usage = mergeUsage(usage, effect.usage);
    else if (effect.kind === "text") text += effect.text;
    else if (effect.kind === "thinking") rest.push({ ...effect, content: String(effect.content) });
    else if (effect.kind === "tool_use") {
      const id = effect.id.replace(/:[0-9a-f]+$/, ":made");
      rest.push({ ...effect, id, inputText: JSON.parse(String(effect.inputText)) });
    } else if (effect.kind !== "progress") rest.push(effect);
  }
  return { usage, text, rest };
}

for (const [name, { provider, stream, whole }] of Object.entries(ROWS)) {
  Deno.test(`${name}: a whole message means the same as its stream`, () => {
    const reader = provider.reader();
    const streamed = stream.flatMap((event) => reader.event(event, null, JSON.stringify(event)));
    const ended = reader.closed ? [] : reader.done?.() ?? [];
    const read = provider.reader().whole(whole);
    assert.ok(read !== null);
    assert.deepEqual(meaning(read), meaning([...streamed, ...ended]));
    const calls = read.flatMap((effect) =>
      effect.kind === "tool_use" ? [JSON.parse(String(effect.inputText))] : []
    );
    assert.deepEqual(calls, [INPUT]);
  });
}

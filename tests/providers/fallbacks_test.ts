// A request refused for an optional part is repeated once without it, and never twice the same.

import assert from "node:assert/strict";
import type { Settings } from "../../config/settings.generated.ts";
import { sha256 } from "../../base/hash.ts";
import { PNG } from "../pictures.ts";
import { serve } from "./loopback.ts";
import { KEYS, sendOnce } from "./send_once.ts";

const KEPT = await Deno.makeTempDir({ prefix: "flemma-concessions-" });
const HASH = await sha256(PNG);
await Deno.mkdir(`${KEPT}/flemma/attachments`, { recursive: true });
await Deno.writeFile(`${KEPT}/flemma/attachments/${HASH}`, PNG);
globalThis.addEventListener("unload", () => Deno.removeSync(KEPT, { recursive: true }));

type Body = Readonly<Record<string, unknown>>;

interface Row {
  readonly provider: string;
  /** What the server says to every request that has it. */
  readonly refusal: string;
  /** @default 400 */
  readonly status?: number;
  /** @default "invalid_request_error" */
  readonly type?: string;
  readonly param?: string;
  /** Whether a request has what is refused. */
  has(body: Body, text: string): boolean;
  readonly parameters?: Body;
  readonly servers?: Settings["providers"];
  readonly document?: string;
}

const REASONING = btoa(
  JSON.stringify({ id: "rs_1", type: "reasoning", summary: [], encrypted_content: "ZW5j" }),
);
const USE = '**Tool Use:** `bash` (`c1`)\n\n```json\n{"a":1}\n```\n';
const RESULT = "@You:\n**Tool Result:** `c1`\n\n```\nout\n```\n";
const seen = `@You:\ngo\n\n@Assistant:\n${USE}\n@You:\n**Tool Result:** \`c1\` (attachments=${HASH})\n\n` +
  "```\n[image/png, 70B]\n```\n";
const work = (tag: string, words = "") =>
  `@You:\ngo\n\n@Assistant:\n<thinking${tag}>\n${words}\n</thinking>\n\n${USE}\n${RESULT}`;

const ROWS: Readonly<Record<string, Row>> = {
  "Anthropic: an image that is too large": {
    provider: "anthropic",
    refusal: "messages.2.content.0.tool_result.content.1.image.source.base64: image exceeds 5 MB maximum",
    has: (_, text) => text.includes('"image/png"'),
    document: seen,
  },
  "Anthropic: images with too many bytes in total": {
    provider: "anthropic",
    refusal: "Request exceeds the maximum size",
    status: 413,
    type: "request_too_large",
    has: (_, text) => text.includes('"image/png"'),
    document: seen,
  },
  "OpenAI: a model that accepts no images": {
    provider: "openai",
    refusal: "Invalid content type. image_url is only supported by certain models.",
    has: (_, text) => text.includes("input_image"),
    document: seen,
  },
  "Gemini: an image that it cannot read": {
    provider: "gemini",
    refusal: "Unable to process input image. Please retry or report.",
    has: (_, text) => text.includes("inlineData"),
    document: seen,
  },
  "OpenAI: reasoning of another organization": {
    provider: "openai",
    refusal: "The encrypted content for item rs_1 could not be verified.",
    has: (_, text) => text.includes('encrypted_content":"'),
    document: work(` openai:signature="${REASONING}"`),
  },
  "OpenAI: reasoning without a following item": {
    provider: "openai",
    refusal: "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    has: (_, text) => text.includes('encrypted_content":"'),
    document: work(` openai:signature="${REASONING}"`),
  },
  "OpenAI: a cache duration": {
    provider: "openai",
    refusal: "prompt_cache_retention is not supported for this model",
    has: (body) => body.prompt_cache_retention !== undefined,
    parameters: { cache_retention: "long" },
  },
  "OpenAI: a reasoning summary for an unverified organization": {
    provider: "openai",
    refusal: "Your organization must be verified to generate reasoning summaries.",
    has: (body) => (body.reasoning as Body | undefined)?.summary !== undefined,
  },
  "OpenAI: a reasoning effort": {
    provider: "openai",
    refusal: "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
    has: (body) => body.reasoning !== undefined,
  },
  "OpenAI: encrypted reasoning": {
    provider: "openai",
    refusal: "Encrypted content is not supported with this model.",
    has: (body) => body.include !== undefined,
  },
  "Gemini: a signature of another key": {
    provider: "gemini",
    refusal: "Corrupted thought signature.",
    has: (_, text) => text.includes("c2ln"),
    document: work(' gemini:signature="c2ln"'),
  },
  "Gemini: a thinking level": {
    provider: "gemini",
    refusal: "Thinking level is not supported for this model.",
    has: (body) => (body.generationConfig as Body).thinkingConfig !== undefined,
  },
  "vLLM: a token limit that does not fit its context window": {
    provider: "openai_chat",
    refusal:
      "'max_tokens' or 'max_completion_tokens' is too large: 16000. This model's maximum context length is 8192 " +
      "tokens and your request has 30 input tokens.",
    has: (body) => body.max_tokens !== undefined,
  },
  "a server that cannot count tokens": {
    provider: "openai_chat",
    refusal: "Unknown parameter: stream_options",
    has: (body) => body.stream_options !== undefined,
  },
  "a server that does not accept reasoning back": {
    provider: "openai_chat",
    refusal: "Unknown parameter: 'messages[1].reasoning_content'.",
    has: (_, text) => text.includes("reasoning_content"),
    document: work("", "Hm."),
  },
  "a server that does not accept reasoning in the words of Groq": {
    provider: "openai_chat",
    refusal:
      "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
    has: (_, text) => text.includes("reasoning_content"),
    document: work("", "Hm."),
  },
  "a gateway whose vendor refuses the signature of one block": {
    provider: "openai_chat",
    refusal: "messages.1.content.0: Invalid `signature` in `thinking` block",
    // The text of the reasoning goes on, in the member for reasoning.
    has: (_, text) => text.includes("reasoning_details") || !text.includes('"reasoning_content":"Hm."'),
    document: work(` openaichat:signature="${btoa('[{"type":"reasoning.text","signature":"s"}]')}"`, "Hm."),
  },
  "a refusal in another language, known by its parameter": {
    provider: "openai",
    refusal: "参数不受支持",
    param: "prompt_cache_retention",
    has: (body) => body.prompt_cache_retention !== undefined,
    parameters: { cache_retention: "long" },
  },
  "OpenAI: an unknown refusal that mentions reasoning": {
    provider: "openai",
    refusal: "The reasoning of this conversation is not acceptable.",
    has: (_, text) => text.includes('encrypted_content":"'),
    document: work(` openai:signature="${REASONING}"`),
  },
  "Gemini: an unknown refusal that mentions thoughts": {
    provider: "gemini",
    refusal: "This thought is foreign to me.",
    has: (_, text) => text.includes("c2ln"),
    document: work(' gemini:signature="c2ln"'),
  },
  "Anthropic: an unknown refusal that mentions thinking": {
    provider: "anthropic",
    refusal: "This thinking is not wanted here.",
    has: (_, text) => text.includes("c2ln"),
    document: work(' anthropic:signature="c2ln"', "Hm."),
  },
  "Anthropic: a token limit above the model's own": {
    provider: "anthropic",
    refusal:
      "max_tokens: 64000 > 32000, which is the maximum allowed number of output tokens for claude-sonnet-5-5",
    has: (body) => Number(body.max_tokens) > 32_000,
    parameters: { max_tokens: 64_000 },
  },
  "OpenAI: a duplicate item id that the document does not show": {
    provider: "openai",
    refusal: "Duplicate item found with id rs_1. Remove duplicate items from your input and try again.",
    has: (_, text) => text.includes('"id":"rs_1"'),
    document: work(` openai:signature="${REASONING}"`),
  },
  "a server that requires its reasoning back": {
    provider: "openai_chat",
    refusal: "The reasoning_content in the thinking mode must be passed back to the API.",
    has: (_, text) => !text.includes("reasoning_content"),
    document: `@You:\ngo\n\n@Assistant:\n${USE}\n${RESULT}`,
  },
  "a Mistral model and ids of other providers": {
    provider: "openai_chat",
    refusal: "Tool call id was c1 but must be a-z, A-Z, 0-9, with a length of 9.",
    has: (_, text) =>
      [...text.matchAll(/"(?:id|tool_call_id)":"([^"]*)"/g)].some(([, id]) => !/^[a-z0-9]{9}$/.test(id!)),
    document: work("", "Hm."),
  },
  "a prompt template without a system role": {
    provider: "openai_chat",
    refusal: "Jinja Exception: System role not supported",
    // llama.cpp takes an error of a template for one of its own, and would be asked the same again and again.
    status: 500,
    has: (_, text) => text.includes('"role":"system"') || !text.includes("Be brief."),
    document: "@System:\nBe brief.\n\n@You:\nhi\n",
  },
  "a server that accepts no effort": {
    provider: "openai_chat",
    refusal: "Unrecognized request argument supplied: reasoning_effort",
    has: (body) => body.reasoning_effort !== undefined,
    parameters: { openai_chat: { reasoning: "high" } },
  },
  "a server that accepts no temperature": {
    provider: "openai_chat",
    refusal: "Unsupported value: 'temperature' does not support 0.2 with this model.",
    has: (body) => body.temperature !== undefined,
    parameters: { temperature: 0.2 },
  },
};

const GOOD: Readonly<Record<string, string>> = {
  anthropic: [
    { type: "message_start", message: { usage: { input_tokens: 1, output_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Well." } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
    { type: "message_stop" },
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
  openai:
    'data: {"type":"response.output_text.delta","delta":"Well."}\n\ndata: {"type":"response.completed","response":{}}\n\n',
  gemini: 'data: {"candidates":[{"content":{"parts":[{"text":"Well."}]},"finishReason":"STOP"}]}\n\n',
  openai_chat: 'data: {"choices":[{"delta":{"content":"Well."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
};

for (const [what, row] of Object.entries(ROWS)) {
  Deno.test(`after a refusal, a second request without the refused part succeeds, and later requests omit this part: ${what}`, async () => {
    const server = serve((text) =>
      row.has(JSON.parse(text), text)
        ? {
          status: row.status ?? 400,
          headers: { "content-type": "application/json" },
          body: JSON.stringify({
            type: "error",
            error: { message: row.refusal, type: row.type ?? "invalid_request_error", param: row.param },
          }),
        }
        : { headers: { "content-type": "text/event-stream" }, body: GOOD[row.provider]! }
    );
    try {
      const { provider, parameters } = row;
      const { outcome, after } = await sendOnce(row.document ?? "@You:\nhi\n", {
        provider,
        model: provider === "openai_chat" ? "qwen3" : provider === "openai" ? "gpt-5.4" : null,
        url: server.url,
        parameters,
        variables: { ...KEYS, XDG_STATE_HOME: KEPT },
        retry: true,
      });
      assert.ok(outcome.kind === "completed", JSON.stringify(outcome));
      assert.ok(after.endsWith("Well.\n\n@You:\n\n"));
      assert.equal(
        outcome.warnings.filter((warning) => warning.includes("repeats it without")).length,
        1,
      );
      assert.equal(server.requests.length, 2);
      assert.notEqual(server.requests[0]!.body, server.requests[1]!.body);
    } finally {
      await server.close();
    }
  });
}

Deno.test("if a part is refused again, or cannot be omitted, the request ends with the refusal", async () => {
  for (const message of ["Unknown parameter: stream_options", "The sky is too blue."]) {
    const server = serve(() => ({
      status: 400,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ error: { message } }),
    }));
    try {
      const asked = { provider: "openai_chat", model: "m", url: server.url, retry: true };
      const { outcome, after } = await sendOnce("@You:\nhi\n", asked);
      assert.ok(outcome.kind === "failed");
      assert.equal(outcome.problem.message, message);
      assert.equal(server.requests.length, message.includes("stream_options") ? 2 : 1);
      assert.equal(after, "@You:\nhi\n");
    } finally {
      await server.close();
    }
  }
});

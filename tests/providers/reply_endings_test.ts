// How a reply ends: Gemini's finish reasons, replies without a word, replies that are not streamed, retries.

import assert from "node:assert/strict";
import type { CycleEvent } from "../../cycle/types.ts";
import { resetIn } from "../../providers/http/temporary.ts";
import { answeredError } from "../../providers/http/errors.ts";
import { refusals as openaiRefusals } from "../../providers/replay/strict/openai.ts";
import { serve } from "./loopback.ts";
import { type Asked, sendOnce } from "./send_once.ts";
import { StoppedClock } from "./stopped_clock.ts";

const HI = "@You:\nhi\n";
const SSE = { "content-type": "text/event-stream" };
const JSON_TYPE = { "content-type": "application/json" };
const sse = (...events: readonly unknown[]) =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
const gemini = (parts: readonly unknown[], finishReason?: string, rest = {}) => ({
  candidates: [{ content: { parts }, finishReason }],
  ...rest,
});
const WORDS = { text: "Well." };
const THOUGHT = { text: "Hm.", thought: true };
const SIGNED = { text: "", thoughtSignature: "c2ln" };

interface Outcome {
  readonly kind: string;
  readonly after: string;
  readonly message: string;
  readonly warnings: string;
  readonly requests: readonly string[];
  readonly events: readonly CycleEvent[];
}

/** Sends a document to a server that gives these answers in turn, the last one again and again. */
async function send(
  provider: string,
  answers: readonly {
    readonly body: string;
    readonly status?: number;
    readonly headers?: Record<string, string>;
  }[],
  document = HI,
  asked: Partial<Asked> = {},
): Promise<Outcome> {
  let count = 0;
  const server = serve(() => ({ headers: SSE, ...answers[Math.min(count++, answers.length - 1)]! }));
  const events: CycleEvent[] = [];
  try {
    const { outcome, after } = await sendOnce(document, {
      provider,
      model: provider === "openai_chat" ? "qwen3" : null,
      url: server.url,
      retry: true,
      clock: new StoppedClock(),
      emit: (event) => events.push(event),
      ...asked,
    });
    return {
      kind: outcome.kind === "completed" ? outcome.reply : outcome.kind,
      after,
      message: outcome.kind === "failed" ? outcome.problem.message : "",
      warnings: outcome.kind === "completed" ? outcome.warnings.join("\n") : "",
      requests: server.requests.map(({ body }) => body),
      events,
    };
  } finally {
    await server.close();
  }
}

const one = (parts: readonly unknown[], reason?: string, rest = {}) =>
  send("gemini", [{ body: sse(gemini(parts, reason, rest)) }]);

Deno.test("each finish reason of Gemini has its own meaning", async () => {
  const rows: readonly (readonly [string, string, RegExp, number])[] = [
    ["STOP", "whole", /^$/, 1],
    ["FUNCTION_CALL", "whole", /^$/, 1],
    ["MAX_TOKENS", "cut", /output limit|max_tokens/, 1],
    ["CONTINUATION", "cut", /a limit of its own\.$/, 1],
    ["TOO_MANY_TOOL_CALLS", "cut", /called too often/, 1],
    ["OTHER", "doubtful", /unknown reason \("OTHER"\); check whether it is complete/, 1],
    ["FINISH_REASON_UNSPECIFIED", "doubtful", /check whether it is complete/, 1],
    ["SOMETHING_NEW", "doubtful", /check whether it is complete/, 1],
    ...[
      "SAFETY",
      "RECITATION",
      "LANGUAGE",
      "BLOCKLIST",
      "PROHIBITED_CONTENT",
      "SPII",
      "MODEL_ARMOR",
      "JAILBREAK",
    ]
      .map((reason) => [reason, "failed", /^$/, 1] as const),
    // Part of the reply is written, so it is not requested again.
    ["MALFORMED_FUNCTION_CALL", "failed", /^$/, 1],
  ];
  for (const [reason, kind, warns, requests] of rows) {
    const sent = await one([WORDS], reason);
    assert.deepEqual([sent.kind, sent.requests.length], [kind, requests], reason);
    assert.match(sent.warnings, warns, reason);
    if (kind === "failed" && !reason.startsWith("MAL")) {
      assert.match(sent.message, /^Response blocked/, reason);
    }
  }
});

Deno.test("a malformed call of Gemini is requested again at most twice, and only while nothing is written", async () => {
  for (const reason of ["MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL"]) {
    const bad = {
      body: sse(gemini([THOUGHT]), gemini([], reason, { usageMetadata: { promptTokenCount: 7 } })),
    };
    const mended = await send("gemini", [bad, bad, { body: sse(gemini([WORDS], "STOP")) }]);
    assert.deepEqual([mended.kind, mended.requests.length], ["whole", 3], reason);
    assert.ok(mended.after.includes("Well.") && !mended.after.includes("Hm."), mended.after);
    const never = await send("gemini", [bad]);
    assert.deepEqual([never.kind, never.requests.length, never.after], ["failed", 3, HI], reason);
    assert.match(never.message, new RegExp(`cannot be read \\(${reason}\\)`));
  }
});

Deno.test("if Gemini misses a thought signature, the request is repeated with a stand-in", async () => {
  const document = `@You:\ngo\n\n@Assistant:\n<thinking gemini:signature="c2ln">\n</thinking>\n\n` +
    "**Tool Use:** `ls` (`a`)\n\n```json\n{}\n```\n\n@You:\n**Tool Result:** `a`\n\n```\nout\n```\n";
  const bad = { body: sse(gemini([], "MISSING_THOUGHT_SIGNATURE")) };
  const sent = await send("gemini", [bad, { body: sse(gemini([WORDS], "STOP")) }], document);
  assert.deepEqual([sent.kind, sent.requests.length], ["whole", 2]);
  assert.ok(sent.requests[1]!.includes("skip_thought_signature_validator"));
});

Deno.test("a reply of Gemini without a word leaves the document as it is", async () => {
  for (
    const parts of [[], [{ text: "" }], [SIGNED], [{ text: " \n" }, SIGNED], [{
      text: "\n",
      thoughtSignature: "c2ln",
    }]]
  ) {
    const sent = await one(parts, "STOP");
    assert.deepEqual([sent.kind, sent.after], ["empty", HI], JSON.stringify(parts));
    assert.match(sent.warnings, /the reply is empty/);
  }
  assert.match((await one([{ text: "\n" }, WORDS, SIGNED], "STOP")).after, /Well\./);
});

const CALL = { id: "c1", type: "function", function: { name: "ls", arguments: "{}" } };
const WHOLE: Readonly<Record<string, unknown>> = {
  anthropic: {
    type: "message",
    role: "assistant",
    content: [
      { type: "thinking", thinking: "Hm.", signature: "c2ln" },
      { type: "text", text: "Well.", citations: null },
      { type: "tool_use", id: "c1", name: "ls", input: {} },
    ],
    stop_reason: "tool_use",
    usage: { input_tokens: 5, output_tokens: 3 },
  },
  openai: {
    object: "response",
    status: "completed",
    output: [
      { type: "message", content: [{ type: "output_text", text: "Well." }] },
      { type: "function_call", call_id: "c1", name: "ls", arguments: "{}" },
    ],
    usage: { input_tokens: 5, output_tokens: 3 },
  },
  gemini: gemini([WORDS, { functionCall: { id: "c1", name: "ls", args: {} } }], "STOP", {
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3 },
  }),
  openai_chat: {
    object: "chat.completion",
    choices: [{
      message: { role: "assistant", content: "Well.", tool_calls: [CALL] },
      finish_reason: "tool_calls",
    }],
    usage: { prompt_tokens: 5, completion_tokens: 3 },
  },
};

for (const [provider, reply] of Object.entries(WHOLE)) {
  Deno.test(`a whole reply of ${provider} that comes instead of a stream is read`, async () => {
    for (const headers of [JSON_TYPE, { "content-type": "text/plain" }, SSE]) {
      const sent = await send(provider, [{ body: JSON.stringify(reply, null, 2), headers }]);
      const what = JSON.stringify(headers) + sent.message;
      assert.deepEqual([sent.kind, sent.requests.length], ["whole", 1], what);
      assert.match(sent.after, /Well\.[^]*\*\*Tool Use:\*\* `ls` \(`c1`\)/, what);
      const finished = sent.events.find((event) => event.event === "request:finished");
      assert.ok(finished?.event === "request:finished" && finished.record?.usage.input === 5, what);
    }
    const odd = await send(provider, [{ body: JSON.stringify({ hello: 1 }), headers: JSON_TYPE }]);
    assert.equal(odd.kind, "failed");
  });
}

Deno.test("a copied turn sends its reasoning without the id that the request already has", async () => {
  const item = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "ZW5j" };
  const turn = (id: string) =>
    `@Assistant:\n<thinking openai:signature="${btoa(JSON.stringify(item))}">\n</thinking>\n\n` +
    `**Tool Use:** \`ls\` (\`${id}\`)\n\n\`\`\`json\n{}\n\`\`\`\n\n@You:\n**Tool Result:** \`${id}\`\n\n\`\`\`\nout\n\`\`\`\n`;
  const document = `@You:\ngo\n\n${turn("a")}\n${turn("a")}`;
  const good = {
    body:
      'data: {"type":"response.output_text.delta","delta":"Well."}\n\ndata: {"type":"response.completed","response":{}}\n\n',
  };
  const sent = await send("openai", [good], document, { model: "gpt-5.4" });
  const body = JSON.parse(sent.requests[0]!);
  const reasoning = body.input.filter(({ type }: { type: string }) => type === "reasoning");
  assert.deepEqual(reasoning.map(({ id }: { id?: string }) => id), ["rs_1", undefined]);
  assert.deepEqual(
    openaiRefusals({ path: "/v1/responses", headers: new Headers(), text: sent.requests[0]!, body }),
    [],
  );
});

Deno.test("the wait until a limit is reset is read from the header of each exhausted limit", () => {
  const now = Date.parse("2026-11-30T12:00:00Z");
  const rows: readonly (readonly [Record<string, string>, number | null])[] = [
    [{ "anthropic-ratelimit-tokens-reset": "2026-11-30T12:00:20Z" }, 20],
    [{ "x-ratelimit-reset-requests": "6m0s" }, 360],
    [{ "x-ratelimit-reset-tokens": "20ms" }, 0.02],
    [{ "x-ratelimit-reset-tokens": "1h2m3.5s" }, 3723.5],
    [{ "ratelimit-reset": "30" }, 30],
    [{ "x-ratelimit-reset": "1796040010" }, 10],
    [{ "x-ratelimit-reset": "1796040010000" }, 10],
    [{ "a-ratelimit-reset": "5", "a-ratelimit-remaining": "1" }, null],
    [{ "a-ratelimit-reset": "5", "a-ratelimit-remaining": "0" }, 5],
    [{ "a-ratelimit-reset": "5", "b-ratelimit-reset": "9", "b-ratelimit-remaining": "4" }, 5],
    [{ "a-ratelimit-reset": "5", "b-ratelimit-reset": "9" }, 9],
    [{ "a-ratelimit-reset": "soon" }, null],
    [{ "a-ratelimit-reset": "2026-11-30T11:00:00Z" }, null],
    [{ "a-ratelimit-reset": "2592001" }, null],
    [{ "retry-after": "5" }, null],
  ];
  for (const [headers, seconds] of rows) {
    assert.equal(resetIn(new Headers(headers), now), seconds, JSON.stringify(headers));
  }
  assert.equal(resetIn(null), null);
});

Deno.test("an error is classified by its code before its words", () => {
  const read = (error: object, status = 400) => answeredError({ error }, null, status);
  const rows = [
    [{ code: "context_length_exceeded", message: "太长" }, 400, "context_overflow"],
    [{ code: "invalid_api_key", message: "密钥无效" }, 400, "authentication"],
    [{ type: "rate_limit_error", message: "请稍后" }, 400, "rate_limit"],
    [
      { type: "invalid_request_error", details: { error_code: "ramp_limit_exceeded" }, message: "m" },
      400,
      "rate_limit",
    ],
    [
      { type: "permission_error", details: { error_code: "organization_on_hold" }, message: "m" },
      403,
      "other",
    ],
  ] as const;
  for (const [error, status, kind] of rows) {
    assert.equal(read(error, status).class, kind, JSON.stringify(error));
  }
  const hold = read({
    type: "permission_error",
    message: "m",
    details: { error_code: "organization_on_hold", appeal_url: "https://appeal.example/x" },
  }, 403);
  assert.match(hold.next ?? "", /on hold.*https:\/\/appeal\.example\/x/);
  assert.doesNotMatch(hold.next ?? "", /key/);
  const evil = read({
    type: "x",
    message: "m",
    details: { error_code: "organization_on_hold", appeal_url: "javascript:x" },
  });
  assert.doesNotMatch(evil.next ?? "", /javascript/);
  assert.notEqual(
    read({ type: "invalid_request_error", details: { error_code: "ramp_limit_exceeded" }, message: "m" })
      .retry,
    undefined,
  );
  for (
    const code of [
      "contract_spend_limit_reached",
      "enforced_spend_limit_reached",
      "linked_organization_spend_limit_reached",
    ]
  ) {
    const spent = read({ type: "rate_limit_error", details: { error_code: code }, message: "m" }, 429);
    assert.equal(spent.retry, undefined, code);
    assert.match(spent.next ?? "", /raise the limit/);
  }
});

Deno.test("a reply is priced by the model that answered, and has no known cost if that model is unknown", async () => {
  const usage = { usageMetadata: { promptTokenCount: 1_000_000, candidatesTokenCount: 0 } };
  const cost = async (modelVersion: string) => {
    const body = sse(gemini([WORDS], "STOP", { ...usage, modelVersion }));
    const sent = await send("gemini", [{ body }], HI, {
      model: "gemini-3.7-flash",
      clock: new StoppedClock(),
    });
    const finished = sent.events.find((event) => event.event === "request:finished");
    assert.ok(finished?.event === "request:finished");
    return [finished.record?.cost ?? null, /instead of the requested model/.test(sent.warnings)];
  };
  assert.deepEqual(await cost("gemini-3.8-flash"), [0.75, true]);
  assert.deepEqual(await cost("gemini-9-new"), [null, true]);
  assert.deepEqual(await cost("gemini-3.7-flash"), [null, false]);
});

Deno.test("an unknown event of a Chat Completions stream is passed over and reported; a documented error ends the reply", async () => {
  const chunk = { choices: [{ delta: { content: "Well." }, finish_reason: "stop" }] };
  const odd = [{ type: "status", detail: "warming up" }, { object: "x.queue", detail: [{ place: 3 }] }];
  for (const event of odd) {
    const sent = await send("openai_chat", [{ body: sse(event, chunk) + "data: [DONE]\n\n" }]);
    assert.equal(sent.kind, "whole", JSON.stringify(event));
    assert.match(sent.warnings, /an event of the unknown type "(?:status|x\.queue)"/);
  }
  for (const event of [{ type: "ping" }, { choices: [], prompt_filter_results: [] }, { usage: {} }]) {
    const sent = await send("openai_chat", [{ body: sse(event, chunk) + "data: [DONE]\n\n" }]);
    assert.deepEqual([sent.kind, sent.warnings], ["whole", ""], JSON.stringify(event));
  }
  for (
    const event of [
      { detail: "model not loaded" },
      { detail: [{ msg: "field required", loc: ["body"] }] },
      { object: "error", message: "no" },
      { error: { message: "no" } },
    ]
  ) {
    const sent = await send("openai_chat", [{ body: sse(event), status: 200 }], HI, { retry: false });
    assert.equal(sent.kind, "failed", JSON.stringify(event));
  }
});

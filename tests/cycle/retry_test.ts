import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../config/defaults.ts";
import { createSend } from "../../cycle/send/send.ts";
import { MemoryStore } from "../../cycle/storage/memory_store.ts";
import type { CycleEvent, SendOutcome } from "../../cycle/types.ts";
import { anthropic } from "../../providers/anthropic/provider.ts";
import { type Answer, serve } from "../providers/loopback.ts";
import { StoppedClock } from "../providers/stopped_clock.ts";

const BEFORE = "@You:\nhi\n";
const SSE = { "content-type": "text/event-stream" };

function frames(...events: readonly object[]): Answer {
  return { headers: SSE, body: events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("") };
}

const START = { type: "message_start", message: { usage: { input_tokens: 1 } } };
/** What the provider says of itself and of the request before any word of a reply. */
const TOLD = {
  type: "message_start",
  message: {
    model: "claude-sonnet-5-5",
    input_transformations: [
      { type: "thinking_dropped", path: "messages.0.content.0", reason: "prefix_binding_mismatch" },
    ],
  },
};
const OVERLOADED = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
const delta = (text: string) => ({
  type: "content_block_delta",
  index: 0,
  delta: { type: "text_delta", text },
});
const GOOD = frames(START, delta("Hello!"), {
  type: "message_delta",
  delta: { stop_reason: "end_turn" },
  usage: { output_tokens: 1 },
}, { type: "message_stop" });

function refused(status: number, type: string, headers: Record<string, string> = {}): Answer {
  return {
    status,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ type: "error", error: { type, message: "No" } }),
  };
}

interface Run {
  readonly outcome: SendOutcome;
  readonly after: string;
  readonly events: readonly CycleEvent[];
  readonly bodies: readonly string[];
  readonly waits: readonly number[];
}

/** Sends to a server that gives the answers in turn, the last one for ever; time passes only in waits. */
async function send(
  answers: readonly Answer[],
  { retry, onWait, signal = new AbortController().signal }: {
    readonly retry?: boolean;
    readonly onWait?: () => void;
    readonly signal?: AbortSignal;
  } = {},
): Promise<Run> {
  let count = 0;
  const server = serve(() => answers[Math.min(count++, answers.length - 1)]!);
  const clock = new StoppedClock();
  if (onWait !== undefined) clock.onWait = onWait;
  try {
    const store = new MemoryStore(new TextEncoder().encode(BEFORE), null);
    const events: CycleEvent[] = [];
    const outcome = await createSend({
      store,
      settings: DEFAULT_SETTINGS,
      environment: {
        cwd: "/",
        home: "/",
        variables: { ANTHROPIC_API_KEY: "key", FLEMMA_ANTHROPIC_BASE_URL: server.url },
      },
      provider: anthropic,
      tools: () => [],
      emit: (event) => events.push(event),
      clock,
      retry,
    })(signal);
    return {
      outcome,
      after: new TextDecoder().decode(store.chat.bytes),
      events,
      bodies: server.requests.map(({ body }) => body),
      waits: clock.waits,
    };
  } finally {
    await server.close();
  }
}

function names(run: Run): readonly string[] {
  return run.events.map(({ event }) => event);
}

Deno.test("a provider that is overloaded for a while is asked again, with the same body, until it answers", async () => {
  const run = await send([
    refused(529, "overloaded_error"),
    refused(429, "rate_limit_error", { "retry-after": "17" }),
    frames(START, OVERLOADED),
    { headers: SSE, body: "" },
    GOOD,
  ]);
  assert.equal(run.outcome.kind, "completed");
  assert.equal(run.after, "@You:\nhi\n\n@Assistant:\nHello!\n\n@You:\n\n");
  assert.deepEqual(run.waits, [2, 17, 8, 16]);
  assert.equal(run.bodies.length, 5);
  assert.equal(new Set(run.bodies).size, 1);
  const retrying = run.events.filter((event) => event.event === "request:retrying");
  assert.deepEqual(retrying.map(({ attempt, of, wait }) => [attempt, of, wait]), [
    [2, 6, 2],
    [3, 6, 17],
    [4, 6, 8],
    [5, 6, 16],
  ]);
  assert.match(retrying[0]!.error.message, /overloaded_error/);
  assert.equal(names(run).at(-1), "request:finished");
  assert.equal(names(run).filter((name) => name === "request:finished").length, 1);
});

Deno.test("after six requests it is given up, and said how long that took", async () => {
  const run = await send([refused(503, "api_error")]);
  assert.ok(run.outcome.kind === "failed");
  assert.equal(run.bodies.length, 6);
  assert.deepEqual(run.outcome.problem.details, ["Tried 6 times in 1 min 2 s."]);
  assert.equal(run.after, BEFORE);
});

Deno.test("a wait beyond ten minutes is not begun, and told", async () => {
  const run = await send([refused(429, "rate_limit_error", { "retry-after": "3600" })]);
  assert.ok(run.outcome.kind === "failed");
  assert.equal(run.bodies.length, 1);
  assert.deepEqual(run.outcome.problem.details, ["retry-after: 3600", "The provider asks to wait 1 h."]);
});

Deno.test("once a first word came nothing is asked again, be it cut, broken or refused in the middle", async () => {
  const begun = { ...frames(START, delta("Half")), headers: SSE };
  for (
    const answer of [
      begun,
      { ...begun, reset: true },
      frames(START, delta("Half"), OVERLOADED),
    ]
  ) {
    const run = await send([answer, GOOD]);
    assert.equal(run.outcome.kind, "failed");
    assert.equal(run.bodies.length, 1);
    assert.match(run.after, /Half\n\n<!-- flemma:aborted: /);
  }
});

Deno.test("a connection that breaks before the first word is made again", async () => {
  const run = await send([
    { headers: SSE, body: "data: {", reset: true },
    { ...frames(START), reset: true },
    { ...frames(TOLD), reset: true },
    GOOD,
  ]);
  assert.equal(run.outcome.kind, "completed");
  assert.equal(run.bodies.length, 4);
});

Deno.test("what is wrong with the request, the key or the account is asked once", async () => {
  const spent = {
    ...refused(429, "rate_limit_error"),
    body: JSON.stringify({
      type: "error",
      error: {
        type: "rate_limit_error",
        message: "No",
        details: { error_code: "enforced_spend_limit_reached" },
      },
    }),
  };
  const rows = [
    refused(400, "invalid_request_error", { "retry-after": "1" }),
    refused(401, "authentication_error"),
    refused(402, "billing_error"),
    refused(403, "permission_error"),
    refused(404, "not_found_error"),
    refused(413, "request_too_large"),
    refused(429, "rate_limit_error"),
    spent,
    frames(START, { type: "error", error: { type: "invalid_request_error", message: "No" } }),
  ];
  for (const answer of rows) {
    const run = await send([answer, GOOD]);
    assert.equal(run.outcome.kind, "failed");
    assert.equal(run.bodies.length, 1, JSON.stringify(answer));
    assert.deepEqual(run.waits, []);
  }
});

Deno.test("without retries the first refusal is the last", async () => {
  const run = await send([refused(529, "overloaded_error"), GOOD], { retry: false });
  assert.equal(run.outcome.kind, "failed");
  assert.equal(run.bodies.length, 1);
  assert.ok(!names(run).includes("request:retrying"));
});

Deno.test("a person who stops it while it waits gets the document as it was, at once", async () => {
  const stopping = new AbortController();
  const run = await send([refused(529, "overloaded_error"), GOOD], {
    signal: stopping.signal,
    onWait: () => stopping.abort(),
  });
  assert.equal(run.outcome.kind, "cancelled");
  assert.equal(run.bodies.length, 1);
  assert.equal(run.after, BEFORE);
  const last = run.events.at(-1);
  assert.ok(last?.event === "request:finished" && last.status === "cancelled");
});

Deno.test("a host that takes no connection is not asked again: nobody may ever be there", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  const clock = new StoppedClock();
  const outcome = await createSend({
    store: new MemoryStore(new TextEncoder().encode(BEFORE), null),
    settings: DEFAULT_SETTINGS,
    environment: {
      cwd: "/",
      home: "/",
      variables: { ANTHROPIC_API_KEY: "key", FLEMMA_ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}` },
    },
    provider: anthropic,
    tools: () => [],
    emit: () => {},
    clock,
  })(new AbortController().signal);
  assert.ok(outcome.kind === "failed");
  assert.match(outcome.problem.next ?? "", /Start the server/);
  assert.deepEqual(clock.waits, []);
});

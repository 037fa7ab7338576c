import assert from "node:assert/strict";
import type { Answer } from "../providers/loopback.ts";
import { StoppedClock } from "../providers/stopped_clock.ts";
import { BEFORE, delta, END, type Sent, sent, SSE, stop, streamed } from "./sending.ts";

const START = { type: "message_start", message: { usage: { input_tokens: 1 } } };
/** What the provider says of itself and of the request before any word of a reply. */
const REPORTED = {
  type: "message_start",
  message: {
    model: "claude-sonnet-5-5",
    input_transformations: [
      { type: "thinking_dropped", path: "messages.0.content.0", reason: "prefix_binding_mismatch" },
    ],
  },
};
const OVERLOADED = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
const GOOD = streamed(START, delta("Hello!"), stop("end_turn", 1), END);

function refused(status: number, type: string, headers: Record<string, string> = {}): Answer {
  return {
    status,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ type: "error", error: { type, message: "No" } }),
  };
}

interface Run extends Sent {
  readonly bodies: readonly string[];
  readonly waits: readonly number[];
}

/** Sends with retries; time passes only in waits. */
async function send(
  answers: readonly Answer[],
  { retry = true, onWait, signal }: {
    readonly retry?: boolean;
    readonly onWait?: () => void;
    readonly signal?: AbortSignal;
  } = {},
): Promise<Run> {
  const clock = new StoppedClock();
  if (onWait !== undefined) clock.onWait = onWait;
  const run = await sent(answers, { clock, retry, signal });
  return { ...run, bodies: run.requests.map(({ body }) => body), waits: clock.waits };
}

function names(run: Run): readonly string[] {
  return run.events.map(({ event }) => event);
}

Deno.test("if a provider is overloaded, flemma sends the same request body again until the provider answers", async () => {
  const run = await send([
    refused(529, "overloaded_error"),
    refused(429, "rate_limit_error", { "retry-after": "17" }),
    streamed(START, OVERLOADED),
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

Deno.test("after six requests flemma stops retrying, and the message says how long the retries took", async () => {
  const run = await send([refused(503, "api_error")]);
  assert.ok(run.outcome.kind === "failed");
  assert.equal(run.bodies.length, 6);
  assert.deepEqual(run.outcome.problem.details, ["Tried 6 times in 1 min 2 s."]);
  assert.equal(run.after, BEFORE);
});

Deno.test("if the provider asks for a wait of more than ten minutes, flemma does not wait and reports this", async () => {
  const run = await send([refused(429, "rate_limit_error", { "retry-after": "3600" })]);
  assert.ok(run.outcome.kind === "failed");
  assert.equal(run.bodies.length, 1);
  assert.deepEqual(run.outcome.problem.details, [
    "retry-after: 3600",
    "The provider asks for a wait of 1 h.",
  ]);
});

Deno.test("once the first word of a reply arrived, no request is retried, whether it is cut off, broken or refused", async () => {
  const begun = { ...streamed(START, delta("Half")), headers: SSE };
  for (
    const answer of [
      begun,
      { ...begun, reset: true },
      streamed(START, delta("Half"), OVERLOADED),
    ]
  ) {
    const run = await send([answer, GOOD]);
    assert.equal(run.outcome.kind, "failed");
    assert.equal(run.bodies.length, 1);
    assert.match(run.after, /Half\n\n<!-- flemma:aborted: /);
  }
});

Deno.test("if a connection breaks before the first word, the request is retried", async () => {
  const run = await send([
    { headers: SSE, body: "data: {", reset: true },
    { ...streamed(START), reset: true },
    { ...streamed(REPORTED), reset: true },
    GOOD,
  ]);
  assert.equal(run.outcome.kind, "completed");
  assert.equal(run.bodies.length, 4);
});

Deno.test("a request is not retried if the request, the key or the account is at fault", async () => {
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
    spent,
    streamed(START, { type: "error", error: { type: "invalid_request_error", message: "No" } }),
  ];
  for (const answer of rows) {
    const run = await send([answer, GOOD]);
    assert.equal(run.outcome.kind, "failed");
    assert.equal(run.bodies.length, 1, JSON.stringify(answer));
    assert.deepEqual(run.waits, []);
  }
});

Deno.test("if retries are turned off, the first refusal ends the run", async () => {
  const run = await send([refused(529, "overloaded_error"), GOOD], { retry: false });
  assert.equal(run.outcome.kind, "failed");
  assert.equal(run.bodies.length, 1);
  assert.ok(!names(run).includes("request:retrying"));
});

Deno.test("if a person cancels a waiting retry, it ends immediately and the document stays unchanged", async () => {
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

Deno.test("if a host accepts no connection, flemma does not retry, because the host may not exist", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  const clock = new StoppedClock();
  const variables = { FLEMMA_ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}` };
  const { outcome } = await sent([], { clock, retry: true, variables });
  assert.ok(outcome.kind === "failed");
  assert.match(outcome.problem.next ?? "", /Start the server/);
  assert.deepEqual(clock.waits, []);
});

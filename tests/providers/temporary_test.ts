import assert from "node:assert/strict";
import { answeredError } from "../../providers/http/errors.ts";
import { isSpent, temporary, waitIn } from "../../providers/http/temporary.ts";

/** The wait of a retry, without the reason; undefined if there is no retry. */
function afterOf(response: Parameters<typeof temporary>[0]): { readonly after: number | null } | undefined {
  const retry = temporary(response);
  return retry === undefined ? undefined : { after: retry.after };
}

const NONE = new Headers();
const AFTER = new Headers({ "retry-after": "7" });

function error(members: Record<string, unknown>): unknown {
  return { error: members };
}

Deno.test("errors of servers and gateways can count as temporary, but errors in the request never do", () => {
  for (const status of [500, 502, 503, 504, 520, 521, 522, 523, 524, 529]) {
    assert.deepEqual(afterOf({ body: "", headers: NONE, status }), { after: null }, String(status));
    assert.deepEqual(afterOf({ body: "", headers: AFTER, status }), { after: 7 }, String(status));
  }
  for (const status of [400, 401, 402, 403, 404, 405, 408, 409, 413, 422, 501, 505]) {
    const body = error({ type: "overloaded_error", message: "m" });
    assert.equal(temporary({ body, headers: AFTER, status }), undefined, String(status));
  }
});

Deno.test("flemma retries after status 429, with the wait that the response names, or with one of its own", () => {
  const rows = [
    [error({ type: "rate_limit_error" }), AFTER, { after: 7 }],
    [error({ type: "rate_limit_error" }), NONE, { after: null }],
    ["slow down", NONE, { after: null }],
    ["slow down", AFTER, { after: 7 }],
    [error({ code: "rate_limit_exceeded" }), NONE, { after: null }],
    [error({ code: "slow_down" }), NONE, { after: null }],
    [error({ type: "rate_limit_reached_error" }), NONE, { after: null }],
    [error({ type: "engine_overloaded_error" }), NONE, { after: null }],
    [error({ message: "m" }), new Headers({ "x-should-retry": "true" }), { after: null }],
    [
      error({ status: "RESOURCE_EXHAUSTED", details: [{ "@type": "…RetryInfo", retryDelay: "14.5s" }] }),
      NONE,
      { after: 14.5 },
    ],
    [[error({ status: "RESOURCE_EXHAUSTED", details: [{ retryDelay: "3s" }] })], NONE, { after: 3 }],
    [error({ status: "RESOURCE_EXHAUSTED" }), NONE, { after: null }],
    [error({ type: "rate_limit_error" }), new Headers({ "ratelimit-reset": "30" }), { after: 30 }],
    [error({ type: "rate_limit_error" }), new Headers({ "retry-after": "soon" }), { after: null }],
  ] as const;
  for (const [body, headers, expected] of rows) {
    assert.deepEqual(afterOf({ body, headers, status: 429 }), expected, JSON.stringify(body));
  }
});

Deno.test("an exhausted budget is not retried, whatever the status and headers are", () => {
  const bodies = [
    error({ type: "rate_limit_error", details: { error_code: "enforced_spend_limit_reached" } }),
    error({ code: "insufficient_quota", message: "You exceeded your current quota" }),
    error({ code: "credit_balance_exhausted" }),
    error({ type: "billing_error" }),
    error({ type: "exceeded_current_quota_error" }),
    error({ status: "RESOURCE_EXHAUSTED", details: [{ reason: "quota_exceeded" }] }),
    error({
      status: "RESOURCE_EXHAUSTED",
      details: [{ violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel" }] }],
    }),
    error({ type: "invalid_request_error", message: "You have reached your specified API usage limits." }),
    error({ message: "Your credit balance is too low" }),
    "Spending limit reached",
  ];
  for (const body of bodies) {
    assert.ok(isSpent(body), JSON.stringify(body));
    for (const status of [429, 503, undefined]) {
      assert.equal(temporary({ body, headers: AFTER, status }), undefined, JSON.stringify(body));
    }
    assert.match(answeredError(body, AFTER, 429).next ?? "", /Retrying does not help/);
  }
  const perMinute = error({
    status: "RESOURCE_EXHAUSTED",
    message: "You exceeded your current quota, please check your plan and billing details.",
    details: [{ violations: [{ quotaId: "RequestsPerMinute" }] }, { retryDelay: "20s" }],
  });
  assert.deepEqual(afterOf({ body: perMinute, headers: NONE, status: 429 }), { after: 20 });
});

Deno.test("if a server says whether to retry, flemma does what it says", () => {
  const headers = new Headers({ "x-should-retry": "false", "retry-after": "1" });
  assert.equal(temporary({ body: "", headers, status: 529 }), undefined);
});

Deno.test("an error inside a stream has no status, so it is classified by its code", () => {
  const rows = [
    [{ type: "error", error: { type: "overloaded_error" } }, { after: null }],
    [{ type: "error", error: { type: "api_error" } }, { after: null }],
    [{ type: "error", error: { type: "timeout_error" } }, { after: null }],
    [{ type: "response.failed", response: { error: { code: "server_error" } } }, { after: null }],
    [{ error: { status: "UNAVAILABLE" } }, { after: null }],
    [{ type: "error", error: { type: "rate_limit_error" } }, undefined],
    [{ type: "error", error: { type: "invalid_request_error" } }, undefined],
    [{ response: { error: { code: "invalid_prompt" } } }, undefined],
  ] as const;
  for (const [body, expected] of rows) {
    assert.deepEqual(afterOf({ body, headers: null, status: undefined }), expected, JSON.stringify(body));
  }
  const limited = { type: "error", error: { type: "rate_limit_error" } };
  assert.deepEqual(afterOf({ body: limited, headers: AFTER, status: undefined }), { after: 7 });
});

Deno.test("a requested wait is read as seconds, as milliseconds or as a date, and any other value means no wait", () => {
  const now = Date.parse("2026-11-28T12:00:00Z");
  const rows = [
    [{ "retry-after": "12" }, 12],
    [{ "retry-after": " 0.5 " }, 0.5],
    [{ "retry-after": "Sat, 28 Nov 2026 12:00:30 GMT" }, 30],
    [{ "retry-after": "Sat, 28 Nov 2026 11:00:00 GMT" }, null],
    [{ "retry-after": "0" }, null],
    [{ "retry-after": "2592000" }, 2_592_000],
    [{ "retry-after": "2592001" }, null],
    [{ "retry-after": "soon" }, null],
    [{ "retry-after": "-5" }, null],
    [{ "retry-after": "1e9" }, null],
    [{ "retry-after-ms": "250", "retry-after": "9" }, 0.25],
    [{ "retry-after-ms": "x", "retry-after": "9" }, 9],
    [{}, null],
  ] as const;
  for (const [headers, expected] of rows) {
    assert.equal(
      waitIn(new Headers(headers as Record<string, string>), now),
      expected,
      JSON.stringify(headers),
    );
  }
  assert.equal(waitIn(null), null);
});

Deno.test("the message about each temporary status contains the wait, and for a request that is too large it contains advice", () => {
  for (const status of [500, 503, 429]) {
    const { details } = answeredError({ error: { message: "m" } }, AFTER, status);
    assert.deepEqual(details, ["retry-after: 7"], String(status));
  }
  assert.deepEqual(answeredError({ error: { message: "m" } }, AFTER, 401).details, []);
  assert.match(answeredError({ error: { message: "m" } }, NONE, 413).next ?? "", /smaller/);
  const limits = new Headers({ "anthropic-ratelimit-requests-remaining": "0" });
  assert.deepEqual(answeredError("", limits, 500).details, []);
  assert.equal(answeredError("", limits, 429).details.length, 1);
});

Deno.test("each temporary error says whether the rate limit is reached, the server is overloaded, or unavailable", () => {
  const rows = [
    [429, error({ type: "rate_limit_error" }), "limited"],
    [429, error({ type: "overloaded_error" }), "limited"],
    [529, "", "overloaded"],
    [503, error({ code: "server_is_overloaded" }), "overloaded"],
    [503, "", "unavailable"],
    [500, error({ type: "api_error" }), "unavailable"],
    [502, "", "unavailable"],
    [504, "", "unavailable"],
    [400, error({ code: "ramp_limit_exceeded" }), "limited"],
    [undefined, error({ type: "overloaded_error" }), "overloaded"],
    [undefined, error({ type: "engine_overloaded_error" }), "overloaded"],
    [undefined, error({ type: "api_error" }), "unavailable"],
    [undefined, error({ status: "UNAVAILABLE" }), "unavailable"],
    [undefined, error({ code: "rate_limit_exceeded" }), "limited"],
    [undefined, error({ code: "slow_down" }), "limited"],
  ] as const;
  for (const [status, body, expected] of rows) {
    const retry = temporary({ body, headers: AFTER, status });
    assert.equal(retry?.trouble, expected, `${status} ${JSON.stringify(body)}`);
  }
  const headers = new Headers({ "x-should-retry": "true" });
  assert.deepEqual(temporary({ body: "", headers, status: 409 }), { after: null });
});

Deno.test("without a header, the wait is read from the message, and a wait of more than 30 days is not believed", () => {
  const rows = [
    ["Rate limit reached. Please try again in 20s. Visit the page.", 20],
    ["Please try again in 1m20.5s.", 80.5],
    ["Please try again in 500ms.", 0.5],
    ["Please retry in 14.125s.", 14.125],
    ["Please try again in a moment.", null],
    ["Please try again in 31d.", null],
    ["Please try again in 20 attempts.", null],
  ] as const;
  for (const [message, after] of rows) {
    const body = error({ code: "rate_limit_exceeded", message });
    for (const status of [429, undefined]) {
      assert.deepEqual(afterOf({ body, headers: null, status }), { after }, `${status} ${message}`);
    }
  }
  const body = error({ message: "Please try again in 20s.", details: [{ retryDelay: "2592001s" }] });
  assert.deepEqual(afterOf({ body, headers: NONE, status: 429 }), { after: 20 });
  assert.deepEqual(afterOf({ body, headers: AFTER, status: 429 }), { after: 7 });
});

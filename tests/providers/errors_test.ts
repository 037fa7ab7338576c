import assert from "node:assert/strict";
import { answeredError, classifyError, extractError, unexpectedBody } from "../../providers/http/errors.ts";
import { transportError } from "../../providers/http/transport_error.ts";

Deno.test("flemma finds the message in every known form of error response", () => {
  assert.deepEqual(extractError({ error: { message: "m", type: "t" } }), { type: "t", message: "m" });
  assert.deepEqual(extractError({ error: { message: "m" } }), { type: null, message: "m" });
  assert.deepEqual(extractError({ error: "m" }), { type: null, message: "m" });
  assert.deepEqual(extractError({ message: "m" }), { type: null, message: "m" });
  assert.deepEqual(extractError({ errors: [{ message: "m" }] }), { type: null, message: "m" });
  for (const other of [null, 1, "x", [], {}, { error: {} }, { errors: [] }]) {
    assert.equal(extractError(other), null);
  }
  assert.equal(answeredError({ type: "error" }, null, undefined).message, "Unknown API error");
});

Deno.test("an error is classified by its words first and by its status second", () => {
  const cases = [
    ["prompt is too long: 9 tokens", undefined, "context_overflow"],
    ["This model's maximum context length is 1", undefined, "context_overflow"],
    ["input token count of 9 exceeds the maximum", undefined, "context_overflow"],
    ["context_length_exceeded", 429, "context_overflow"],
    ["authentication_error — invalid x-api-key", undefined, "authentication"],
    ["anything", 403, "authentication"],
    ["rate_limit_error — wait", undefined, "rate_limit"],
    ["overloaded_error — Overloaded", undefined, "rate_limit"],
    ["anything", 529, "rate_limit"],
    ["anything", 504, "timeout"],
    ["api_error — Internal server error", 500, "other"],
  ] as const;
  for (const [sentence, status, expected] of cases) {
    assert.equal(classifyError(sentence, status), expected, sentence);
  }
});

Deno.test("the beginning of an unexpected response body is shown, on one line", () => {
  assert.equal(unexpectedBody("<p>\n\n a </p>"), "Unexpected API response: <p> a </p>");
  assert.match(unexpectedBody("é".repeat(500)), /^Unexpected API response: é{150}\.\.\.$/);
});

Deno.test("transport errors of Node and Deno are classified the same", () => {
  const node = (code: string, message: string) => {
    const cause = Object.assign(new Error(message), { code });
    return new TypeError("fetch failed", { cause });
  };
  const deno = (message: string) =>
    new TypeError("fetch failed", {
      cause: new Error(`error sending request for url (http://h:1/): ${message}`),
    });
  const cases = [
    [node("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:1"), "network", /could not be reached/],
    [
      deno("client error (Connect): tcp connect error: Connection refused (os error 111)"),
      "network",
      /could not be reached/,
    ],
    [node("ENOTFOUND", "getaddrinfo ENOTFOUND h"), "network", /could not be resolved/],
    [
      deno("client error (Connect): dns error: failed to lookup address information"),
      "network",
      /could not be resolved/,
    ],
    [node("UND_ERR_CONNECT_TIMEOUT", "Connect Timeout Error"), "timeout", /timed out/],
    [node("UND_ERR_SOCKET", "other side closed"), "network", /broke: other side closed\./],
    [new TypeError("error reading a body from connection"), "network", /broke: error reading a body/],
  ] as const;
  for (const [thrown, expected, sentence] of cases) {
    const error = transportError(thrown, { request: { url: "http://h:1/v1/messages" } });
    assert.equal(error.class, expected);
    assert.match(error.message, sentence);
    assert.match(error.message, /h:1/);
  }
});

Deno.test("for an HTML page as a response flemma suggests checking the address, but not for an API error or a temporary error", () => {
  const next = (body: unknown, status?: number) => answeredError(body, null, status).next ?? "";
  const advice = /not from the API: check the base URL/;
  for (const status of [undefined, 404, 405, 400]) assert.match(next("404 page not found", status), advice);
  const others: readonly (readonly [unknown, number | undefined])[] = [
    [{ error: { message: "no such model" } }, 404],
    [{ odd: 1 }, 404],
    ["", 404],
    ["<html>Bad gateway</html>", 502],
    ["<html>pay</html>", 402],
    ["<html>large</html>", 413],
  ];
  for (const [body, status] of others) {
    assert.doesNotMatch(next(body, status), advice, `${JSON.stringify(body)} ${status}`);
  }
  assert.match(next({ error: { message: "no such model" } }, 404), /^Check the model name/);
  assert.equal(next({ odd: 1 }, 404), "", "the error does not name what is missing");
});

Deno.test("a response larger than the longest possible string is reported as too large and not retried", () => {
  let thrown: unknown;
  try {
    "x".repeat(2 ** 30);
  } catch (fault) {
    thrown = fault;
  }
  const { message, next, retry } = transportError(thrown, { request: { url: "http://h:1/v1/messages" } });
  assert.equal(message, "h:1 sent more than 512 MB in one piece, which is too large.");
  assert.match(next ?? "", /less/);
  assert.equal(retry, undefined);
});

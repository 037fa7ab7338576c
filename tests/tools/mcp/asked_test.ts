// What a server asked of this program, in words.

import assert from "node:assert/strict";
import { askedIn, lackedIn, wordsOfRequest } from "../../../tools/mcp/asked.ts";

const required = (...methods: readonly string[]) => ({
  resultType: "input_required",
  inputRequests: Object.fromEntries(methods.map((method, at) => [`r${at}`, { method }])),
});

Deno.test("a result that asks for something names what it asks for; an answer does not: one row per condition", () => {
  const rows: readonly (readonly [unknown, string | null])[] = [
    [required("sampling/createMessage"), "asked for a model reply (sampling)"],
    [required("elicitation/create"), "asked you a question (elicitation)"],
    [required("roots/list"), "asked for your folders (roots)"],
    [required("roots/list", "sampling/createMessage"), "asked for a model reply (sampling)"],
    [required("some/other"), 'asked for "some/other"'],
    [required(), "asked to be called again later"],
    [{ resultType: "input_required", requestState: "x" }, "asked to be called again later"],
    [{ resultType: "input_required", inputRequests: { a: 1 } }, 'asked for ""'],
    [{ content: [] }, null],
    [{ resultType: "complete" }, null],
    [null, null],
    ["input_required", null],
  ];
  for (const [result, words] of rows) assert.equal(askedIn(result), words, JSON.stringify(result));
  assert.equal(wordsOfRequest("a\u001b[31m"), 'asked for "a\\u001b[31m"');
});

Deno.test("an error about a missing capability names it: one row per condition", () => {
  const error = (code: number, requiredCapabilities: unknown) => ({ code, data: { requiredCapabilities } });
  const tasks = { extensions: { "io.modelcontextprotocol/tasks": {} } };
  const rows: readonly (readonly [unknown, string | null])[] = [
    [error(-32021, { sampling: {} }), "asked for a model reply (sampling)"],
    [error(-32003, { elicitation: { url: {} } }), "asked you a question (elicitation)"],
    [error(-32003, tasks), "needs tasks"],
    [error(-32021, { other: {}, more: {} }), "needs other, more"],
    [error(-32602, { sampling: {} }), null],
    [error(-32021, {}), null],
    [error(-32021, "sampling"), null],
    [{ code: -32021 }, null],
    [null, null],
  ];
  for (const [thrown, words] of rows) assert.equal(lackedIn(thrown), words, JSON.stringify(thrown));
});

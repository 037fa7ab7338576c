// What the end of a document means, one row per condition.

import assert from "node:assert/strict";
import { conclude } from "../../cycle/run/stop.ts";
import type { Stop } from "../../cycle/types.ts";
import { lastWordIsModels, nothingToSend } from "../../cycle/plan/open_calls.ts";
import { parse } from "../../parser/mod.ts";
import { block, chatAnswered, chatWith } from "./harness.ts";

const CALL = chatWith(["a", "echo"]);

Deno.test("the model spoke last if its message has content and no calls, and no message of the person follows", () => {
  const rows: readonly (readonly [text: string, models: boolean, nothing: boolean])[] = [
    ["", false, false],
    ["@You:\nhi\n", false, false],
    ["@You:\n\n", false, true],
    ["@You:\n \t\n\n", false, true],
    ["@You:\nhi\n@Assistant:\nyes\n", true, false],
    ["@Assistant:\nyes\n", true, false],
    ["@You:\nhi\n@Assistant:\n\n", false, false],
    ["@Assistant:\nyes\n@Assistant:\n\n", true, false],
    ["@Assistant:\nyes\n@Note:\nwords\n", true, false],
    ["@Assistant:\nyes\n@System:\n\n", true, false],
    ["@Assistant:\n<thinking>\nhm\n</thinking>\n", true, false],
    ["@Assistant:\nyes\n@You:\n\n", false, true],
    ["@Assistant:\nyes\n@You:\nno\n", false, false],
    [CALL, false, false],
    [chatAnswered(CALL, block("a", "pending")), false, false],
  ];
  for (const [text, models, nothing] of rows) {
    const chat = parse(new TextEncoder().encode(text));
    assert.deepEqual([lastWordIsModels(chat), nothingToSend(chat)], [models, nothing], JSON.stringify(text));
  }
});

Deno.test("a step reports what ended it, or else which calls the document waits for, the most urgent first", () => {
  const calls = chatWith(["a", "echo"], ["b", "echo"], ["c", "echo"]);
  const ended = (blocks: readonly string[], yielded: readonly string[] = [], end: Stop | null = null) => {
    const chat = parse(new TextEncoder().encode(chatAnswered(calls, ...blocks)));
    const { reason, ids, line } = conclude(chat, end, yielded);
    return [reason, ids.join(), line !== null].join(" ");
  };
  const done = block("a", "", "out");
  const rows:
    readonly (readonly [blocks: readonly string[], yielded: readonly string[], expected: string])[] = [
      [[block("a", "approved"), block("b", "pending")], ["c"], "throttled a true"],
      [[done, block("b", "pending"), block("c", "approved", "mine")], ["a"], "pending b true"],
      [[done, block("b", "approved", "mine")], ["a"], "protected b true"],
      [[done], ["a"], "yield a true"],
      [[done], [], "stepped  false"],
    ];
  for (const [blocks, yielded, expected] of rows) assert.equal(ended(blocks, yielded), expected);
  const failed: Stop = { reason: "failed", ids: ["x"], line: 7 };
  assert.equal(ended([block("a", "approved")], [], failed), "failed x true");
  const cancelled: Stop = { reason: "cancelled", ids: ["a"], line: null };
  assert.equal(
    ended([block("a", "approved")], [], cancelled),
    "cancelled a true",
    "with the line of its call",
  );
});

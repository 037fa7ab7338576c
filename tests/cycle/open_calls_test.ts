// What stands at the end of a document, one row a condition.

import assert from "node:assert/strict";
import { lastWordIsModels, nothingToSend } from "../../cycle/plan/open_calls.ts";
import { parse } from "../../parser/mod.ts";
import { block, chatAnswered, chatWith } from "./harness.ts";

const CALL = chatWith(["a", "echo"]);

Deno.test("the last word is the model's when it said something, called nothing, and no message of the person follows", () => {
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

// Results as blocks, and a rule for every sentence of the program.

import assert from "node:assert/strict";
import { errorBlock, finalBlock, invalidInput } from "../../cycle/plan/final_block.ts";
import * as sentences from "../../cycle/plan/sentences.ts";

Deno.test("tool output of any type becomes text, and only data is marked as JSON", () => {
  const written = (output: unknown) => {
    const { content, language, error } = finalBlock({ success: true, output });
    assert.equal(error, false);
    return [content, language];
  };
  assert.deepEqual(written("a\n"), ["a\n", ""]);
  assert.deepEqual(written(undefined), ["", ""]);
  assert.deepEqual(written(null), ["", ""]);
  assert.deepEqual(written(1.5), ["1.5", ""]);
  assert.deepEqual(written(false), ["false", ""]);
  assert.deepEqual(written({ a: [1, null] }), ['{"a":[1,null]}', "json"]);
  assert.deepEqual(written([]), ["[]", "json"]);
});

Deno.test("a failed call's result contains the error, then the earlier output, and is never marked as JSON", () => {
  assert.deepEqual(finalBlock({ success: false, error: "bad", output: { n: 1 } }), {
    content: `bad\n\n${sentences.PARTIAL_OUTPUT}\n{"n":1}`,
    error: true,
    language: "",
  });
  assert.equal(finalBlock({ success: false }).content, sentences.UNKNOWN_ERROR);
  assert.equal(finalBlock({ success: false, error: "bad", output: "" }).content, "bad");
});

Deno.test("if JSON cannot express a tool's output, the result is an error, and the program does not crash", () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  const block = finalBlock({ success: true, output: circle });
  assert.equal(block.error, true);
  assert.match(block.content, /cannot be written as JSON/);
});

Deno.test("a NUL byte in tool output is never written to the document", () => {
  assert.equal(finalBlock({ success: true, output: "a\0b" }).content, "a\uFFFDb");
  assert.equal(errorBlock("a\0b").content, "a\uFFFDb");
});

Deno.test("at most five problems of one input are reported", () => {
  assert.equal(invalidInput(["1", "2", "3", "4", "5", "6"]).split("\n").length, 6);
});

Deno.test("no message in a result contains a backtick or a line break, and no two messages are equal", () => {
  const texts = Object.values(sentences).map((sentence) =>
    typeof sentence === "string" ? sentence : sentence("bash", null)
  );
  assert.ok(texts.length >= 9);
  for (const text of texts) assert.doesNotMatch(text, /[`\n]/);
  assert.equal(new Set(texts).size, texts.length);
});

Deno.test("a tool name from the document cannot break the line or the fence of its error result", () => {
  const text = sentences.unknownTool("na`me\nx", "clo`se");
  assert.doesNotMatch(text, /[`\n]/);
  assert.match(text, /na'me x/);
});

Deno.test("output data that JSON omits is treated as empty output", () => {
  assert.equal(finalBlock({ success: true, output: { toJSON: () => undefined } }).content, "");
});

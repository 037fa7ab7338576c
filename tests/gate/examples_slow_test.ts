import assert from "node:assert/strict";
import { PROGRAM } from "../cli/harness.ts";
import { checkExamples, examplesOf, fencesOf, matches } from "../../scripts/gate/examples.ts";
import { ROOT } from "../../scripts/gate/root.ts";

Deno.test("a console block of a page is divided into commands and their output", () => {
  const page = "Text\n\n```console\n$ echo a \\\n  b\na b\n$ true\n```\n\n````md\n```console\n```\n````\n";
  const fences = fencesOf(page);
  assert.deepEqual(fences.map((fence) => fence.info), ["console", "md"]);
  assert.deepEqual(examplesOf(fences[0]!.body), [
    { command: "echo a \\\n  b", output: ["a b"] },
    { command: "true", output: [] },
  ]);
});

Deno.test("an ellipsis in an expected output matches any text or any lines, and everything else must be equal", () => {
  assert.ok(matches(["a…z", "…", "end"], ["a to z", "1", "2", "end"]));
  assert.ok(!matches(["a…z"], ["a to y"]));
  assert.ok(!matches(["a"], ["a", "b"]));
  assert.ok(!matches(["a", "b"], ["a"]));
  assert.ok(!matches(["a.c"], ["abc"]));
});

Deno.test("every example in README and docs prints the output that its page shows", async () => {
  assert.deepEqual(await checkExamples(ROOT, PROGRAM), []);
});

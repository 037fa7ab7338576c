// What a generated prompt lists about a tool, whatever the tool says about itself.

import assert from "node:assert/strict";
import { builtinTools } from "../../tools/builtin/mod.ts";
import { CODING_ASSISTANT, type ToolDefinition } from "../../tools/definition.ts";
import { listedTools } from "../../tools/registration/personality.ts";

function listed(given: Record<string, unknown>, personality = "p") {
  const tool = { name: "t", description: "Does it. And more.", input_schema: {}, ...given } as ToolDefinition;
  const [only] = listedTools([tool], personality);
  return [only!.snippet, ...only!.guidelines];
}

Deno.test("a prompt lists a tool with its text for prompts, or else with the first sentence of its description", () => {
  const rows: readonly (readonly [string, Record<string, unknown>, readonly string[]])[] = [
    ["no words", {}, ["Does it."]],
    ["text for another personality", { personalities: { q: { snippet: "no" } } }, ["Does it."]],
    ["a snippet", { personalities: { p: { snippet: "does" } } }, ["does"]],
    ["a list of snippets", { personalities: { p: { snippet: ["does", "it"] } } }, ["does it"]],
    ["an empty snippet", { personalities: { p: { snippet: "  " } } }, ["Does it."]],
    ["one guideline", { personalities: { p: { guidelines: "Look." } } }, ["Does it.", "Look."]],
    ["guidelines", { personalities: { p: { guidelines: ["A", "", "B"] } } }, ["Does it.", "A", "B"]],
    ["line breaks in the text", { personalities: { p: { snippet: "a\n## b" } } }, ["a ## b"]],
    ["a value that is not a string", { personalities: { p: { snippet: 7, guidelines: [null, "x"] } } }, [
      "Does it.",
      "x",
    ]],
    ["no parts", { personalities: { p: null } }, ["Does it."]],
    ["no description", { description: "" }, [""]],
    ["a description without an end", { description: "x".repeat(300) }, [`${"x".repeat(200)}…`]],
    ["a dot inside a word", { description: "Reads a.txt files. Yes." }, ["Reads a.txt files."]],
  ];
  for (const [name, given, expected] of rows) assert.deepEqual(listed(given), expected, name);
  assert.deepEqual(listed({}, "constructor"), ["Does it."]);
});

Deno.test("every built-in tool has a text for the built-in prompt", () => {
  const silent = builtinTools().filter(({ enabled, personalities }) =>
    enabled !== false && personalities?.[CODING_ASSISTANT]?.snippet === undefined
  );
  assert.deepEqual(silent.map(({ name }) => name), []);
  const tools = listedTools(builtinTools(), CODING_ASSISTANT);
  const snippets = new Map(tools.map(({ name, snippet }) => [name, snippet]));
  assert.equal(snippets.get("bash"), "runs a command in a shell");
  assert.match(tools.find(({ name }) => name === "read")!.guidelines.join(), /Before you change code/);
});

// When `flemma FILE` asks about calls in place.

import assert from "node:assert/strict";
import { readArguments } from "../../commands/line/arguments.ts";
import { asksInPlace } from "../../commands/run/in_place.ts";

Deno.test("flemma FILE asks in place only if all conditions hold: one row per condition", () => {
  const asks = (words: string, variables: Record<string, string> = {}, terminal = true) => {
    const read = readArguments(words.split(" "), (word) => word.endsWith(".chat"));
    assert.equal(read.kind, "run", words);
    if (read.kind !== "run") return;
    return asksInPlace(
      { arguments: read.arguments, environment: { cwd: "/", home: "/", variables } },
      () => terminal,
    );
  };
  const rows: readonly (readonly [string, Record<string, string>, boolean, boolean])[] = [
    ["a.chat", {}, true, true],
    ["a.chat --model x", {}, true, true],
    ["--model x a.chat", {}, true, true],
    ["a.chat", {}, false, false],
    ["advance a.chat", {}, true, false],
    ["a.chat b.chat", {}, true, false],
    ["a.chat", { CI: "true" }, true, false],
    ["a.chat", { CI: "1" }, true, false],
    ["a.chat", { CI: "" }, true, true],
    ["a.chat", { CI: "0" }, true, true],
    ["a.chat", { CI: "False" }, true, true],
    ...[
      "--json",
      "--quiet",
      "-q",
      "--cursor",
      "--events x",
      "--messages x",
      "--no-tools",
      "--only c1",
      "--line 3",
    ]
      .map((option) => [`a.chat ${option}`, {}, true, false] as const),
  ];
  for (const [words, variables, terminal, expected] of rows) {
    assert.equal(asks(words, variables, terminal), expected, `${words} ${JSON.stringify(variables)}`);
  }
});

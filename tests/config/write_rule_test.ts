// Adds a rule to a person's settings file: every other byte stays, and an unclear file is left alone.

import assert from "node:assert/strict";
import { withRule } from "../../config/sources/write_rule.ts";
import { parseSource } from "../../config/sources/yaml.ts";

const RULE = { approve: "bash", command: ["git log -1"] };
const WRITTEN = '{ approve: bash, command: ["git log -1"] }';

async function added(text: string | null, json = false): Promise<string> {
  const made = await withRule(text, RULE, { json });
  return made.ok ? made.value.text : made.problem.code;
}

Deno.test("a new rule is added at the end of tools.rules, in the style of the file", async () => {
  const rows: readonly (readonly [string | null, string])[] = [
    [null, `tools:\n  rules:\n    - ${WRITTEN}\n`],
    ["", `tools:\n  rules:\n    - ${WRITTEN}\n`],
    ["# mine\n", `# mine\ntools:\n  rules:\n    - ${WRITTEN}\n`],
    ["model: m # keep\n", `model: m # keep\ntools:\n  rules:\n    - ${WRITTEN}\n`],
    ["model: m", `model: m\ntools:\n  rules:\n    - ${WRITTEN}\n`],
    ["tools:\n", `tools:\ntools:\n  rules:\n    - ${WRITTEN}\n`],
    [
      "tools:\n  auto_approve: [read] # x\nmodel: m\n",
      `tools:\n  auto_approve: [read] # x\n  rules:\n    - ${WRITTEN}\nmodel: m\n`,
    ],
    [
      "tools:\n    auto_approve:\n      - read\n\n# of the model\nmodel: m\n",
      `tools:\n    auto_approve:\n      - read\n    rules:\n      - ${WRITTEN}\n\n# of the model\nmodel: m\n`,
    ],
    [
      "tools:\n  rules:\n  - { deny: write } # a\n  presets: {}\n",
      `tools:\n  rules:\n  - { deny: write } # a\n  - ${WRITTEN}\n  presets: {}\n`,
    ],
    [
      "tools:\n  rules:\n    -   deny: write\n        path: a\n",
      `tools:\n  rules:\n    -   deny: write\n        path: a\n    -   ${WRITTEN}\n`,
    ],
    ["tools:\n  rules:\n    - deny: write", `tools:\n  rules:\n    - deny: write\n    - ${WRITTEN}\n`],
    ["tools:\n  rules: []\n", `tools:\n  rules: [${WRITTEN}]\n`],
    ["tools:\n  rules: [{ deny: write }]\n", `tools:\n  rules: [{ deny: write }, ${WRITTEN}]\n`],
    ["tools:\n  rules: [{ deny: write }, ]\n", `tools:\n  rules: [{ deny: write }, ${WRITTEN} ]\n`],
    ["tools: { auto_approve: [read] }\n", `tools: { auto_approve: [read], rules: [${WRITTEN}] }\n`],
    ["tools: {}\n", `tools: {rules: [${WRITTEN}]}\n`],
    ["{ model: m }\n", `{ model: m, "tools": { "rules": [${WRITTEN}] } }\n`],
  ];
  for (const [text, expected] of rows) {
    if (text === "tools:\n") assert.equal(await added(text), "settings-unchanged", "a key without a value");
    else assert.equal(await added(text), expected, JSON.stringify(text));
  }
});

Deno.test("a rule added to a JSON settings file is written as JSON", async () => {
  const written = JSON.stringify(RULE);
  const rows: readonly (readonly [string | null, string])[] = [
    [null, `{ "tools": { "rules": [${written}] } }\n`],
    ["{}", `{"tools": { "rules": [${written}] }}`],
    ['{ "model": "m" }\n', `{ "model": "m", "tools": { "rules": [${written}] } }\n`],
    ['{\n  "tools": {\n    "rules": []\n  }\n}\n', `{\n  "tools": {\n    "rules": [${written}]\n  }\n}\n`],
    ['{"tools":{"rules":[{"deny":"write"}]}}', `{"tools":{"rules":[{"deny":"write"}, ${written}]}}`],
    ['{"tools":{}}', `{"tools":{"rules": [${written}]}}`],
  ];
  for (const [text, expected] of rows) {
    const found = await added(text, true);
    assert.equal(found, expected, JSON.stringify(text));
    JSON.parse(found);
  }
});

Deno.test("if the list of rules is written in a form that cannot be extended, the settings file stays unchanged", async () => {
  for (
    const text of [
      "tools: &a { rules: [] }\nother: *a\n",
      "base: &b [{ deny: write }]\ntools:\n  rules: *b\n",
      "tools:\n  rules: { $append: [{ deny: write }] }\n",
      "tools.rules: [{ deny: write }]\n",
      "tools: x\n",
      "- a\n",
      "tools: [\n",
    ]
  ) {
    const found = await added(text);
    if (found === "settings-unchanged") continue;
    const read = await parseSource(found);
    assert.fail(`${JSON.stringify(text)} became ${found}: ${JSON.stringify(read)}`);
  }
});

Deno.test("after a rule is added, its line in the file is reported", async () => {
  const rows: readonly (readonly [string | null, number])[] = [[null, 3], ["a: 1\n", 4], [
    "tools:\n  rules:\n    - { deny: write }\nmodel: m\n",
    4,
  ]];
  for (const [text, line] of rows) {
    const made = await withRule(text, RULE, { json: false });
    assert.ok(made.ok);
    assert.equal(made.value.line, line);
    assert.match(made.value.text.split("\n")[line - 1]!, /git log -1/);
  }
});

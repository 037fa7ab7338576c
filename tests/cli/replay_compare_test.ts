import assert from "node:assert/strict";
import { differences } from "../../commands/run/replay/compare.ts";
import { hadRun, recordingOf } from "../../commands/run/replay/recording.ts";
import { formatJunit, formatTap, type Replayed } from "../../commands/run/replay/report.ts";
import { parse } from "../../parser/mod.ts";
import { builtinTools } from "../../tools/builtin/mod.ts";
import type { ToolOrigin } from "../../tools/definition.ts";
import { ToolRegistry } from "../../tools/registry.ts";

const differ = (expected: string, found: string, errors = [false, false]) =>
  differences({ content: expected, isError: errors[0]! }, { content: found, isError: errors[1]! });

Deno.test("a replay compares results word by word and shows a mismatch as a diff with surrounding lines", () => {
  const rows: [expected: string, found: string, diff: string[]][] = [
    ["a\nb", "a\nb", []],
    ["a\nb\n", "a\nb", []],
    ["", "", []],
    ["a\nb\nc\nd", "a\nb\nx\nd", ["  b", "- c", "+ x", "  d"]],
    ["a", "a\nb", ["  a", "+ b"]],
    ["a\nb", "b", ["- a", "  b"]],
    ["took <any>\nend", "took 3 s\nend", []],
    ["<any>", "anything", []],
    ["took <any>", "used 3 s", ["- took <any>", "+ used 3 s"]],
    ["<any>", "two\nlines", ["  two", "+ lines"]],
    ["~/\\d+ passed/", "12 passed", []],
    ["~/\\d+ passed/", "12 passed, 1 failed", ["- ~/\\d+ passed/", "+ 12 passed, 1 failed"]],
    ["~/a.*z/", "a\nb\nz", []],
    ["~/a/ and more", "a", ["- ~/a/ and more", "+ a"]],
  ];
  for (const [expected, found, diff] of rows) assert.deepEqual(differ(expected, found), diff, expected);
  assert.deepEqual(differ("a", "a", [true, false]), ["- (error)", "+ (no error)"]);
  assert.match(differ("~/(/", "a")[0]!, /^! ~\/\(\/ is not a valid regular expression/);
});

const CALL = (id: string, name = "bash") =>
  `**Tool Use:** \`${name}\` (\`${id}\`)\n\n\`\`\`json\n{}\n\`\`\`\n`;
const RESULT = (id: string, text: string, error = false) =>
  `**Tool Result:** \`${id}\`${error ? " (error)" : ""}\n\n\`\`\`\n${text}\n\`\`\`\n`;

Deno.test("a refused call is not taken for a call that ran, whatever the wording of the refusal", () => {
  const rows: [tool: string, text: string, error: boolean, ran: boolean, replacedBy?: ToolOrigin][] = [
    ["bash", "fine", false, true],
    ["bash", "x\n\nThe command failed with exit code 2.", true, true],
    ["bash", "x\n\nThe command ended with exit code 2.", true, true], // as earlier versions wrote it
    ["bash", "Use the staging host.", true, false],
    ["bash", "The user rejected this call; it did not run.", true, false],
    ["bash", "This call was denied by policy and did not run.", true, false],
    ["edit", "The text was not found.", true, true],
    ["edit", "The user rejected this call; it did not run.", true, false],
    ["calculator", "The expression ends too early.", true, true],
    ["skill", "Not this one.", true, false],
    ["deploy", "Not on a Friday.", true, false],
    ["edit", "The text was not found.", true, false, "host"],
    ["edit", "The text was not found.", true, false, "module"],
    ["ls", "Not this folder.", true, false, "file"],
    ["bash", "x\n\nThe command failed with exit code 2.", true, false, "module"],
    ["edit", "fine", false, true, "module"],
  ];
  const builtin = new ToolRegistry();
  builtin.registerFrom("built-in", builtinTools());
  for (const [tool, text, error, ran, replacedBy] of rows) {
    const tools = new ToolRegistry({ below: [builtin] });
    if (replacedBy !== undefined) tools.registerFrom(replacedBy, { ...builtin.get(tool)! });
    const chat = parse(
      new TextEncoder().encode(
        `@You:\nGo.\n\n@Assistant:\n${CALL("c1", tool)}\n@You:\n\n${RESULT("c1", text, error)}`,
      ),
    );
    const [, step] = recordingOf(chat).steps;
    assert.ok(step?.do === "result");
    assert.equal(hadRun(step.result, tools.get(tool)), ran, `${tool}: ${text}`);
  }
});

Deno.test("a replay sends results before the text in the same message, and does not send a question without a reply", () => {
  const text = `@System:\nBe brief.\n\n@You:\nGo.\n\n@Assistant:\nI will.\n\n${CALL("c1")}\n@You:\n\n${
    RESULT("c1", "out")
  }\nAnd faster.\n\n@Assistant:\n\\@You: is a marker.\n\n@You:\nThanks.\n`;
  const { beginning, steps } = recordingOf(parse(new TextEncoder().encode(text)));
  assert.equal(new TextDecoder().decode(beginning), "@System:\nBe brief.\n\n@You:\nGo.\n\n");
  assert.deepEqual(steps.map((step) => step.do === "say" ? step.text : step.do), [
    "reply",
    "result",
    "And faster.",
    "reply",
  ]);
  const last = steps.at(-1);
  assert.deepEqual(last?.do === "reply" && last.blocks, [{ text: "\\@You: is a marker." }]);
});

Deno.test("TAP and JUnit reports have the same content, and no result text can break their format", () => {
  const recorded = { id: "c#1", name: "bash", line: 7, content: "", isError: false, ran: true };
  const found = { content: "", isError: false, language: "", attachments: [] } as const;
  const replayed: Replayed[] = [{
    file: "a&b.chat",
    problem: null,
    played: [
      { recorded, helper: null, differs: [], found },
      { recorded, helper: null, differs: ["- <a>", "+ \u0001]]>"], found },
      { recorded, helper: null, differs: [], found: null },
    ],
  }, { file: "c.chat", played: [], problem: { code: "x", message: "It stopped." } }];
  assert.equal(
    formatTap(replayed),
    [
      "TAP version 14",
      "1..4",
      "ok 1 - a&b.chat: bash c\\#1, line 7",
      "not ok 2 - a&b.chat: bash c\\#1, line 7",
      "  ---",
      "  diff: |",
      "    - <a>",
      "    + \\x01]]>",
      "  ...",
      "ok 3 - a&b.chat: bash c\\#1, line 7 # SKIP was not run when recorded, and is not run now",
      "not ok 4 - c.chat: replayed to the end",
      "  ---",
      "  diff: |",
      "    It stopped.",
      "  ...",
      "",
    ].join("\n"),
  );
  const xml = formatJunit(replayed);
  assert.match(xml, /<testsuite name="a&amp;b\.chat" tests="3" failures="1" errors="0" skipped="1">/);
  assert.match(xml, /<failure message="differs from the recording">- &lt;a&gt;\n\+ \\x01\]\]&gt;<\/failure>/);
  assert.match(xml, /<error message="It stopped\."\/>/);
});

// Which questions to helpers are refused, and how helpers are called.

import assert from "node:assert/strict";
import {
  questionProblems,
  readQuestion,
  refuseCycle,
  refuseQuestion,
} from "../../agent/runtime/helpers/bounds.ts";
import {
  depthOf,
  helperLine,
  helperPath,
  isHelperName,
  nameForPreset,
  nameOfHelper,
  unusedName,
} from "../../agent/runtime/helpers/names.ts";
import { failedHelper, helperResult } from "../../agent/runtime/helpers/outcome.ts";
import { helperOf, setWaiting } from "../../parser/edits/result_block.ts";
import { applyEdits } from "../../parser/edits/edit.ts";
import { parse } from "../../parser/mod.ts";

const FACTS = {
  bounds: { depth: 1, max_concurrent: 4, max_calls: 8, max_turns: 20 },
  depth: 0,
  asked: 0,
  presets: ["$review", "$cheap"],
};
const QUESTION = readQuestion({ question: "Why?" });

Deno.test("questions are refused for each bound, with the setting or the remedy", () => {
  const rows: readonly [Partial<typeof QUESTION>, Partial<typeof FACTS>, RegExp | null][] = [
    [{}, {}, null],
    [{ name: "a-1" }, {}, null],
    [{ document: "a-1" }, {}, null],
    [{ preset: "$review" }, {}, null],
    [{}, { asked: 7 }, null],
    [{}, { asked: 8 }, /8 times, which is the limit \(subagents\.max_calls\)/],
    [{}, { depth: 1 }, /helpers may be 1 deep \(subagents\.depth\)/],
    [{}, { bounds: { ...FACTS.bounds, depth: 0 } }, /helpers may be 0 deep/],
    [{ name: "a", document: "b" }, {}, /not both/],
    [{ name: "../a" }, {}, /The name "\.\.\/a" is not a name of a helper/],
    [{ document: "a/b" }, {}, /The document "a\/b" is not a name of a helper/],
    [{ document: "a", preset: "$review" }, {}, /keeps its preset/],
    [
      { preset: "$other" },
      {},
      /There is no preset "\$other"\. There are: \$review, \$cheap|\$review and \$cheap/,
    ],
    [{ preset: "$other" }, { presets: [] }, /The user has no presets/],
  ];
  for (const [question, facts, expected] of rows) {
    const found = refuseQuestion({ ...QUESTION, ...question }, { ...FACTS, ...facts });
    if (expected === null) assert.equal(found, null);
    else assert.match(found ?? "", expected);
  }
});

Deno.test("a document that is advanced above is refused", () => {
  assert.equal(refuseCycle("/a.chat.d/b.chat", ["/a.chat"]), null);
  assert.match(refuseCycle("/a.chat", ["/a.chat", "/a.chat.d/b.chat"]) ?? "", /already being advanced/);
});

Deno.test("names of helpers lead to no other folder", () => {
  for (const name of ["a", "a-1", "9", "-", "a".repeat(40)]) assert.ok(isHelperName(name), name);
  for (const name of ["", "A", "a.b", "..", "a/b", "a b", "ä", "a\n", "a".repeat(41)]) {
    assert.ok(!isHelperName(name), name);
  }
  assert.equal(unusedName("a", () => false), "a");
  assert.equal(unusedName("a", (name) => ["a", "a-2"].includes(name)), "a-3");
  assert.equal(unusedName("a".repeat(40), (name) => name.length === 40 && !name.endsWith("-2")).length, 40);
  assert.equal(nameForPreset(null), "helper");
  assert.equal(nameForPreset("$Big_Review"), "big-review");
  assert.equal(nameForPreset("$…"), "helper");
  assert.equal(helperPath("/x/n.chat", "a"), "/x/n.chat.d/a.chat");
  assert.equal(nameOfHelper("/x/n.chat.d/a.chat"), "a");
  assert.equal(depthOf("/x/n.chat"), 0);
  assert.equal(depthOf("/x/n.chat.d/a.chat.d/b.chat"), 2);
  assert.equal(helperLine("/x/n.chat", "a"), "Helper: a (n.chat.d/a.chat)");
});

Deno.test("wrong inputs are named member by member", () => {
  assert.deepEqual(questionProblems({ question: "x", document: null, files: ["a"] }), []);
  assert.deepEqual(questionProblems({ question: " ", name: 1, files: "a", more: 1 }), [
    "/question: must be a text",
    "/name: must be a text or null",
    "/files: must be a list of paths or null",
    "/more: is not a parameter of this tool",
  ]);
});

const HELPER = {
  name: "a",
  document: "n.chat.d/a.chat",
  line: "Helper: a (n.chat.d/a.chat)",
  notes: ["Branch: x"],
};
const SAID = { reply: "So far.", open: [] };

Deno.test("the end of a helper is a result, an error that names it, or leaves the call open", () => {
  const problem = { code: "x", message: "It broke." };
  assert.deepEqual(helperResult({ reason: "done" }, HELPER, SAID), {
    success: true,
    output: "So far.\n\nBranch: x\nHelper: a (n.chat.d/a.chat)",
  });
  assert.match(
    String(helperResult({ reason: "done", problem }, HELPER, SAID).output),
    /^So far\.\n\n\[It broke\.\]\n\n/,
  );
  for (
    const reason of ["turn-limit", "cut", "empty", "failed", "cancelled", "repeats", "context-full"] as const
  ) {
    const found = helperResult({ reason, problem: reason === "failed" ? problem : undefined }, HELPER, SAID);
    assert.equal(found.waits, undefined, reason);
    assert.match(
      found.error ?? "",
      /^The helper .*\.\n\nWhat it wrote last:\n\nSo far\.\n\nBranch: x\nHelper: a/,
    );
  }
  for (
    const reason of [
      "pending",
      "protected",
      "unanswered",
      "stepped",
      "yield",
      "diagnostics",
      "conflict",
    ] as const
  ) {
    const found = helperResult({ reason, problem }, HELPER, SAID);
    assert.equal(found.waits?.helper, "a", reason);
    assert.equal(found.waits?.ends, undefined, reason);
  }
  for (const reason of ["budget", "limited"] as const) {
    assert.equal(helperResult({ reason, problem }, HELPER, SAID).waits?.ends, problem);
  }
  const open = [{ id: "c", preview: "bash: ls" }, { id: "d", preview: "bash: rm" }];
  const waits = helperResult({ reason: "pending" }, HELPER, { reply: "", open }).waits;
  assert.equal(waits?.message, "The helper a (n.chat.d/a.chat) waits for you: bash: ls and 1 more.");
  assert.equal(failedHelper(HELPER, "No.").error, "No.\n\nBranch: x\nHelper: a (n.chat.d/a.chat)");
});

Deno.test("the header of a waiting call names its helper, in both spellings of the status", () => {
  const call = "@You:\nx\n\n@Assistant:\n**Tool Use:** `ask_document` (`c`)\n\n```json\n{}\n```\n\n@You:\n\n";
  const rows = [
    [
      "**Tool Result:** `c`\n\n```flemma:tool status=approved\n```\n",
      "a",
      "`c` (helper=a)\n\n```flemma:tool status=pending\n",
    ],
    ["**Tool Result:** `c` (approved)\n\n```\n```\n", "a", "`c` (pending helper=a)\n\n```\n"],
    ["**Tool Result:** `c` (approved helper=b)\n\n```\n```\n", "a", "`c` (pending helper=a)\n\n```\n"],
    [
      "**Tool Result:** `c` (x=1)\n\n```flemma:tool status=approved\n```\n",
      "007",
      '`c` (x=1 helper="007")\n',
    ],
    ["**Tool Result:** `c` (approved)\n\n```\n```\n", "nil", '`c` (pending helper="nil")\n'],
  ] as const;
  for (const [block, name, expected] of rows) {
    const chat = parse(new TextEncoder().encode(call + block));
    const bytes = applyEdits(chat.bytes, setWaiting(chat, chat.result("c")!, name, "fence"));
    const text = new TextDecoder().decode(bytes);
    assert.ok(text.includes(expected), text);
    const after = parse(bytes).result("c")!;
    assert.deepEqual([after.status, helperOf(after)], ["pending", name]);
  }
});

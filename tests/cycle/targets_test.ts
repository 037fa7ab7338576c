// From a line, an id or a name to calls.

import assert from "node:assert/strict";
import { callAtLine, resolveTargets, shortCallName, type TargetSpec } from "../../cycle/plan/targets.ts";
import { problemLine } from "../../base/problem.ts";
import { parse } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";
import { block, callsOf, chatAnswered, chatWith } from "./harness.ts";

function read(text: string): Chat {
  return parse(new TextEncoder().encode(text));
}

/** What every line of a document points at: an id, or `-`. */
function byLine(text: string): string {
  const chat = read(text);
  return Array.from({ length: chat.lineCount }, (_, index) => {
    const found = callAtLine(chat, index + 1);
    return found.ok ? found.value : "-";
  }).join(" ");
}

function targets(text: string, spec: TargetSpec): readonly string[] | string {
  const found = resolveTargets(read(text), spec);
  return found.ok ? found.value : found.problem.code;
}

Deno.test("a line of a message with calls selects the nearest call; if two calls are equally near, it selects the earlier one", () => {
  //          1       2    3   4..8 use a                      9  10..14 use b            15 16
  const text = "@Assistant:\nI\n\n**Tool Use:** `t` (`a`)\n\n```json\n{}\n```\n\n" +
    "**Tool Use:** `t` (`b`)\n\n```json\n{}\n```\n\nend\n";
  assert.equal(byLine(text), "a a a a a a a a a b b b b b b b");
});

Deno.test("a line of the message with the results selects the nearest result that has a call, or else the last call", () => {
  const calls =
    "@Assistant:\n**Tool Use:** `t` (`a`)\n\n```json\n{}\n```\n\n**Tool Use:** `t` (`b`)\n\n```json\n{}\n```\n";
  assert.equal(byLine(`${calls}@You:\nx\n`).split(" ").slice(12).join(" "), "b b");
  assert.equal(
    byLine(`${calls}@You:\n${block("zz")}${block("a")}end\n`).split(" ").slice(12).join(" "),
    "a a a a a a a a a a",
  );
});

Deno.test("lines of frontmatter, of system messages and of messages without calls select no call", () => {
  assert.equal(
    byLine("```json\n{}\n```\n@System:\ns\n@You:\nhi\n@Assistant:\nyes\n@You:\nok\n").replaceAll(" ", ""),
    "-".repeat(11),
  );
});

Deno.test("if no call belongs to a line, the error names the nearest calls, or says that there are none", () => {
  const sentence = (text: string, line: number) => {
    const found = callAtLine(read(text), line);
    return found.ok ? found.value : problemLine(found.problem);
  };
  const none = "No call belongs to line 1. The document has no calls.";
  assert.equal(sentence("@You:\nhi\n", 1), none);
  assert.equal(sentence("@You:\nhi\n@Assistant:\nyes\n@You:\nok\n", 5).replace("5", "1"), none);
  assert.equal(sentence("@You:\nhi\n@Assistant:\nyes\n", 3).replace("3", "1"), none);
  assert.equal(
    sentence(TEXT, 1),
    "No call belongs to line 1. The nearest: call_1 (line 7), call_12 (line 13)",
  );
});

const TEXT = chatAnswered(
  chatWith(["call_1", "bash"], ["call_12", "bash"], ["other", "read"], ["done", "read"]),
  block("call_1", "pending"),
  block("call_12", "pending"),
  block("other", "pending"),
  block("done", "", "x"),
);

Deno.test("a complete id takes precedence over a prefix of another id; a prefix needs four characters and must be unique", () => {
  assert.deepEqual(targets(TEXT, { kind: "id", text: "call_1" }), ["call_1"]);
  assert.deepEqual(targets(TEXT, { kind: "id", text: "othe" }), ["other"]);
  assert.deepEqual(targets(TEXT, { kind: "id", text: "ther" }), ["other"]);
  assert.equal(targets(TEXT, { kind: "id", text: "oth" }), "unknown-call");
  assert.equal(targets(TEXT, { kind: "id", text: "her" }), "unknown-call");
  assert.equal(targets(TEXT, { kind: "id", text: "l_12x" }), "unknown-call");
  assert.deepEqual(targets(TEXT, { kind: "id", text: "l_12" }), ["call_12"]);
  assert.equal(targets(TEXT, { kind: "id", text: "call_" }), "target-ambiguous");
  assert.equal(targets(TEXT, { kind: "id", text: "nope" }), "unknown-call");
  assert.equal(targets(TEXT, { kind: "id", text: "" }), "unknown-call");
});

Deno.test("a tool name and --all select pending calls only", () => {
  assert.deepEqual(targets(TEXT, { kind: "tool", name: "bash" }), ["call_1", "call_12"]);
  assert.deepEqual(targets(TEXT, { kind: "tool", name: "read" }), ["other"]);
  assert.equal(targets(TEXT, { kind: "tool", name: "write" }), "no-pending-call");
  assert.deepEqual(targets(TEXT, { kind: "all" }), ["call_1", "call_12", "other"]);
  assert.equal(targets("@You:\nhi\n", { kind: "all" }), "no-pending-call");
});

Deno.test("without a target, the only pending call is selected", () => {
  const single = callsOf("t", { a: "pending", b: "approved" });
  assert.deepEqual(targets(single, { kind: "only" }), ["a"]);
  assert.equal(targets(TEXT, { kind: "only" }), "target-needed");
  assert.equal(targets("@You:\nhi\n", { kind: "only" }), "no-pending-call");
});

Deno.test("a block whose call is missing, as in a fragment of a document, can be selected by its id", () => {
  const fragment = `@You:\n${block("c1", "pending")}`;
  assert.deepEqual(targets(fragment, { kind: "only" }), ["c1"]);
  assert.deepEqual(targets(fragment, { kind: "id", text: "1" }), ["c1"]);
  assert.equal(targets(fragment, { kind: "id", text: "2" }), "unknown-call");
});

Deno.test("a number selects the call at that position in the document, whatever happened to the other calls", () => {
  for (const sign of ["", "#"]) {
    const named = [1, 2, 3, 4].map((number) => targets(TEXT, { kind: "id", text: `${sign}${number}` }));
    assert.deepEqual(named, [["call_1"], ["call_12"], ["other"], ["done"]]);
    for (const none of ["0", "5", "01x", "-1", "99999999999999999999"]) {
      assert.equal(targets(TEXT, { kind: "id", text: `${sign}${none}` }), "unknown-call", none);
    }
  }
});

Deno.test("an exact id takes precedence over a number, and a number over a prefix of an id", () => {
  const text = chatWith(["2", "t"], ["#1", "t"], ["a3333", "t"], ["b", "t"]);
  assert.deepEqual(targets(text, { kind: "id", text: "2" }), ["2"]);
  assert.deepEqual(targets(text, { kind: "id", text: "#1" }), ["#1"]);
  assert.deepEqual(targets(text, { kind: "id", text: "1" }), ["2"]);
  assert.deepEqual(targets(text, { kind: "id", text: "#2" }), ["#1"]);
  assert.deepEqual(targets(text, { kind: "id", text: "3333" }), ["a3333"]);
});

Deno.test("the short name of a call is its id if that is short, or else its number, and always selects the call", () => {
  const long = "toolu_01ABCDEFGHIJKLMNOPQRSTUVW";
  const rows: readonly (readonly [string, string])[] = [
    ["call_1", "call_1"],
    [long, "2"],
    ["--all", "3"],
    ["a b", "4"],
    // Somebody else has its number for an id.
    ["6", "6"],
    [`${long}x`, `${long}x`],
  ];
  const chat = read(chatWith(...rows.map(([id]) => [id, "t"] as [string, string])));
  for (const [id, name] of rows) {
    assert.equal(shortCallName(chat, id), name);
    assert.deepEqual(resolveTargets(chat, { kind: "id", text: name }), { ok: true, value: [id] });
  }
  assert.equal(shortCallName(chat, "none"), "none");
  const twice = read(chatWith(["the_same_id", "t"], ["other_call", "t"], ["the_same_id", "t"]));
  assert.equal(shortCallName(twice, "the_same_id"), "3");
});

Deno.test("a line number selects exactly one call, and a number past the end means the last line", () => {
  const line = read(TEXT).call("other")?.place.start ?? 0;
  assert.deepEqual(targets(TEXT, { kind: "line", line }), ["other"]);
  const last = read(TEXT).turns.at(-1)!.place.end;
  for (const past of [last + 1, 9999]) {
    assert.deepEqual(
      targets(TEXT, { kind: "line", line: past }),
      targets(TEXT, { kind: "line", line: last }),
    );
  }
  assert.equal(targets(TEXT, { kind: "line", line: 0 }), "no-call-here");
});

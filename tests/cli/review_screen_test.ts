// Terminal lines for a call, one key per read, and rules as lines.

import assert from "node:assert/strict";
import { extendLine, readKey, type TypedLine } from "../../commands/approval/review/keys.ts";
import { formatRule, ruleFrom } from "../../commands/approval/review/rule_line.ts";
import { sentence, wrapLine } from "../../render/terminal/lines.ts";
import { displayWidth } from "../../base/width.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("a wrapped line keeps its text, each piece fits the width, and wrapping takes linear time", () => {
  const lines = [
    "",
    "a",
    "ab".repeat(40),
    "日本語テキスト".repeat(20),
    "👩‍👩‍👧 x".repeat(30),
    "e\u0301".repeat(200),
    "x".repeat(200_000),
  ];
  for (const line of [...lines, "é".repeat(50_000)]) {
    for (const width of [1, 2, 7, 40, 80]) {
      if (line.length > 10_000 && width < 40) continue;
      const pieces = wrapLine(line, width);
      assert.equal(pieces.join(""), line);
      for (const piece of pieces) assert.ok(displayWidth(piece) <= Math.max(width, 2), JSON.stringify(piece));
    }
  }
});

Deno.test("a sentence is broken between words, and inside a word only where it has to be", () => {
  assert.deepEqual(sentence("one two three", 7), ["one two", "three"]);
  assert.deepEqual(sentence("one abcdefghij", 5), ["one", "abcde", "fghij"]);
  assert.deepEqual(sentence("", 5), [""]);
});

Deno.test("terminal input is accepted as a key only if one read contains exactly one key that is not an arrow key", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["y", "y"],
    ["Y", "Y"],
    ["é", "é"],
    [" ", "space"],
    ["\r", "enter"],
    ["\x03", "ctrl-c"],
    ["\x04", "ctrl-d"],
    ["\x1b", "escape"],
    ["yy", "none"],
    ["y\r", "none"],
    ["\x1b[A", "none"],
    ["\x1bOy", "none"],
    ["\x1b[200~y\x1b[201~", "none"],
    ["\x19", "none"],
    ["", "none"],
  ];
  for (const [read, key] of rows) assert.equal(readKey(bytes(read)), key, JSON.stringify(read));
});

Deno.test("a typed line accepts letters and corrections until the person ends the line, and drops all input after its end", () => {
  const rows: readonly (readonly [readonly string[], string, TypedLine["state"]])[] = [
    [["ab", "c", "\r"], "abc", "done"],
    [["ab\x7fc\r"], "ac", "done"],
    [["é\x08e\r"], "e", "done"],
    [["one two\x17", "\r"], "one ", "done"],
    [["abc\x15x\r"], "x", "done"],
    [["a\rrm -rf"], "a", "done"],
    [["a", "\x1b[D", "b\r"], "ab", "done"],
    [["a\x1b"], "a", "left"],
    [["\x04"], "", "left"],
    [["a\x04\r"], "a", "done"],
    [["a\x03"], "a", "gone"],
    [["a\x00\x9b31mb\r"], "a31mb", "done"],
    [["a"], "a", "typing"],
  ];
  for (const [reads, text, state] of rows) {
    let line: TypedLine = { text: "", state: "typing" };
    for (const read of reads) line = extendLine(line, bytes(read));
    assert.deepEqual(line, { text, state }, JSON.stringify(reads));
  }
});

Deno.test("a rule that was formatted as a line can be parsed again, even after a person edits the line", () => {
  const proposed = {
    written: {
      approve: "bash",
      command: ["cd a", "echo a,b"],
      input: { command: "cd a && echo a,b" },
      sandboxed: true,
    },
    text: "",
  };
  assert.equal(formatRule(proposed), "bash(cd a, echo a\\,b)");
  const made = (line: string) => {
    const rule = ruleFrom(line, proposed);
    return rule.ok ? rule.value : rule.problem;
  };
  assert.deepEqual(made(" bash(cd a, echo a\\,b) "), proposed.written);
  assert.deepEqual(made("bash(cd **)"), { approve: "bash", command: ["cd **"], sandboxed: true });
  assert.deepEqual(made("bash"), { approve: "bash", sandboxed: true });
  assert.match(String(made("bash(")), /tool\(pattern, pattern\)/);
  assert.match(String(made("")), /tool\(pattern, pattern\)/);
  const path = { written: { approve: "read", path: ["/a"] }, text: "" };
  assert.equal(formatRule(path), "read(/a)");
  const wide = ruleFrom("read(/**)", path);
  assert.deepEqual(wide.ok && wide.value, { approve: "read", path: ["/**"] });
  assert.equal(formatRule({ written: { approve: "calculator" }, text: "" }), "calculator");
});

// Calls and conditions as hooks of Claude Code expect them.

import assert from "node:assert/strict";
import * as shell from "npm:unbash@6.0.4";
import { changesInput, claudeCall, claudeResponse } from "../../agent/conversation/hooks/claude_calls.ts";
import { fitsCondition } from "../../agent/conversation/hooks/condition.ts";
import { cutText, joinHookTexts } from "../../agent/conversation/hooks/hook_text.ts";

const PLACE = { folder: "/p", home: "/h" };

for (
  const [tool, input, name, translated, file] of [
    ["bash", { command: "ls", timeout: 3, label: "list" }, "Bash", {
      command: "ls",
      description: "list",
      timeout: 3000,
    }, null],
    ["bash", { command: "ls", timeout: null }, "Bash", { command: "ls" }, null],
    ["read", { path: "a", offset: 2, limit: null }, "Read", { file_path: "/p/a", offset: 2 }, "/p/a"],
    ["write", { path: "~/a", content: "" }, "Write", { file_path: "/h/a", content: "" }, "/h/a"],
    [
      "edit",
      { path: "/x", oldText: "a", newText: "b" },
      "Edit",
      { replace_all: false, file_path: "/x", old_string: "a", new_string: "b" },
      "/x",
    ],
    ["grep", { pattern: "a", path: null, glob: "*.ts" }, "Grep", { pattern: "a", glob: "*.ts" }, null],
    ["find", { pattern: "*.ts", path: "src" }, "Glob", { pattern: "*.ts", path: "/p/src" }, null],
    ["ls", { path: "." }, "LS", { path: "/p" }, null],
    ["memory:read", { id: 1 }, "mcp__memory__read", { id: 1 }, null],
    ["calculator", { expression: "1" }, "calculator", { expression: "1" }, null],
  ] as const
) {
  Deno.test(`a call of ${tool} is passed as ${name} with ${JSON.stringify(translated)}`, () => {
    assert.deepEqual(claudeCall(tool, input, PLACE), { name, input: translated, file });
  });
}

Deno.test("an input that a hook returns unchanged, in any order and with members left out, changes nothing", () => {
  const call = claudeCall("write", { path: "a", content: "x" }, PLACE);
  assert.ok(!changesInput({ content: "x", file_path: "/p/a" }, call));
  assert.ok(!changesInput({ content: "x" }, call));
  assert.ok(changesInput({ content: "y" }, call));
  assert.ok(changesInput({ content: "x", more: 1 }, call));
});

Deno.test("a result is passed with the members that its tool has in Claude Code", () => {
  const call = (tool: string) => claudeCall(tool, { path: "a", command: "x" }, PLACE);
  assert.deepEqual(claudeResponse(call("write"), { success: true }), { filePath: "/p/a", success: true });
  assert.deepEqual(claudeResponse(call("bash"), { success: true, output: "o" }), {
    stdout: "o",
    stderr: "",
    interrupted: false,
    exit_code: 0,
  });
  const status = "The command failed with exit code 3.";
  assert.deepEqual(claudeResponse(call("bash"), { success: false, error: "e", status }), {
    stdout: "e",
    stderr: "",
    interrupted: false,
    exit_code: 3,
  });
  assert.deepEqual(claudeResponse(call("read"), { success: true, output: { a: 1 } }), { content: '{"a":1}' });
});

for (
  const [rule, tool, input, fits] of [
    ["Bash", "bash", { command: "ls" }, true],
    ["Bash(*)", "bash", { command: "ls" }, true],
    ["Bash(git push *)", "bash", { command: "git push origin" }, true],
    ["Bash(git push *)", "bash", { command: "git push" }, true],
    ["Bash(git push:*)", "bash", { command: "ls && git push -f" }, true],
    ["Bash(git push *)", "bash", { command: "git pushed" }, false],
    ["Bash(git push *)", "bash", { command: "echo 'git push'" }, false],
    ["Bash(git push *)", "bash", { command: "$X push" }, true],
    ["Bash(git push *)", "bash", { command: "if (" }, true],
    ["Edit(*.ts)", "edit", { path: "src/a.ts" }, true],
    ["Edit(*.ts)", "edit", { path: "src/a.js" }, false],
    ["Edit|Write(src/**)", "write", { path: "src/a/b" }, true],
    ["Write(src/**)", "write", { path: "lib/b" }, false],
    ["Read(~/.ssh/**)", "read", { path: "~/.ssh/id" }, true],
    ["Read(//etc/*)", "read", { path: "/etc/passwd" }, true],
    ["Edit(*.ts)", "bash", { command: "ls" }, false],
    ["what is this?", "bash", { command: "ls" }, true],
  ] as const
) {
  Deno.test(`the condition ${rule} ${fits ? "matches" : "does not match"} ${tool} ${JSON.stringify(input)}`, async () => {
    const place = { home: "/h", project: "/p", loadShell: () => Promise.resolve(shell) };
    assert.equal(await fitsCondition(rule, claudeCall(tool, input, PLACE), place), fits);
  });
}

Deno.test("texts of hooks have limits, and a line says what was cut", () => {
  assert.equal(cutText("a\0b\r\n"), "a\uFFFDb\n");
  assert.equal(cutText("x".repeat(10_003)), `${"x".repeat(10_000)}\n[cut: 3 more characters]`);
  assert.equal(cutText(`${"x".repeat(9_999)}\u{1F600}`), `${"x".repeat(9_999)}\n[cut: 2 more characters]`);
  const texts = Array.from(
    { length: 5 },
    (_, at) => ({ name: `h${at}`, code: at, text: "y".repeat(10_000) }),
  );
  const joined = joinHookTexts(texts);
  assert.ok(
    joined.length < 30_100 && joined.startsWith("[hook h0]\n") &&
      /\[cut: \d+ more characters\]$/.test(joined),
  );
});

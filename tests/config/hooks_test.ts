// Hooks in the shape of Claude Code: matchers, the words of commands, and mistakes in a table.

import assert from "node:assert/strict";
import { hookName, namedPaths, scriptOf } from "../../config/hooks/command_words.ts";
import { readHooks } from "../../config/hooks/definition.ts";
import { matchesTool } from "../../config/hooks/matcher.ts";

const FROM = { owner: "from", file: "/f" } as const;

for (
  const [matcher, matching, other] of [
    ["", ["Bash"], null],
    ["*", ["anything"], null],
    ["Edit|Write", ["Edit", "edit"], ["MultiEdit"]],
    ["Edit, Write", ["Write"], ["Writer"]],
    ["edit", ["Edit", "edit"], ["Bash", "bash"]],
    ["Edit.*", ["MultiEdit"], ["Write"]],
    ["^Notebook", ["NotebookRead"], ["MyNotebook"]],
    ["mcp__memory__.*", ["mcp__memory__read", "memory:read"], ["mcp__files__read"]],
  ] as const
) {
  Deno.test(`the matcher ${JSON.stringify(matcher)} matches ${matching[0]}${other === null ? "" : `, not ${other[0]}`}`, () => {
    assert.ok(matchesTool(matcher, matching));
    if (other !== null) assert.ok(!matchesTool(matcher, other));
  });
}

const PLACE = { home: "/h", project: "/p" };

for (
  const [command, name, script, paths] of [
    ["~/bin/guard.sh", "guard.sh", "/h/bin/guard.sh", ["/h/bin/guard.sh"]],
    ['python3 "$CLAUDE_PROJECT_DIR"/.claude/a b.py', "a", "/p/.claude/a", [
      "/p/python3",
      "/p/.claude/a",
      "/p/b.py",
    ]],
    ['"$CLAUDE_PROJECT_DIR/a b.sh" x', "a b.sh", "/p/a b.sh", ["/p/a b.sh", "/p/x"]],
    ["${CLAUDE_PROJECT_DIR:-.}/a.sh", "a.sh", "/p/a.sh", ["/p/a.sh"]],
    ["A=1 bash -e ./a.sh --to=/x", "a.sh", "/p/./a.sh", [
      "/p/A=1",
      "/p/1",
      "/p/bash",
      "/p/-e",
      "/p/./a.sh",
      "/p/--to=/x",
      "/x",
    ]],
    ["uv run $HOME/a.py", "a.py", "/h/a.py", ["/p/uv", "/p/run", "/h/a.py"]],
    ["python3 -c 'import x'", "python3", null, ["/p/python3", "/p/-c", "/p/import x"]],
    ["if [ -f ./a.sh ]; then ./a.sh; fi", "a.sh", null, [
      "/p/if",
      "/p/[",
      "/p/-f",
      "/p/./a.sh",
      "/p/]",
      "/p/then",
      "/p/fi",
    ]],
    ["npm test", "npm", null, ["/p/npm", "/p/test"]],
    ["cat $FILE", "cat", null, ["/p/cat"]],
  ] as const
) {
  Deno.test(`the hook ${command} is named ${name}`, () => {
    assert.equal(hookName(command.replace("$CLAUDE_PROJECT_DIR", "/p")), name);
    assert.equal(scriptOf(command, PLACE), script);
    assert.deepEqual(namedPaths(command, PLACE), paths);
  });
}

for (
  const [name, table, fault] of [
    ["an event that is not a list", { Stop: {} }, "Stop must be a list"],
    ["a group that is not a table", { Stop: ["x"] }, "Stop[0] must be a table"],
    ["a matcher that is not a text", { Stop: [{ matcher: 1, hooks: [] }] }, "Stop[0].matcher is not a text"],
    [
      "an invalid expression",
      { PreToolUse: [{ matcher: "(", hooks: [] }] },
      "PreToolUse[0].matcher is not a regular",
    ],
    ["hooks that are missing", { Stop: [{}] }, "Stop[0].hooks must be a list"],
    ["a hook that is not a table", { Stop: [{ hooks: ["x"] }] }, "Stop[0].hooks[0] must be a table"],
    ["an empty command", { Stop: [{ hooks: [{ command: " " }] }] }, "Stop[0].hooks[0].command must be"],
    [
      "a wrong time",
      { Stop: [{ hooks: [{ command: "x", timeout: 0 }] }] },
      "Stop[0].hooks[0].timeout must be",
    ],
    [
      "wrong arguments",
      { Stop: [{ hooks: [{ command: "x", args: [1] }] }] },
      "Stop[0].hooks[0].args must be",
    ],
    [
      "a wrong onFailure",
      { Stop: [{ hooks: [{ command: "x", onFailure: "no" }] }] },
      "Stop[0].hooks[0].onFailure",
    ],
    ["a wrong sandbox", { Stop: [{ hooks: [{ command: "x", sandbox: "no" }] }] }, "Stop[0].hooks[0].sandbox"],
    ["a wrong condition", { Stop: [{ hooks: [{ command: "x", if: 1 }] }] }, "Stop[0].hooks[0].if"],
    ["a table that is a list", [], "hooks must be a table"],
  ] as const
) {
  Deno.test(`${name} is a mistake, and its calls wait`, () => {
    const { faults, hooks } = readHooks(table, FROM);
    assert.ok(faults[0]?.startsWith(fault), faults[0]);
    if (!Array.isArray(table)) assert.ok(hooks[0]?.fault?.startsWith(fault));
  });
}

Deno.test("what cannot run here is named, but not as a mistake", () => {
  const { unsupported, faults, hooks } = readHooks({
    SessionStart: [{ hooks: [{ command: "x" }] }],
    PreToolUse: [{
      matcher: "Bash",
      hooks: [{ type: "prompt", prompt: "x" }, { command: "x", async: true }],
    }],
  }, FROM);
  assert.deepEqual([faults, hooks], [[], []]);
  assert.deepEqual(unsupported.map(({ place, matcher }) => [place, matcher]), [
    ["SessionStart", null],
    ["PreToolUse[0].hooks[0]", "Bash"],
    ["PreToolUse[0].hooks[1]", "Bash"],
  ]);
});

Deno.test("only the person's own settings move a hook out of the sandbox, and no time limit exceeds 600 seconds", () => {
  const table = { Stop: [{ hooks: [{ command: "x", args: ["a b"], sandbox: false, timeout: 6000 }] }] };
  for (
    const [owner, outside, warnings] of [["settings", true, 1], ["from", false, 2], [
      "project",
      false,
      2,
    ]] as const
  ) {
    const read = readHooks(table, { owner, file: "/f" });
    assert.equal(read.hooks[0]?.outside, outside);
    assert.equal(read.hooks[0]?.timeout, 600);
    assert.equal(read.hooks[0]?.command, "x 'a b'");
    assert.equal(read.warnings.length, warnings);
  }
});

// `flemma.opt` beyond the vectors: spellings, refusals, and functions that outlive the frontmatter.

import assert from "node:assert/strict";
import { runLua } from "../lua/lua.ts";

Deno.test("in Lua, every form of setting a value is recorded as one operation on the canonical key", async () => {
  const { draft, problems } = await runLua(`
    flemma.opt.thinking = "low"
    flemma.opt["parameters.temperature"] = 0.5
    flemma.opt.parameters["max_tokens"] = 100
    flemma.opt.parameters = { timeout = 5, anthropic = { thinking_budget = 7 } }
    flemma.opt.tools = { auto_approve = { "read" }, autopilot = false }
    flemma.opt.tools:set({ "bash" })
    local tools = flemma.opt.tools
    tools:append({ "read", "ls" }):remove("bash")
    flemma.opt.tools.approve = flemma.opt.tools.auto_approve + "bash" - "read"
    flemma.opt.tools = (flemma.opt.tools ^ "grep") + "find"
    flemma.opt.model = nil
  `);
  assert.deepEqual(problems, []);
  assert.deepEqual(draft.operations.map(({ op, path, value }) => [op, path.join("."), value]), [
    ["set", "parameters.thinking", { level: "low", foreign: "preserve" }],
    ["set", "parameters.temperature", 0.5],
    ["set", "parameters.max_tokens", 100],
    ["set", "parameters.anthropic.thinking_budget", 7],
    ["set", "parameters.timeout", 5],
    ["set", "tools.auto_approve", ["read"]],
    ["set", "tools.autopilot.enabled", false],
    ["set", "tools", ["bash"]],
    ["append", "tools", "read"],
    ["append", "tools", "ls"],
    ["remove", "tools", "bash"],
    ["append", "tools.auto_approve", "bash"],
    ["remove", "tools.auto_approve", "read"],
    ["prepend", "tools", "grep"],
    ["append", "tools", "find"],
    ["set", "model", null],
  ]);
});

Deno.test("in Lua, reading a setting returns the value that an earlier line wrote to it, even if the line wrote only one of its fields", async () => {
  const { variables, problems } = await runLua(`
    flemma.opt.thinking.level = "max"
    level, foreign = flemma.opt.thinking.level, flemma.opt.parameters.thinking.foreign
    thinking = flemma.opt.thinking
    model, odd = flemma.opt.model, flemma.opt[1]
    name = tostring(flemma.opt.tools.auto_approve)
    kind = type(flemma.opt)
    timeout = flemma.opt.timeout + 1
  `);
  assert.deepEqual(problems, []);
  assert.deepEqual(variables, {
    level: "max",
    foreign: "preserve",
    thinking: { level: "max", foreign: "preserve" },
    name: "flemma.opt.tools.auto_approve",
    kind: "table",
    timeout: 301,
  });
});

Deno.test("an invalid assignment in Lua is refused with an error code, the key and the line", async () => {
  for (
    const [code, expected, key] of [
      ["flemma.opt.nope = 1", "config_unknown_key", "nope"],
      ["local x = flemma.opt.tools.nope", "config_unknown_key", "tools.nope"],
      ['flemma.opt.timeout = "soon"', "config_invalid_value", "parameters.timeout"],
      ["flemma.opt.parameters = 3", "config_not_assignable", "parameters"],
      ["flemma.opt[1] = 2", "config_not_assignable", ""],
      ["flemma.opt.tools[1] = 'bash'", "config_not_assignable", "tools"],
      ["local x = flemma.opt.tools[1]", "config_not_assignable", "tools"],
      ["local x = #flemma.opt.tools.auto_approve", "config_not_assignable", "tools.auto_approve"],
      ["for k in pairs(flemma.opt) do end", "config_not_assignable", ""],
      ["for k in ipairs(flemma.opt.tools) do end", "config_not_assignable", "tools"],
      ["flemma.opt.tools = flemma.opt.tools.auto_approve", "config_not_assignable", "tools"],
      ["flemma.opt.parameters = flemma.opt.tools", "config_not_assignable", "parameters"],
      ["flemma.opt.tools = { flemma.opt.tools }", "config_not_assignable", "tools"],
      ["flemma.opt.tools.auto_approve = { [true] = 'x' }", "config_not_assignable", "tools.auto_approve"],
      ["local t = {}; t[1] = t; flemma.opt.tools = t", "config_not_assignable", "tools"],
      ["local x = flemma.opt.tools + 5", "config_invalid_value", "tools"],
      ["local x = flemma.opt.parameters + 'x'", "config_not_a_list", "parameters"],
      [
        "flemma.opt.tools.auto_approve = function() end\nflemma.opt.tools.auto_approve = flemma.opt.tools.auto_approve",
        "",
        "",
      ],
      ["list = flemma.opt.tools", "config_not_assignable", "tools"],
      ["t = { deep = { flemma.opt.parameters } }", "config_not_assignable", "parameters"],
    ] as const
  ) {
    const { problems } = await runLua(code);
    if (expected === "") assert.deepEqual(problems, [], code);
    else {
      assert.deepEqual(problems.map((problem) => [problem.code, problem.key]), [[expected, key]], code);
      if (!/^(list|t) = /.test(code)) assert.equal(problems[0]!.line, 2, code);
    }
  }
});

Deno.test("misused operators and methods in Lua are errors of the frontmatter", async () => {
  for (
    const code of [
      'local x = "grep" + flemma.opt.tools',
      'flemma.opt.tools.append("bash")',
      'flemma.opt.tools = flemma.opt.tools + "grep" - "write" ^ "bash"',
      "local x = flemma.opt.tools * 2",
      "local x = flemma.opt .. 'x'",
      "flemma.opt()",
    ]
  ) {
    assert.deepEqual((await runLua(code)).codes, ["frontmatter_runtime"], code);
  }
});

Deno.test("appending an item to a function instead of a list gives a specific error; other misuse of functions gives Lua's error", async () => {
  const assigned = "flemma.opt.tools.auto_approve = function() end\n";
  for (
    const code of [
      'flemma.opt.tools.auto_approve:append("x")',
      'flemma.opt.tools.auto_approve:remove("x")',
      'flemma.opt.tools.auto_approve = flemma.opt.tools.auto_approve + "x"',
      'flemma.opt.tools.auto_approve = flemma.opt.tools.auto_approve - { "x" }',
    ]
  ) {
    const { problems } = await runLua(assigned + code);
    assert.deepEqual(problems.map(({ code, key }) => [code, key]), [[
      "config_not_a_list",
      "tools.auto_approve",
    ]]);
  }
  for (const code of ["local x = print.y", "print.x = 1", "local x = 1 - print", "local x = print + 1"]) {
    const { problems } = await runLua(code);
    assert.deepEqual(problems.map(({ code }) => code), ["frontmatter_runtime"], code);
    assert.match(problems[0]!.message, /attempt to (?:index|perform arithmetic on) a function value/);
  }
});

Deno.test("if Lua applies ^ to two strings because of its precedence, the error says where parentheses are missing", async () => {
  const { problems } = await runLua('flemma.opt.tools = flemma.opt.tools + "grep" - "write" ^ "bash"');
  assert.match(problems[0]!.message, /put the part with \^ in parentheses/);
});

Deno.test("Lua settings written before an error are kept, and an error that pcall caught is not reported", async () => {
  const { draft, codes, variables } = await runLua(
    "x = pcall(function() flemma.opt.nope = 1 end)\nflemma.opt.timeout = 9\nflemma.opt.nope = 2\nflemma.opt.timeout = 10",
  );
  assert.deepEqual(codes, ["config_unknown_key"]);
  assert.equal(variables, null);
  assert.deepEqual(draft.operations.map(({ value }) => value), [9]);
});

Deno.test("a caught error about one setting does not affect a later setting", async () => {
  const { problems } = await runLua(
    'local ok, text = pcall(function() flemma.opt.nope = 1 end)\nerror("other: " .. text, 0)',
  );
  assert.deepEqual(problems.map(({ code }) => code), ["frontmatter_runtime"]);
});

Deno.test("an approval function in Lua is called with the tool, its input and the documented names", async () => {
  const { draft, problems } = await runLua(`
    local calls = 0
    flemma.opt.tools.auto_approve = function(tool_name, input, ctx)
      calls = calls + 1
      if tool_name == "loop" then while true do end end
      if tool_name == "raise" then error("no") end
      if tool_name == "deny" then return "deny" end
      return input.command == "ls" and input.none == nil and input.list[2] == 2 and ctx.tool_id == "t1"
        and ctx.bufnr == 1 and ctx.filename == "/srv/talk.chat" and calls
    end
  `);
  assert.deepEqual(problems, []);
  const policy = draft.operations[0]?.value as (
    tool: string,
    input: Record<string, unknown>,
    context: { toolId: string; document: string | null },
  ) => unknown;
  const context = { toolId: "t1", document: "/srv/talk.chat" };
  const input = { command: "ls", none: null, list: [1, 2] };
  assert.equal(policy("bash", input, context), 1);
  assert.equal(policy("deny", input, context), "deny");
  assert.throws(() => policy("loop", input, context), { name: "LuaFailure", limit: true });
  assert.throws(() => policy("raise", input, context), { name: "LuaFailure", message: "no", limit: false });
  assert.equal(policy("bash", input, context), 5);
  assert.equal(policy("bash", { command: "rm", list: [] }, context), false);
});

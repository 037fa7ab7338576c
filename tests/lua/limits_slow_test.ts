// Hostile Lua: each block ends within its budget, with a diagnostic that no pcall can hide, in little memory.

import assert from "node:assert/strict";
import { runLua } from "./lua.ts";

interface Hostile {
  readonly name: string;
  readonly code: string;
  /** What the diagnostic says; several where it depends on the machine which limit comes first. */
  readonly says: RegExp;
}

const steps = /more than 10000000 steps/;
const depth = /more than 200 levels deep/;
const memory = /more than 64 MiB of memory/;
const string = /string of more than 16 MiB/;
const stepsOrSeconds = /more than 10000000 steps|more than 2 seconds/;

const HOSTILE: readonly Hostile[] = [
  { name: "an infinite loop", code: "while true do end", says: steps },
  { name: "an infinite loop of jumps", code: "::a::\ngoto a", says: steps },
  {
    name: "a protected infinite loop",
    code: "while true do pcall(function() while true do end end) end",
    says: steps,
  },
  {
    name: "a loop in a comparison function of sort",
    code: "table.sort({ 3, 2, 1 }, function() while true do end end)",
    says: steps,
  },
  {
    name: "a loop in a replacement function",
    code: '("x"):gsub("x", function() while true do end end)',
    says: steps,
  },
  { name: "recursion", code: "local function f() return 1 + f() end\nf()", says: depth },
  { name: "protected recursion", code: "local function f() pcall(f) end\nf()", says: depth },
  {
    name: "recursion protected by an outer pcall",
    code: "local function f() f() end\nwhile true do pcall(f) end",
    says: depth,
  },
  {
    name: "recursion through gsub",
    code: 'local function f() ("x"):gsub("x", f) end\nf()',
    says: /200 levels deep|C stack overflow/,
  },
  {
    name: "recursion through sort",
    code: "local function f() table.sort({ 1, 2, 3 }, f) end\nf()",
    says: /200 levels deep|C stack overflow/,
  },
  { name: "a text of a gigabyte", code: 'x = string.rep("x", 1e9)', says: /memory|string/ },
  {
    name: "a protected text of a gigabyte",
    code: 'while true do pcall(string.rep, "x", 1e9) end',
    says: /memory|string/,
  },
  { name: "a text that doubles", code: 'local s = "x"\nwhile true do s = s .. s end', says: string },
  {
    name: "a protected text that doubles",
    code: 'local s = "x"\nwhile true do pcall(function() s = s .. s end) end',
    says: string,
  },
  {
    name: "a text that gsub grows",
    code: 'local s = "x"\nwhile true do s = s:gsub("x", "xxxxxxxx") end',
    says: /string|steps|seconds/,
  },
  {
    name: "a huge format",
    code: 'local s = string.rep("x", 1e7)\nx = (("%s"):rep(9)):format(s, s, s, s, s, s, s, s, s)',
    says: /memory|string/,
  },
  {
    name: "a huge join",
    code: 'local s = string.rep("x", 1e6)\nlocal t = {}\nfor i = 1, 1e5 do t[i] = s end\nx = table.concat(t)',
    says: /memory|string/,
  },
  { name: "a huge list", code: "local t = {}\nfor i = 1, 1e9 do t[i] = i end", says: memory },
  {
    name: "a protected huge list",
    code: "local t = {}\nwhile true do pcall(function() for i = 1, 1e9 do t[#t + 1] = {} end end) end",
    says: /memory|steps/,
  },
  {
    name: "a huge table with string keys",
    code: "local t = {}\nfor i = 1, 1e9 do t['k' .. i] = {} end",
    says: memory,
  },
  {
    name: "many closures",
    code: "local t = {}\nfor i = 1, 1e9 do t[i] = function() return i end end",
    says: memory,
  },
  {
    name: "a pattern with exponential backtracking",
    code: 'local s = ("a"):rep(5000)\nx = s:find(("a*"):rep(20) .. "b")',
    says: stepsOrSeconds,
  },
  {
    name: "a pattern of lazy repetitions",
    code: 'local s = ("a"):rep(1e6)\nx = s:match("^(.-)(.-)(.-)b$")',
    says: stepsOrSeconds,
  },
  {
    name: "a protected hostile pattern",
    code: 'local s = ("a"):rep(1e5)\nwhile true do pcall(s.gsub, s, ".-.-.-b", "") end',
    says: stepsOrSeconds,
  },
  {
    name: "balanced matches without end",
    code: 'local s = ("("):rep(1e6)\nx = s:find("%b()")',
    says: stepsOrSeconds,
  },
  {
    name: "a hostile plain search",
    code: 'local s = ("a"):rep(1e7)\nlocal p = ("a"):rep(1e5) .. "b"\nx = s:find(p, 1, true)',
    says: stepsOrSeconds,
  },
  {
    name: "many insertions at the front",
    code: "local t = {}\nfor i = 1, 1e6 do t[i] = i end\nwhile true do table.insert(t, 1, 0) end",
    says: stepsOrSeconds,
  },
  {
    name: "comparisons of long texts",
    code: 'local s = ("x"):rep(1.5e7)\nlocal t = s .. "y"\nwhile true do local x = s < t end',
    says: stepsOrSeconds,
  },
  {
    name: "sorting long texts",
    code: 'local s = ("x"):rep(1e7)\nlocal t = {}\nfor i = 1, 1000 do t[i] = s end\ntable.sort(t)',
    says: stepsOrSeconds,
  },
  { name: "endless printing of short texts", code: "while true do print(1) end", says: steps },
  {
    name: "endless printing of long texts",
    code: 'local s = ("x"):rep(1000)\nwhile true do print(s) end',
    says: stepsOrSeconds,
  },
  {
    name: "settings written without end",
    code: 'while true do pcall(function() flemma.opt.tools:append("bash") end) end',
    says: /steps|seconds|memory/,
  },
  { name: "dates without end", code: 'while true do os.date("%c %c %c") end', says: stepsOrSeconds },
];

for (const { name, code, says } of HOSTILE) {
  Deno.test(`${name} ends with a diagnostic and leaves no variables`, async () => {
    // Where the clock is not the limit in question, a busy machine must not make it one.
    const { variables, problems } = await runLua(
      code,
      says.source.includes("seconds") ? {} : { seconds: 60 },
    );
    assert.equal(variables, null);
    assert.deepEqual(problems.map((problem) => problem.code), ["frontmatter_runtime"]);
    assert.match(problems[0]!.message, says);
  });
}

Deno.test("code that is costly to compile is refused because of its size", async () => {
  const branches = `if x then ${"elseif x then ".repeat(40_000)} end`;
  const { codes, problems } = await runLua(`local x\n${branches}`);
  assert.deepEqual(codes, ["frontmatter_lua_syntax"]);
  assert.match(problems[0]!.message, /longer than 256 KiB/);
});

Deno.test("code that is nested too deeply is refused before it is compiled", async () => {
  for (
    const code of [
      `x = ${"(".repeat(5000)}1${")".repeat(5000)}`,
      `x = ${"{".repeat(5000)}${"}".repeat(5000)}`,
    ]
  ) {
    assert.deepEqual((await runLua(code)).codes, ["frontmatter_lua_syntax"]);
  }
});

Deno.test("reaching a limit is reported with the line where it was reached", async () => {
  const { problems } = await runLua("local a = 1\n\nwhile true do\n  a = a + 1\nend");
  assert.ok([4, 5].includes(problems[0]!.line!), `${problems[0]!.line}`);
});

Deno.test("Lua functions may call one another two hundred levels deep", async () => {
  const { variables } = await runLua(
    "local function f(n) if n == 0 then return 0 end return 1 + f(n - 1) end\nx = f(190)",
  );
  assert.deepEqual(variables, { x: 190 });
});

Deno.test("garbage does not count toward the memory limit: a loop may create far more text than it keeps", async () => {
  const { variables } = await runLua(
    'local n = 0\nfor i = 1, 90 do n = n + #string.rep("x", 1e6) end\nx = n',
    { seconds: 60 },
  );
  assert.deepEqual(variables, { x: 90e6 });
});

Deno.test("the limits apply to each call of a saved function; after a call exceeded a limit, the function works again", async () => {
  const { variables } = await runLua("function f(n)\n  while n < 0 do end\n  return n\nend");
  const f = variables!.f as (n: number) => unknown;
  assert.throws(() => f(-1), { name: "LuaFailure", message: /10000000 steps/, limit: true });
  assert.equal(f(7), 7);
  assert.throws(() => f("x" as unknown as number), { name: "LuaFailure", message: /compare/, limit: false });
});

/** Runs a block in a process of its own; answers the most memory the process ever had, in MiB. */
async function peakOf(code: string): Promise<number> {
  const script = new URL("./hostile.ts", import.meta.url).pathname;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-check", "-A", script],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(code));
  await writer.close();
  const { success, stdout } = await child.output();
  assert.ok(success);
  return JSON.parse(new TextDecoder().decode(stdout)).peakKib / 1024;
}

Deno.test("a process that runs a hostile block stays below 256 MiB", async (t) => {
  const greedy = HOSTILE.filter(({ says }) => /string|memory/.test(says.source));
  assert.ok(greedy.length >= 12);
  for (const { name, code } of greedy) {
    await t.step(name, async () => {
      const peak = await peakOf(code);
      assert.ok(peak > 20, "the figure was read");
      assert.ok(peak < 256, `${Math.round(peak)} MiB`);
    });
  }
});

// The Lua for documents: its dialect, numbers and names, and how variables are passed on.

import assert from "node:assert/strict";
import { toDialect } from "../../lua/vm/dialect.ts";
import { startEngine } from "../../lua/engine.ts";
import { BUILTIN_NAMES } from "../../lua/library/names.ts";
import { runLua } from "./lua.ts";

/** What a block of assignments exports; the block has to hold. */
async function variables(code: string): Promise<Readonly<Record<string, unknown>>> {
  const { variables, problems } = await runLua(code);
  assert.deepEqual(problems, []);
  assert.ok(variables !== null);
  return variables;
}

Deno.test("whole numbers print without a fraction, however they were computed", async () => {
  const { printed, problems } = await runLua(`
    print(10 / 2, 2 ^ 31, "x" .. 1.0, 3.0, -0.5 * 2, 1e15, 1e14, 0.1, 7 / 2)
    print(#"abc" / 1, math.floor(2.7), math.ceil(2.1), select("#", 1, 2), 0x10, 123456789012345678)
    print(string.format("%d %d %i %x %5.1f %s", 3.7, -3.7, "4.9", 255, 2, 5.0), ("x"):rep(2.9), ("abc"):sub(1.9, 2.1))
    print("10" + 5, 10 .. 20, 5 % 3, -5 % 3, 5.5 % 2, 1 / 0, -1 / 0, tostring(2 ^ 53))
  `);
  assert.deepEqual(problems, []);
  assert.deepEqual(printed, [
    "5\t2147483648\tx1\t3\t-1\t1e+15\t1e+14\t0.1\t3.5",
    "3\t2\t3\t2\t16\t1.2345678901235e+17",
    "3 -3 4 ff   2.0 5\txx\tab",
    "15\t1020\t2\t1\t1.5\tinf\t-inf\t9.007199254741e+15",
  ]);
});

Deno.test("Lua arithmetic uses doubles: no number wraps around at 64 bits", async () => {
  assert.deepEqual(
    await variables(
      "a = 9223372036854775807 + 1\nb = 0xffffffffffffffff\nc = 4611686018427387904 * 4\nd = 5 % 0 ~= 5 % 0",
    ),
    { a: 2 ** 63, b: 2 ** 64, c: 2 ** 64, d: true },
  );
});

Deno.test("operators and attributes of later Lua versions are refused with their line", async () => {
  for (
    const [code, line] of [
      ["a = 7 // 2", 2],
      ["a = 1\nb = a & 1", 3],
      ["a = 1 | 2", 2],
      ["a = ~1", 2],
      ["a = 1 ~ 2", 2],
      ["a = 1 << 2", 2],
      ["a = 1 >> 2", 2],
      ["local a <const> = 1", 2],
      ["local a, b <close> = 1", 2],
    ] as const
  ) {
    const { problems, variables } = await runLua(code);
    assert.equal(variables, null);
    assert.deepEqual(
      problems.map(({ code, line }) => [code, line]),
      [["frontmatter_lua_syntax", line]],
      code,
    );
  }
});

Deno.test("text that looks like an operator of a later Lua version is allowed in strings, comments and comparisons", async () => {
  assert.deepEqual(
    await variables([
      `a = "http://x & | ~ << >>"`,
      `b = [[ // ]] .. [==[ & ]] ]==]`,
      "-- a // b & c",
      "--[[ // &\n & ]]",
      "c = 1 ~= 2 and 1 < 2 and 2 >= 1 and 1 <= 2",
      "local d, e = 1, 2; f = d < e",
      `g = '\\'//' .. "\\x41\\z  b"`,
    ].join("\n")),
    { a: "http://x & | ~ << >>", b: " //  & ]] ", c: true, f: true, g: "'//Ab" },
  );
});

Deno.test("digits inside names and strings are unchanged, and concatenation dots are not read as a decimal point", () => {
  assert.equal(
    toDialect('a1 = 1 ..2 .. "3" --4\nb = 0x1F e1 = 1e3 f = .5 g = 3.'),
    'a1 = 1.0 ..2.0 .. "3" --4\nb = 31.0 e1 = 1e3 f = .5 g = 3.',
  );
});

Deno.test("these work: goto, labels, string methods, and string.rep with a separator; unpack and dump do not exist", async () => {
  assert.deepEqual(
    await variables(
      'a = 0\nfor i = 1, 3 do\n  if i == 2 then goto next end\n  a = a + i\n  ::next::\nend\nb = ("x"):upper()\n' +
        'c = string.rep("x", 3, ",")\nd = table.unpack == nil and utf8 == nil and os.getenv == nil and ("x").dump == nil',
    ),
    { a: 4, b: "X", c: "x,x,x", d: true },
  );
});

Deno.test("no function gives access to the environment, to metatables, or to code given as text or bytecode", async () => {
  for (
    const name of [
      ..."_G _ENV getmetatable setmetatable rawget rawset rawequal rawlen next unpack xpcall load loadstring"
        .split(" "),
      ..."loadfile dofile require module package io debug coroutine collectgarbage newproxy getfenv setfenv"
        .split(" "),
      ..."bit bit32 jit ffi arg warn".split(" "),
    ]
  ) {
    const { codes } = await runLua(`x = ${name}`);
    assert.deepEqual(codes, ["frontmatter_undefined_variable"], name);
  }
  const { codes } = await runLua("\x1bLua\x54\x00");
  assert.deepEqual(codes, ["frontmatter_lua_syntax"]);
});

Deno.test("using an undefined name is an error with a suggestion, but using a name that was set to nil is not an error", async () => {
  const { problems } = await runLua("a = nil\nb = a\nc = strinq");
  assert.deepEqual(problems, [{
    code: "frontmatter_undefined_variable",
    severity: "error",
    message: 'the variable "strinq" is not defined',
    suggestion: "string",
    line: 4,
  }]);
});

Deno.test("changing a library table changes it only for the current chunk", async () => {
  assert.deepEqual((await runLua("string.upper = nil\nmath.pi = 3\nformat.number = 1")).problems, []);
  assert.deepEqual(
    await variables('a = string.upper("x")\nb = math.pi > 3.1\nc = format.number(1)\nd = ("x"):upper()'),
    { a: "X", b: true, c: "1", d: "X" },
  );
});

Deno.test("the functions for strings and lists return their documented values", async () => {
  const { printed, problems } = await runLua(`
    print(format.number(1234567.8), format.number(-1234), format.number(12), format.tokens(3999), format.tokens(4500), format.tokens(1200000), format.tokens(2e6))
    print(format.money(0), format.money(3), format.money(1.25), format.money(1.5), format.money(0.0125), format.money(0.05), format.money(0.00123))
    print(format.percent(0.17, 1), format.percent(0.5))
    for item, loop in each({ "a", "b" }) do print(loop.index, loop.index0, loop.first, loop.last, loop.length, item) end
    for item in values({ 1, 2, nil, 4 }) do print(item) end
    local list = { 3, 1, 2 }
    table.sort(list); table.insert(list, 4); table.insert(list, 1, 0)
    print(table.concat(list, ","), table.remove(list), table.remove(list, 1), table.remove(list, 9), #list)
    table.sort(list, function(a, b) return a > b end)
    print(table.concat(list, "-", 2), math.max(1, 3, 2), math.min(2, 1), math.abs(-2), math.round(2.7))
    print(tonumber("0x10"), tonumber("z", 36), tonumber("x"), tonumber(" 5 "), type(math.random()), math.random(2, 2))
    print(os.date("!%Y-%m-%d %H:%M:%S %a %B %j %p", 86400 * 45), os.date("!*t", 0).year, os.difftime(5, 3))
    print(vim.fn.fnamemodify("/a/b/c.tar.gz", ":t:r"), vim.fn.fnamemodify("/a/b", ":h"), vim.fn.fnamemodify("x.md", ":e"))
    print(vim.fn.simplify("./a/../b//c"), vim.fs.normalize("~/x/"), vim.fs.abspath("y"), vim.fn.getcwd())
    print(vim.fn.filereadable("there.md"), vim.fn.filereadable("gone.md"), __filename, __dirname, _VERSION)
  `);
  assert.deepEqual(problems, []);
  assert.deepEqual(printed, [
    "1,234,567\t-1,234\t12\t3,999\t4.5K\t1.2M\t2M",
    "$0\t$3\t$1.25\t$1.50\t$0.013\t$0.05\t$0.0012",
    "17.0%\t50%",
    "1\t0\ttrue\tfalse\t2\ta",
    "2\t1\tfalse\ttrue\t2\tb",
    "1",
    "2",
    "0,1,2,3,4\t4\t0\tnil\t3",
    "2-1\t3\t1\t2\t2",
    "16\t35\tnil\t5\tnumber\t2",
    "1970-02-15 00:00:00 Sun February 046 AM\t1970\t2",
    "c.tar\t/a\tmd",
    "./b/c\t/home/ada/x\t/srv/y\t/srv",
    "1\t0\t/srv/talk.chat\t/srv\tLua 5.1",
  ]);
});

Deno.test("os.time accepts the table that os.date returns", async () => {
  assert.deepEqual(await variables('a = os.time(os.date("*t", 1700000000))'), { a: 1700000000 });
});

Deno.test("variables are returned as copies: lists, tables, functions, and tables that contain themselves", async () => {
  const exported = await variables(
    "list = { 1, 2 }\nempty = {}\nmixed = { 1, x = 2 }\ndeep = { a = { b = { true } } }\nkeys = { [true] = 1, [1.5] = 2 }\n" +
      "self = {}\nself.self = self\nlocal hidden = 1\nfunction twice(n) return n * 2, 9 end",
  );
  const { twice, ...plain } = exported;
  assert.deepEqual(plain, {
    list: [1, 2],
    empty: [],
    mixed: { 1: 1, x: 2 },
    deep: { a: { b: [true] } },
    keys: { true: 1, 1.5: 2 },
    self: { self: null },
  });
  assert.equal((twice as (n: number) => unknown)(21), 42);
});

Deno.test("an error that a chunk raises is reported with its text and the line in the document", async () => {
  for (
    const [code, message, line] of [
      ['error("no luck")', "no luck", 2],
      ['local a = 1\nerror({ error = "from a table" })', "from a table", 3],
      ['error("bare", 0)', "bare", 2],
      ["\n\nlocal t = nil\nt.x = 1", "attempt to index a nil value (local 't')", 5],
      ["local function f()\n  local x = {} .. 1\nend\nf()", "attempt to concatenate a table value", 3],
      ['table.sort({ 3, 1, "x" })', "attempt to compare number with string", 2],
      ["string.rep()", "bad argument #1 to 'rep' (string expected, got nil)", 2],
      ['("x"):bad()', "attempt to call a nil value (method 'bad')", 2],
      ["error()", "an error without a value", 2],
    ] as const
  ) {
    const { problems } = await runLua(code);
    const [problem] = problems;
    assert.equal(problem?.code, "frontmatter_runtime", code);
    assert.equal(problem.line, line, code);
    if (code.includes("sort")) assert.match(problem.message, /attempt to compare/);
    else assert.equal(problem.message, message, code);
  }
});

Deno.test("a block of code that is never closed is reported at the line where it begins", async () => {
  const { problems } = await runLua("a = 1\nif a then\n  b = 2\n\n\n");
  assert.deepEqual(problems.map(({ code, line }) => [code, line]), [["frontmatter_lua_syntax", 3]]);
});

Deno.test("the list of built-in names equals the actual content of an environment", async () => {
  const world = { cwd: "/", home: "/", isReadable: () => false };
  const { cell, library } = await startEngine(world);
  let builtins: ReadonlySet<string> = new Set();
  const raised = cell.evaluate(() => {
    builtins = library.environment({ filename: "/x", print: () => 0, include: () => 0 }).builtins;
    return 0;
  });
  assert.equal(raised, null);
  assert.deepEqual([...builtins].sort(), [...BUILTIN_NAMES].sort());
});

// Valid values, one row per condition: each refused value differs in one thing from an accepted one.

import assert from "node:assert/strict";
import { draftLayer } from "../../config/layers/draft.ts";
import { BUILTIN_CATALOG } from "../../config/schema/catalog.ts";
import { readModeline, typedValue } from "../../config/schema/presets/modeline.ts";
import { isModulePath, modulePath, modulesIn } from "../../config/schema/module_path.ts";
import { pathMistake, socketMistake } from "../../config/schema/sandbox_words.ts";
import { numberHint, switchHint } from "../../config/data/values.ts";
import { settingsWord } from "../../config/schema/words.ts";

function refused(key: string, value: unknown): boolean {
  const draft = draftLayer({ layer: "G", others: [], catalog: BUILTIN_CATALOG, module: (path) => path });
  return draft.apply("set", key.split("."), value).some(({ severity }) => severity === "error");
}

Deno.test("each settings key accepts values of its kind and no others", () => {
  const rows: readonly (readonly [string, readonly unknown[], readonly unknown[]])[] = [
    [
      "sandbox.policy.rw_paths",
      [[], ["/a"], [{ path: "/a" }], [{ path: "/a", create: true }], [{ path: "$HOME" }]],
      [
        "/a",
        [""],
        [7],
        [null],
        [{}],
        [{ path: "" }],
        [{ path: 7 }],
        [{ path: "/a", create: "yes" }],
        [{
          path: "/a",
          x: 1,
        }],
        [{ create: true }],
        [{ path: "$nope" }],
        ["/a/*"],
      ],
    ],
    [
      "sandbox.policy.network",
      [true, false, { allow: [] }, { allow: ["a.example"] }],
      [
        "on",
        1,
        [],
        {},
        { allow: "a.example" },
        { allow: [""] },
        { allow: [7] },
        { allow: [], deny: [] },
        {
          allow: ["https://a.example"],
        },
        { allow: ["*"] },
        { allow: ["a b"] },
        { allow: ["a@b"] },
        { allow: ["a.example/x"] },
      ],
    ],
    [
      "sandbox.policy.limits",
      [{}, { memory: 1 }, { memory: 1, tmp_size: 2 }],
      [7, [], { memory: 0 }, { memory: -1 }, { memory: 1.5 }, { memory: "1" }, { cpus: 1 }],
    ],
    [
      "tools.resolvers",
      [[], [{ path: "./a.ts" }], [{ path: "./a.ts", priority: 1.5, name: "a" }]],
      [
        { path: "./a.ts" },
        ["./a.ts"],
        [{}],
        [{ path: "a" }],
        [{ path: "./a.ts", priority: "1" }],
        [{
          path: "./a.ts",
          name: "",
        }],
        [{ path: "./a.ts", name: "a.b" }],
        [{ path: "./a.ts", name: 7 }],
        [{ path: "./a.ts", x: 1 }],
      ],
    ],
    [
      "tools.auto_approve",
      [[], ["read"], ["$default"], ["./a.ts"], "$default", "./a.ts"],
      ["read", [""], [7], ["my.module"], ["Bash(git:*)"], {}],
    ],
    [
      "thinking",
      ["low", 0, 1000, false, { level: "low" }, { level: false }, { foreign: "drop" }],
      [true, -1, "lots", "", [], { level: "lots" }, { level: -1 }, { level: true }, { foreign: "x" }, {
        x: 1,
      }],
    ],
    ["max_tokens", [1, "50%", "100%"], [0, -1, 1.5, "50", "%", "a50%", "50%b", true]],
    ["temperature", [0, 0.5, null], [-0.1, "0.5", NaN, Infinity]],
    ["timeout", [0, 600], [-1, 0.5, "1", null, 2 ** 60]],
    ["cache_retention", ["short", "none"], ["shrt", "", true, null]],
    ["model", ["m", "$x", null], ["", 7, []]],
    ["tools.bash.env", [{}, { A: "b" }, null], [{ A: 7 }, { A: "" }, [], "A=b"]],
    ["providers.anthropic.base_url", ["https://a.example", "http://127.0.0.1:1/v1", " https://a.example "], [
      "a.example",
      "ftp://a.example",
      "https://",
      "",
      7,
    ]],
    ["presets.$x", ["anthropic m", { provider: "anthropic" }, { deny: ["bash"] }, ["anthropic", "m"]], [
      7,
      true,
      "anthropic",
      "anthropic m x",
      'anthropic "m',
      { provider: 7 },
      { provider: "" },
      { model: [] },
      { approve: "bash" },
      { approve: [7] },
      { approve: [""] },
      { deny: ["a(b"] },
      { approve: ["bash(sudo **)"] },
      { parameters: 7 },
      { nope: 1 },
    ]],
    ["presets.x", [], ["anthropic m"]],
    ["sandbox", [true, false, {}, { enabled: true }], ["off", 1, [], "required"]],
    ["tools", [[], ["read"], {}], ["read", 7, [7], [""]]],
  ];
  for (const [key, accepts, refuses] of rows) {
    for (const value of accepts) assert.equal(refused(key, value), false, `${key}: ${JSON.stringify(value)}`);
    for (const value of refuses) assert.equal(refused(key, value), true, `${key}: ${JSON.stringify(value)}`);
  }
});

Deno.test("values in key=value arguments are taken literally", () => {
  const rows: readonly (readonly [string, unknown])[] = [
    ["true", true],
    ["false", false],
    ["nil", null],
    ["null", null],
    ["", null],
    ["5", 5],
    ["-1.5", -1.5],
    [".5", 0.5],
    ["1e3", 1000],
    ["1e", "1e"],
    ["5a", "5a"],
    ["low", "low"],
    ["a,b", ["a", "b"]],
    ["1, true", [1, true]],
    ['"true"', "true"],
    ['"a,b"', "a,b"],
    ['"a\\"b"', 'a"b'],
    ["'5'", "5"],
    ["'a", "'a"],
    // Quotes and brackets keep together what stands in them.
    ["bash(git log **, git status),read", ["bash(git log **, git status)", "read"]],
    ["bash(git log **, git status)", "bash(git log **, git status)"],
    ['"a,b","c"', ["a,b", "c"]],
    ["'a,b',c", ["a,b", "c"]],
    ['"a\\",b",c', ['a",b', "c"]],
    ["it's,that's", ["it's", "that's"]],
    ["f('a,b'),c", ["f('a,b')", "c"]],
    ["write({a,b}/**),c", ["write({a,b}/**)", "c"]],
    ["(a,[b),c]", ["(a", "[b)", "c]"]],
    ["a),b", ["a)", "b"]],
    ["(a,b", ["(a", "b"]],
    ["'a,b", ["'a", "b"]],
    // JSON is what it is.
    ['[{"deny":"bash","command":["a","b, c"]}]', [{ deny: "bash", command: ["a", "b, c"] }]],
    ['{"ask":"bash"}', { ask: "bash" }],
    ["[]", []],
    [' ["a", 1]', ["a", 1]],
    ["[a", "[a"],
    ["{a}", "{a}"],
  ];
  for (const [text, value] of rows) assert.deepEqual(typedValue(text), value, text);
  const hostile = "(".repeat(100_000) + ",'".repeat(100_000);
  assert.equal((typedValue(hostile) as unknown[]).length > 2, true);
});

Deno.test("a model line contains a provider, a model and parameters in any order", () => {
  const rows: readonly (readonly [string, unknown])[] = [
    ["anthropic m", { provider: "anthropic", model: "m" }],
    ["  anthropic   m  ", { provider: "anthropic", model: "m" }],
    ["anthropic m a=1 b=x", { provider: "anthropic", model: "m", parameters: { a: 1, b: "x" } }],
    ["a=1 anthropic m", { provider: "anthropic", model: "m", parameters: { a: 1 } }],
    ["anthropic 4", { provider: "anthropic", model: "4" }],
    ['anthropic "m x"', { provider: "anthropic", model: "m x" }],
    ["anthropic", null],
    ["anthropic m x", null],
    ["", null],
    ['anthropic "m', null],
  ];
  for (const [line, expected] of rows) {
    const read = readModeline(line);
    assert.deepEqual(read.ok ? read.value : null, expected, line);
  }
});

Deno.test("a module is recognized by the beginning or end of its path, and its path is relative to the file that names it", () => {
  for (const path of ["./a", "../a", "~/a", "/a", "file:///a", "a.ts", "a.js", "a.mjs"]) {
    assert.ok(isModulePath(path), path);
  }
  for (const name of ["a", "$a", "a.b", "~a", ".a", "a.tsx", "a.ts.x"]) assert.ok(!isModulePath(name), name);
  assert.deepEqual(modulesIn(["a", "./b.ts", { path: "c.ts" }, { path: 7 }, {}, null, 7]), [
    "./b.ts",
    "c.ts",
  ]);
  assert.deepEqual(modulesIn("./b.ts"), ["./b.ts"]);
  const rows = [["./b.ts", "/f/b.ts"], ["../b.ts", "/b.ts"], ["~/b.ts", "/h/b.ts"], [
    "/x/./y/../b.ts",
    "/x/b.ts",
  ]];
  for (const [path, found] of rows) assert.equal(modulePath(path!, "/f", "/h"), found);
  assert.equal(modulePath("file:///x/a%20b.ts", "/f", "/h"), "/x/a b.ts");
});

Deno.test("if an entry in a list of paths looks like a misspelled name, the right spelling is reported", () => {
  const words = ["$git", "$shell"];
  const rows: readonly (readonly [string, string | null])[] = [
    ["$git", ""],
    ["$HOME", ""],
    ["$MY_DIR", ""],
    ["${TMPDIR:-/tmp}", ""],
    ["/a", ""],
    ["./git", ""],
    ["~", ""],
    ["~/a", ""],
    ["urn:flemma:cwd", ""],
    ["$gti", "$git"],
    ["$GIT", "$git"],
    ["$zzzzzz", null],
    ["git", "$git"],
    ["urn:flemma:cdw", "urn:flemma:cwd"],
    ["urn:other", null],
    ["$HOME/a", "~/a"],
    ["${HOME}/a", "~/a"],
    ["${HOME}", "~"],
    ["${MY_DIR}", "$MY_DIR"],
    ["$MY_DIR/a", null],
    ["/a/${MY_DIR}", null],
    ["~ada/a", null],
    ["/a/*", null],
    ["/a?", null],
    ["/a[bc]", null],
  ];
  for (const [entry, right] of rows) {
    const mistake = pathMistake(entry, words);
    assert.equal(mistake === null ? "" : mistake.suggestion ?? null, right, entry);
  }
  const sockets: readonly (readonly [string, string | null])[] = [
    ["docker", ""],
    ["/run/x.sock", ""],
    ["~/x.sock", ""],
    ["$DOCKER_SOCKET", ""],
    ["dokcer", "docker"],
    ["$docker", "docker"],
    ["zzzzzz", null],
    ["$nope", null],
  ];
  for (const [entry, right] of sockets) {
    const mistake = socketMistake(entry);
    assert.equal(mistake === null ? "" : mistake.suggestion ?? null, right, entry);
  }
});

Deno.test("if a word is used in place of true, false or a number, the right value is reported; other words cause no report", () => {
  for (const word of ["off", "no", "OFF", " never ", "disabled"]) {
    assert.match(switchHint(word) ?? "", /write false/, word);
  }
  for (const word of ["on", "yes", "True", "always"]) {
    assert.match(switchHint(word) ?? "", /write true/, word);
  }
  assert.equal(switchHint(0), "write false");
  assert.equal(switchHint(1), "write true");
  for (const value of [true, false, "maybe", "", 2, null]) {
    assert.equal(switchHint(value), undefined, String(value));
  }
  assert.match(numberHint("60") ?? "", /write 60/);
  assert.match(numberHint(" 1_000 ") ?? "", /write 1000/);
  for (const value of ["", " ", "many", 5, null]) assert.equal(numberHint(value), undefined, String(value));
});

Deno.test("a name is recognized as a setting despite another spelling or a single typo, or if another agent uses this name for the setting", () => {
  const rows: readonly (readonly [string, string | null])[] = [
    ["tools", "tools"],
    ["tools.auto_approve", "tools"],
    ["Tools", "tools"],
    ["autoApprove", "tools.auto_approve"],
    ["auto-approve", "tools.auto_approve"],
    ["approve", "tools.auto_approve"],
    ["network", "sandbox.policy.network"],
    ["autopilot", "tools.autopilot"],
    ["thinking", "parameters.thinking"],
    ["flemma", ""],
    ["flema", ""],
    ["sanbox", "sandbox"],
    ["permissions", "tools.auto_approve"],
    ["disallowedTools", "tools.presets"],
    ["tool", null],
    ["limit", null],
    ["ignore", null],
    ["enabled", null],
    ["keymaps", null],
    ["who", null],
  ];
  for (const [name, path] of rows) assert.equal(settingsWord(name)?.path ?? null, path, name);
});

// Templates of messages: output, trimming, control structures over tags, and reports of failures.

import assert from "node:assert/strict";
import { flat, scene, userText } from "./scene.ts";

Deno.test("a control structure in a template can span several tags and tool results", async () => {
  const result = await scene([
    "@Assistant:",
    "**Tool Use:** `read` (`r1`)",
    "",
    "```json",
    "{}",
    "```",
    "@You:",
    "{% for i = 1, 2 do %}",
    "**Tool Result:** `r1`",
    "",
    "```",
    "{{ not evaluated }}",
    "```",
    "n={{ i }}",
    "{% end %}",
    "{% if false then %}never{% else %}done{% end %}",
    "",
  ].join("\n"));
  assert.deepEqual(result.reported, []);
  assert.equal(
    userText(result).replaceAll("\n", " ").replace(/ +/g, " "),
    "<tool_result>n=1 <tool_result>n=2 done",
  );
});

Deno.test("if a function contains text of one message and another message calls it, the text appears in the other message, with trimming", async () => {
  const result = await scene(
    "@System:\n{% function greet(who) -%}\n  Hello {{ who }}!\n{%- end %}rules\n@You:\n{% greet('Ada') %} and {% greet('Bob') %}\n",
  );
  assert.deepEqual(result.reported, []);
  assert.equal(result.prompt.system, "rules");
  assert.equal(userText(result), "Hello Ada! and Hello Bob!");
});

Deno.test("adjacent texts form one part, so a System message gets no additional line breaks", async () => {
  const result = await scene(
    '@System:\na{{ 1 }}b {{ include("x.md") }}\n@./y.txt\n@You:\na{{ 1 }}b{% print("c") %}d\n',
    { "x.md": "x", "y.txt": "Y" },
  );
  assert.equal(result.prompt.system, 'a1b x\n\n<file path="./y.txt">\nY\n</file>');
  assert.deepEqual(result.prompt.history[0]?.parts, [{ kind: "text", text: "a1bcd" }]);
});

Deno.test("a tag outputs nothing for nil, a number with fourteen digits, a table as JSON, and any other value as by tostring", async () => {
  const result = await scene(
    '@You:\n[{{ nil }}][{{ 1/3 }}][{{ 2^53 }}][{{ true }}][{{ {} }}][{{ {a={1,{b="x\\n"}}} }}][{{ {1.5, 2} }}][{{ "a", "b" }}][{{ }}]\n',
  );
  assert.deepEqual(result.reported, []);
  assert.equal(
    userText(result),
    '[][0.33333333333333][9.007199254741e+15][true][[]][{"a":[1,{"b":"x\\n"}]}][[1.5,2]][a][]',
  );
});

Deno.test("print outputs text at its position, also inside an expression, and a value with the method emit outputs itself", async () => {
  const result = await scene(
    '@You:\na{% print("b", 1, nil) %}c{{ print("d") }}e{{ { emit = function() print("f") return "g" end } }}h\n',
  );
  assert.deepEqual(result.reported, []);
  assert.equal(userText(result), "ab1nilcdefgh");
});

Deno.test("if an expression fails, its source stays in the text without trim marks, and a warning points to the tag", async () => {
  const result = await scene("@You:\nä {{- strin.x -}} b\n{{ (nil)() }}\n{{ {print} }} {{ error('boo') }}\n");
  assert.equal(userText(result), "ä{{ strin.x }}b\n{{ (nil)() }}\n{{ {print} }} {{ error('boo') }}");
  assert.deepEqual(
    result.prompt.diagnostics.map((
      found,
    ) => [found.code, found.severity, found.start, found.startCol, found.endCol]),
    [
      ["expression_undefined_variable", "warning", 2, 4, 18],
      ["expression_runtime", "warning", 3, 1, 13],
      ["expression_runtime", "warning", 4, 1, 13],
      ["expression_runtime", "warning", 4, 15, 32],
    ],
  );
  assert.match(result.prompt.diagnostics[3]!.message, /boo/);
  assert.equal(result.prompt.blocked, false);
});

Deno.test("text printed before an expression fails is not sent twice", async () => {
  const result = await scene('@You:\n{{ print("x") .. error("no") }}\n');
  assert.equal(userText(result), '{{ print("x") .. error("no") }}');
});

Deno.test("if template code fails, the error names the line, only the message with the code is omitted, and no request is sent", async () => {
  const result = await scene(
    "@System:\nfine\n@You:\none\n{% local a = 1\n\nlocal b = a.x.y %}\n@You:\n{{ 1 + 1 }}\n",
  );
  assert.deepEqual(result.reported, ["template_runtime 7!"]);
  assert.equal(result.prompt.system, "fine");
  assert.equal(userText(result, 0), "");
  assert.equal(userText(result, 1), "2");
  assert.ok(result.prompt.blocked);
});

Deno.test("tags that are not Lua are reported with their lines, and no code of their message runs", async () => {
  for (
    const [chat, line] of [
      ["@You:\nx\n{{ some words }}\n{% print('never') %}\n", 3],
      ["@You:\n{{ return 1 }}\n", 2],
      ["@You:\n{{ 1 end) print((function() return 2 }}\n", 2],
      ["@You:\na\n\n{{ 1 +\n\n* 2 }}\n", 6],
      ["@You:\n{% if true then %}\nb\n{% for i = 1, 2 do %}\n{% end %}\nc\n", 2],
      ["@You:\n{% end %}\n", 2],
      ["@You:\n{% x = %}text\n", 2],
      ["@You:\n{{ 7 // 2 }}\n", 2],
      ["@You:\n{% local x <const> = 1 %}\n", 2],
    ] as const
  ) {
    const result = await scene(chat);
    assert.deepEqual(result.reported, [`template_syntax ${line}!`], chat);
    assert.equal(userText(result), "", chat);
  }
});

Deno.test("messages share global variables but not local ones; tags in a message with an unknown role run, but the message is not sent", async () => {
  const result = await scene(
    "@Note:\n{% a = 1; local b = 2 %}text {{ undefined_here }}\n@You:\n{{ a }}{{ b }}\n@Assistant:\n{{ a }}\n",
  );
  assert.deepEqual(result.reported, [
    "role_unknown 1",
    "expression_undefined_variable 2",
    "expression_undefined_variable 4",
  ]);
  assert.equal(userText(result), "1{{ b }}");
  assert.equal(flat(result.prompt.history[1]?.parts), "{{ a }}");
});

Deno.test("variables of Lua frontmatter arrive with their functions, as copies that templates may change", async () => {
  const result = await scene([
    "```lua",
    'local hidden = "h"',
    'list = { "a" }',
    "function show() return hidden .. list[1] .. #list end",
    'print("seen", 1.0, nil)',
    "```",
    "@You:",
    '{% list[2] = "b"; list[1] = "c" %}{{ #list }} {{ show() }} {{ hidden }}',
    "",
  ].join("\n"));
  assert.deepEqual(result.printed, ["seen\t1\tnil"]);
  assert.deepEqual(result.reported, ["expression_undefined_variable 8"]);
  assert.equal(userText(result), "2 ha1 {{ hidden }}");
});

Deno.test("variables of JSON and YAML frontmatter arrive without null values, and cannot replace built-in names", async () => {
  const json = await scene(
    '```json\n{"who": "Ada", "n": 2, "gone": null, "list": [1, null, 3], "deep": {"a": {"b": [true]}}}\n```\n' +
      "@You:\n{{ who }} {{ n }} {{ gone }} {{ list[2] == nil }} {{ list[3] }} {{ deep.a.b[1] }}\n",
  );
  assert.equal(userText(json), "Ada 2 {{ gone }} true 3 true");
  const yaml = await scene("```yaml\nwho: Ada\nstring: 5\n```\n@You:\n{{ who }} {{ string.upper(who) }}\n");
  assert.equal(userText(yaml), "Ada ADA");
  assert.deepEqual(yaml.reported, ["config_ignored_value 1"]);
});

Deno.test("the variable flemma exists only in the frontmatter", async () => {
  const result = await scene("```lua\nx = 1\n```\n@You:\n{{ flemma }}\n");
  assert.deepEqual(result.reported, ["expression_undefined_variable 5"]);
});

Deno.test("if frontmatter failed, its variables are missing and no request is sent", async () => {
  const result = await scene('```lua\nwho = "Ada"\nerror("no")\n```\n@You:\n{{ who }}\n');
  assert.deepEqual(result.reported, ["frontmatter_runtime 1!", "expression_undefined_variable 6"]);
  assert.ok(result.prompt.blocked);
});

Deno.test("file references in the text next to tags are found, with their columns", async () => {
  const result = await scene("@You:\nä{{ 1 }} see @./a.txt {{- 2 }} @./gone.txt\n", { "a.txt": "A" });
  assert.equal(userText(result), "ä1 see <text_file>2 @./gone.txt");
  const [missing] = result.prompt.diagnostics;
  assert.deepEqual([missing?.code, missing?.start, missing?.startCol, missing?.endCol], [
    "file_not_found",
    2,
    33,
    43,
  ]);
});

Deno.test("a file reference that a tag outputs is not read as a file", async () => {
  const result = await scene('@You:\n{{ "@./a.txt" }}\n', { "a.txt": "A" });
  assert.equal(userText(result), "@./a.txt");
});

Deno.test("hostile templates end within the time and memory budget of the whole document", async () => {
  for (
    const [chat, says] of [
      ["@You:\na{% while true do end %}\n@You:\nb{{ 1 }}\n", /steps/],
      ["@You:\n{{ (function() while true do end end)() }}\n", /steps/],
      ["@You:\n{% while true do pcall(print, 'x') end %}\n", /steps|seconds/],
      ["@You:\n{% for i = 1, 1e9 do %}text {% end %}\n", /steps|seconds|string/],
      [`@You:\n{% for i = 1, 1e9 do %}${"long text ".repeat(1000)}{% end %}\n`, /string of more than 16 MiB/],
      ["@You:\n{{ ('x'):rep(1e9) }}\n", /memory|string/],
      [`@You:\n${"{{ (function() for i = 1, 1e5 do end end)() }}".repeat(200)}\n`, /steps/],
      [
        "@You:\n{% local t = { emit = 0 }; t.emit = function() print(1) return t end; local function f() print({}) f() end f() %}\n",
        /200 levels deep/,
      ],
    ] as const
  ) {
    const { prompt } = await scene(chat);
    const errors = prompt.diagnostics.filter(({ severity }) => severity === "error");
    assert.equal(errors[0]?.code, "template_runtime", chat.slice(0, 80));
    assert.match(errors[0]!.message, says);
    assert.equal(flat(prompt.history[0]?.parts), "");
  }
});

Deno.test("if frontmatter nearly filled the memory, templates after it are stopped with a diagnostic", async () => {
  const result = await scene(
    '```lua\na = ("x"):rep(1.4e7)\nb = a .. "1"\n```\n@You:\n{{ #a }}\n@You:\n{% c = a .. 2; d = a .. 3; e = a .. 4 %}\n',
  );
  assert.deepEqual(result.reported, ["template_runtime 8!"]);
  assert.equal(userText(result), "14000000");
});

Deno.test("variables that leave no memory for running templates cause a diagnostic, not a crash", async () => {
  const result = await scene(`\`\`\`json\n{"a": "${"x".repeat(3000)}"}\n\`\`\`\n@You:\n{{ a }}\n`, {}, {
    string: 2000,
  });
  assert.deepEqual(result.reported, ["template_runtime 5!"]);
  assert.match(result.prompt.diagnostics[0]!.message, /created a string/);
});

Deno.test("a document without tags and without frontmatter never loads the Lua engine", async () => {
  const script = `
    import { evaluateChat } from "${new URL("../../prompt/mod.ts", import.meta.url)}";
    import { parse } from "${new URL("../../parser/mod.ts", import.meta.url)}";
    const chat = parse(new TextEncoder().encode(${
    JSON.stringify("@System:\nBe brief.\n@You:\nHi { } % @./x\n")
  }));
    const compile = WebAssembly.compile;
    WebAssembly.compile = () => { throw new Error("the engine was loaded"); };
    await evaluateChat(chat, { document: null, environment: { cwd: "/", home: "/", variables: {} } });
    console.log("fine");
  `;
  const child = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--no-check", "--ext=ts", script],
    stdout: "piped",
    stderr: "piped",
  }).output();
  assert.equal(new TextDecoder().decode(child.stdout), "fine\n", new TextDecoder().decode(child.stderr));
});

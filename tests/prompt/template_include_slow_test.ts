// `include`: text and attachments, paths, the fresh environment, and failures as the including tag shows them.

import assert from "node:assert/strict";
import { DEFAULT_LIMITS } from "../../lua/vm/budget.ts";
import { scene, userText } from "./scene.ts";

Deno.test("paths in an included file are relative to its folder, and variables of a nested include are separate", async () => {
  const result = await scene('@You:\n{{ include("sub/a.md", { n = 1 }) }}|{{ include("~/sub/b.md") }}\n', {
    "sub/a.md":
      'a{{ n }} {{ include("b.md", { n = n + 1 }) }} {{ __filename:match("[^/]+$") }} {{ __dirname:match("[^/]+$") }}',
    "sub/b.md": "b{% if pcall(function() return n end) then %}{{ n }}{% end %}",
  });
  assert.deepEqual(result.reported, []);
  assert.equal(userText(result), "a1 b2 a.md sub|b");
});

Deno.test("an included file cannot use variables of the frontmatter or the message, and its own variables end with it", async () => {
  const result = await scene(
    '```lua\nfrom_block = 1\n```\n@You:\n{% mine = 2 %}{{ include("a.md") }}{{ left }}\n',
    {
      "a.md":
        "{% left = 3 %}{{ pcall(function() return from_block end) }} {{ pcall(function() return mine end) }}",
    },
  );
  assert.equal(userText(result), "false false{{ left }}");
});

Deno.test("the text of an included file is not trimmed and its references are ignored, but its trim marks work", async () => {
  const result = await scene('@You:\n[{{ include("a.md") }}]\n', {
    "a.md": "\n @./b.txt \n{%- local x = 1 -%}\n{{ x }}\n@You:\n```lua\n",
    "b.txt": "B",
  });
  assert.equal(userText(result), "[\n @./b.txt1\n@You:\n```lua\n]");
});

Deno.test("a byte order mark of an included file is removed, and an unclosed tag is text", async () => {
  const result = await scene('@You:\n[{{ include("a.md") }}]\n', { "a.md": "\ufeffa {{ 1 }} {{ 2" });
  assert.equal(userText(result), "[a 1 {{ 2]");
});

/** The first bytes of a PNG image, by which flemma recognizes it. */
const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

Deno.test("with symbols.BINARY, include attaches a file; its type comes from symbols.MIME or else from the file", async () => {
  const result = await scene(
    [
      "@You:",
      '{{ include("a.png", { [symbols.BINARY] = true }) }}',
      '{{ include("b.json", { [symbols.BINARY] = true, [symbols.MIME] = "text/plain" }) }}',
      '{{ include("b.zip", { [symbols.BINARY] = true }) }}',
      '{{ include("list.md") }}',
      "",
    ].join("\n"),
    {
      "a.png": PNG,
      "b.json": "{}",
      "b.zip": "PK",
      "list.md": 'see {{ include("a.png", { [symbols.BINARY] = true }) }}',
    },
  );
  assert.equal(userText(result), "<image>\n<text_file>\n<unsupported_file>\nsee <image>");
  assert.deepEqual(result.reported, ["file_unsupported_mime -"]);
  const parts = result.prompt.history[0]!.parts;
  assert.deepEqual(parts[2], {
    kind: "text_file",
    mimeType: "text/plain",
    text: '<file path="b.json">\n{}\n</file>',
    filename: `${result.folder}/b.json`,
  });
});

Deno.test("an include stored in a frontmatter variable can be output later, more than once", async () => {
  const result = await scene(
    '```lua\nrules = include("rules.md", { n = 3 })\n```\n@You:\n{{ rules }}{{ rules }}\n',
    {
      "rules.md": "rule {{ n }};",
    },
  );
  assert.deepEqual(result.reported, []);
  assert.equal(userText(result), "rule 3;rule 3;");
});

Deno.test("failures in an included file are reported at the including tag, with a severity that depends on the depth", async () => {
  for (
    const [chat, files, reported] of [
      ['@You:\nx\n{{ include("gone.md") }}\n', {}, ["file_not_found 3"]],
      ['@You:\n{{ include("a.md") }}\n', { "a.md": '{{ include("gone.md") }}' }, ["file_not_found 2!"]],
      [
        '@You:\n{{ include("a.md") }}\n',
        { "a.md": '{{ include("b.md") }}', "b.md": '{{ include("a.md") }}' },
        [
          "include_circular 2!",
        ],
      ],
      ['@You:\n{{ include("talk.chat") }}\n', {}, ["include_circular 2!"]],
      ['@You:\n{{ include("a.md") }}\n', { "a.md": "{{ nope }}" }, ["include_undefined_variable 2!"]],
      ['@You:\n{{ include("a.md") }}\n', { "a.md": "{{ (nil)() }}" }, ["template_runtime 2!"]],
      ['@You:\n{{ include("a.md") }}\n', { "a.md": "{{ not lua here }}" }, ["template_syntax 2!"]],
      ['@You:\n{{ include("a.md") }}\n', { "a.md": "{% if true then %}" }, ["template_syntax 2!"]],
      ["@You:\n{{ include(5) }}\n", {}, ["expression_runtime 2"]],
      ['@You:\n{{ include("a.md", 5) }}\n', {}, ["expression_runtime 2"]],
      ['@You:\n{{ include("/dev/zero") }}\n', {}, ["file_not_found 2"]],
      ['@You:\n{{ include("sub") }}\n', { "sub/x": "" }, ["file_not_found 2"]],
      ['@You:\ny\n{% x = include("gone.md") %}\n', {}, ["file_not_found 3!"]],
      ['```lua\nx = include("gone.md")\n```\n@You:\nhi\n', {}, ["file_not_found 1!"]],
      ['```lua\nx = include("a.md")\n```\n@You:\nhi\n', { "a.md": "{{ nope }}" }, ["frontmatter_runtime 1!"]],
      ['```lua\nok = pcall(include, "gone.md")\n```\n@You:\n{{ ok }}\n', {}, []],
    ] as const
  ) {
    const result = await scene(chat, files);
    assert.deepEqual(result.reported, reported, chat);
  }
});

Deno.test("a failed include leaves its tag as text, and the error names the chain of files", async () => {
  const result = await scene('@You:\n{{- include("a.md") }}\n', {
    "a.md": '{{ include("b.md") }}',
    "b.md": '{{ include("a.md") }}',
  });
  assert.equal(userText(result), '{{ include("a.md") }}');
  assert.match(result.prompt.diagnostics[0]!.message, /a\.md → b\.md → a\.md/);
});

Deno.test("if an included file misses a variable, the message shows how to pass it, and this works", async () => {
  const files = { "a.md": "Hello {{ name }}." };
  const frontmatter = "```yaml\nname: Ada\n```\n";
  const missed = await scene(`${frontmatter}@You:\n{{ include("a.md") }}\n`, files);
  const advice = /for example (include\(.*\})\)/.exec(missed.prompt.diagnostics[0]!.message)?.[1];
  assert.equal(advice, 'include("a.md", { name = name }');
  const passed = await scene(`${frontmatter}@You:\n{{ ${advice}) }}\n`, files);
  assert.equal(userText(passed), "Hello Ada.");
});

Deno.test("endless includes are stopped by their depth or their number", async () => {
  const deep = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [`${index}.md`, `{{ include("${index + 1}.md") }}`]),
  );
  const nested = await scene('@You:\n{{ include("0.md") }}\n', deep);
  assert.match(nested.prompt.diagnostics[0]!.message, /nested includes more than 32 levels deep/);
  assert.ok(nested.prompt.blocked);
  const many = await scene('@You:\n{% while true do include("a.md") end %}\n', { "a.md": "x" });
  assert.deepEqual(many.reported, ["template_runtime 2!"]);
});

Deno.test("an endless loop in an included file is an error of the message that includes the file, even inside pcall", async () => {
  const result = await scene('@You:\n{% pcall(include, "a.md") %}\n{{ 1 }}\n', {
    "a.md": "{% while true do end %}",
  });
  assert.deepEqual(result.reported, ["template_runtime 2!"]);
});

Deno.test("including the built-in personality outputs its text; an unknown name of a personality is an error with a suggestion", async () => {
  const result = await scene(
    '@System:\n{{ include("urn:flemma:personality:coding-assistant") }}\n@You:\n{{ include("urn:flemma:personality:coding-asistant") }}\n',
  );
  assert.match(result.prompt.system!, /Working directory: \//);
  assert.deepEqual(result.reported, ["expression_runtime 4"]);
  assert.match(result.prompt.diagnostics[0]!.message, /did you mean "coding-assistant"/);
});

Deno.test("attachments count toward the memory limit of a document, although Lua does not count them", async () => {
  const attach = '{% x = include("a.bin", { [symbols.BINARY] = true, [symbols.MIME] = "image/png" }) %}';
  const bytes = new Uint8Array(24_000_000);
  bytes.set(PNG);
  const files = { "a.bin": bytes };
  assert.deepEqual((await scene(`@You:\n${attach}\n`, files)).reported, []);
  assert.deepEqual((await scene(`@You:\n${attach}${attach}\n`, files)).reported, ["template_runtime 2!"]);
});

Deno.test("reading files uses up steps, so a document can read ten million bytes with a quarter of the limit", async () => {
  const files = { "a.md": "x".repeat(1_000_000) };
  const read = (times: number) =>
    scene(`@You:\n{% for _ = 1, ${times} do include("a.md") end %}\n`, files, {
      steps: DEFAULT_LIMITS.steps / 4,
    });
  assert.deepEqual((await read(9)).reported, []);
  assert.deepEqual((await read(11)).reported, ["template_runtime 2!"]);
});

// Tags that are shown and not run: in closed fences, between raw and endraw, and with templates switched off.

import assert from "node:assert/strict";
import { flat, scene, userText } from "./scene.ts";

const DOCKER = 'docker ps --format "{{.Names}}"';

Deno.test("a tag of another template language in a closed fence is text, wherever the fence is", async () => {
  for (
    const quoted of [
      `\`\`\`sh\n${DOCKER}\n\`\`\``,
      `\`\`\`\`\n\`\`\`\n${DOCKER}\n\`\`\`\n\`\`\`\``,
      "```yaml\nname: {{ .Values.name | quote }}\n{{- if .Values.on }}\non: true\n{{- end }}\n```",
      "```jinja\n{% if user %}\n{{ user.name }}\n{% endif %}\n{%- for x in y -%}\n{{ x }}\n{%- endfor -%}\n```",
      "```yaml\ntoken: ${{ secrets.TOKEN }}\n```",
      "```jsx\n<b style={{ color: 'red' }} />\n```",
      "``` \n{% nonsense() %}\n```  ",
    ]
  ) {
    const result = await scene(`@You:\nWhat is\n${quoted}\nfor {{ 1 + 1 }}?\n`);
    assert.equal(userText(result), `What is\n${quoted}\nfor 2?`);
    assert.equal(result.prompt.blocked, false);
    assert.ok(
      result.reported.length > 0 &&
        result.reported.every((reported) => /^template_left_as_text \d+\?$/.test(reported)),
      quoted,
    );
  }
});

Deno.test("a tag of another template language in a closed fence is also text in System messages and included files", async () => {
  const system = await scene(`@System:\n\`\`\`\n${DOCKER}\n\`\`\`\n@You:\nHi\n`);
  assert.equal(system.prompt.system, `\`\`\`\n${DOCKER}\n\`\`\``);
  const included = await scene('@You:\n{{ include("help.md") }}\n', {
    "help.md": `\uFEFFRun\n\`\`\`\n${DOCKER}\n\`\`\`\n{{ 1 + 1 }} {% raw %}{{{% endraw %}\n`,
  });
  assert.deepEqual(included.reported, []);
  assert.equal(userText(included), `Run\n\`\`\`\n${DOCKER}\n\`\`\`\n2 {{\n`.trimEnd() + "\n");
});

Deno.test("Lua tags also run inside a fence, and a loop may contain the fence", async () => {
  const result = await scene(
    '```lua\nlist = { "a", "b" }\n```\n@You:\n{% for item in values(list) do -%}\n```\n{{ item }}\n```\n{% end -%}\n',
  );
  assert.deepEqual(result.reported, []);
  assert.equal(userText(result), "```\na\n```\n```\nb\n```\n");
});

Deno.test("a tag of another template language outside a closed fence is an error at its own column, with a remedy", async () => {
  for (
    const [text, line, column] of [
      [`run ${DOCKER}`, 2, 25],
      [`\`run ${DOCKER}\``, 2, 26],
      [`  \`\`\`\n${DOCKER}\n  \`\`\``, 3, 21],
      [`\`\`\`\n${DOCKER}`, 3, 21],
      [`~~~\n${DOCKER}\n~~~`, 3, 21],
      [`\`\`\`\`\n${DOCKER}\n\`\`\``, 3, 21],
      ["ä {% if x %}text", 2, 4],
      ["{{ 1 }} {% for i = 1, 2 do %}", 2, 9],
    ] as const
  ) {
    const result = await scene(`@You:\n${text}\n`);
    const errors = result.prompt.diagnostics.filter(({ severity }) => severity === "error");
    assert.deepEqual(errors.map(({ code, start, startCol }) => [code, start, startCol]), [
      ["template_syntax", line, column],
    ], text);
    assert.match(
      errors[0]!.message,
      /is a template tag but not valid Lua: .*put it between {% raw %} and {% endraw %}\.$/,
    );
  }
});

Deno.test("an unclosed tag in a fence is text, and the text after the fence is read normally", async () => {
  const quoted: readonly string[] = [
    "{{ nope +",
    "int a[2][2] = {{1,2},{3}};",
    "{{/* don't */}}",
    '{% if x == "',
    "{{- [[",
    "{% -- note",
    "{{{{{{",
  ];
  for (const line of quoted) {
    for (const [before, after] of [["", ""], ["{{ 1 }} ", " {{ 2 }}"]] as const) {
      const result = await scene(`@You:\n${before}it's\n\`\`\`c\n${line}\n\`\`\`\n}} %} it's${after}\n`);
      assert.deepEqual(result.reported, [], line);
      const [first, last] = before === "" ? ["", ""] : ["1 ", " 2"];
      assert.equal(userText(result), `${first}it's\n\`\`\`c\n${line}\n\`\`\`\n}} %} it's${last}`);
    }
  }
});

Deno.test("if a tag in a closed fence is not closed there, the rest of this fence is text; tags in other fences and in an unclosed fence run", async () => {
  const result = await scene("@You:\n```\n{{ 1 }} {{ { {{ 2 }}\n```\n```\n{{ 3 }}\n```\n");
  assert.equal(userText(result), "```\n1 {{ { {{ 2 }}\n```\n```\n3\n```");
  const open = await scene("@You:\n````\n```\n{{ 1,\n```\n}}\n");
  assert.deepEqual(open.reported, ["template_syntax 5!"]);
  const included = await scene('@You:\n{{ include("a.txt") }}\n', { "a.txt": "```\n{{ {\n```\n{{ 4 }}\n" });
  assert.equal(userText(included), "```\n{{ {\n```\n4\n");
});

Deno.test("if code in a fence fails when it runs, its tag is text, and other tags run with unchanged variables", async () => {
  const result = await scene(
    "@You:\n{% n = 1 %}x\n@You:\n{% n = n + 1 %}{{ n }}\n```\n{% call_of(n) %}{{ gone }}{{ n }}\n```\n{{ n }}\n",
  );
  assert.deepEqual(result.reported, ["template_left_as_text 6?", "template_left_as_text 6?"]);
  assert.equal(userText(result, 1), "2\n```\n{% call_of(n) %}{{ gone }}2\n```\n2");
});

Deno.test("if a tag in a fence stays text, it trims nothing and references no file", async () => {
  const result = await scene("@You:\n```\na\n{{- .x -}}\nb {{- nothing -}} c\n{{ @./a.txt }}\n```\n", {
    "a.txt": "A",
  });
  assert.equal(userText(result), "```\na\n{{- .x -}}\nb {{- nothing -}} c\n{{ @./a.txt }}\n```");
});

Deno.test("if an include in a fence fails, its tag stays text; if code in a fence exceeds a limit, this is an error of the message", async () => {
  const gone = await scene('@You:\n```\n{{ include("gone.md") }}\n```\n');
  assert.deepEqual(gone.reported, ["template_left_as_text 3?"]);
  const endless = await scene("@You:\n```\n{% while true do end %}\n```\n", {}, { steps: 10_000 });
  assert.deepEqual(endless.reported, ["template_runtime 3!"]);
});

Deno.test("a failure after a quoted tag of several lines is reported at its own line", async () => {
  const quoted = "```\n{{ gone ..\n\n'x' }}\n```\n";
  const outside = await scene(`@You:\n${quoted}a{% error('x') %}\n`);
  assert.deepEqual(outside.reported, ["template_runtime 7!", "template_left_as_text 3?"]);
  const inside = await scene(`@You:\n${quoted}\`\`\`\n{% error('x') %}\n\`\`\`\n`);
  assert.deepEqual(inside.reported, ["template_left_as_text 3?", "template_left_as_text 8?"]);
});

Deno.test("everything between a raw tag and an endraw tag is text; both tags disappear from the text and trim like other tags", async () => {
  for (
    const [text, sent] of [
      [`a {% raw %}${DOCKER}{% endraw %} b`, `a ${DOCKER} b`],
      ["{% raw %}{{ it's {% \" [[ -- {%{% endraw %}!", "{{ it's {% \" [[ -- {%!"],
      ["a\n{%- raw -%}\n{{ x }}\n{%- endraw -%}\nb", "a{{ x }}b"],
      ["{%raw%}{% if %}{%endraw%}{{ 1 + 1 }}", "{% if %}2"],
      ["{% raw %}{% raw %}{% endraw %}.", "{% raw %}."],
      ["{% raw %}@./a.txt{% endraw %}", "@./a.txt"],
      ["{% raw %}{% endraw %}x", "x"],
    ] as const
  ) {
    const result = await scene(`@You:\n${text}\n`, { "a.txt": "A" });
    assert.deepEqual(result.reported, [], text);
    assert.equal(userText(result), sent);
  }
});

Deno.test("raw without endraw is text and is reported, and endraw alone is an error", async () => {
  const open = await scene("@You:\na {% raw %} {{ 1 }}\n");
  assert.deepEqual(open.reported, ["template_unclosed 2"]);
  assert.match(open.prompt.diagnostics[0]!.message, /{% raw %} has no {% endraw %}/);
  assert.equal(userText(open), "a {% raw %} {{ 1 }}");
  assert.deepEqual((await scene("@You:\n{% endraw %}\n")).reported, ["template_syntax 2!"]);
});

Deno.test("raw that covers more than one chunk of the parser is closed correctly", async () => {
  const long = "{{ ' \n".repeat(20_000);
  const result = await scene(`@You:\n{% raw %}${long}{% endraw %}\n@You:\n{{ 1 + 1 }}\n`);
  assert.deepEqual(result.reported, []);
  assert.equal(userText(result), long);
  assert.equal(userText(result, 1), "2");
});

Deno.test("with templating.enabled: false every tag is text, and references still work", async () => {
  for (const text of ["{{.Names}} {% x", "{{ 1 }}{% raw %}", "{{ unclosed @./a.txt"]) {
    const result = await scene(
      `\`\`\`yaml\nflemma:\n  templating:\n    enabled: false\n\`\`\`\n@You:\n${text}\n\n@You:\n@./a.txt\n`,
      {
        "a.txt": "A",
      },
    );
    assert.deepEqual(result.reported, [], text);
    assert.equal(userText(result), text.replace("@./a.txt", "<text_file>"));
    assert.equal(flat(result.prompt.history[1]?.parts), "<text_file>");
  }
});

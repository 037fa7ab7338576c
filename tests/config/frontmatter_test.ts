import assert from "node:assert/strict";
import { documentSettings } from "../../config/frontmatter.ts";
import { loadSettings } from "../../config/load.ts";

async function evaluate(
  language: string,
  code: string,
  overrides: Record<string, unknown> = {},
  reserved?: Set<string>,
) {
  const environment = { cwd: "/", home: "/", variables: {} };
  const loaded = await loadSettings({ environment, noConfig: true, overrides });
  assert.ok(loaded.ok, loaded.ok ? "" : loaded.problem.message);
  const end = code.split("\n").length + 2;
  const frontmatter = { language, code, from: 0, to: code.length, start: 1, end };
  return await documentSettings({ loaded: loaded.value, frontmatter, reserved });
}

const codes = (found: { diagnostics: readonly { code: string; key?: string; line?: number }[] }) =>
  found.diagnostics.map(({ code, key, line }) =>
    [code, key, line].filter((part) => part !== undefined).join(" ")
  );

Deno.test("a document without a first block has the settings of the run, untouched", async () => {
  const environment = { cwd: "/", home: "/", variables: {} };
  const loaded = await loadSettings({ environment, noConfig: true });
  assert.ok(loaded.ok);
  const document = await documentSettings({ loaded: loaded.value, frontmatter: null });
  assert.equal(document.settings, loaded.value.settings);
});

Deno.test("in YAML every fault is told with its line, and what is right applies all the same", async () => {
  const code =
    "flemma:\n  temperature: hot\n  tools:\n    max_concurent: 1\n    auto_approve: { $append: [read, raed] }\n  thinking: low\nwho: QA";
  const found = await evaluate("yaml", code);
  assert.deepEqual(codes(found), [
    "config_invalid_value parameters.temperature 3",
    "config_unknown_key tools.max_concurent 5",
    "config_ignored_value tools.auto_approve 6",
  ]);
  assert.equal(found.settings.parameters.thinking.level, "low");
  assert.deepEqual(found.variables, { who: "QA" });
});

Deno.test("broken YAML names its line; key twice, tags and alias bombs are errors", async () => {
  assert.deepEqual(codes(await evaluate("yml", "a: 1\nb: [")), ["frontmatter_yaml_syntax 3"]);
  assert.deepEqual(codes(await evaluate("yaml", "a: 1\na: 2")), ["frontmatter_yaml_syntax 3"]);
  assert.equal((await evaluate("yaml", "a: !!binary x")).diagnostics[0]!.code, "frontmatter_yaml_syntax");
  assert.equal((await evaluate("yaml", "a: !!str 1")).diagnostics[0]!.code, "frontmatter_yaml_syntax");
  const bomb = [
    "a: &a [1,1,1,1,1,1,1,1,1,1]",
    ...["b", "c", "d", "e"].map((name, at) =>
      `${name}: &${name} [${Array(10).fill(`*${"abcd"[at]}`).join(",")}]`
    ),
  ].join("\n");
  assert.equal((await evaluate("yaml", bomb)).diagnostics[0]!.code, "frontmatter_yaml_syntax");
});

Deno.test("JSON that is no object says nothing, and settings that are no object are an error", async () => {
  for (const code of ["42", "null", '"x"', "[1]"]) {
    assert.deepEqual(codes(await evaluate("json", code)), ["frontmatter_not_object"]);
  }
  assert.deepEqual(codes(await evaluate("json", "")), ["frontmatter_json_syntax"]);
  assert.deepEqual(codes(await evaluate("json", '{"flemma": [1]}')), [
    "frontmatter_flemma_not_object flemma",
  ]);
  assert.deepEqual(codes(await evaluate("json", '{"flemma": null}')), []);
});

Deno.test("an unknown language is an error that lists the known ones", async () => {
  const { diagnostics } = await evaluate("jsom", "{}");
  assert.equal(diagnostics[0]!.code, "frontmatter_unknown_language");
  assert.equal(diagnostics[0]!.suggestion, "json");
});

Deno.test("Lua without an engine is an error, never a block that says nothing", async () => {
  const { diagnostics, settings } = await evaluate("lua", "flemma.opt.tools.require_approval = true");
  assert.deepEqual(diagnostics.map(({ code, severity }) => [code, severity]), [[
    "frontmatter_lua_unavailable",
    "error",
  ]]);
  assert.equal(settings.tools.require_approval, true);
});

Deno.test("a variable named like a built-in of templates is left out with a warning", async () => {
  const found = await evaluate("json", '{"format": 1, "who": 2}', {}, new Set(["format"]));
  assert.deepEqual(found.variables, { who: 2 });
  assert.deepEqual(codes(found), ["config_ignored_value format"]);
});

Deno.test("a list of one bad item is not set; a bad item of append is skipped", async () => {
  const found = await evaluate(
    "json",
    '{"flemma": {"sandbox": {"policy": {"rw_paths": {"$append": ["/a", 5], "$remove": 7}}}}}',
  );
  assert.deepEqual(codes(found), ["config_invalid_value sandbox.policy.rw_paths"]);
  assert.equal(found.settings.sandbox.policy.rw_paths.at(-1), "/a");
});

Deno.test("the command line beats the document, and a document's contradiction of a preset is its own fault", async () => {
  const found = await evaluate("json", '{"flemma": {"temperature": 0.3}}', { temperature: 0.9 });
  assert.equal(found.settings.parameters.temperature, 0.9);
  const presets = '"presets": {"$quick": "vertex gemini-2.5-flash temperature=0.2 project_id=p"}';
  const used = await evaluate("json", `{"flemma": {${presets}, "model": "$quick", "timeout": 5}}`);
  assert.deepEqual(codes(used), []);
  assert.deepEqual([used.settings.provider, used.settings.model], ["vertex", "gemini-2.5-flash"]);
  assert.equal(used.settings.parameters.temperature, 0.2);
  assert.deepEqual(used.settings.parameters.vertex, { project_id: "p" });
  const clash = await evaluate("json", `{"flemma": {${presets}, "model": "$quick", "provider": "openai"}}`);
  assert.deepEqual(codes(clash), ["config_invalid_value provider"]);
  const typo = await evaluate("json", '{"flemma": {"presets": {"$x": "openai gpt-5 temprature=1"}}}');
  assert.match(typo.diagnostics[0]!.message, /did you mean "temperature"/);
});

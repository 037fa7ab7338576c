import assert from "node:assert/strict";
import { BUILTIN_CATALOG } from "../../config/schema/catalog.ts";
import { effectiveSettings } from "../../config/layers/effective.ts";
import { LayerLog } from "../../config/layers/log.ts";
import { documentSettings } from "../../config/frontmatter.ts";
import { loadSettingsLayers } from "../../config/load.ts";

async function evaluate(
  language: string,
  code: string,
  overrides: Record<string, unknown> = {},
  reserved?: Set<string>,
) {
  const environment = { cwd: "/", home: "/", variables: {} };
  const loaded = await loadSettingsLayers({ environment, noConfig: true, overrides });
  assert.ok(loaded.ok, loaded.ok ? "" : loaded.problem.message);
  const end = code.split("\n").length + 2;
  const frontmatter = { language, code, from: 0, to: code.length, start: 1, end };
  return await documentSettings({ loaded: loaded.value, frontmatter, reserved });
}

const codes = (found: { diagnostics: readonly { code: string; key?: string; line?: number }[] }) =>
  found.diagnostics.map(({ code, key, line }) =>
    [code, key, line].filter((part) => part !== undefined).join(" ")
  );

Deno.test("a document without frontmatter has exactly the settings of the run", async () => {
  const environment = { cwd: "/", home: "/", variables: {} };
  const loaded = await loadSettingsLayers({ environment, noConfig: true });
  assert.ok(loaded.ok);
  const document = await documentSettings({ loaded: loaded.value, frontmatter: null });
  assert.equal(document.settings, loaded.value.settings);
});

Deno.test("every mistake in YAML is reported with its line, and valid settings still apply", async () => {
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

Deno.test("for broken YAML the error names the line; duplicate keys, tags and alias bombs are errors", async () => {
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

Deno.test("JSON frontmatter that is not an object is ignored; it is an error if the settings inside such an object are not an object", async () => {
  for (const code of ["42", "null", '"x"', "[1]"]) {
    assert.deepEqual(codes(await evaluate("json", code)), ["frontmatter_not_object"]);
  }
  assert.deepEqual(codes(await evaluate("json", "")), ["frontmatter_json_syntax 2"]);
  assert.deepEqual(codes(await evaluate("json", '{"flemma": [1]}')), [
    "frontmatter_flemma_not_object flemma",
  ]);
  assert.deepEqual(codes(await evaluate("json", '{"flemma": null}')), []);
});

Deno.test("invalid settings in JSON and syntax errors in JSON are reported with their line, whatever message the JavaScript engine gives", async () => {
  const code = '{"flemma": {\n"timeout": "x",\n"tools": {\n"max_concurrent": -1}}}';
  assert.deepEqual(codes(await evaluate("json", code)), [
    "config_invalid_value parameters.timeout 3",
    "config_invalid_value tools.max_concurrent 5",
  ]);
  const broken: readonly (readonly [string, number])[] = [
    ['{"a": }', 2],
    ['{"a": 1,\n"b": tru\n}', 3],
    ['{"a": 1,\n"b": 2,\n}', 4],
    ['{"a": [1,\n2', 3],
    ['{"a": "x\ny"}', 2],
    ['{"a": 01}', 2],
    ['{"a": 1}\n{}', 3],
    ['{"a": "\\x"}', 2],
    ['{"a": 1,\n"b" 2}', 3],
    ['{\n"a"=1}', 3],
    ['{\n"a": 1]', 3],
    ['{"a": 1,\n"b": 2 3}', 3],
    ['{\n"a": [1 2]}', 3],
  ];
  for (const [text, line] of broken) {
    assert.throws(() => JSON.parse(text));
    assert.deepEqual(codes(await evaluate("json", text)), [`frontmatter_json_syntax ${line}`], text);
  }
});

Deno.test("a duplicate key in JSON is an error, because a reader could take the wrong value for the effective one", async () => {
  const code =
    '{"flemma": {"tools": {"auto_approve": []}},\n"flemma": {"tools": {"auto_approve": ["bash"]}}}';
  const found = await evaluate("json", code);
  assert.equal(found.diagnostics[0]!.code, "frontmatter_json_syntax");
  assert.match(found.diagnostics[0]!.message, /the key "flemma" occurs twice/);
  assert.equal(found.settings.tools.document, null);
  assert.deepEqual(codes(await evaluate("json", '{ "a" : [ { "b" : 1 } , {"b": 2} ] , "b": {"a": 1}}')), []);
});

Deno.test("endlessly nested or circular values are an error and never crash the program", async () => {
  const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  for (const levels of [200, 20_000, 400_000]) {
    assert.deepEqual(codes(await evaluate("json", `{"x": ${deep(levels)}}`)), ["frontmatter_json_syntax 2"]);
  }
  for (const code of [`x: ${deep(200)}`, `x: ${deep(20_000)}`, "x: &x\n  y: *x"]) {
    const found = await evaluate("yaml", code);
    assert.match(found.diagnostics[0]!.message, /nested more than 100 deep/);
  }
  assert.deepEqual(codes(await evaluate("json", `{"x": ${deep(90)}}`)), []);
});

Deno.test("frontmatter of thousands of keys and mistakes is read in linear time", async () => {
  const keys = Array.from({ length: 50_000 }, (_, at) => `k${at}`);
  const yaml = await evaluate("yaml", keys.map((key) => `${key}: 1`).join("\n"));
  assert.equal(Object.keys(yaml.variables).length, keys.length);
  const unknown = `{"flemma": {${keys.map((key) => `"${key}": 1`).join()}}}`;
  assert.equal((await evaluate("json", unknown)).diagnostics.length, 100);
  const names = keys.map((key) => `"${key}"`).join();
  for (const key of ["tools", "presets"]) {
    const value = key === "tools" ? `[${names}]` : `{"$p": {"approve": [${names}]}}`;
    const found = await evaluate("json", `{"flemma": {"${key}": ${value}}}`);
    assert.match(found.diagnostics[0]!.message, /more than 1000 items/);
  }
  const presets = keys.slice(0, 900).map((key) => `"$${key}": {"approve": [${names.slice(0, 8000)}"]}`)
    .join();
  assert.equal((await evaluate("json", `{"flemma": {"presets": {${presets}}}}`)).diagnostics.length, 100);
});

Deno.test("a key with the name of a built-in object property is treated like any other key, and changes no object of the program", async () => {
  const names = ["constructor", "__proto__", "toString", "hasOwnProperty"];
  for (const name of names) {
    const found = await evaluate("json", `{"flemma": {"${name}": {"polluted": 1}, "tools": {"${name}": 2}}}`);
    assert.deepEqual(found.diagnostics.map(({ code }) => code), ["config_unknown_key", "config_unknown_key"]);
    assert.ok(!/native code|undefined/.test(found.diagnostics[0]!.message), found.diagnostics[0]!.message);
  }
  const [constructorOf, toStringOf] = [["providers", "constructor", "base_url"], [
    "sandbox",
    "backends",
    "toString",
  ]];
  const log = new LayerLog("G");
  log.push({ op: "set", path: constructorOf!, value: "https://a.example" });
  log.push({ op: "set", path: [...toStringOf!, "polluted"], value: 1 });
  const { settings } = effectiveSettings([log], { catalog: BUILTIN_CATALOG });
  assert.deepEqual(Object.entries(settings.providers), [["constructor", { base_url: "https://a.example" }]]);
  assert.deepEqual(Object.keys(settings.sandbox.backends).sort(), ["bwrap", "toString"]);
  for (const provider of ["constructor", "__proto__", "another"]) {
    const presets = { $x: { provider, model: "m", foo: 1 } };
    const { settings, diagnostics } = await evaluate(
      "json",
      JSON.stringify({ flemma: { presets, model: "$x" } }),
    );
    assert.deepEqual(diagnostics.map(({ code, key }) => [code, key]), [[
      "config_invalid_value",
      "presets.$x",
    ]]);
    assert.equal(settings.provider, provider);
  }
  for (const object of [{}, Object, Object.prototype, Object.prototype.toString]) {
    assert.ok(!("polluted" in object) && !("base_url" in object));
  }
});

Deno.test("an unknown frontmatter language is an error that lists the known languages", async () => {
  const { diagnostics } = await evaluate("jsom", "{}");
  assert.equal(diagnostics[0]!.code, "frontmatter_unknown_language");
  assert.equal(diagnostics[0]!.suggestion, "json");
});

Deno.test("without a Lua engine, Lua frontmatter is an error and never ignored", async () => {
  const { diagnostics, settings } = await evaluate("lua", "flemma.opt.tools.require_approval = true");
  assert.deepEqual(diagnostics.map(({ code, severity }) => [code, severity]), [[
    "frontmatter_lua_unavailable",
    "error",
  ]]);
  assert.equal(settings.tools.require_approval, true);
});

Deno.test("a long error text raised by frontmatter is shortened", async () => {
  const loaded = await loadSettingsLayers({
    environment: { cwd: "/", home: "/", variables: {} },
    noConfig: true,
  });
  assert.ok(loaded.ok);
  const frontmatter = { language: "lua", code: "", from: 0, to: 0, start: 1, end: 2 };
  const problem = { code: "frontmatter_runtime", severity: "error", message: "x".repeat(1_000_000) } as const;
  const runLua = () => Promise.resolve({ variables: null, problems: [problem] });
  const { diagnostics } = await documentSettings({ loaded: loaded.value, frontmatter, runLua });
  assert.match(diagnostics[0]!.message, /^Xx{999}…/);
  assert.ok(diagnostics[0]!.message.length < 1100);
});

Deno.test("a frontmatter variable with the name of a template function is dropped with a warning", async () => {
  const found = await evaluate("json", '{"format": 1, "who": 2}', {}, new Set(["format"]));
  assert.deepEqual(found.variables, { who: 2 });
  assert.deepEqual(codes(found), ["config_ignored_value format"]);
});

Deno.test("a list with an invalid item is not set at all; if an invalid item is appended, only this item is skipped", async () => {
  const found = await evaluate(
    "json",
    '{"flemma": {"sandbox": {"policy": {"rw_paths": {"$append": ["/a", 5], "$remove": 7}}}}}',
  );
  assert.deepEqual(codes(found), ["config_invalid_value sandbox.policy.rw_paths 2"]);
  assert.equal(found.settings.sandbox.policy.rw_paths.at(-1), "/a");
});

Deno.test("the command line overrides the document, and a contradiction between a document and a preset is the document's mistake", async () => {
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

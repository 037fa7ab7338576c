import assert from "node:assert/strict";
import { generate } from "../../scripts/generate/tools/validators.ts";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { builtinTools } from "../../tools/builtin/mod.ts";
import type { JsonSchema, ToolInput } from "../../tools/definition.ts";
import { checkInput, completeInput, prepareValidator } from "../../tools/validate.ts";

const builtin = new Map(builtinTools().map((tool) => [tool.name, tool]));

function check(name: string, input: unknown): Promise<readonly string[]> {
  return checkInput(builtin.get(name)!, input as ToolInput);
}

async function checkSchema(input_schema: JsonSchema, input: unknown): Promise<readonly string[]> {
  return await checkInput({ name: "t", input_schema }, input as ToolInput);
}

Deno.test("complete inputs of the built-in tools are valid", async () => {
  assert.deepEqual(await check("bash", { label: "l", command: "ls", timeout: 5 }), []);
  assert.deepEqual(await check("read", { label: "l", path: "a", offset: null, limit: 2 }), []);
  assert.deepEqual(await check("write", { label: "l", path: "a", content: "" }), []);
  assert.deepEqual(await check("edit", { label: "l", path: "a", oldText: "a", newText: "" }), []);
});

Deno.test("a missing field that may be null is treated as null", async () => {
  assert.deepEqual(await check("bash", { label: "l", command: "ls" }), []);
  const bash = builtin.get("bash")!;
  assert.deepEqual(completeInput(bash, { label: "l", command: "ls" }), {
    label: "l",
    command: "ls",
    timeout: null,
    "flemma.background": null,
  });
  const complete = { label: "l", command: "ls", timeout: 1, "flemma.background": null };
  assert.equal(completeInput(bash, complete), complete);
});

Deno.test("the label of a built-in tool may be missing, but not be of the wrong type", async () => {
  assert.deepEqual(await check("write", { path: "a", content: "x" }), []);
  assert.deepEqual(await check("write", { path: "a", content: "x", label: 1 }), ["/label: must be string"]);
});

Deno.test("each problem of an input is one line with the location and the reason", async () => {
  assert.deepEqual(await check("bash", { command: 1, sandbox: false }), [
    "/sandbox: is not a parameter of this tool",
    "/command: must be string",
  ]);
  assert.deepEqual(await check("bash", {}), ["/command: is missing"]);
  assert.deepEqual(await check("read", { path: "a", offset: "1" }), ["/offset: must be number or null"]);
});

Deno.test("additional fields in a model's input are refused", async () => {
  assert.notDeepEqual(
    await check("bash", { label: "l", command: "ls", dangerouslyDisableSandbox: true }),
    [],
  );
  assert.notDeepEqual(await check("edit", { path: "a", oldText: "a", newText: "b", replaceAll: true }), []);
});

Deno.test("edit has the field replaceAll only if a setting says so", async () => {
  const tools = { ...DEFAULT_SETTINGS.tools, named: { edit: { replace_all: true } } };
  const edit = builtinTools(tools).find(({ name }) => name === "edit")!;
  assert.deepEqual(await checkInput(edit, { path: "a", oldText: "a", newText: "b", replaceAll: true }), []);
  assert.deepEqual(await checkInput(edit, { path: "a", oldText: "a", newText: "b" }), []);
});

Deno.test("at most five problems of an input are reported", async () => {
  const extra = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`x${n}`, 1]));
  assert.equal((await check("bash", { command: "ls", ...extra })).length, 5);
});

Deno.test("the name of a field cannot break the line or the location in a problem", async () => {
  assert.deepEqual(await check("bash", { command: "ls", "a/b~c\nd": 1 }), [
    "/a~1b~0c d: is not a parameter of this tool",
  ]);
});

Deno.test("schemas of tools that are not built in are compiled when they are first needed", async () => {
  const schema = {
    type: "object",
    properties: {
      count: { type: "integer" },
      kind: { enum: ["a", "b", null] },
      fixed: { const: "x" },
      list: { type: "array", items: { type: "string" }, minItems: 1 },
      maybe: { anyOf: [{ type: "number" }, { type: "null" }] },
    },
    required: ["count", "kind", "maybe"],
  };
  assert.deepEqual(await checkSchema(schema, { count: 5.0 }), []);
  assert.deepEqual(await checkSchema(schema, { count: 5.5, kind: "c", fixed: "y", list: [], more: 1 }), [
    "/count: must be integer",
    '/kind: must be one of "a", "b", null',
    '/fixed: must be "x"',
    "/list: must NOT have fewer than 1 items",
  ]);
  assert.deepEqual(await checkSchema(schema, { count: "5" }), ["/count: must be integer"]);
});

Deno.test("the permissive schema of a tool without fields accepts everything", async () => {
  assert.deepEqual(await checkSchema({ type: "object", properties: {} }, { fail: "x", obj: { a: 1 } }), []);
});

Deno.test("draft-07 schemas with tuples and 2020-12 schemas both work, and the keyword format is not enforced", async () => {
  const tuple = {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    properties: { pair: { type: "array", items: [{ type: "string" }, { type: "number" }] } },
  };
  assert.deepEqual(await checkSchema(tuple, { pair: [1, 2] }), ["/pair/0: must be string"]);
  const prefix = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      pair: { type: "array", prefixItems: [{ type: "string" }] },
      mail: { type: "string", format: "email" },
    },
  };
  assert.deepEqual(await checkSchema(prefix, { pair: [1], mail: "no" }), ["/pair/0: must be string"]);
});

Deno.test("inherited properties such as toString are not fields of the input", async () => {
  const schema = { type: "object", properties: { toString: { type: "string" } }, required: ["toString"] };
  assert.deepEqual(await checkSchema(schema, {}), ["/toString: is missing"]);
});

Deno.test("a tool whose schema is invalid or has external references is disabled, and a message says so", async () => {
  for (const input_schema of [{ type: "nonsense" }, { $ref: "https://example.org/s.json" }]) {
    const prepared = await prepareValidator({ name: "t", input_schema });
    assert.ok(!prepared.ok);
    assert.equal(prepared.problem.code, "invalid-tool-schema");
    assert.match(prepared.problem.message, /\bt\b/);
  }
});

Deno.test("an input can be validated without loading validators first, and a broken schema is reported as the only problem", async () => {
  assert.deepEqual(await checkInput({ name: "t", input_schema: { type: "object" } }, {}), []);
  const [problem, ...more] = await checkInput({ name: "t", input_schema: { type: "nonsense" } }, {});
  assert.match(problem ?? "", /input schema of the tool t is invalid/);
  assert.deepEqual(more, []);
});

Deno.test("the committed validators equal the generator's output and import no module", async () => {
  for (const { path, text } of await generate()) {
    assert.equal(await Deno.readTextFile(path), text, `${path} is stale: run deno task generate`);
    assert.doesNotMatch(text, /\brequire\s*\(|^import (?!type)/m);
  }
});

Deno.test("validating with an untrusted pattern that backtracks exponentially ends immediately", async () => {
  const text = `${"a".repeat(5000)}!`;
  for (const pattern of ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(.*a){20}b", "^([a-zA-Z0-9]+\\s?)*$"]) {
    const schema = { type: "object", properties: { x: { type: "string", pattern } } };
    assert.equal((await checkSchema(schema, { x: text })).length, 1, pattern);
  }
  const named = { type: "object", patternProperties: { "^(a+)+$": { type: "number" } } };
  assert.deepEqual(await checkSchema(named, { [text]: "no number" }), []);
});

Deno.test("regular expressions in a tool's schema work as in JSON Schema, for strings and for property names", async () => {
  const schema = (pattern: string) => ({ type: "object", properties: { x: { type: "string", pattern } } });
  const rows: readonly [pattern: string, fits: string, not: string][] = [
    ["b", "abc", "ac"],
    ["^\\d{3}-[a-z]+$", "123-ab", "123-AB"],
    ["^\\/api\\/", "/api/x", "api"],
    ["^\\p{L}+$", "Ünïcode", "a1"],
    ["^(?<year>\\d{4})$", "2026", "26"],
    ["^[^\\s]+$", "word", "two words"],
  ];
  for (const [pattern, fits, not] of rows) {
    assert.deepEqual(await checkSchema(schema(pattern), { x: fits }), [], pattern);
    assert.deepEqual(await checkSchema(schema(pattern), { x: not }), [
      `/x: must match pattern "${pattern}"`,
    ]);
  }
  const named = {
    type: "object",
    patternProperties: { "^x-": { type: "number" } },
    additionalProperties: false,
  };
  assert.deepEqual(await checkSchema(named, { "x-a": 1 }), []);
  assert.deepEqual(await checkSchema(named, { "x-a": "1" }), ["/x-a: must be number"]);
  assert.deepEqual(await checkSchema(named, { y: 1 }), ["/y: is not a parameter of this tool"]);
});

Deno.test("a schema pattern with lookarounds or backreferences is not checked, and the rest of the schema applies", async () => {
  const email = "^(?!\\.)(?!.*\\.\\.)[a-z.]+@[a-z.]+$";
  const schema = {
    type: "object",
    properties: {
      email: { type: "string", pattern: email },
      twice: { pattern: "(a)\\1" },
      n: { type: "number" },
    },
  };
  assert.deepEqual(await checkSchema(schema, { email: "no address", twice: "ab", n: 1 }), []);
  assert.deepEqual(await checkSchema(schema, { email: 1, n: "1" }), [
    "/email: must be string",
    "/n: must be number",
  ]);
  const named = {
    type: "object",
    patternProperties: { "^(?!x)": { type: "number" } },
    additionalProperties: false,
  };
  assert.deepEqual(await checkSchema(named, { y: "1", x: 1 }), []);
  const member = { type: "object", properties: { default: { pattern: email }, pattern: { type: "string" } } };
  assert.deepEqual(await checkSchema(member, { default: "x", pattern: "x" }), []);
  const data = { type: "object", properties: { x: { const: { pattern: email } } } };
  assert.deepEqual(await checkSchema(data, { x: { pattern: email } }), []);
  assert.match(
    (await checkSchema({ type: "object", properties: { x: { pattern: "(" } } }, {}))[0]!,
    /invalid/,
  );
});

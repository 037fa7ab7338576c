import assert from "node:assert/strict";
import { BUILTIN_CATALOG } from "../../config/schema/catalog.ts";
import { draftLayer } from "../../config/layers/draft.ts";
import { effectiveSettings } from "../../config/layers/effective.ts";
import { allRows } from "../../config/layers/explain.ts";
import { SCHEMA } from "../../config/schema/schema.ts";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import type { Node, SettingKey } from "../../config/schema/define.ts";
import { writeTree } from "../../config/layers/write_tree.ts";

const catalog = BUILTIN_CATALOG;

function faultsOf(tree: unknown, layer: "G" | "P" | "R" | "M" | "C" = "G") {
  const draft = draftLayer({ layer, others: [], catalog });
  return [...writeTree(draft, tree, { catalog }), ...draft.finish(), ...draft.warnings];
}

function keysOf(node: Node, path: readonly string[] = []): [string, SettingKey][] {
  if (node.node === "key") return [[path.join("."), node]];
  return Object.entries(node.members).flatMap(([name, member]) => keysOf(member, [...path, name]));
}

Deno.test("the defaults in the schema equal the settings that result without any layer", () => {
  const { settings, faults } = effectiveSettings([], { catalog });
  assert.deepEqual(settings, DEFAULT_SETTINGS);
  assert.deepEqual(faults, []);
});

Deno.test("every default is a value that its key accepts, in every layer that may set the key", () => {
  const keys = keysOf(SCHEMA).filter(([, key]) => key.default !== undefined);
  assert.ok(keys.length > 60);
  for (const [name, key] of keys) {
    const [layer] = key.who;
    assert.deepEqual(faultsOf({ [name]: key.default }, layer as "G"), [], name);
  }
});

Deno.test("naming a provider or a backend by a file that does not exist is an error", () => {
  for (const key of ["sandbox.backend", "provider"]) {
    const [fault, ...more] = faultsOf({ [key]: "./own.ts" });
    assert.deepEqual([fault?.code, fault?.severity, fault?.key], ["config_invalid_value", "error", key]);
    assert.match(fault!.message, /"\.\/own\.ts", which does not exist; there are /);
    assert.deepEqual(more, []);
  }
});

Deno.test("for a misspelled key, the nearest key is suggested; for a known key that lacks its beginning, the full key is suggested", () => {
  const messages = (tree: unknown) => faultsOf(tree).map(({ message }) => message);
  assert.deepEqual(messages({ parameters: { temprature: 1 } }), [
    'unknown key "parameters.temprature"; did you mean "parameters.temperature"?',
  ]);
  assert.deepEqual(messages({ tools: { raed: {} } }), [
    'unknown key "tools.raed"; did you mean "tools.read"?',
  ]);
  assert.deepEqual(messages({ rw_paths: [] }), [
    'unknown key "rw_paths"; it belongs to "sandbox.policy.rw_paths"',
  ]);
  assert.deepEqual(messages({ max_turns: 3 }), [
    'unknown key "max_turns"; it belongs to "tools.autopilot.max_turns" or "subagents.max_turns"',
  ]);
  assert.match(messages({ thinking: "hgih" })[0]!, /, found "hgih"; did you mean "high"\?$/);
});

Deno.test("an integer may be written as 2.0 but not as a string", () => {
  assert.deepEqual(faultsOf({ tools: { max_concurrent: 2.0 } }), []);
  assert.equal(faultsOf({ tools: { max_concurrent: "2" } })[0]!.code, "config_invalid_value");
});

Deno.test("settings in a document that name a program, a file or a location are ignored, with one warning per key", () => {
  const host = keysOf(SCHEMA).filter(([, key]) => !key.who.includes("M"));
  assert.ok(host.length > 25);
  for (const [name, key] of host) {
    if (key.default === undefined) continue;
    const draft = draftLayer({ layer: "M", others: [], catalog });
    assert.deepEqual(draft.apply("set", name.split("."), key.default), []);
    assert.deepEqual(draft.operations, [], name);
    assert.deepEqual(draft.warnings.map(({ code, key }) => [code, key]), [["config_ignored_value", name]]);
  }
});

Deno.test("a document may narrow settings that only a person may widen", () => {
  const ignored = (tree: unknown) => faultsOf(tree, "M").map(({ key }) => key);
  assert.deepEqual(ignored({ tools: { require_approval: false } }), ["tools.require_approval"]);
  assert.deepEqual(ignored({ tools: { require_approval: true, auto_approve_sandboxed: false } }), []);
  assert.deepEqual(ignored({ tools: { auto_approve_sandboxed: true } }), ["tools.auto_approve_sandboxed"]);
  assert.deepEqual(ignored({ sandbox: { policy: { deny_read: ["/x"] } } }), ["sandbox.policy.deny_read"]);
  assert.deepEqual(ignored({ sandbox: { policy: { deny_read: { $append: "/x" } } } }), []);
  assert.deepEqual(ignored({ sandbox: { policy: { limits: { memory: 5 } } } }), []);
});

Deno.test("a document may lower a limit, but not raise or remove it", () => {
  const person = draftLayer({ layer: "G", others: [], catalog });
  writeTree(person, { sandbox: { policy: { limits: { memory: 100, processes: 5 } } } }, { catalog });
  const ignored = (limits: unknown) => {
    const draft = draftLayer({ layer: "M", others: [person.log], catalog });
    writeTree(draft, { sandbox: { policy: { limits } } }, { catalog });
    return draft.warnings.length;
  };
  assert.equal(ignored({ memory: 50, processes: 5 }), 0);
  assert.equal(ignored({ memory: 50 }), 1);
  assert.equal(ignored({ memory: 200, processes: 5 }), 1);
});

Deno.test("a module path in the approval list of a document or session is dropped with a warning", () => {
  for (const layer of ["M", "R"] as const) {
    const draft = draftLayer({ layer, others: [], catalog });
    assert.deepEqual(draft.apply("set", ["tools", "auto_approve"], ["read", "./evil.ts"]), []);
    assert.deepEqual(draft.operations.map(({ value }) => value), [["read"]]);
    assert.match(draft.warnings[0]!.message, /may not load code/);
  }
  for (const pattern of ["files:*", "get_?", "*"]) {
    const [fault] = faultsOf({ tools: { auto_approve: [pattern] } });
    assert.match(fault?.message ?? "", /a name matches one tool only/, pattern);
  }
  const dotted = faultsOf({ tools: { auto_approve: ["my.module"] } });
  assert.match(dotted[0]!.message, /Lua module of the editor plugin/);
});

Deno.test("a loop that writes settings ends in an error and does not fill the log endlessly", () => {
  const draft = draftLayer({ layer: "M", others: [], catalog });
  let faults = 0;
  for (let turn = 0; turn < 3000; turn++) faults += draft.apply("set", ["temperature"], 0.5).length;
  assert.equal(draft.operations.length, 1000);
  assert.equal(faults, 2000);
  const long = draftLayer({ layer: "M", others: [], catalog });
  assert.equal(long.apply("set", ["tools"], Array(1001).fill("read"))[0]!.code, "config_invalid_value");
  assert.equal(long.apply("append", ["tools"], "x".repeat(5000))[0]!.code, "config_invalid_value");
  assert.equal(long.apply("append", ["tools"], Array(1001).fill("read"))[0]!.code, "config_invalid_value");
  assert.deepEqual(long.operations, []);
});

Deno.test("no name in a settings file reaches the prototype of objects", () => {
  for (const path of [["providers"], ["sandbox", "backends"], ["tools"], []]) {
    const content = path.reduceRight<string>(
      (inner, name) => `{"${name}": ${inner}}`,
      '{"__proto__": {"polluted": 1}}',
    );
    const faults = faultsOf(JSON.parse(content));
    assert.equal(faults[0]!.code, "config_unknown_key", content);
  }
  assert.equal(({} as { polluted?: number }).polluted, undefined);
});

Deno.test("config show has a row for every key that has a value", () => {
  const rows = new Map(allRows([], catalog).map((row) => [row.key, row]));
  for (const [name, key] of keysOf(SCHEMA)) {
    if (key.default !== undefined) assert.deepEqual(rows.get(name)?.value, key.default, name);
  }
});

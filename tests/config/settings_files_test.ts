// Files of settings: changes under a lock, positions of keys, and what an untrusted project may take away.

import assert from "node:assert/strict";
import { isThere } from "../../base/files.ts";
import { success } from "../../base/problem.ts";
import { LayerLog } from "../../config/layers/log.ts";
import { loadSettingsLayers } from "../../config/load.ts";
import { BUILTIN_CATALOG } from "../../config/schema/catalog.ts";
import { parseJson } from "../../config/sources/json.ts";
import { changeJson } from "../../config/sources/json_file.ts";
import { KeyPositions } from "../../config/sources/places.ts";
import { untrustedShare } from "../../config/sources/project.ts";
import { parseSource, type SourceTree } from "../../config/sources/yaml.ts";
import { testInFolder } from "../folder.ts";
import { testInWorld as test } from "./world.ts";

testInFolder(
  "changes of a JSON file at the same time are all kept, and null removes the file",
  async (folder) => {
    const path = `${folder}/state/list.json`;
    const add = (number: number) =>
      changeJson(path, (content) => success([...(content as number[] | null) ?? [], number]));
    const numbers = Array.from({ length: 20 }, (_, at) => at);
    for (const { ok } of await Promise.all(numbers.map(add))) assert.ok(ok);
    assert.deepEqual((JSON.parse(Deno.readTextFileSync(path)) as number[]).sort((a, b) => a - b), numbers);
    for (const what of ["an existing file", "a missing file"]) {
      assert.ok((await changeJson(path, () => success(null))).ok, what);
      assert.equal(isThere(path), false, what);
    }
  },
);

async function treeOf(text: string): Promise<SourceTree> {
  const parsed = text.startsWith("{") ? parseJson(text) : await parseSource(text);
  assert.ok(parsed.ok, text);
  return parsed.value;
}

Deno.test("every key of a text is listed with the keys above it", async () => {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ["a:\n  b: 1\n  c: { d: 2 }\n7: x\n", ["a", "a.b", "a.c", "a.c.d", "7"]],
    ['{ "a" : { "b" : 1 , "c" : { } } , "d" : [ ] , "e" : [ 1 , { "f" : 2 } ] }', [
      "a",
      "a.b",
      "a.c",
      "d",
      "e",
      "e.1.f",
    ]],
    ["- a\n", []],
  ];
  for (const [text, keys] of rows) {
    assert.deepEqual((await treeOf(text)).keys().map((path) => path.join(".")), keys, text);
  }
});

Deno.test("the position of a key is found whatever spelling it has, below the keys that contain the settings", async () => {
  const rows: readonly (readonly [string, readonly string[], string, string | null])[] = [
    ["model: m\ntools:\n  bash:\n    cwd: x\n", [], "tools.bash.cwd", "4:10"],
    ["tools: { $append: bash }\nmodel: m\n", [], "model", "2:8"],
    ["flemma:\n  model: m\n", ["flemma"], "model", "2:10"],
    ["model: m\n", [], "timeout", null],
    ["model: m\n", ["flemma"], "model", null],
  ];
  for (const [text, below, key, place] of rows) {
    assert.equal(new KeyPositions(await treeOf(text), BUILTIN_CATALOG, below).ofKey(key), place, text);
  }
  const tree = await treeOf("model: m\ntools: { mine: { cwd: x } }\n");
  const catalog = {
    ...BUILTIN_CATALOG,
    tools: [...BUILTIN_CATALOG.tools, { ...BUILTIN_CATALOG.tools[0]!, name: "mine" }],
  };
  assert.equal(new KeyPositions(tree, catalog).ofKey("tools.mine.cwd"), "2:23", "a tool of the person's");
});

Deno.test("an untrusted project that removes a preset removes only the tools that the preset approves", () => {
  const log = new LayerLog("P");
  const path = ["tools", "auto_approve"];
  log.push({ op: "remove", path, value: "$default" });
  const { operations, ignored } = untrustedShare(log, [], BUILTIN_CATALOG);
  assert.ok(operations.length > 1);
  assert.ok(operations.every(({ op, value }) => op === "remove" && !String(value).startsWith("$")));
  assert.ok(operations.some(({ value }) => value === "read"));
  assert.deepEqual(ignored, []);
});

test("an unknown preset is reported when the settings are loaded, of a file and of the command line", async (world) => {
  const overrides = { tools: { auto_approve: ["$nosuch"] } };
  const given = await loadSettingsLayers({ environment: world.environment(), overrides });
  assert.ok(given.ok);
  assert.deepEqual(given.value.notices.map(({ code }) => code), ["option-ignored"]);
  await world.write(`${world.home}/.config/flemma/config.yaml`, "tools: { auto_approve: [$nosuch] }\n");
  const loaded = await loadSettingsLayers({ environment: world.environment() });
  assert.ok(loaded.ok);
  assert.deepEqual(loaded.value.notices.map(({ code }) => code), ["config-unknown-preset"]);
});

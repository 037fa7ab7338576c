// Old keys never cost anybody anything: each is one warning, wherever it is written, and all other settings count.

import assert from "node:assert/strict";
import { documentSettings } from "../../config/frontmatter.ts";
import { loadSettingsLayers } from "../../config/load.ts";
import { OLD_KEYS } from "../../config/data/old_keys.ts";
import { SCHEMA } from "../../config/schema/schema.ts";
import { parse } from "../../parser/mod.ts";
import { luaRunner } from "../lua/lua.ts";
import { inWorld, testInWorld as test } from "./world.ts";

const KEYS = Object.keys(OLD_KEYS);
/** Every old key with a member, and two settings that must not get lost. */
const TREE = { ...Object.fromEntries(KEYS.map((key) => [key, { enabled: false }])), model: "m", timeout: 7 };
const runLua = await luaRunner();

/** Old keys that the lines warn of, in the order of the table; twice when they are told twice. */
function toldOf(lines: readonly string[]): string[] {
  return KEYS.flatMap((key) =>
    lines.filter((line) => line.includes(`"${key}" ${OLD_KEYS[key]!.says}`)).map(() => key)
  );
}

Deno.test("a settings file and a project's with every old key load, with one warning for each", async () => {
  for (const where of ["home/.config/flemma", "project/.flemma"]) {
    await inWorld(async (world) => {
      await world.write(`${world.folder}/${where}/config.yaml`, JSON.stringify(TREE));
      const loaded = await loadSettingsLayers({ environment: world.environment() });
      assert.ok(loaded.ok, loaded.ok ? "" : loaded.problem.message);
      const { settings, warnings } = loaded.value;
      assert.deepEqual(toldOf(warnings), KEYS, where);
      assert.deepEqual([settings.model, settings.parameters.timeout], ["m", 7]);
      // A key with a new name goes on working; whose key it is stays as it was.
      assert.equal(settings.ui.pricing.enabled, where.startsWith("project"));
    });
  }
});

Deno.test("a document with every old key runs, with one warning for each, in every language", async () => {
  const lua = KEYS.map((key) => `flemma.opt.${key} = { enabled = false }\nflemma.opt.${key}.enabled = false`);
  const blocks: Readonly<Record<string, string>> = {
    json: JSON.stringify({ flemma: TREE }),
    yaml: JSON.stringify({ flemma: TREE }),
    lua: [...lua, 'flemma.opt.model = "m"', "flemma.opt.timeout = 7"].join("\n"),
  };
  await inWorld(async (world) => {
    const loaded = await loadSettingsLayers({ environment: world.environment() });
    assert.ok(loaded.ok);
    for (const [language, code] of Object.entries(blocks)) {
      const { frontmatter } = parse(
        new TextEncoder().encode(`\`\`\`${language}\n${code}\n\`\`\`\n\n@You:\n`),
      );
      const { settings, diagnostics } = await documentSettings({ loaded: loaded.value, frontmatter, runLua });
      assert.deepEqual(diagnostics.filter(({ severity }) => severity === "error"), [], language);
      assert.deepEqual(toldOf(diagnostics.map(({ message }) => message)), KEYS, language);
      assert.deepEqual([settings.model, settings.parameters.timeout], ["m", 7], language);
    }
  });
});

test("the command line and the session take old keys with a warning too", async (world) => {
  // The new key of this one is the person's alone.
  const { pricing: _pricing, ...overrides } = TREE as Record<string, unknown>;
  const loaded = await loadSettingsLayers({ environment: world.environment(), overrides });
  assert.ok(loaded.ok, loaded.ok ? "" : loaded.problem.message);
  const others = KEYS.filter((key) => key !== "pricing");
  assert.deepEqual(toldOf(loaded.value.notices.map(({ message }) => message)), others);
  const ops = KEYS.map((key) => ({ op: "set", path: key.split("."), value: true }));
  await world.write(
    `${world.folder}/run/flemma/session/default.json`,
    JSON.stringify({ version: 1, created: new Date().toISOString(), expires: null, ops }),
  );
  const session = await loadSettingsLayers({ environment: world.environment() });
  assert.ok(session.ok);
  assert.deepEqual(toldOf(session.value.notices.map(({ message }) => message)), KEYS);
});

Deno.test("no old key is a setting, and a new name is one", () => {
  for (const [key, { now }] of Object.entries(OLD_KEYS)) {
    let node: typeof SCHEMA | undefined = SCHEMA;
    for (const name of key.split(".")) node = node?.members[name] as typeof SCHEMA | undefined;
    assert.equal(node, undefined, key);
    if (now !== undefined) assert.ok((SCHEMA.members[now[0]!] as typeof SCHEMA).members[now[1]!], key);
  }
});

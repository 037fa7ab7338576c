// Old keys still work: each causes one warning wherever it is written, and all other settings apply.

import assert from "node:assert/strict";
import { documentSettings } from "../../config/frontmatter.ts";
import { loadSettingsLayers } from "../../config/load.ts";
import { OLD_KEYS } from "../../config/data/old_keys.ts";
import { BUILTIN_CATALOG } from "../../config/schema/catalog.ts";
import { PROVIDER_TABLES, SCHEMA } from "../../config/schema/schema.ts";
import type { Settings } from "../../config/settings.generated.ts";
import { parse } from "../../parser/mod.ts";
import { luaRunner } from "../lua/lua.ts";
import { inWorld, testInWorld as test } from "./world.ts";

const KEYS = Object.keys(OLD_KEYS);
/** Every old key with a member, and two settings that must not get lost. */
const TREE = { ...Object.fromEntries(KEYS.map((key) => [key, { enabled: false }])), model: "m", timeout: 7 };
const runLua = await luaRunner();

/** Values that an old key had in its version, in place of a table. */
const VALUES = [false, "block", 3, null];

/** Old keys that the lines warn of, in the order of the table; twice when they are told twice. */
function toldOf(lines: readonly string[]): string[] {
  return KEYS.flatMap((key) =>
    lines.filter((line) => line.includes(`"${key}" ${OLD_KEYS[key]!.says}`)).map(() => key)
  );
}

Deno.test("settings files of a person and a project with every old key are loaded, with one warning for each key", async () => {
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

Deno.test("an old key is loaded with a warning whatever its value is, also while the tools of a document are unknown", async () => {
  const tools = KEYS.filter((key) => /^tools\.[^.]+$/.test(key)).map((key) => key.slice("tools.".length));
  assert.ok(tools.length > 1);
  for (const value of VALUES) {
    await inWorld(async (world) => {
      const tree = { tools: Object.fromEntries(tools.map((name) => [name, value])), model: "m" };
      await world.write(`${world.folder}/home/.config/flemma/config.yaml`, JSON.stringify(tree));
      for (const isOpen of [false, true]) {
        const catalog = { ...BUILTIN_CATALOG, open: isOpen };
        const loaded = await loadSettingsLayers({ environment: world.environment(), catalog });
        assert.ok(loaded.ok, loaded.ok ? "" : loaded.problem.message);
        assert.deepEqual(toldOf(loaded.value.warnings), tools.map((name) => `tools.${name}`));
        assert.equal(loaded.value.settings.model, "m");
      }
    });
  }
});

Deno.test("a document with every old key runs in every frontmatter language, with one warning for each key", async () => {
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

/** Every alias and every old key together; each alias has its own value. */
const ALIASES = {
  thinking: "low",
  max_tokens: 321,
  temperature: 0.5,
  timeout: 8,
  cache_retention: "long",
  ...Object.fromEntries(Object.keys(PROVIDER_TABLES).map((name, at) => [name, { max_tokens: 100 + at }])),
};
const TOGETHER = { ...TREE, ...ALIASES, tools: { approve: ["read"] } };

function checkTogether({ parameters, tools, model }: Settings, where: string): void {
  const { thinking, max_tokens, temperature, timeout, cache_retention } = parameters;
  const { auto_approve } = tools.document ?? tools;
  assert.deepEqual(
    [thinking.level, max_tokens, temperature, timeout, cache_retention, model, auto_approve],
    ["low", 321, 0.5, 8, "long", "m", ["read"]],
    where,
  );
  const tables = parameters as unknown as Record<string, { max_tokens: number }>;
  for (const [at, name] of Object.keys(PROVIDER_TABLES).entries()) {
    assert.equal(tables[name]?.max_tokens, 100 + at, `${where}: ${name}`);
  }
}

Deno.test("if files and a document use every old key and alias together, they are loaded with one warning per key", async () => {
  assert.deepEqual(Object.keys(ALIASES), Object.keys(SCHEMA.aliases ?? {}));
  for (const where of ["home/.config/flemma", "project/.flemma", "document"]) {
    await inWorld(async (world) => {
      if (where !== "document") {
        await world.write(`${world.folder}/${where}/config.yaml`, JSON.stringify(TOGETHER));
      }
      const loaded = await loadSettingsLayers({ environment: world.environment() });
      assert.ok(loaded.ok, loaded.ok ? "" : loaded.problem.message);
      if (where !== "document") {
        assert.deepEqual(toldOf(loaded.value.warnings), KEYS, where);
        if (where.startsWith("home")) checkTogether(loaded.value.settings, where);
        return;
      }
      const code = JSON.stringify({ flemma: TOGETHER });
      const { frontmatter } = parse(new TextEncoder().encode(`\`\`\`yaml\n${code}\n\`\`\`\n\n@You:\n`));
      const read = await documentSettings({ loaded: loaded.value, frontmatter, runLua });
      assert.deepEqual(read.diagnostics.filter(({ severity }) => severity === "error"), []);
      assert.deepEqual(toldOf(read.diagnostics.map(({ message }) => message)), KEYS);
      checkTogether(read.settings, where);
    });
  }
});

Deno.test("if a new key does not accept the value of its old key, the one warning says so, and there is no error", async () => {
  const refused = '"pricing" is now "ui.pricing"; the new key does not accept this value';
  const rows: readonly (readonly [value: unknown, warning: string, enabled: boolean])[] = [
    [false, refused, true],
    [[], refused, true],
    [null, refused, true],
    [{}, '"pricing" is now "ui.pricing"', true],
    [{ enabled: false }, '"pricing" is now "ui.pricing"', false],
    [{ enabled: { $set: false } }, '"pricing" is now "ui.pricing"', false],
    [{ $set: { enabled: false } }, '"pricing" is now "ui.pricing"', false],
    [{ enabled: false, foo: { bar: 1 } }, refused, false],
    [{ enabled: { foo: 1 } }, refused, true],
    [{ enabled: "no" }, refused, true],
  ];
  for (const [pricing, warning, enabled] of rows) {
    await inWorld(async (world) => {
      const path = `${world.home}/.config/flemma/config.yaml`;
      await world.write(path, JSON.stringify({ pricing, model: "m" }));
      const loaded = await loadSettingsLayers({ environment: world.environment() });
      const where = JSON.stringify(pricing);
      assert.ok(loaded.ok, where);
      assert.deepEqual(
        loaded.value.warnings.map((line) => line.replace(/^.*?:\d+:\d+: /, "")),
        [warning],
        where,
      );
      assert.deepEqual([loaded.value.settings.ui.pricing.enabled, loaded.value.settings.model], [
        enabled,
        "m",
      ]);
      const empty = await loadSettingsLayers({ environment: world.environment(), noConfig: true });
      assert.ok(empty.ok);
      const block = `\`\`\`json\n${JSON.stringify({ flemma: { pricing } })}\n\`\`\`\n\n@You:\n`;
      const { frontmatter } = parse(new TextEncoder().encode(block));
      const { diagnostics } = await documentSettings({ loaded: empty.value, frontmatter, runLua });
      const own = diagnostics.filter(({ code }) => code === "config_old_key");
      assert.deepEqual(
        [own.length, diagnostics.some(({ severity }) => severity === "error")],
        [1, false],
        where,
      );
    });
  }
});

test("the command line and session settings also accept old keys with a warning", async (world) => {
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

Deno.test("no old key is a current setting, and every key that replaces an old key is a current setting", () => {
  for (const [key, { now }] of Object.entries(OLD_KEYS)) {
    let node: typeof SCHEMA | undefined = SCHEMA;
    for (const name of key.split(".")) node = node?.members[name] as typeof SCHEMA | undefined;
    assert.equal(node, undefined, key);
    if (now !== undefined) assert.ok((SCHEMA.members[now[0]!] as typeof SCHEMA).members[now[1]!], key);
  }
});

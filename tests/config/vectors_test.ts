// Runs the configuration vectors against real files: global file, session file, and the document's frontmatter.

import assert from "node:assert/strict";
import type { Catalog } from "../../config/schema/catalog.ts";
import { documentSettings } from "../../config/frontmatter.ts";
import { lookUp } from "../../config/layers/explain.ts";
import { loadSettingsLayers } from "../../config/load.ts";
import { oldKey } from "../../config/data/old_keys.ts";
import { resolveTools } from "../../config/layers/resolve.ts";
import { addToSession } from "../../config/sources/session_overrides.ts";
import { parse } from "../../parser/mod.ts";
import { luaRunner } from "../lua/lua.ts";

interface Expected {
  code: string;
  severity: string;
  key?: string;
  suggestion?: string;
  line?: number;
  in?: string;
}

interface Vector {
  name: string;
  profile: "any" | "seed" | "v0.11";
  note?: string;
  registered?: string[];
  disabled?: string[];
  global: Record<string, unknown>;
  runtime?: Record<string, unknown>;
  chat: string;
  expect: {
    config?: Record<string, unknown>;
    effective?: Record<string, unknown>;
    variables?: Record<string, unknown>;
    tools?: string[];
    diagnostics: Expected[];
  };
}

const KNOWN = new Set("name sure profile note registered disabled global runtime chat expect".split(" "));
const SEVEN = ["bash", "read", "edit", "write", "grep", "find", "ls"];

const vectors: Vector[] = Deno.readTextFileSync(new URL("../vectors/config.jsonl", import.meta.url))
  .trim().split("\n").map((line) => JSON.parse(line));
for (const vector of vectors) {
  for (const field of Object.keys(vector)) {
    assert.ok(KNOWN.has(field), `unknown field ${field} in ${vector.name}`);
  }
}

/** Names in approval lists that no tool has are warned about; the plugin, which gave these vectors, is silent. */
const WARNED_NAMES: Readonly<Record<string, readonly string[]>> = {
  "json-prepend-array-order": ["a", "b"],
};

const runLua = await luaRunner();
const needsLua = (vector: Vector) => vector.chat.startsWith("```lua\n");

for (const vector of vectors) {
  Deno.test({
    name: `configuration vector ${vector.name}`,
    async fn() {
      await run(vector);
    },
  });
}

async function run(vector: Vector): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "flemma-vector-" });
  try {
    const environment = {
      cwd: folder,
      home: folder,
      variables: { XDG_RUNTIME_DIR: `${folder}/run`, XDG_STATE_HOME: `${folder}/state` },
    };
    const catalog: Catalog = {
      tools: (vector.registered ?? SEVEN).map((name) => ({
        name,
        enabled: !(vector.disabled ?? []).includes(name),
      })),
    };
    const global = vector.profile === "v0.11" ? withProfile(vector.global) : vector.global;
    await Deno.writeTextFile(`${folder}/config.json`, JSON.stringify(global));
    if (vector.runtime !== undefined) {
      const operations = Object.entries(vector.runtime)
        .map(([key, value]) => ({ op: "set" as const, path: key.split("."), value }));
      const added = await addToSession(environment, null, operations, new Date());
      assert.ok(added.ok);
    }
    const loaded = await loadSettingsLayers({ environment, configPath: `${folder}/config.json`, catalog });
    const { expect } = vector;
    const inGlobal = expect.diagnostics.filter((diagnostic) => diagnostic.in === "global");
    if (inGlobal.length > 0) {
      assert.ok(!loaded.ok, "the file is in error");
      const lines = loaded.problem.message.split("\n");
      assert.equal(lines.length, inGlobal.length);
      for (const { key, suggestion } of inGlobal) {
        assert.ok(lines.some((line) => line.includes(key!)), `${key} in ${loaded.problem.message}`);
        if (suggestion) assert.match(loaded.problem.message, new RegExp(`did you mean "${suggestion}"`));
      }
      return;
    }
    assert.ok(loaded.ok, loaded.ok ? "" : loaded.problem.message);
    const chat = parse(new TextEncoder().encode(vector.chat));
    const document = await documentSettings({
      loaded: loaded.value,
      frontmatter: chat.frontmatter,
      runLua,
    });
    const summary = (diagnostic: Expected) =>
      JSON.stringify([
        diagnostic.code,
        diagnostic.severity,
        diagnostic.key ?? "",
        diagnostic.suggestion ?? "",
      ]);
    const wanted = expect.diagnostics.map((diagnostic) => {
      const found = document.diagnostics.find((other) =>
        other.code === diagnostic.code && (diagnostic.key === undefined || other.key === diagnostic.key)
      );
      if (found && diagnostic.line !== undefined) assert.equal(found.line, diagnostic.line);
      return summary({
        ...diagnostic,
        key: diagnostic.key ?? found?.key,
        suggestion: diagnostic.suggestion ?? found?.suggestion,
      });
    });
    const warned = WARNED_NAMES[vector.name] ?? [];
    const given = document.diagnostics.filter((diagnostic) =>
      !warned.some((name) =>
        diagnostic.code === "config_ignored_value" && diagnostic.message.includes(`"${name}"`)
      )
    );
    assert.equal(document.diagnostics.length - given.length, warned.length);
    assert.deepEqual(given.map(summary).sort(), wanted.sort());
    for (const [key, value] of Object.entries(expect.config ?? {})) {
      // Nothing reads an old key, so it has no value: `tools.show_spinner` of the plugin.
      if (oldKey(key) !== null) {
        assert.deepEqual(lookUp(document.logs, catalog, key), { ok: true, value: [] });
        continue;
      }
      const found = lookUp(document.logs, catalog, key);
      assert.ok(found.ok, key);
      const rows = [found.value].flat() as { key: string; value: unknown }[];
      const row = rows.find((row) => row.key === key)!;
      if (key.endsWith(".expanded") || (vector.profile === "v0.11" && key === "tools.auto_approve")) {
        // The plugin opens presets at once; here the list keeps the references and is opened when it is asked.
        const opened = lookUp(document.logs, catalog, "tools.auto_approve.expanded");
        assert.ok(opened.ok);
        assert.deepEqual(
          [...(opened.value as { value: string[] }).value].sort(),
          [...value as string[]].sort(),
        );
      } else if (value === "<function>") assert.equal(typeof row.value, "function");
      else assert.deepEqual(row.value, value, key);
    }
    for (const [key, value] of Object.entries(expect.effective ?? {})) {
      const found = key.split(".").reduce<unknown>(
        (at, name) => (at as Record<string, unknown>)[name],
        document.settings,
      );
      assert.deepEqual(found, value, key);
    }
    if (expect.variables !== undefined) assert.deepEqual({ ...document.variables }, expect.variables);
    if (expect.tools !== undefined) {
      assert.deepEqual([...resolveTools(document.logs, catalog).offered].sort(), expect.tools);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function withProfile(global: Record<string, unknown>): Record<string, unknown> {
  const tools = global.tools;
  const inner = Array.isArray(tools) ? { $set: tools } : (tools ?? {}) as Record<string, unknown>;
  return { ...global, tools: { ...inner, approval_profile: "v0.11" } };
}

Deno.test("the number of configuration vectors, and of those that need Lua, is unchanged", () => {
  assert.equal(vectors.length, 80);
  assert.equal(vectors.filter(needsLua).length, 49);
});

// A setting that no code reads would be accepted and documented without effect, so every key must have a reader.

import assert from "node:assert/strict";
import { PROVIDER_TABLES, SCHEMA } from "../../config/schema/schema.ts";
import type { Node, SettingKey } from "../../config/schema/define.ts";
import { ROOT } from "../../scripts/gate/root.ts";

const ROOMS = ["agent", "commands", "config", "cycle", "prompt", "providers", "sandbox", "tools"];
/** Where settings are declared and carried along; that is no use of them. */
const CARRIERS = /^config\/(?:schema\/|settings\.ts|layers\/effective\.ts)|\.generated\.ts$/;

Deno.test("every settings key is read by code outside the schema", async () => {
  const sources = await readSources();
  const unread = keysOf(SCHEMA).filter(({ path }) => !readers(sources, path).length);
  assert.deepEqual(unread.map(({ path }) => path.join(".")), []);
});

Deno.test("the check of unused settings finds a key that no code reads", async () => {
  const sources = await readSources();
  for (const key of ["tools.no_such_setting", "sandbox.no_such_group.enabled", "tools.bash.no_such"]) {
    assert.deepEqual(readers(sources, key.split(".")), [], key);
  }
  assert.notDeepEqual(readers(sources, ["tools", "max_concurrent"]), []);
});

/** How find and grep read theirs: by one schema, and the place of the call. */
const SEARCHED = /searchConfig[^]*\bcwd\b[^]*getConfig\(\)\?\.exclude\b[^]*resolveTarget/;

/** Keys whose names are words of every program: how they are read. */
const SPECIAL: Readonly<Record<string, RegExp>> = {
  "tools.env.block": /\bsettings\.block\b|\{[^}]*\bblock\b[^}]*\bpass\b/,
  "tools.env.pass": /\bsettings\.pass\b|\{[^}]*\bblock\b[^}]*\bpass\b/,
  "tools.ls.cwd": /name: "ls"[^]*config_schema[^]*\bcwd\b/,
  "tools.find.cwd": SEARCHED,
  "tools.find.exclude": SEARCHED,
  "tools.grep.cwd": SEARCHED,
  "tools.grep.exclude": SEARCHED,
  "tools.bash.env": /getConfig\(\)\?\.env\b/,
};

interface Placed {
  readonly path: readonly string[];
  readonly key: SettingKey;
}

/** Keys by name; what has free names is read by whoever gave the name. */
function keysOf(node: Node, path: readonly string[] = []): Placed[] {
  if (node.node === "key") return [{ path, key: node }];
  return Object.entries(node.members).flatMap(([name, member]) => keysOf(member, [...path, name]));
}

/**
 * Files that read a key: they have its name, and where the name is one that many tables have, its table's name close
 * before it.
 */
function readers(sources: ReadonlyMap<string, string>, path: readonly string[]): string[] {
  const name = path.at(-1)!;
  const tables = path.slice(0, -1).filter((table) => !Object.hasOwn(PROVIDER_TABLES, table));
  const table = tables.at(-1);
  const isCommon = ["enabled", "path", "cwd", "level", "documents", "trusted", "provider"]
    .includes(name) && table !== undefined;
  const special = SPECIAL[path.join(".")];
  const reads = special ?? new RegExp(isCommon ? `\\b${table}\\b[^;]{0,80}\\b${name}\\b` : `\\b${name}\\b`);
  return [...sources].filter(([, code]) => reads.test(code)).map(([file]) => file);
}

/** The code of the rooms without comments and without what only carries settings along. */
async function readSources(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const collect = async (folder: string): Promise<void> => {
    for await (const { name, isDirectory } of Deno.readDir(`${ROOT}/${folder}`)) {
      const path = `${folder}/${name}`;
      if (isDirectory) await collect(path);
      else if (name.endsWith(".ts") && !CARRIERS.test(path)) {
        const code = await Deno.readTextFile(`${ROOT}/${path}`);
        found.set(path, code.replaceAll(/\/\*[^]*?\*\/|\/\/[^\n]*/g, ""));
      }
    }
  };
  for (const room of ROOMS) await collect(room);
  return found;
}

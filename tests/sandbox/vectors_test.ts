// The lines of tests/vectors/sandbox.jsonl: path expansion, argument lists, writability.

import assert from "node:assert/strict";
import type { Environment } from "../../base/environment.ts";
import { documentSettings } from "../../config/frontmatter.ts";
import { loadSettingsLayers } from "../../config/load.ts";
import { DEFAULT_SETTINGS, type SandboxSettings } from "../../config/settings.generated.ts";
import type { RwPath } from "../../config/values.ts";
import { failure, success } from "../../base/problem.ts";
import { bwrap } from "../../sandbox/backends/builtin.ts";
import { BackendRegistry, createSandbox, resolvePolicy } from "../../sandbox/mod.ts";
import { luaRunner } from "../lua/lua.ts";
import { testInFolder as test } from "../folder.ts";

interface Vector {
  name: string;
  note?: string;
  fs: { dirs?: string[]; files?: string[]; links?: [string, string][] };
  cwd: string;
  buffer: string | null;
  env: Record<string, string>;
  policy: { rw_paths?: RwPath[]; network?: boolean; allow_privileged?: boolean } | null;
  sandbox: { enabled?: boolean; backend?: string; backends?: Record<string, Record<string, unknown>> };
  frontmatter?: string;
  runtime_override?: boolean;
  inner?: string[];
  expect_rw?: string[];
  expect_args?: string[] | null;
  expect_error?: string;
  writable?: Record<string, boolean>;
}

const KNOWN_FIELDS = new Set(
  "name sure note fs cwd buffer env policy sandbox frontmatter runtime_override inner expect_rw expect_args expect_error writable"
    .split(" "),
);

/** Bubblewrap's plain list when no path is writable. */
const NOTHING_WRITABLE = [
  ..."bwrap --ro-bind / / --dev /dev --proc /proc --unshare-user --unshare-pid --unshare-uts".split(" "),
  ..."--unshare-ipc --share-net --die-with-parent --new-session true".split(" "),
];

/** Expectations that a decision of the specification changed. */
const DECIDED: Record<string, Partial<Vector>> = {
  // An entry whose variable is empty is dropped: as the working directory (the plugin) it would open too much.
  "expand-env-empty-string": { expect_args: NOTHING_WRITABLE, expect_rw: [] },
  // Only `~` and `~/…` are expanded; taken literally (the plugin) it would name a folder of the working directory.
  "expand-tilde-user-not-expanded": { expect_args: NOTHING_WRITABLE, expect_rw: [] },
  // With `required`, nothing runs bare.
  "required-missing-binary-runs-bare": { expect_args: null, expect_error: "backend-unavailable" },
};

const LINES = Deno.readTextFileSync(new URL("../vectors/sandbox.jsonl", import.meta.url)).trimEnd().split(
  "\n",
);

for (const line of LINES) {
  const raw = JSON.parse(line) as Vector;
  test(`sandbox vector ${raw.name}`, async (root) => {
    const vector = { ...JSON.parse(line.replaceAll("{R}", root)), ...DECIDED[raw.name] } as Vector;
    await check(vector);
  });
}

Deno.test("the tests run every line of the sandbox vectors", () => {
  assert.equal(LINES.length, 58);
});

async function check(vector: Vector): Promise<void> {
  for (const field of Object.keys(vector)) assert.ok(KNOWN_FIELDS.has(field), `unknown field ${field}`);
  for (const folder of vector.fs.dirs ?? []) Deno.mkdirSync(folder, { recursive: true });
  for (const file of vector.fs.files ?? []) Deno.writeTextFileSync(file, "x");
  for (const [link, target] of vector.fs.links ?? []) Deno.symlinkSync(target, link);

  const environment = { cwd: vector.cwd, home: vector.env.HOME ?? "/", variables: vector.env };
  const defaults = DEFAULT_SETTINGS.sandbox;
  const configured = {
    ...defaults,
    ...vector.sandbox,
    backends: { bwrap: { ...defaults.backends.bwrap, ...vector.sandbox.backends?.bwrap } },
    policy: { ...defaults.policy, ...vector.policy },
  };
  const effective = vector.frontmatter === undefined
    ? configured
    : await withFrontmatter(vector, environment);
  // The session's switch has higher precedence than the document.
  const settings = { ...effective, enabled: vector.runtime_override ?? effective.enabled };
  const sandbox = createSandbox({
    settings,
    environment,
    document: vector.buffer,
    protect: [],
    registry: pureBackends(),
  });

  const resolved = resolvePolicy(settings, { environment, document: vector.buffer });
  if (vector.expect_rw) {
    assert.ok(resolved.ok);
    assert.deepEqual(resolved.value.rw_paths, vector.expect_rw);
  } else {
    assert.equal(resolved.ok ? "resolved" : resolved.problem.code, vector.expect_error);
  }
  if (vector.inner) {
    const prepared = await sandbox.prepare(vector.inner);
    assert.deepEqual(prepared.ok ? prepared.value.argv : null, vector.expect_args);
    assert.equal(prepared.ok ? undefined : prepared.problem.code, vector.expect_error);
  }
  for (const [path, expected] of Object.entries(vector.writable ?? {})) {
    assert.equal(sandbox.isPathWritable(path), expected, path);
  }
}

/** The settings of a file with the vector's values, and the document's Lua block on top. */
async function withFrontmatter(vector: Vector, environment: Environment): Promise<SandboxSettings> {
  const configPath = await Deno.makeTempFile({ suffix: ".json" });
  try {
    const policy = vector.policy === null ? {} : { policy: vector.policy };
    await Deno.writeTextFile(configPath, JSON.stringify({ sandbox: { ...vector.sandbox, ...policy } }));
    const loaded = await loadSettingsLayers({ environment, configPath });
    assert.ok(loaded.ok, loaded.ok ? "" : loaded.problem.message);
    const place = { from: 0, to: 0, start: 1, end: 1 };
    const { settings, diagnostics } = await documentSettings({
      loaded: loaded.value,
      frontmatter: { ...place, language: "lua", code: vector.frontmatter ?? "" },
      runLua: await luaRunner(),
    });
    assert.deepEqual(diagnostics, []);
    return settings.sandbox;
  } finally {
    await Deno.remove(configPath);
  }
}

/** Bubblewrap with its pure list only: nothing is prepared, nothing is run, every path counts as there. */
function pureBackends(): BackendRegistry {
  const registry = new BackendRegistry();
  registry.register("bwrap", {
    priority: 100,
    wrap: bwrap.wrap,
    available: ({ path }) => {
      if (path === "bwrap" || (typeof path === "string" && exists(path))) return success(undefined);
      return failure("program-not-found", `${path} does not exist.`);
    },
    probe: () => Promise.resolve(success(undefined)),
  });
  return registry;
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

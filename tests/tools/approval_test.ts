import assert from "node:assert/strict";
import { documentSettings } from "../../config/frontmatter.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import { loadSettingsLayers } from "../../config/load.ts";
import { DEFAULT_SETTINGS, type Settings, type ToolSettings } from "../../config/settings.generated.ts";
import { parse } from "../../parser/mod.ts";
import { luaRunner } from "../lua/lua.ts";
import type { Sandbox } from "../../sandbox/types.ts";
import {
  ApprovalRegistry,
  createApproval,
  type Decision,
  type ResolverFault,
} from "../../tools/approval/mod.ts";

const CONTEXT = { toolId: "call_1", document: null, dirname: null, cwd: "/" };

/** A sandbox that only answers the questions approval asks. */
function sandboxLike(
  facts: { enabled?: boolean; works?: boolean; rw?: string[]; privileged?: boolean },
): Sandbox {
  return {
    enabled: facts.enabled ?? true,
    policy: () =>
      success({
        rw_paths: facts.rw ?? ["/tmp"],
        network: true,
        allow_privileged: facts.privileged ?? false,
        protect: [],
      }),
    available: () =>
      Promise.resolve(
        facts.works ? success("stand-in") : failure("backend-unavailable", "No backend works."),
      ),
    prepare: () => Promise.resolve(failure("backend-unavailable", "Nothing runs here.")),
    isPathWritable: () => true,
    isPathReadable: () => true,
    notices: () => [],
  };
}

const SANDBOXABLE = new Set(["bash", "sb_tool"]);
const tools = {
  hasCapability: (tool: string, capability: string) =>
    capability === "can_auto_approve_if_sandboxed" && SANDBOXABLE.has(tool),
};

interface Vector {
  name: string;
  note?: string;
  profile: "v0.11" | "seed";
  tool: string;
  input: Record<string, unknown>;
  config: {
    tools?: Record<string, unknown>;
    sandbox?: { enabled?: boolean; backend?: string };
    presets?: unknown;
  };
  frontmatter?: string;
  frontmatter_language?: string;
  auto_approve_fn?: string;
  resolvers?: { name: string; priority?: number; tool?: string; returns?: unknown; throws?: boolean }[];
  unregister?: string[];
  sandbox_backend?: "ok" | "broken";
  sandbox_runtime_override?: boolean;
  expect: string;
  source: string;
}

const KNOWN = new Set(
  ("name sure note profile tool input config frontmatter frontmatter_language auto_approve_fn resolvers unregister " +
    "sandbox_backend sandbox_runtime_override expect source").split(" "),
);

const vectors: Vector[] = Deno.readTextFileSync(new URL("../vectors/approval.jsonl", import.meta.url))
  .trim().split("\n").map((line) => JSON.parse(line));
for (const vector of vectors) {
  for (const field of Object.keys(vector)) {
    assert.ok(KNOWN.has(field), `unknown field ${field} in ${vector.name}`);
  }
}

const runLua = await luaRunner();

/** Needs the Lua engine: the document's block, or the person's function, is written in it. */
const needsLua = (vector: Vector) =>
  vector.auto_approve_fn !== undefined ||
  (vector.frontmatter !== undefined && (vector.frontmatter_language ?? "lua") === "lua");

/** The settings of a vector: its configuration as a file, its first block on top. */
async function settingsFor(vector: Vector, folder: string): Promise<Outcome<Settings>> {
  const environment = { cwd: folder, home: folder, variables: {} };
  const { backend: _, ...sandbox } = vector.config.sandbox ?? {};
  const approval_profile = vector.profile === "seed" ? "founding" : "v0.11";
  const config = { ...vector.config, sandbox, tools: { ...vector.config.tools, approval_profile } };
  await Deno.writeTextFile(`${folder}/config.json`, JSON.stringify(config));
  const loaded = await loadSettingsLayers({ environment, configPath: "config.json" });
  if (!loaded.ok) return loaded;
  const evaluated = async (code: string, language: string) => {
    const chat = parse(new TextEncoder().encode(`\`\`\`${language}\n${code}\n\`\`\`\n\n@You:\nHi\n`));
    const document = await documentSettings({
      loaded: loaded.value,
      frontmatter: chat.frontmatter,
      runLua,
    });
    assert.ok(!document.diagnostics.some((diagnostic) => diagnostic.severity === "error"));
    return document.settings;
  };
  if (vector.auto_approve_fn !== undefined) {
    const { tools } = await evaluated(`flemma.opt.tools.auto_approve = ${vector.auto_approve_fn}`, "lua");
    const auto_approve = tools.document!.auto_approve;
    return success({
      ...loaded.value.settings,
      tools: { ...loaded.value.settings.tools, auto_approve },
    });
  }
  if (vector.frontmatter === undefined) return success(loaded.value.settings);
  return success(await evaluated(vector.frontmatter, vector.frontmatter_language ?? "lua"));
}

/** Vectors that record what this program refuses earlier: the settings file is in error. */
const REFUSED_BY_SETTINGS: Readonly<Record<string, RegExp>> = {
  // A preset name without `$` is an error of the file that holds it.
  "seed-preset-name-without-dollar-ignored": /must begin with \$/,
};

/** `config:auto_approve` is the oldest name of the config resolver. */
const SOURCES: Readonly<Record<string, string>> = { "config:auto_approve": "urn:flemma:approval:config" };

for (const vector of vectors) {
  Deno.test(`approval vector: ${vector.name}`, () => runVector(vector));
}

async function runVector(vector: Vector): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "flemma-approval-" });
  try {
    const loaded = await settingsFor(vector, folder);
    const refusal = REFUSED_BY_SETTINGS[vector.name];
    if (refusal) {
      assert.ok(!loaded.ok);
      assert.match(loaded.problem.message, refusal);
      return;
    }
    assert.ok(loaded.ok, loaded.ok ? "" : loaded.problem.message);
    const settings = loaded.value;
    const backend = vector.config.sandbox?.backend;
    const enabled = vector.sandbox_runtime_override ?? settings.sandbox.enabled;
    const works = vector.sandbox_backend === "ok" && (backend === undefined || backend === "auto");
    const approval = createApproval({
      settings: settings.tools,
      sandbox: sandboxLike({ enabled, works }),
      tools,
      root: false,
    });
    for (const extra of vector.resolvers ?? []) {
      const outcome = approval.register(extra.name, {
        priority: extra.priority ?? 50,
        resolve(tool) {
          if (extra.throws) throw new Error("on purpose");
          return extra.tool === undefined || extra.tool === tool ? extra.returns as Decision : null;
        },
      });
      assert.ok(outcome.ok);
    }
    for (const name of vector.unregister ?? []) assert.ok(approval.unregister(name));
    const decided = await approval.resolveWithSource(vector.tool, vector.input, CONTEXT);
    const expected = { decision: vector.expect, source: SOURCES[vector.source] ?? vector.source };
    assert.deepEqual({ decision: decided.decision, source: decided.source }, expected);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("there are 96 test vectors for approval, 36 of which need Lua", () => {
  assert.equal(vectors.filter(needsLua).length, 36);
  assert.equal(vectors.length, 96);
});

Deno.test("a resolver name with a dot is refused unless it is a URN of flemma, and the error contains the name", () => {
  const registry = new ApprovalRegistry();
  const refused = registry.register("my.module", { resolve: () => "approve" });
  assert.ok(!refused.ok);
  assert.match(refused.problem.message, /my\.module/);
  assert.ok(registry.register("urn:flemma:approval:x.y", { resolve: () => null }).ok);
  assert.equal(registry.count(), 1);
});

Deno.test("resolvers are sorted by priority, then by name, whatever the order of registration", () => {
  const registry = new ApprovalRegistry();
  for (const [name, priority] of [["b", 50], ["z", 90], ["a", 50]] as const) {
    registry.register(name, { priority, resolve: () => null });
  }
  assert.deepEqual(registry.getAll().map((entry) => entry.name), ["z", "a", "b"]);
  registry.register("b", { priority: 100, resolve: () => null });
  assert.deepEqual(registry.getAll().map((entry) => entry.name), ["b", "z", "a"]);
  assert.ok(registry.unregister("z"));
  assert.ok(!registry.unregister("z"));
  registry.clear();
  assert.equal(registry.count(), 0);
});

Deno.test("built-in resolvers can also be found by their old names", () => {
  const approval = createApproval({
    settings: { ...settingsOf({}), require_approval: false },
    sandbox: sandboxLike({}),
    tools,
    root: false,
  });
  assert.equal(approval.get("config:auto_approve")?.name, "urn:flemma:approval:config");
  assert.ok(approval.has("config:catch_all_approve"));
  assert.ok(approval.unregister("config:catch_all_approve"));
  assert.ok(!approval.has("urn:flemma:approval:catch-all"));
});

function settingsOf(overrides: Partial<ToolSettings>) {
  return { ...DEFAULTS, ...overrides };
}

const DEFAULTS = DEFAULT_SETTINGS.tools;

Deno.test("if a guard throws, neither the sandbox nor the catch-all approves", async () => {
  const faults: ResolverFault[] = [];
  const rows = [
    [settingsOf({}), "urn:flemma:approval:sandbox"],
    [settingsOf({ require_approval: false, auto_approve_sandboxed: false }), "urn:flemma:approval:catch-all"],
  ] as const;
  for (const [settings, source] of rows) {
    const approval = createApproval({
      settings,
      sandbox: sandboxLike({ works: true }),
      tools,
      root: false,
      onFault: (fault) => faults.push(fault),
    });
    assert.equal(await approval.resolve("bash", {}, CONTEXT), "approve");
    approval.register("guard", { resolve: () => Promise.reject(new Error("guard broke\nat line 2")) });
    const decided = await approval.resolveWithSource("bash", {}, CONTEXT);
    assert.deepEqual(decided, {
      decision: "require_approval",
      source,
      detail: "an earlier resolver failed: guard",
    });
  }
  assert.deepEqual(faults.map((fault) => fault.message), ["guard broke at line 2", "guard broke at line 2"]);
});

Deno.test("a guard with a missing or invalid priority gets priority 50, and if it fails, no resolver below it approves", async () => {
  for (const priority of [undefined, NaN, "high"] as (number | undefined)[]) {
    const approval = createApproval({
      settings: settingsOf({ require_approval: false, auto_approve_sandboxed: false }),
      sandbox: sandboxLike({}),
      tools,
      root: false,
    });
    const guard = { priority, resolve: () => Promise.reject(new Error("broke")) };
    approval.register("guard", guard);
    approval.registerModule("/guard.ts", guard);
    assert.deepEqual([approval.get("guard")?.priority, approval.get("/guard.ts")?.priority], [50, 50]);
    assert.equal(await approval.resolve("bash", {}, CONTEXT), "require_approval");
  }
});

Deno.test("a person's list still approves a call if a guard of higher priority threw an exception", async () => {
  const approval = createApproval({
    settings: settingsOf({ auto_approve: ["bash"] }),
    sandbox: sandboxLike({}),
    tools,
    root: false,
  });
  approval.register("guard", {
    priority: 200,
    resolve() {
      throw new Error("no");
    },
  });
  assert.equal(await approval.resolve("bash", {}, CONTEXT), "approve");
});

Deno.test("a resolver cannot change the input for the next resolver and for the tool", async () => {
  const approval = new ApprovalRegistry();
  const input = { command: "ls", nested: { list: [1] } };
  let seen: unknown;
  approval.register("meddler", {
    priority: 90,
    resolve(_tool, given) {
      (given as { command: string }).command = "rm -rf /";
      return null;
    },
  });
  approval.register("next", {
    resolve(_tool, given) {
      seen = given;
      return "require_approval";
    },
  });
  await approval.resolve("bash", input, CONTEXT);
  assert.deepEqual(seen, { command: "ls", nested: { list: [1] } });
  assert.equal(input.command, "ls");
});

Deno.test('a global function decides by returning true, false or "deny"; other values are ignored, and after an exception the person is asked', async () => {
  const rows = [
    [() => true, "approve", "urn:flemma:approval:config"],
    [() => false, "require_approval", "urn:flemma:approval:config"],
    [() => "deny", "deny", "urn:flemma:approval:config"],
    [() => "approve", "require_approval", "default"],
    [() => undefined, "require_approval", "default"],
    [
      () => {
        throw new Error("broken guard");
      },
      "require_approval",
      "urn:flemma:approval:config",
    ],
  ] as const;
  for (const [policy, expected, source] of rows) {
    const approval = createApproval({
      settings: settingsOf({ auto_approve: policy, auto_approve_sandboxed: false }),
      sandbox: sandboxLike({ works: true }),
      tools,
      root: false,
    });
    const decided = await approval.resolveWithSource("bash", {}, CONTEXT);
    assert.deepEqual({ ...decided }, { decision: expected, source });
  }
});

Deno.test("if every path is writable or root keeps its privileges, sandboxed calls are not approved automatically", async () => {
  for (const [facts, root] of [[{ rw: ["/"] }, false], [{ privileged: true }, true]] as const) {
    const approval = createApproval({
      settings: settingsOf({}),
      sandbox: sandboxLike({ works: true, ...facts, rw: "rw" in facts ? [...facts.rw] : undefined }),
      tools,
      root,
    });
    assert.equal(await approval.resolve("bash", {}, CONTEXT), "require_approval");
  }
});

Deno.test("a resolver registered under the old name of a built-in resolver replaces the built-in one, and can be found and removed by that name", () => {
  const approval = new ApprovalRegistry();
  approval.register("urn:flemma:approval:frontmatter", { resolve: () => "deny" });
  approval.register("frontmatter:auto_approve", { resolve: () => "approve", priority: 7 });
  assert.deepEqual([approval.count(), approval.get("frontmatter:auto_approve")?.priority], [1, 7]);
  assert.ok(approval.unregister("frontmatter:auto_approve"));
  assert.equal(approval.count(), 0);
});

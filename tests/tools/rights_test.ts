// The rights of tools: what each origin may claim, what a sandbox confines, and which sources may define a name.

import assert from "node:assert/strict";
import {
  type Effects,
  isBounded,
  type Registration,
  type RunsIn,
  SANDBOX_CAPABILITY,
  type ToolOrigin,
} from "../../tools/definition.ts";
import { ToolRegistry } from "../../tools/registry.ts";
import type { ToolSource } from "../../tools/registration/types.ts";
import { evaluate, testInRepository as test } from "./rules/policy.ts";

const input_schema = { type: "object" };

Deno.test("a tool definition gets only the rights that its origin may grant: one row per condition", () => {
  const sandboxed = { capabilities: [SANDBOX_CAPABILITY] };
  const odd = { effects: "nothing", runs: "nowhere" } as unknown as Partial<Registration>;
  const rows: readonly (readonly [ToolOrigin, Partial<Registration>, Effects, RunsIn])[] = [
    ["built-in", { effects: "none", runs: "here" }, "none", "here"],
    ["built-in", { effects: "reads", runs: "inside" }, "reads", "inside"],
    ["built-in", {}, "writes", "here"],
    ["host", {}, "writes", "here"],
    ["host", { effects: "none", runs: "outside" }, "none", "outside"],
    ["host", { effects: "reads" }, "reads", "here"],
    ["host", sandboxed, "writes", "inside"],
    ["host", { ...sandboxed, runs: "here" }, "writes", "here"],
    ["host", { capabilities: ["other"] }, "writes", "here"],
    ["host", odd, "writes", "here"],
    ["file", { runs: "outside" }, "writes", "outside"],
    ["server", { runs: "inside" }, "writes", "inside"],
    ["module", { effects: "none", runs: "inside", ...sandboxed }, "writes", "here"],
  ];
  for (const [origin, stated, effects, runs] of rows) {
    const tools = new ToolRegistry();
    assert.ok(tools.registerFrom(origin, { name: "t", input_schema, ...stated }).ok);
    const tool = tools.get("t");
    assert.deepEqual(
      [tool?.origin, tool?.effects, tool?.runs],
      [origin, effects, runs],
      JSON.stringify(stated),
    );
  }
});

Deno.test("a tool definition cannot claim that someone else registered it", () => {
  const tools = new ToolRegistry();
  const origin = { origin: "built-in" } as unknown as Partial<Registration>;
  tools.register({ name: "one", input_schema, ...origin });
  tools.register("two", { input_schema, ...origin });
  assert.deepEqual(["one", "two"].map((name) => tools.get(name)?.origin), ["host", "host"]);
});

Deno.test("a sandbox confines what runs inside it, and tools that neither read nor have effects need no sandbox", () => {
  const rows: readonly (readonly [RunsIn, Effects, boolean])[] = [
    ["inside", "writes", true],
    ["inside", "none", true],
    ["outside", "writes", false],
    ["outside", "reads", false],
    ["here", "reads", false],
    ["here", "writes", false],
    ["here", "none", true],
  ];
  for (const [runs, effects, expected] of rows) assert.equal(isBounded({ runs, effects }), expected, runs);
  assert.equal(isBounded(undefined), false);
  assert.equal(isBounded({}), false);
});

/** A source that answers when it is told to. */
function source(name: string, mayHave?: (tool: string) => boolean) {
  let end: (error?: string) => void = () => {};
  let give: (tool: string) => void = () => {};
  const it: ToolSource = {
    name,
    mayHave,
    resolve: (register, done) => {
      end = done;
      give = (tool) => void register(tool, { input_schema });
    },
  };
  return { it, end: (error?: string) => end(error), give: (tool: string) => give(tool) };
}

Deno.test("a source that has not responded may still define a tool, unless a registry of higher precedence already has the tool", async () => {
  const weak = new ToolRegistry();
  const tools = new ToolRegistry({ below: [weak] });
  weak.registerFrom("built-in", { name: "ls", input_schema });
  const strong = source("strong");
  tools.register(strong.it);
  assert.equal(tools.mayCome("ls"), true, "it may replace the tool of a weaker registry");
  const known = tools.whenKnown("ls");
  strong.give("own");
  assert.equal(tools.mayCome("own"), false, "what it gave is settled");
  strong.give("ls");
  await known;
  assert.equal(tools.get("ls")?.origin, "host");
  assert.equal(tools.mayCome("other"), true);
  strong.end("it broke");
  assert.deepEqual(["ls", "other"].map((name) => tools.unaskedSource(name)), [null, "strong"]);
  const below = source("below");
  weak.register(below.it);
  assert.equal(tools.mayCome("ls"), false, "a weaker source cannot replace the tool of a stronger registry");
  assert.equal(tools.mayCome("new"), true);
});

Deno.test("if a source fails, the failure is reported for each tool that the source could have added or replaced", async () => {
  const tools = new ToolRegistry();
  tools.register({ name: "there", input_schema });
  const failing = source("failing", (name) => name !== "not its own");
  tools.register(failing.it);
  const ready = tools.whenReady();
  failing.end("it broke");
  await ready;
  const reported = ["there", "new", "not its own"].map((name) => tools.unaskedSource(name));
  assert.deepEqual(reported, ["failing", "failing", null]);
});

Deno.test("displaying a call waits only for tool code named in the settings, and starts no other tool source", async () => {
  const cases = [
    ["module", true],
    ["file", true],
    ["host", false],
    ["server", false],
  ] as const;
  for (const [origin, waits] of cases) {
    const tools = new ToolRegistry();
    const { it } = source("it");
    tools.registerFrom(origin, it);
    assert.deepEqual([tools.mayCome("t", "code"), tools.mayCome("t")], [waits, true], origin);
    if (!waits) await tools.whenKnown("t", undefined, "code");
    assert.equal(tools.sources()[0]?.state, "idle", origin);
  }
});

const DENY_READ = [{ deny: "read", path: ["secrets/**"] }, { approve: "grep" }, { approve: "own" }];

test("rules depend on what a tool does, and restrict a replacement as they restrict the built-in tool it replaces", async (folder) => {
  const decided = async (tool: string, input: Record<string, unknown>, tools = {}) => {
    const { restriction, approved } = await evaluate(DENY_READ, tool, input, { folder, tools });
    return restriction?.decision ?? (approved ? "approve" : null);
  };
  const path = { path_input: "path" };
  const contents = { ...path, searches: "contents" } as const;
  assert.equal(await decided("grep", { path: "secrets/key" }), "deny");
  assert.equal(await decided("grep", {}), "require_approval", "the folder may hold what is denied");
  assert.equal(await decided("grep", { path: "secrets/key" }, { grep: path }), "deny", "one in its place");
  assert.equal(await decided("grep", {}, { grep: path }), "require_approval", "and of its folder");
  assert.equal(await decided("own", { path: "secrets/key" }, { own: contents }), "deny");
  assert.equal(await decided("own", {}, { own: contents }), "require_approval");
  assert.equal(await decided("own", {}, { own: { ...path, searches: "names" } }), "approve");
  assert.equal(await decided("own", { path: "secrets/key" }, { own: path }), "approve");
});

test("a rule for the sandbox applies only if a sandbox works and confines the tool: one row per condition", async (folder) => {
  const rules = [{ approve: "own", sandboxed: true }];
  const rows: readonly (readonly [object, boolean, string | null])[] = [
    [{ runs: "inside", effects: "writes" }, true, null],
    [{ runs: "inside", effects: "writes" }, false, "which does not work here"],
    [{ runs: "outside", effects: "writes" }, true, "where it does not run"],
    [{ runs: "here", effects: "writes" }, true, "where it does not run"],
    [{ runs: "here", effects: "none" }, true, null],
    [{}, true, "where it does not run"],
  ];
  for (const [own, sandboxed, expected] of rows) {
    const { approved, why } = await evaluate(rules, "own", {}, { folder, sandboxed, tools: { own } });
    assert.equal(approved, expected === null, JSON.stringify(own));
    if (expected !== null) assert.match(why ?? "", new RegExp(expected), JSON.stringify(own));
  }
});

// Conditions for approval by the sandbox, one row per condition: all hold but one.

import assert from "node:assert/strict";
import { failure, success } from "../../base/problem.ts";
import { DEFAULT_SETTINGS, type ToolSettings } from "../../config/settings.generated.ts";
import type { Sandbox } from "../../sandbox/types.ts";
import {
  ApprovalRegistry,
  createApproval,
  type ResolverFault,
  type SandboxFacts,
  sandboxObstacle,
} from "../../tools/approval/mod.ts";
import { openSandbox } from "./scene.ts";
import { withoutWaiting } from "../waiting.ts";

const CONTEXT = { toolId: "c", document: null, dirname: null, cwd: "/" };
const facts: SandboxFacts = {
  hasCapability: () => true,
  effects: () => "writes",
  runs: () => "inside",
  root: false,
};
/** A tool that only computes. */
const pure: SandboxFacts = {
  ...facts,
  hasCapability: () => false,
  effects: () => "none",
  runs: () => "here",
};
const working: Sandbox = { ...openSandbox(["/w"]), available: () => Promise.resolve(success("bwrap")) };

function policy(changes: { rw_paths?: string[]; allow_privileged?: boolean }): Sandbox {
  return {
    ...working,
    policy: () =>
      success({ rw_paths: ["/w"], network: true, allow_privileged: false, protect: [], ...changes }),
  };
}

function settings(changes: Partial<ToolSettings> = {}): ToolSettings {
  return { ...DEFAULT_SETTINGS.tools, auto_approve: ["read"], ...changes };
}

function document(changes: Partial<NonNullable<ToolSettings["document"]>>): Partial<ToolSettings> {
  return {
    document: {
      auto_approve: ["ls"],
      excluded: [],
      presets: {},
      assigned: false,
      removed: [],
      ...changes,
    },
  };
}

Deno.test("sandboxed calls of a tool are approved automatically only if every condition is met", async () => {
  const rows: readonly (readonly [string, Partial<ToolSettings>, Sandbox, SandboxFacts, RegExp | null])[] = [
    ["all hold", {}, working, facts, null],
    ["as the superuser without privileges", {}, working, { ...facts, root: true }, null],
    ["an ordinary user with privileges", {}, policy({ allow_privileged: true }), facts, null],
    [
      "the superuser with privileges",
      {},
      policy({ allow_privileged: true }),
      { ...facts, root: true },
      /does not confine root/,
    ],
    [
      "switched off by the person",
      { auto_approve_sandboxed: false },
      working,
      facts,
      /auto_approve_sandboxed/,
    ],
    ["no policy", { auto_approve: null }, working, facts, /tools\.auto_approve is not set/],
    [
      "no policy of the document",
      document({ auto_approve: null }),
      working,
      facts,
      /tools\.auto_approve is not set/,
    ],
    ["a policy of the document alone", { auto_approve: null, ...document({}) }, working, facts, null],
    ["not made for it", {}, working, { ...facts, hasCapability: () => false }, /does not declare/],
    ["runs in a program of its own", {}, working, { ...facts, runs: () => "outside" }, /does not run in/],
    ["runs in this process", {}, working, { ...facts, runs: () => "here" }, /does not run in/],
    ["without effects, in this process", {}, working, pure, null],
    ["only reads, in this process", {}, working, { ...pure, effects: () => "reads" }, /does not declare/],
    [
      "without effects, switched off",
      { auto_approve_sandboxed: false },
      working,
      pure,
      /auto_approve_sandboxed/,
    ],
    ["without effects and without a sandbox", {}, { ...working, enabled: false }, pure, /disabled/],
    ["removed by the document", document({ removed: ["bash"] }), working, facts, /document removed bash/],
    ["another one removed by the document", document({ removed: ["edit"] }), working, facts, null],
    ["assigned by the document", document({ assigned: true }), working, facts, /sets its own/],
    ["removed by the person", { excluded: ["bash"] }, working, facts, /was removed/],
    ["removed from the document's list", document({ excluded: ["bash"] }), working, facts, /was removed/],
    ["sandbox off", {}, { ...working, enabled: false }, facts, /disabled/],
    ["no valid policy", {}, { ...working, policy: () => failure("x", "Odd.") }, facts, /Odd/],
    ["everything writable", {}, policy({ rw_paths: ["/w", "/"] }), facts, /everything writable/],
    [
      "no backend",
      {},
      { ...working, available: () => Promise.resolve(failure("x", "None works.")) },
      facts,
      /None works/,
    ],
  ];
  for (const [name, changes, sandbox, given, expected] of rows) {
    const obstacle = await sandboxObstacle("bash", settings(changes), sandbox, given);
    if (expected === null) assert.equal(obstacle, null, name);
    else assert.match(obstacle ?? "", expected, name);
  }
});

Deno.test("a guard that does not decide within five seconds counts as failed, whatever kind of promise it returns", async () => {
  const never = { then() {} } as unknown as Promise<null>;
  for (const answer of [new Promise<null>(() => {}), never]) {
    const faults: ResolverFault[] = [];
    const approval = new ApprovalRegistry((fault) => faults.push(fault));
    approval.register("guard", { resolve: () => answer });
    approval.register("urn:flemma:approval:catch-all", { priority: 0, resolve: () => "approve" });
    const waits = await withoutWaiting(async () => {
      assert.equal(await approval.resolve("bash", {}, CONTEXT), "require_approval");
    });
    assert.deepEqual(faults, [{ resolver: "guard", message: "no answer within 5 seconds" }]);
    assert.deepEqual(waits, [5000]);
  }
});

Deno.test("a guard that decides immediately starts no timer, and a guard may also decide through a promise", async () => {
  const approval = new ApprovalRegistry();
  approval.register("guard", { resolve: () => "deny" });
  const waits = await withoutWaiting(async () => {
    assert.equal(await approval.resolve("bash", {}, CONTEXT), "deny");
  });
  assert.deepEqual(waits, []);
  approval.register("guard", { resolve: () => Promise.resolve("deny") });
  assert.equal(await approval.resolve("bash", {}, CONTEXT), "deny");
});

Deno.test("an approval decision waits for the tests of the sandbox, which have their own time limits", async () => {
  const faults: ResolverFault[] = [];
  const approval = new ApprovalRegistry((fault) => faults.push(fault));
  approval.register("urn:flemma:approval:sandbox", {
    priority: 25,
    resolve: () => Promise.resolve("approve"),
  });
  const waits = await withoutWaiting(async () => {
    assert.equal(await approval.resolve("bash", {}, CONTEXT), "approve");
  });
  assert.deepEqual([waits, faults], [[], []]);
});

Deno.test("if a resolver with a higher priority than the sandbox fails, it blocks only approvals by the sandbox, by risk and by the catch-all", async () => {
  const broken = () => Promise.reject(new Error("broke"));
  const nonsense = () => "yes" as unknown as "approve";
  const rows: readonly (readonly [number, string, string])[] = [
    [26, "urn:flemma:approval:catch-all", "require_approval"],
    [26, "urn:flemma:approval:sandbox", "require_approval"],
    [26, "urn:flemma:approval:risk", "require_approval"],
    [26, "mine", "approve"],
    [25, "urn:flemma:approval:catch-all", "approve"],
  ];
  for (const resolve of [broken, nonsense]) {
    for (const [priority, name, expected] of rows) {
      const approval = new ApprovalRegistry();
      approval.register("guard", { priority, resolve });
      approval.register(name, { priority: 0, resolve: () => "approve" });
      assert.equal(await approval.resolve("bash", {}, CONTEXT), expected, `${priority} ${name}`);
    }
    const denied = new ApprovalRegistry();
    denied.register("guard", { priority: 90, resolve });
    denied.register("urn:flemma:approval:catch-all", { priority: 0, resolve: () => "deny" });
    assert.equal(await denied.resolve("bash", {}, CONTEXT), "deny", "a denial always takes effect");
  }
});

Deno.test("each way in which a guard fails is reported once, so a guard that fails in two ways causes two reports", async () => {
  const faults: ResolverFault[] = [];
  const approval = new ApprovalRegistry((fault) => faults.push(fault));
  let message = "one";
  approval.register("guard", { resolve: () => Promise.reject(new Error(message)) });
  for (message of ["one", "one", "two", "one"]) await approval.resolve("bash", {}, CONTEXT);
  assert.deepEqual(faults.map((fault) => fault.message), ["one", "two"]);
});

Deno.test("a resolver without the function resolve is refused", () => {
  for (const resolve of [undefined, null, 7, {}]) {
    const registered = new ApprovalRegistry().register("mine", { resolve } as never);
    assert.ok(!registered.ok);
    assert.deepEqual(registered.problem.code, "resolver-invalid");
  }
});

Deno.test("a resolver name may not be a module path, but may be a URN of flemma", () => {
  const approval = new ApprovalRegistry();
  const rows: readonly (readonly [string, boolean])[] = [
    ["guard", true],
    ["", false],
    ["a.b", false],
    ["urn:flemma:approval:x.y", true],
    ["urn:other:x.y", false],
  ];
  for (const [name, ok] of rows) assert.equal(approval.register(name, { resolve: () => null }).ok, ok, name);
});

Deno.test("an approval for one run applies only to the named tools; if it names a preset, the preset can also deny", async () => {
  const presets = { $mixed: { approve: ["bash"], deny: ["write"] } };
  const approval = createApproval({
    settings: settings({ approved: ["$mixed"], presets, auto_approve_sandboxed: false }),
    sandbox: working,
    tools: facts,
    root: false,
  });
  assert.deepEqual(await approval.resolveWithSource("bash", {}, CONTEXT), {
    decision: "approve",
    source: "urn:flemma:approval:approve-rules",
  });
  assert.equal(await approval.resolve("write", {}, CONTEXT), "deny");
  assert.equal(await approval.resolve("edit", {}, CONTEXT), "require_approval");
  const none = createApproval({ settings: settings(), sandbox: working, tools: facts, root: false });
  assert.equal(none.has("urn:flemma:approval:approve-rules"), false);
});

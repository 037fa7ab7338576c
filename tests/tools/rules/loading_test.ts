// The command parser is loaded only if a rule is about commands, and a rule that cannot be evaluated approves
// nothing.

import assert from "node:assert/strict";
import { BUILTIN_CATALOG } from "../../../config/schema/catalog.ts";
import { DEFAULT_SETTINGS } from "../../../config/settings.generated.ts";
import { createApproval, type RuleEvaluator } from "../../../tools/approval/mod.ts";
import { rulesOf } from "../../../tools/approval/rules_of.ts";
import { ToolRegistry } from "../../../tools/registry.ts";
import { workingSandbox } from "../../config/sandbox.ts";
import { evaluate, placed, testInRepository as test } from "./policy.ts";

const CONTEXT = { toolId: "c", document: null, dirname: null, cwd: "/" };

test("the shell parser is not loaded if there is no rule about commands", async (folder) => {
  const where = { folder, loadShell: () => Promise.reject(new Error("it was loaded")) };
  const rules = [{ approve: "read", path: "./**" }, { ask: "bash", input: { timeout: 600 } }, {
    deny: "write",
  }];
  for (
    const [tool, input] of [["bash", { command: "ls" }], ["read", { path: "a" }], ["write", {
      path: "a",
    }]] as const
  ) {
    await evaluate(rules, tool, input, where);
  }
  await evaluate([...rules, { deny: "bash", command: "rm **" }], "read", { path: "a" }, where);
  await assert.rejects(
    evaluate([{ deny: "bash", command: "rm **" }], "bash", { command: "ls" }, where),
    /it was loaded/,
  );
});

Deno.test("without rules, no evaluator is created", async () => {
  const found = await rulesOf({
    settings: DEFAULT_SETTINGS,
    tools: new ToolRegistry(),
    sandbox: workingSandbox(true),
    environment: { cwd: "/", home: "/", variables: {} },
    document: null,
    loaded: { project: null, placeOf: () => null },
  });
  assert.equal(found, null);
  assert.ok(BUILTIN_CATALOG.tools.length > 0);
});

Deno.test("if rules cannot be evaluated, no call is approved, and rules that could ask or deny make flemma ask the person", async () => {
  const broken: RuleEvaluator = {
    restricts: true,
    approves: true,
    evaluate: () => Promise.reject(new Error("no parser")),
    placeOf: () => "here",
  };
  const ask = async (rules: RuleEvaluator) => {
    const faults: string[] = [];
    const approval = createApproval({
      settings: {
        ...DEFAULT_SETTINGS.tools,
        auto_approve: ["bash"],
        rules: [placed({ deny: "bash", command: "rm **" })],
      },
      sandbox: workingSandbox(true),
      tools: { hasCapability: () => true },
      root: false,
      rules,
      onFault: ({ message }) => faults.push(message),
    });
    const decided = await approval.resolveWithSource("bash", { command: "ls" }, CONTEXT);
    const other = await approval.resolveWithSource("other", {}, CONTEXT);
    return { decision: decided.decision, detail: decided.detail, other: other.decision, faults };
  };
  const asked = await ask(broken);
  assert.equal(asked.decision, "require_approval");
  assert.match(asked.detail ?? "", /no parser/);
  // Only approvals are lost: a list that names the tool decides, and the sandbox below does not any more.
  const granting = await ask({ ...broken, restricts: false });
  assert.deepEqual([granting.decision, granting.other], ["approve", "require_approval"]);
  assert.deepEqual(granting.faults, ["no parser"]);
});

// Why a call is decided as it is: the reported answer of each resolver, and which are asked. One row per condition.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { createApproval, type ResolverDefinition } from "../../tools/approval/mod.ts";
import { workingSandbox } from "../config/sandbox.ts";

const CONTEXT = { toolId: "c", document: null, dirname: null, cwd: "/" };

function fails(): never {
  throw new Error("out of order");
}

/** What one more resolver above all others is told to have said, and the decision. */
async function asked(definition: ResolverDefinition) {
  const approval = createApproval({
    settings: { ...DEFAULT_SETTINGS.tools, auto_approve: [] },
    sandbox: workingSandbox(false),
    tools: { hasCapability: () => false },
    root: false,
  });
  assert.ok(approval.register("mine", { priority: 1000, ...definition }).ok);
  const { decision, chain = [] } = await approval.resolveWithSource("bash", {}, CONTEXT, { explain: true });
  const link = chain.find(({ name }) => name === "mine");
  return { decision, stated: link === undefined ? "not asked" : `${link.answer}: ${link.detail}` };
}

Deno.test("a resolver is reported with its decision, its reason and its explanation", async () => {
  const deny = () => "deny" as const;
  const why = () => ({ detail: "because" });
  const explain = () => ["one", "two"];
  const rows: readonly (readonly [ResolverDefinition, string])[] = [
    [{ resolve: deny }, "deny: "],
    [{ resolve: deny, why }, "deny: because"],
    [{ resolve: deny, why: () => null }, "deny: "],
    [{ resolve: deny, why: fails }, "deny: its explanation failed: out of order"],
    [{ resolve: deny, explain }, "deny: one\ntwo"],
    [{ resolve: deny, why, explain }, "deny: because\none\ntwo"],
    [{ resolve: deny, explain: fails }, "deny: its explanation failed: out of order"],
    [{ resolve: () => null, why, explain }, "pass: one\ntwo"],
    [{ resolve: fails, why, explain }, "error: "],
  ];
  for (const [definition, expected] of rows) {
    const { stated, decision } = await asked(definition);
    assert.equal(stated, expected);
    assert.equal(decision, expected.startsWith("deny") ? "deny" : "require_approval", expected);
  }
});

Deno.test("a resolver that does not define which tools it decides about is queried about every tool", async () => {
  const resolve = () => "deny" as const;
  assert.equal((await asked({ resolve })).stated, "deny: ");
  assert.equal((await asked({ resolve, concerns: (tool) => tool === "bash" })).stated, "deny: ");
  assert.equal((await asked({ resolve, concerns: fails })).stated, "deny: ");
  const other = await asked({ resolve, concerns: (tool) => tool === "read" });
  assert.deepEqual(other, { decision: "require_approval", stated: "not asked" });
});

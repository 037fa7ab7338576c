// Tool files are approved by the risk that their author states, within the limits of the person and the document.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS, type ToolSettings } from "../../config/settings.generated.ts";
import { createApproval } from "../../tools/approval/mod.ts";
import type { ToolOrigin } from "../../tools/definition.ts";
import { ToolRegistry } from "../../tools/registry.ts";
import { createSandbox } from "../../sandbox/mod.ts";

type Risk = "low" | "medium" | "high";

const environment = { cwd: "/tmp", home: "/nonexistent", variables: {} };
const OFF = createSandbox({
  settings: { ...DEFAULT_SETTINGS.sandbox, enabled: false },
  environment,
  document: null,
  protect: [],
});

async function decided(
  settings: Partial<ToolSettings>,
  risk?: Risk,
  origin: ToolOrigin = risk === undefined ? "host" : "file",
): Promise<string> {
  const tools = new ToolRegistry();
  const tool = { name: "t", input_schema: { type: "object" }, risk, execute: () => ({ success: true }) };
  tools.registerFrom(origin, tool);
  const approval = createApproval({
    settings: { ...DEFAULT_SETTINGS.tools, ...settings },
    sandbox: OFF,
    tools,
    root: false,
  });
  const context = { toolId: "c1", document: null, dirname: null, cwd: "/tmp" };
  const { decision, source } = await approval.resolveWithSource("t", {}, context);
  return `${decision} ${source.replace("urn:flemma:approval:", "")}`;
}

Deno.test("each risk level approves its own tools, and no resolver of lower priority may approve a high risk", async () => {
  const rows: readonly (readonly [ToolSettings["auto_approve_risk"], string, string, string])[] = [
    ["none", "require_approval default", "require_approval default", "require_approval risk"],
    ["low", "approve risk", "require_approval default", "require_approval risk"],
    ["medium", "approve risk", "approve risk", "require_approval risk"],
    ["high", "approve risk", "approve risk", "approve risk"],
  ];
  for (const [auto_approve_risk, ...expected] of rows) {
    const found = [];
    for (const risk of ["low", "medium", "high"] as const) {
      found.push(await decided({ auto_approve_risk }, risk));
    }
    assert.deepEqual(found, expected, auto_approve_risk);
  }
});

Deno.test("require_approval: false approves medium risk, but not high risk", async () => {
  assert.equal(await decided({ require_approval: false }, "medium"), "approve catch-all");
  assert.equal(await decided({ require_approval: false }, "high"), "require_approval risk");
  assert.equal(await decided({ require_approval: false }), "approve catch-all");
});

Deno.test("if a person's list names a tool, the tool is approved despite its high risk; if the list removes it, it is not approved despite its low risk", async () => {
  assert.equal(await decided({ auto_approve: ["t"] }, "high"), "approve config");
  assert.equal(await decided({ excluded: ["t"] }, "low"), "require_approval default");
  assert.equal(await decided({ auto_approve: null }, "low"), "require_approval default");
  assert.equal(await decided({ denied: ["t"] }, "low"), "deny config");
});

Deno.test("a low risk approves no tool that the document removed, and none that is missing from the document's own list", async () => {
  const own = { auto_approve: ["$default"], excluded: [], presets: {}, assigned: false, removed: [] };
  assert.equal(await decided({ document: own }, "low"), "approve risk");
  assert.equal(await decided({ document: { ...own, removed: ["t"] } }, "low"), "require_approval default");
  assert.equal(await decided({ document: { ...own, excluded: ["t"] } }, "low"), "require_approval default");
  assert.equal(await decided({ document: { ...own, assigned: true } }, "low"), "require_approval default");
  assert.equal(
    await decided({ document: { ...own, auto_approve: null } }, "low"),
    "require_approval default",
  );
});

Deno.test("a risk counts only if a tool file states it", async () => {
  for (const origin of ["built-in", "host", "module", "server"] as const) {
    assert.equal(await decided({}, "low", origin), "require_approval default", origin);
    assert.equal(
      await decided({ require_approval: false }, "high", origin),
      "approve catch-all",
      origin,
    );
  }
});

Deno.test("the risk resolver ignores a tool without a declared risk, and the report for the tool does not mention the resolver", async () => {
  assert.equal(await decided({}), "require_approval default");
  const tools = new ToolRegistry();
  const approval = createApproval({ settings: DEFAULT_SETTINGS.tools, sandbox: OFF, tools, root: false });
  const context = { toolId: "c1", document: null, dirname: null, cwd: "/tmp" };
  const { chain = [] } = await approval.resolveWithSource("t", {}, context, { explain: true });
  assert.ok(chain.length > 0);
  assert.deepEqual(chain.filter(({ name }) => name.endsWith(":risk")), []);
});

// Loading a skill needs no approval if the built-in presets approve reading and nothing says otherwise.

import assert from "node:assert/strict";
import { draftLayer } from "../../config/layers/draft.ts";
import { effectiveSettings } from "../../config/layers/effective.ts";
import type { LayerLog } from "../../config/layers/log.ts";
import { writeTree } from "../../config/layers/write_tree.ts";
import { BUILTIN_CATALOG as catalog } from "../../config/schema/catalog.ts";
import { createApproval } from "../../tools/approval/mod.ts";
import type { ToolOrigin } from "../../tools/definition.ts";
import { workingSandbox } from "../config/sandbox.ts";

const CONTEXT = { toolId: "c", document: null, dirname: null, cwd: "/" };

interface Case {
  readonly person?: Record<string, unknown>;
  readonly document?: Record<string, unknown>;
  readonly approved?: string[];
  readonly tool?: string;
  /** Who registered the tool. @default the program, which registers one for skills */
  readonly origin?: ToolOrigin;
}

async function decided(
  { person = {}, document, approved, tool = "skill", origin = "built-in" }: Case,
): Promise<string> {
  const logs: LayerLog[] = [];
  for (const [layer, tools] of [["G", person], ["M", document]] as const) {
    if (tools === undefined) continue;
    const draft = draftLayer({ layer, others: logs, catalog });
    assert.deepEqual(writeTree(draft, { tools }, { catalog }), []);
    logs.push(draft.log);
  }
  const approval = createApproval({
    settings: effectiveSettings(logs, { catalog, approved }).settings.tools,
    sandbox: workingSandbox(true),
    tools: { hasCapability: () => true, get: () => ({ origin, runs: "here" }) },
    root: false,
  });
  return (await approval.resolveWithSource(tool, {}, CONTEXT)).decision;
}

const APPROVE = "approve";
const ASK = "require_approval";

for (
  const [what, given, expected] of [
    ["with the default settings", {}, APPROVE],
    ["if a host registered its own tool of that name", { origin: "host" }, ASK],
    ["if a module registered a tool of that name", { origin: "module" }, ASK],
    ["if a tool file has that name", { origin: "file" }, ASK],
    ["under another built-in tool's name", { tool: "other" }, ASK],
    ["with $readonly", { person: { auto_approve: ["$readonly"] } }, APPROVE],
    ["with $standard", { person: { auto_approve: ["$standard"] } }, APPROVE],
    ["with $readonly of the plugin's profile", {
      person: { approval_profile: "v0.11", auto_approve: ["$readonly"] },
    }, APPROVE],
    ["if only read is approved", { person: { auto_approve: ["read"] } }, ASK],
    ["if skill itself is approved", { person: { auto_approve: ["skill"] } }, APPROVE],
    ["without an approval list", { person: { auto_approve: [] } }, ASK],
    ["with a preset of the person instead of the built-in one", {
      person: { presets: { "$default": { approve: ["read"] } } },
    }, ASK],
    ["denied by a preset", {
      person: { presets: { "$no": { deny: ["skill"] } }, auto_approve: ["$default", "$no"] },
    }, "deny"],
    ["after read was removed from the list", { person: { auto_approve: { $remove: ["read"] } } }, ASK],
    ["after skill was removed from the list", { person: { auto_approve: { $remove: ["skill"] } } }, ASK],
    ["after a document removed $readonly", { document: { auto_approve: { $remove: ["$readonly"] } } }, ASK],
    ["in a document with its own list", { document: { auto_approve: ["write"] } }, ASK],
    ["in a document that lists a preset", { document: { auto_approve: ["$readonly"] } }, APPROVE],
    [
      "if a preset approves it for one run",
      { person: { auto_approve: [] }, approved: ["$readonly"] },
      APPROVE,
    ],
  ] as const satisfies readonly (readonly [string, Case, string])[]
) {
  Deno.test(`loading a skill ${what} is decided as ${expected}`, async () => {
    assert.equal(await decided(given), expected);
  });
}

// Which approval settings apply when the person, an untrusted project, the document and the command line all have
// some.

import assert from "node:assert/strict";
import { BUILTIN_CATALOG } from "../../config/schema/catalog.ts";
import { draftLayer } from "../../config/layers/draft.ts";
import { effectiveSettings } from "../../config/layers/effective.ts";
import type { LayerLog } from "../../config/layers/log.ts";
import type { ToolSettings } from "../../config/settings.generated.ts";
import { writeTree } from "../../config/layers/write_tree.ts";
import { createApproval, type ResolverFault } from "../../tools/approval/mod.ts";
import { configResolver, runResolver } from "../../tools/approval/policy.ts";
import { workingSandbox } from "../config/sandbox.ts";

const catalog = BUILTIN_CATALOG;
const BY_RULE = { detail: "a rule approves it" };
const CONTEXT = { toolId: "c", document: null, dirname: null, cwd: "/" };

function settingsOf(
  layers: { G?: unknown; M?: unknown },
  options: { denied?: string[]; approved?: string[] } = {},
): ToolSettings {
  const logs: LayerLog[] = [];
  for (const layer of ["G", "M"] as const) {
    const draft = draftLayer({
      layer,
      others: logs,
      catalog,
      module: layer === "G" ? (path) => path : undefined,
    });
    assert.deepEqual(writeTree(draft, { tools: layers[layer] ?? {} }, { catalog }), []);
    logs.push(draft.log);
  }
  return effectiveSettings(logs, { catalog, ...options }).settings.tools;
}

async function ask(settings: ToolSettings, tool: string, onFault?: (fault: ResolverFault) => void) {
  const approval = createApproval({
    settings,
    sandbox: workingSandbox(true),
    tools: { hasCapability: (name) => name === "bash" },
    root: false,
    onFault,
  });
  const { decision, source } = await approval.resolveWithSource(tool, {}, CONTEXT);
  return `${decision} by ${source.replace("urn:flemma:approval:", "")}`;
}

Deno.test("if a document changes the approval list, its list decides at priority 90 and the person's list is ignored", async () => {
  const settings = settingsOf({ G: { auto_approve: ["read", "bash"] }, M: { auto_approve: ["ls"] } });
  assert.equal(await ask(settings, "read"), "require_approval by default");
  assert.equal(await ask(settings, "ls"), "approve by frontmatter");
  assert.equal(await ask(settings, "bash"), "require_approval by default");
  const appended = settingsOf({ G: { auto_approve: ["read"] }, M: { auto_approve: { $append: "ls" } } });
  assert.equal(await ask(appended, "read"), "approve by frontmatter");
  assert.equal(await ask(appended, "bash"), "approve by sandbox");
});

Deno.test("the explanation of a decision says whether the person's approval list was ignored, for each reason to ignore it", async () => {
  const tools = { hasCapability: () => false };
  const own = "the document has its own list; only denials apply here";
  const function_ = () => null;
  const rows: readonly (readonly [string, ToolSettings, boolean])[] = [
    ["no word of the document's", settingsOf({ G: { auto_approve: ["read"] } }), false],
    ["its own list", settingsOf({ G: { auto_approve: ["read"] }, M: { auto_approve: ["ls"] } }), true],
    [
      "one more name after the person's list",
      settingsOf({ G: { auto_approve: ["read"] }, M: { auto_approve: { $append: "ls" } } }),
      true,
    ],
    [
      "one more name after the person's function",
      { ...settingsOf({ M: { auto_approve: { $append: "ls" } } }), auto_approve: function_ },
      false,
    ],
    [
      "a list instead of the person's function",
      { ...settingsOf({ M: { auto_approve: ["ls"] } }), auto_approve: function_ },
      true,
    ],
  ];
  for (const [what, settings, silent] of rows) {
    const { explain } = configResolver(settings, tools);
    const lines = await explain?.("read", {}, CONTEXT) ?? [];
    assert.equal([lines].flat().includes(own), silent, what);
  }
});

Deno.test("the explanation says how the approval list decides about a tool: one row per condition", async () => {
  const usual = settingsOf({});
  const guard = settingsOf({ G: { presets: { $guard: { deny: ["bash"] } } } });
  const rows: readonly (readonly [ToolSettings, string])[] = [
    [{ ...usual, auto_approve: null }, "tools.auto_approve is not set"],
    [{ ...usual, auto_approve: () => null }, "a function decides"],
    [{ ...usual, auto_approve: ["bash", "ls"] }, 'bash in ["bash","ls"] = bash, ls'],
    [{ ...usual, auto_approve: ["ls"] }, 'bash not in ["ls"] = ls'],
    [{ ...usual, auto_approve: [] }, "bash not in [] = nothing"],
    [
      { ...usual, auto_approve: ["bash", "ls"], excluded: ["bash"] },
      'bash not in ["bash","ls"] without bash = ls',
    ],
    [{ ...guard, auto_approve: ["bash", "$guard"] }, 'bash is denied by ["bash","$guard"]'],
  ];
  for (const [settings, line] of rows) {
    const lines = await configResolver(settings, { hasCapability: () => false }).explain?.(
      "bash",
      {},
      CONTEXT,
    );
    assert.deepEqual(lines, [line]);
  }
  const denied = { ...usual, auto_approve: ["bash"], denied: ["bash"] };
  const lines = await configResolver(denied, { hasCapability: () => false }).explain?.("bash", {}, CONTEXT);
  assert.deepEqual(lines?.at(-1), "the project denies bash");
});

Deno.test("for a tool that is approved for this run by name, its name decides; for any other tool, the rules decide: one row per condition", async () => {
  const settings = settingsOf({ G: { presets: { $guard: { deny: ["ls"] } } } }, {
    approved: ["bash", "$guard"],
  });
  const rules = {
    resolve: () => "approve" as const,
    why: () => BY_RULE,
    explain: () => ["a rule approves"],
  };
  const resolver = runResolver(settings, { hasCapability: () => false }, rules);
  assert.ok(resolver !== null);
  const rows = [
    ["bash", "approve", null, ["named for this run", "a rule approves"]],
    ["ls", "deny", null, ["named for this run", "a rule approves"]],
    ["read", "approve", BY_RULE, ["a rule approves"]],
  ] as const;
  for (const [tool, decision, why, lines] of rows) {
    assert.equal(await resolver.resolve(tool, {}, CONTEXT), decision, tool);
    assert.equal(await resolver.why?.(tool, {}, CONTEXT), why, tool);
    assert.deepEqual(await resolver.explain?.(tool, {}, CONTEXT), lines, tool);
  }
  const unnamed = { ...settings, approved: [] };
  assert.equal(runResolver(unnamed, { hasCapability: () => false }, rules), rules);
  assert.equal(runResolver(unnamed, { hasCapability: () => false }, null), null);
});

Deno.test("with the approval profile of the editor plugin, the merged approval list decides at priority 100", async () => {
  const profile = { approval_profile: "v0.11" };
  const settings = settingsOf({
    G: { ...profile, auto_approve: ["read"] },
    M: { auto_approve: { $append: "ls" } },
  });
  assert.equal(await ask(settings, "ls"), "approve by config");
  assert.equal(await ask(settings, "read"), "approve by config");
});

Deno.test("a denial by the person takes precedence, whatever the document assigns or redefines", async () => {
  const person = { presets: { $guard: { deny: ["bash"] } }, auto_approve: ["$default", "$guard"] };
  for (const profile of ["founding", "v0.11"]) {
    const cases = [
      { auto_approve: ["bash"] },
      { auto_approve: { $remove: ["$guard", "bash"], $append: "bash" } },
      { presets: { $guard: { approve: ["bash"] } }, auto_approve: ["$guard"] },
    ];
    for (const document of cases) {
      const settings = settingsOf({ G: { ...person, approval_profile: profile }, M: document });
      assert.equal(await ask(settings, "bash"), "deny by config");
    }
  }
});

Deno.test("if a document redefines a preset, this changes only the document's policy, and the person's list keeps its meaning", async () => {
  const presets = { $default: { approve: ["bash"] } };
  const only = settingsOf({ G: { auto_approve_sandboxed: false }, M: { presets } });
  assert.equal(await ask(only, "bash"), "require_approval by default");
  assert.equal(await ask(only, "read"), "approve by config");
  const used = settingsOf({
    G: { auto_approve_sandboxed: false },
    M: { presets, auto_approve: ["$default"] },
  });
  assert.equal(await ask(used, "bash"), "approve by frontmatter");
  assert.equal(await ask(used, "read"), "require_approval by default");
});

Deno.test("if a tool was removed from the approval list, its sandboxed calls are not approved automatically either", async () => {
  assert.equal(await ask(settingsOf({}), "bash"), "approve by sandbox");
  const byDocument = settingsOf({ M: { auto_approve: { $remove: "bash" } } });
  assert.equal(await ask(byDocument, "bash"), "require_approval by default");
  const byPerson = settingsOf({ G: { auto_approve: { $remove: "bash" } } });
  assert.equal(await ask(byPerson, "bash"), "require_approval by default");
  const withPreset = settingsOf({
    G: { presets: { $x: { approve: ["bash"] } } },
    M: { auto_approve: { $remove: "$x" } },
  });
  assert.equal(await ask(withPreset, "bash"), "require_approval by default");
  const other = settingsOf({ M: { auto_approve: { $remove: "write" } } });
  assert.equal(await ask(other, "bash"), "approve by sandbox");
  assert.equal(await ask(other, "write"), "require_approval by default");
});

Deno.test("if a document has its own approval list, even an empty one, sandboxed calls of other tools are not approved automatically", async () => {
  assert.equal(await ask(settingsOf({ M: { auto_approve: [] } }), "bash"), "require_approval by default");
  assert.equal(await ask(settingsOf({ G: { auto_approve: [] } }), "bash"), "approve by sandbox");
  assert.equal(await ask(settingsOf({ G: { auto_approve: null } }), "bash"), "require_approval by default");
});

Deno.test("a document can require approval for every tool but cannot turn off approval", async () => {
  const open = { require_approval: false, auto_approve: [], auto_approve_sandboxed: false };
  assert.equal(await ask(settingsOf({ G: open }), "write"), "approve by catch-all");
  assert.equal(
    await ask(settingsOf({ G: open, M: { require_approval: true } }), "write"),
    "require_approval by default",
  );
  assert.equal(
    await ask(settingsOf({ G: { auto_approve: [] }, M: { require_approval: false } }), "write"),
    "require_approval by default",
  );
});

Deno.test("an approval on the command line overrides neither a denial nor a rule that asks", async () => {
  const approved = ["bash"];
  const assigned = settingsOf({ M: { auto_approve: [] } }, { approved });
  assert.equal(await ask(assigned, "bash"), "approve by approve-rules");
  const denied = settingsOf({ M: { presets: { $no: { deny: ["bash"] } }, auto_approve: ["$no"] } }, {
    approved,
  });
  assert.equal(await ask(denied, "bash"), "deny by frontmatter");
  assert.equal(await ask(settingsOf({}, { approved, denied: ["bash"] }), "bash"), "deny by config");
});

Deno.test("a person's approval function keeps its priority if the document only adds to the list", async () => {
  const base = settingsOf({ M: { auto_approve: { $append: "ls" } } });
  const guard = (answer: unknown) => ({ ...base, auto_approve: () => answer });
  assert.equal(await ask(guard(false), "ls"), "require_approval by config");
  assert.equal(await ask(guard(null), "ls"), "approve by frontmatter");
  const assigned = settingsOf({ M: { auto_approve: ["ls"] } });
  assert.equal(await ask({ ...assigned, auto_approve: () => false }, "ls"), "approve by frontmatter");
  assert.equal(await ask({ ...assigned, auto_approve: () => "deny" }, "ls"), "deny by config");
  const broken = () => {
    throw new Error("broken guard");
  };
  assert.equal(await ask({ ...assigned, auto_approve: broken }, "ls"), "require_approval by config");
});

Deno.test("a module in the approval list is a separate resolver whose name is its path", async () => {
  const folder = await Deno.makeTempDir({ prefix: "flemma-module-" });
  try {
    const write = async (name: string, text: string) => {
      await Deno.writeTextFile(`${folder}/${name}`, text);
      return `${folder}/${name}`;
    };
    const answers = await write(
      "answers.ts",
      "export default (tool: string) => tool === 'bash' ? 'deny' : tool === 'ls' ? true : tool === 'edit' ? false : 'yes';",
    );
    const chain = await write(
      "chain.ts",
      "export function resolve(tool: string) { return tool === 'grep' ? 'approve' : null; }",
    );
    const settings = settingsOf({ G: { auto_approve: [answers, chain, "read"] } });
    assert.equal(await ask(settings, "bash"), `deny by ${answers}`);
    assert.equal(await ask(settings, "ls"), `approve by ${answers}`);
    assert.equal(await ask(settings, "edit"), `require_approval by ${answers}`);
    assert.equal(await ask(settings, "grep"), `approve by ${chain}`);
    const wrong: ResolverFault[] = [];
    assert.equal(await ask(settings, "read", (fault) => wrong.push(fault)), "approve by config");
    const message = 'The module must answer true, false, "deny" or nothing.';
    assert.deepEqual(wrong, [{ resolver: answers, message }]);

    const words = await write(
      "words.ts",
      "export default (tool: string) => tool === 'read' ? 'deny' : null;",
    );
    const guarded = settingsOf({
      G: { resolvers: [{ path: words, priority: 200, name: "guard" }, { path: chain }] },
    });
    assert.equal(await ask(guarded, "read"), "deny by guard");
    assert.equal(await ask(guarded, "grep"), `approve by ${chain}`);
    assert.equal(await ask(guarded, "write"), "approve by config");

    const empty = await write("empty.ts", "export const nothing = 1;");
    const faults: ResolverFault[] = [];
    const broken = settingsOf({ G: { auto_approve: [empty] } });
    assert.equal(await ask(broken, "bash", (fault) => faults.push(fault)), "require_approval by sandbox");
    assert.deepEqual(faults.map(({ resolver }) => resolver), [empty]);
    const strict = settingsOf({ G: { auto_approve: [empty], approval_strict: true } });
    assert.equal(await ask(strict, "write"), `require_approval by ${empty}`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("collecting reasons does not change a decision, and queries later resolvers only if they are built in: one row per condition", async () => {
  const rows = [
    [false, "deny", ["guard"], null],
    ["waiting", "deny", ["guard"], null],
    [true, "deny", ["guard", "function"], true],
    [false, "approve", ["guard"], null],
    ["waiting", "approve", ["guard"], null],
    [true, "approve", ["guard", "function"], true],
    [false, null, ["guard", "function"], null],
    ["waiting", null, ["guard", "function"], null],
    [true, null, ["guard", "function"], true],
    ["waiting", "require_approval", ["guard"], true],
    [true, "require_approval", ["guard", "function"], true],
  ] as const;
  for (const [explain, says, expected, reported] of rows) {
    const asked: string[] = [];
    const approval = createApproval({
      settings: {
        ...settingsOf({}),
        auto_approve: () => {
          asked.push("function");
          return true;
        },
      },
      sandbox: workingSandbox(false),
      tools: { hasCapability: () => false },
      root: false,
    });
    approval.register("guard", {
      priority: 1000,
      resolve: () => {
        asked.push("guard");
        return says;
      },
    });
    approval.register("behind", {
      priority: 10,
      resolve: () => {
        asked.push("behind");
        return "deny";
      },
    });
    const decided = await approval.resolveWithSource("bash", {}, CONTEXT, { explain });
    const what = `${explain} ${says}`;
    assert.deepEqual([decided.decision, asked], [says ?? "approve", expected], what);
    assert.equal(decided.chain === undefined ? null : true, reported, what);
    if (says !== null) assert.equal(decided.source, "guard", what);
  }
});

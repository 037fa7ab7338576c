// Documents of newer versions of flemma.nvim: their lists keep their meaning, and nothing in them stops a run.

import assert from "node:assert/strict";
import { documentSettings } from "../../config/frontmatter.ts";
import { withoutPrefixes } from "../../config/data/prefixed_list.ts";
import { switchTo } from "../../config/layers/switch_preset.ts";
import { draftLayer } from "../../config/layers/draft.ts";
import { BUILTIN_CATALOG } from "../../config/schema/catalog.ts";
import { loadSettingsLayers } from "../../config/load.ts";
import { parse } from "../../parser/mod.ts";
import { luaRunner } from "../lua/lua.ts";
import { inWorld } from "./world.ts";

const runLua = await luaRunner();
const TOOLS = BUILTIN_CATALOG.tools.filter(({ enabled }) => enabled !== false).map(({ name }) => name);
const without = (name: string) => TOOLS.filter((each) => each !== name);

/** Settings and diagnostics of a document with this Lua block, below the person's own approvals. */
async function read(lua: string) {
  let found!: Awaited<ReturnType<typeof documentSettings>>;
  await inWorld(async (world) => {
    await world.write(`${world.home}/.config/flemma/config.yaml`, "tools: { auto_approve: [read, write] }\n");
    const loaded = await loadSettingsLayers({ environment: world.environment() });
    assert.ok(loaded.ok);
    const { frontmatter } = parse(new TextEncoder().encode(`\`\`\`lua\n${lua}\n\`\`\`\n\n@You:\n`));
    found = await documentSettings({ loaded: loaded.value, frontmatter, runLua });
  });
  return found;
}

Deno.test("the items of a list say what to do with them, in each list of flemma.nvim", async () => {
  const rows: readonly (readonly [lua: string, tools: readonly string[] | null, approved: unknown])[] = [
    ['tools = { "!write" }', without("write"), undefined],
    ['tools = { "+calculator" }', [...without("calculator"), "calculator"], undefined],
    ['tools = { "^calculator" }', ["calculator", ...without("calculator")], undefined],
    ['tools = { "bash", "read", "!bash" }', ["read"], undefined],
    ['tools.auto_approve = { "!write", "+bash" }', null, ["read", "bash"]],
    ['tools.auto_approve = { "^bash" }', null, ["bash", "read", "write"]],
    ['tools.auto_approve = { "$readonly", "+bash" }', null, ["$readonly", "bash"]],
    ['tools.auto_approve = { "+bash", "!bash" }', null, ["read", "write"]],
  ];
  for (const [lua, tools, approved] of rows) {
    const { settings, diagnostics } = await read(`flemma.opt.${lua}`);
    assert.deepEqual(diagnostics, [], lua);
    assert.deepEqual(settings.tools.offered, tools, lua);
    const { auto_approve } = settings.tools.document ?? settings.tools;
    assert.deepEqual(auto_approve, approved ?? ["read", "write"], lua);
  }
  const { settings } = await read('flemma.opt.sandbox.policy.rw_paths = { "!/tmp", "+/data" }');
  assert.equal(settings.sandbox.policy.rw_paths.includes("/tmp"), false);
  assert.equal(settings.sandbox.policy.rw_paths.at(-1), "/data");
});

Deno.test("in a list that flemma.nvim does not have, the first character belongs to the item", async () => {
  const { settings } = await read('flemma.opt.tools.grep.exclude = { "!a", "+b" }');
  assert.deepEqual(settings.tools.named.grep?.exclude, ["!a", "+b"]);
});

Deno.test("names and keys of newer versions approve nothing, and cause warnings only", async () => {
  for (
    const lua of [
      'flemma.opt.tools.auto_approve = { "trello.list", "flemma.*" }',
      'flemma.opt.tools.auto_approve:append("trello.*")',
      'flemma.opt.tools.auto_approve = { "+trello.list" }',
      'flemma.opt.sandbox.policy.rw_paths = { "+urn:flemma:store" }',
      "flemma.opt.tools.store = { materialize = true }\nflemma.opt.tools.jobs.max = 3",
      'flemma.opt.tools.autopilot.resume_delay = 1\nflemma.opt.ui.jobs.position = "top"',
      'flemma.opt.secrets.chatgpt.auth_file = "x"\nflemma.opt.ui.rejection.enabled = false',
    ]
  ) {
    const { settings, diagnostics } = await read(lua);
    assert.deepEqual(diagnostics.filter(({ severity }) => severity === "error"), [], lua);
    const approved = [(settings.tools.document ?? settings.tools).auto_approve].flat();
    assert.deepEqual(approved.filter((name) => name !== "read" && name !== "write"), [], lua);
    if (!lua.includes("urn:")) assert.ok(diagnostics.length > 0, lua);
  }
});

Deno.test("a preset's approvals begin empty, and a switch to it sets the tools that it names", () => {
  assert.deepEqual(withoutPrefixes(["a", "+b", "^c", "!a", "b"]), ["c", "b", "b"]);
  const global = draftLayer({ layer: "G", others: [], catalog: BUILTIN_CATALOG });
  const preset = { tools: ["read", "bash", "!bash"], auto_approve: ["+read", "bash", "!bash"] };
  assert.deepEqual(global.apply("set", ["presets", "$look"], preset), []);
  assert.deepEqual(global.finish(), []);
  const session = draftLayer({ layer: "R", others: [global.log], catalog: BUILTIN_CATALOG });
  assert.ok(switchTo(session, "$look", [global.log]).ok);
  assert.deepEqual(session.operations.map(({ op, path, value }) => [op, path.join("."), value]), [
    ["set", "tools.auto_approve", ["$look"]],
    ["set", "tools", ["read", "bash"]],
    ["remove", "tools", "bash"],
  ]);
  assert.deepEqual(global.log.on("presets.$look").at(-1)?.value, {
    approve: ["read"],
    tools: preset.tools,
  });
});

// How settings are displayed, where their mistakes are located, and what switching to a preset writes.

import assert from "node:assert/strict";
import { draftLayer } from "../../config/layers/draft.ts";
import { LayerLog } from "../../config/layers/log.ts";
import { formatValue, renderLegend, renderRows } from "../../config/layers/render.ts";
import { switchTo } from "../../config/layers/switch_preset.ts";
import { documentSettings } from "../../config/frontmatter.ts";
import { loadSettingsLayers } from "../../config/load.ts";
import { BUILTIN_CATALOG } from "../../config/schema/catalog.ts";
import { session } from "../lua/lua.ts";
import { IncludeFault } from "../../lua/library/fault.ts";
import { LuaSession } from "../../config/document/lua_session.ts";
import { testInWorld as test } from "./world.ts";

Deno.test("config show writes values as one would write them in a settings file", () => {
  const rows: readonly (readonly [unknown, string])[] = [
    [[], "[]"],
    [["a", 1], "[a, 1]"],
    [{ allow: ["a"] }, "{ allow: [a] }"],
    [true, "true"],
    [1.5, "1.5"],
  ];
  for (const [value, text] of rows) assert.equal(formatValue(value), text);
});

Deno.test("a row of config show contains the layers, excluded items and hidden values of a key", () => {
  const row = { key: "tools.auto_approve", value: ["$default"], layers: ["D", "G"] as const };
  assert.match(renderRows([row]), /^DG +tools\.auto_approve +\[\$default\]$/m);
  assert.match(renderRows([{ ...row, excluded: [] }]), /\[\$default\]$/m);
  assert.match(renderRows([{ ...row, excluded: ["write", "edit"] }]), /\(without write, edit\)/);
  assert.match(renderRows([{ ...row, hidden: { layer: "R", value: 5 } }]), /\(hides the session's 5\)/);
  assert.match(renderLegend(["G", "D", "G"]), /^D defaults, G global file$/);
});

Deno.test("switching to a preset sets the model or else the provider of the preset, and sets the approval list if the preset has approvals", () => {
  const switched = (preset: Record<string, unknown>) => {
    const log = new LayerLog("G", [{ op: "set", path: ["presets", "$x"], value: preset }]);
    const draft = draftLayer({ layer: "C", others: [log], catalog: BUILTIN_CATALOG });
    assert.ok(switchTo(draft, "$x", [log]).ok);
    return draft.operations.map(({ path, value }) => `${path.join(".")}=${value}`);
  };
  assert.deepEqual(switched({ provider: "anthropic", model: "m" }), ["model=$x"]);
  assert.deepEqual(switched({ provider: "anthropic" }), ["provider=anthropic"]);
  assert.deepEqual(switched({ approve: ["bash"] }), ["tools.auto_approve=$x"]);
  assert.deepEqual(switched({ deny: ["bash"], model: "m" }), ["model=$x", "tools.auto_approve=$x"]);
  assert.deepEqual(switched({ parameters: {} }), []);
});

test("for one run, an unknown preset is refused and a known preset applies", async (world) => {
  const load = (preset: string) => loadSettingsLayers({ environment: world.environment(), preset });
  const none = await load("$none");
  assert.equal(none.ok ? "" : none.problem.code, "usage");
  const readonly = await load("$readonly");
  assert.deepEqual(readonly.ok ? readonly.value.settings.tools.auto_approve : [], ["$readonly"]);
});

test("a document that does not exist yet gets the settings for its path", async (world) => {
  await Deno.mkdir(`${world.folder}/run/flemma/session`, { recursive: true });
  const loaded = await loadSettingsLayers({
    environment: world.environment(),
    document: `${world.project}/new/a.chat`,
  });
  assert.ok(loaded.ok);
  assert.equal(await Deno.stat(`${world.project}/new`).then(() => true, () => false), false);
});

test("a project's settings apply only to documents inside the project", async (world) => {
  await world.write(`${world.project}/.flemma/config.yaml`, "tools: { autopilot: false }\n");
  for (
    const [document, enabled] of [["project/a.chat", false], ["project/new/a.chat", false], ["a.chat", true]]
  ) {
    const environment = { ...world.environment(), cwd: `${world.project}` };
    const loaded = await loadSettingsLayers({ environment, document: `${world.folder}/${document}` });
    assert.ok(loaded.ok);
    assert.equal(loaded.value.settings.tools.autopilot.enabled, enabled, `${document}`);
  }
});

Deno.test("a mistake in a setting is reported at the line of its key, not at a variable with the same name", async () => {
  const loaded = await loadSettingsLayers({
    environment: { cwd: "/", home: "/", variables: {} },
    noConfig: true,
  });
  assert.ok(loaded.ok);
  const code = "flemma:\n  thinking: low\n  sandbox.backend: bublewrap\nother:\n  sandbox:\n    backend: 3";
  const frontmatter = { language: "yaml", code, from: 0, to: code.length, start: 1, end: 8 };
  const { diagnostics } = await documentSettings({ loaded: loaded.value, frontmatter });
  assert.deepEqual(diagnostics.map(({ key, line }) => [key, line]), [["sandbox.backend", 4]]);
});

Deno.test("a missing included file is reported with its own error code, and other errors of includes with a different code", async () => {
  const codes = async (code: "file_not_found" | "include_circular") => {
    const { options } = session(() => {});
    const lua = new LuaSession({
      ...options,
      loadInclude: () => Promise.resolve(() => (cell) => cell.raise("no", new IncludeFault(code, false))),
    });
    const draft = draftLayer({ layer: "M", others: [], catalog: BUILTIN_CATALOG, lua: true });
    return (await lua.run("include('x')", draft)).problems.map((problem) => problem.code);
  };
  assert.deepEqual(await codes("file_not_found"), ["file_not_found"]);
  assert.deepEqual(await codes("include_circular"), ["frontmatter_runtime"]);
});

test("a mistake in an item is reported in the file that contains the item, even if another file adds to the same list", async (world) => {
  const person = `${world.home}/.config/flemma/config.yaml`;
  const project = `${world.project}/.flemma/config.yaml`;
  await world.write(person, "sandbox: { policy: { deny_read: [/a] } }\n");
  await world.write(project, "sandbox: { policy: { deny_read: { $append: [/b] } } }\n");
  const loaded = await loadSettingsLayers({ environment: world.environment() });
  assert.ok(loaded.ok);
  const place = (item?: unknown) => loaded.value.placeOf("sandbox.policy.deny_read", item);
  assert.deepEqual([place("/a"), place("/b")], [`${person}:1:34`, `${project}:1:45`]);
  assert.equal(place("/c"), null);
  assert.equal(loaded.value.placeOf("model"), null);
});

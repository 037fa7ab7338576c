import assert from "node:assert/strict";
import type { Environment } from "../../base/environment.ts";
import { loadSettingsLayers } from "../../config/load.ts";
import { testInWorld as test } from "./world.ts";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { inFolder } from "../folder.ts";

async function withFiles(
  files: Record<string, string>,
  run: (environment: Environment, folder: string) => Promise<void>,
): Promise<void> {
  await inFolder(async (folder) => {
    for (const [name, text] of Object.entries(files)) {
      await Deno.mkdir(`${folder}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(`${folder}/${name}`, text);
    }
    await run({ cwd: folder, home: folder, variables: {} }, folder);
  });
}

async function settingsOf(environment: Environment, extra = {}) {
  const loaded = await loadSettingsLayers({ environment, ...extra });
  assert.ok(loaded.ok, loaded.ok ? "" : loaded.problem.message);
  return loaded.value;
}

Deno.test("without any settings file, the defaults apply", async () => {
  await withFiles({}, async (environment) => {
    const { settings, files, origin } = await settingsOf(environment);
    assert.deepEqual(settings, DEFAULT_SETTINGS);
    assert.deepEqual(files, []);
    assert.equal(origin("tools.auto_approve"), "defaults");
  });
});

Deno.test("a YAML settings file overrides the defaults, and the command line overrides both", async () => {
  const yaml = `
model: some-model
thinking: low
tools:
  auto_approve: [$readonly]
  autopilot: false
  bash: { shell: /bin/sh }
sandbox:
  policy: { network: false }
`;
  await withFiles({ ".config/flemma/config.yaml": yaml }, async (environment, folder) => {
    const overrides = { tools: { autopilot: { max_turns: 3 } }, sandbox: false };
    const { settings, files, origin } = await settingsOf(environment, { overrides });
    assert.equal(settings.model, "some-model");
    assert.deepEqual(settings.parameters.thinking, { level: "low", foreign: "preserve" });
    assert.deepEqual(settings.tools.auto_approve, ["$readonly"]);
    assert.deepEqual(settings.tools.autopilot, { enabled: false, max_turns: 3, max_repeats: 3 });
    assert.deepEqual(settings.tools.named.bash, { shell: "/bin/sh" });
    assert.deepEqual(settings.sandbox.policy.rw_paths, DEFAULT_SETTINGS.sandbox.policy.rw_paths);
    assert.equal(settings.sandbox.policy.network, false);
    assert.equal(settings.sandbox.enabled, false);
    assert.deepEqual(files, [`${folder}/.config/flemma/config.yaml`]);
    assert.equal(origin("model"), "global file");
    assert.equal(origin("sandbox.enabled"), "command line");
  });
});

Deno.test("if a settings file has mistakes, all are listed with line, column and nearest key, and none of its settings apply", async () => {
  const yaml = [
    "modle: x", // 1: unknown key with a near name
    "tools:",
    "  max_concurrent: -1", // 3: out of range
    "  autopilot: { enabled: yes please }", // 4: wrong type
    "  presets: { yolo: { approve: [bash] } }", // 5: no $
    "rw_paths: []", // 6: known leaf in the wrong place
    "parameters: { cache_retention: shrt }", // 7: wrong word
    "",
  ].join("\n");
  await withFiles({ "c.yaml": yaml }, async (environment) => {
    const loaded = await loadSettingsLayers({ environment, configPath: "c.yaml" });
    assert.ok(!loaded.ok);
    const lines = loaded.problem.message.split("\n");
    assert.equal(lines.length, 6);
    assert.match(lines[0]!, /c\.yaml:1:1: unknown key "modle"; did you mean "model"\?/);
    assert.match(lines[1]!, /c\.yaml:3:19: .*whole number of at least 0/);
    assert.match(lines[2]!, /c\.yaml:4:25: "tools\.autopilot\.enabled" expects true or false/);
    assert.match(lines[3]!, /c\.yaml:5:14: .*must begin with \$/);
    assert.match(lines[4]!, /c\.yaml:6:1: unknown key "rw_paths"; it belongs to "sandbox\.policy\.rw_paths"/);
    assert.match(lines[5]!, /c\.yaml:7:32: .*did you mean "short"\?/);
  });
});

Deno.test("for broken YAML, the error names file, line and column", async () => {
  await withFiles({ "c.yaml": "tools:\n  auto_approve: [bash\n" }, async (environment) => {
    const loaded = await loadSettingsLayers({ environment, configPath: "c.yaml" });
    assert.ok(!loaded.ok);
    assert.equal(loaded.problem.code, "config-invalid");
    assert.match(loaded.problem.message, /c\.yaml:\d+:\d+: /);
  });
});

Deno.test("a settings file that is named explicitly must exist; an empty environment variable means that no file is read", async () => {
  await withFiles({ ".config/flemma/config.yaml": "model: from-file\n" }, async (environment) => {
    const missing = await loadSettingsLayers({ environment, configPath: "nowhere.yaml" });
    assert.ok(!missing.ok && missing.problem.code === "config-missing");
    const off = { ...environment, variables: { FLEMMA_CONFIG: "" } };
    assert.equal((await settingsOf(off)).settings.model, null);
    assert.equal((await settingsOf(environment, { noConfig: true })).settings.model, null);
    assert.equal((await settingsOf(environment)).settings.model, "from-file");
  });
});

Deno.test("a settings file may be JSON, and a folder in its place is an error that names the folder", async () => {
  await withFiles({ "a.json": '{"tools":{"auto_approve":null}}', "d/x": "" }, async (environment) => {
    const loaded = await settingsOf(environment, { configPath: "a.json" });
    assert.equal(loaded.settings.tools.auto_approve, null);
    const folder = await loadSettingsLayers({ environment, configPath: "d" });
    assert.ok(!folder.ok && folder.problem.code === "config-unreadable");
  });
});

Deno.test("tools approved for one run are added to the effective approval list", async () => {
  await withFiles({}, async (environment) => {
    const { settings } = await settingsOf(environment, { approve: ["bash"] });
    assert.deepEqual(settings.tools.auto_approve, ["$default", "bash"]);
  });
});

Deno.test("settings keys of the editor plugin are accepted and ignored", async () => {
  await withFiles({ "c.yaml": "keymaps: { send: x }\nediting: false\n" }, async (environment) => {
    const { settings } = await settingsOf(environment, { configPath: "c.yaml" });
    assert.deepEqual(settings, DEFAULT_SETTINGS);
  });
});

test("a settings file that is a pipe, a device or endless is refused without blocking", async (world) => {
  const path = `${world.project}/.flemma/config.yaml`;
  await Deno.mkdir(`${world.project}/.flemma`);
  const refused = async (reason: RegExp) => {
    const loaded = await loadSettingsLayers({ environment: world.environment() });
    assert.ok(!loaded.ok);
    assert.match(loaded.problem.message, reason);
    await Deno.remove(path);
  };
  const made = await new Deno.Command("mkfifo", { args: [path] }).output();
  assert.ok(made.success);
  await refused(/it is not a regular file/);
  await Deno.symlink("/dev/zero", path);
  await refused(/it is not a regular file/);
  await Deno.writeTextFile(path, "");
  await Deno.truncate(path, 17 * 1024 * 1024);
  await refused(/it is larger than 16 MiB/);
  const none = await loadSettingsLayers({ environment: world.environment(), configPath: "/dev/null" });
  assert.ok(none.ok);
});

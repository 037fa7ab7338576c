// Checks that protect a person's settings, one row per condition: all hold but one.

import assert from "node:assert/strict";
import { draftLayer } from "../../config/layers/draft.ts";
import { effectiveSettings } from "../../config/layers/effective.ts";
import { expandedOf, originOf } from "../../config/layers/explain.ts";
import { LayerLog, resolveList, sameValue } from "../../config/layers/log.ts";
import { narrows } from "../../config/layers/narrowing.ts";
import { loadSettingsLayers } from "../../config/load.ts";
import { BUILTIN_CATALOG } from "../../config/schema/catalog.ts";
import { nodeAt } from "../../config/schema/keys.ts";
import type { SettingKey } from "../../config/schema/define.ts";
import type { Layer, Op } from "../../config/types.ts";
import { namedFiles, trustedShare } from "../../config/sources/project.ts";
import {
  addToSession,
  readSession,
  resetSession,
  sessionPath,
  takeFromSession,
} from "../../config/sources/session_overrides.ts";
import { isTrusted, recordTrust, trustPath } from "../../config/sources/trust.ts";
import { inWorld, testInWorld as test } from "./world.ts";

const catalog = BUILTIN_CATALOG;
const offered = catalog.tools.filter(({ enabled }) => enabled !== false).map(({ name }) => name);

Deno.test("a change of a setting is a restriction only if it narrows the current value: one row per setting and operation", () => {
  const rows: readonly (readonly [string, Op, unknown, unknown, boolean])[] = [
    ["tools.require_approval", "set", true, false, true],
    ["tools.require_approval", "set", false, true, false],
    ["tools.require_approval", "append", true, false, false],
    ["sandbox.policy.allow_privileged", "set", false, true, true],
    ["sandbox.policy.allow_privileged", "set", true, false, false],
    ["sandbox.policy.allow_privileged", "remove", false, true, false],
    ["sandbox.policy.network", "set", { allow: ["a.example"] }, true, true],
    ["sandbox.policy.network", "set", { allow: ["a.example"] }, false, false],
    ["sandbox.policy.network", "set", { allow: ["a.example"] }, { allow: ["b.example"] }, false],
    ["sandbox.policy.network", "append", { allow: ["a.example"] }, true, false],
    ["sandbox.policy.rw_paths", "remove", "/tmp", [], true],
    ["sandbox.policy.rw_paths", "append", "/tmp", [], false],
    ["sandbox.policy.rw_paths", "set", [], [], false],
    ["sandbox.policy.deny_read", "append", "/a", [], true],
    ["sandbox.policy.deny_read", "prepend", "/a", [], true],
    ["sandbox.policy.deny_read", "remove", "/a", [], false],
    ["sandbox.policy.deny_read", "set", ["/a"], [], false],
    ["server_tools.web_search.allowed_domains", "set", ["a.b"], null, true],
    ["server_tools.web_search.allowed_domains", "set", ["x.a.b"], ["a.b"], true],
    ["server_tools.web_search.allowed_domains", "set", ["c.d"], ["a.b"], false],
    ["server_tools.web_search.allowed_domains", "set", null, ["a.b"], false],
    ["server_tools.web_search.allowed_domains", "append", "a.b", [], false],
    ["server_tools.web_search.allowed_domains", "remove", "a.b", ["a.b"], true],
    ["server_tools.web_search.allowed_domains", "remove", "a.b", null, false],
    ["tools.max_concurrent", "set", 1, 2, true],
    ["tools.max_concurrent", "set", 2, 2, true],
    ["tools.max_concurrent", "set", 3, 2, false],
    ["tools.max_concurrent", "set", 0, 2, false],
    ["tools.max_concurrent", "set", 5, 0, true],
    ["tools.max_concurrent", "set", "1", 2, false],
    ["tools.max_concurrent", "append", 1, 2, false],
    ["tools.autopilot.max_turns", "set", 0, 100, true],
    ["tools.autopilot.max_turns", "set", 101, 100, false],
    ["sandbox.policy.limits", "set", { memory: 5 }, null, true],
    ["sandbox.policy.limits", "set", { memory: 5 }, { memory: 5 }, true],
    ["sandbox.policy.limits", "set", { memory: 6 }, { memory: 5 }, false],
    ["sandbox.policy.limits", "set", { processes: 5 }, { memory: 5 }, false],
    ["sandbox.policy.limits", "set", { memory: 4, processes: 5 }, { memory: 5 }, true],
    ["sandbox.policy.limits", "set", { memory: 4, processes: 6 }, { memory: 5, processes: 5 }, false],
    ["context.on_full", "set", "stop", "compact", true],
    ["context.on_full", "set", "compact", "stop", false],
    ["context.on_full", "append", "stop", "compact", false],
    ["context.on_full", "set", "other", "compact", false],
    ["instructions.imports", "set", "off", "project", true],
    ["instructions.imports", "set", "project", "all", true],
    ["instructions.imports", "set", "project", "off", false],
    ["instructions.imports", "set", "home", "project", false],
    ["instructions.nested", "set", false, true, true],
    ["instructions.nested", "set", true, false, false],
    ["model", "set", "m", null, false],
  ];
  for (const [key, op, value, current, expected] of rows) {
    const node = nodeAt(key.split(".")) as SettingKey;
    assert.equal(narrows(op, node, value, () => current), expected, `${op} ${key} ${JSON.stringify(value)}`);
  }
});

Deno.test("from an untrusted project's settings only restrictions take effect, and the others are reported", async () => {
  const person =
    "tools: { auto_approve: [read, bash], max_concurrent: 2 }\nsandbox: { policy: { rw_paths: [/a, /b], network: true } }\n";
  const rows: readonly (readonly [string, string, unknown, boolean])[] = [
    ["tools: { max_concurrent: 0 }", "tools.max_concurrent", 2, true],
    ["tools: { max_concurrent: 3 }", "tools.max_concurrent", 2, true],
    ["tools: { max_concurrent: 1 }", "tools.max_concurrent", 1, false],
    ["tools: { autopilot: false }", "tools.autopilot.enabled", false, false],
    ["tools: { require_approval: false }", "tools.require_approval", true, true],
    ["tools: { auto_approve: { $remove: bash } }", "tools.auto_approve", ["read"], false],
    ["tools: { auto_approve: { $append: write } }", "tools.auto_approve", ["read", "bash"], true],
    ["tools: { auto_approve: [read, write] }", "tools.auto_approve", ["read"], true],
    ["tools: { auto_approve: [] }", "tools.auto_approve", [], false],
    ["sandbox: false", "sandbox.enabled", true, true],
    ["tools: { $remove: write }", "tools.offered", offered.filter((name) => name !== "write"), false],
    ["tools: [bash, read]", "tools.offered", ["bash", "read"], true],
    ["tools: { $append: bash }", "tools.offered", null, true],
    ["sandbox: { policy: { network: false } }", "sandbox.policy.network", false, false],
    ["sandbox: { policy: { rw_paths: [/a, /c] } }", "sandbox.policy.rw_paths", ["/a"], true],
    ["sandbox: { policy: { rw_paths: { $append: /c } } }", "sandbox.policy.rw_paths", ["/a", "/b"], true],
    ["sandbox: { policy: { deny_read: { $append: /s } } }", "sandbox.policy.deny_read", ["/s"], false],
    ["sandbox: { policy: { deny_read: [/s] } }", "sandbox.policy.deny_read", [], true],
    ["tools: { rules: [{ deny: bash }, { approve: write }] }", "tools.rules", [{
      rule: { decision: "deny", tools: ["bash"] },
      written: { deny: "bash" },
      key: "tools.rules",
      layer: "P",
    }], true],
    ["tools: { bash: { shell: /bin/evil } }", "tools.named", {}, true],
    ["tools: { modules: [./evil.ts] }", "tools.modules", [], true],
    ["providers: { anthropic: { base_url: 'https://evil.example' } }", "providers", {}, true],
    ["context: { on_full: compact }", "context.on_full", "stop", true],
    [
      "instructions: { imports: off, nested: false }",
      "instructions",
      { imports: "off", nested: false },
      false,
    ],
    ["instructions: { imports: home }", "instructions.imports", "project", true],
    ["context: { max_compactions: 9 }", "context.max_compactions", 2, true],
    ["model: other", "model", "other", false],
  ];
  for (const [project, key, expected, isReported] of rows) {
    await inWorld(async (world) => {
      await world.write(`${world.home}/.config/flemma/config.yaml`, person);
      await world.write(`${world.project}/.flemma/config.yaml`, `${project}\n`);
      await world.write(`${world.project}/.flemma/evil.ts`, "");
      const loaded = await loadSettingsLayers({ environment: world.environment() });
      assert.ok(loaded.ok, project);
      const value = key.split(".").reduce(
        (at: unknown, name) => (at as Record<string, unknown>)[name],
        loaded.value.settings,
      );
      assert.deepEqual(value, expected, project);
      assert.deepEqual(
        loaded.value.notices.map(({ code }) => code),
        isReported ? ["project-untrusted"] : [],
        project,
      );
    });
  }
});

test("if there is no policy, a list of an untrusted project removes nothing from it", async (world) => {
  await world.write(`${world.home}/.config/flemma/config.yaml`, "tools: { auto_approve: null }\n");
  await world.write(`${world.project}/.flemma/config.yaml`, "tools: { auto_approve: [read] }\n");
  const loaded = await loadSettingsLayers({ environment: world.environment() });
  assert.ok(loaded.ok);
  assert.equal(loaded.value.settings.tools.auto_approve, null);
  assert.deepEqual(loaded.value.notices.map(({ code }) => code), ["project-untrusted"]);
});

test("if an untrusted project lists a preset, the preset's denials apply and its other entries do not", async (world) => {
  const yaml =
    "presets: { $p: { approve: [bash], deny: [write] } }\ntools: { auto_approve: { $append: $p } }\n";
  await world.write(`${world.project}/.flemma/config.yaml`, yaml);
  const loaded = await loadSettingsLayers({ environment: world.environment() });
  assert.ok(loaded.ok);
  assert.deepEqual(loaded.value.settings.tools.denied, ["write"]);
  assert.deepEqual(loaded.value.settings.tools.auto_approve, ["$default"]);
  assert.match(loaded.value.notices[0]?.message ?? "", /: presets\.\$p, tools\.auto_approve\.$/);
  await world.write(`${world.project}/.flemma/config.yaml`, "presets: { $p: { deny: [write] } }\n");
  const unlisted = await loadSettingsLayers({ environment: world.environment() });
  assert.ok(unlisted.ok);
  assert.deepEqual(unlisted.value.settings.tools.denied, []);
  assert.deepEqual(unlisted.value.notices, [], "a preset that only denies grants nothing");
});

Deno.test("the settings of a trusted project may name code inside the project, but no code outside it", () => {
  const rows: readonly (readonly [string, unknown, boolean])[] = [
    ["tools.auto_approve", ["read", "/p/.flemma/a.ts"], true],
    ["tools.auto_approve", ["/p/a.ts"], true],
    ["tools.auto_approve", ["/other/a.ts"], false],
    ["tools.auto_approve", ["/prefix/a.ts"], false],
    ["tools.resolvers", [{ path: "/p/r.ts" }], true],
    ["tools.resolvers", [{ path: "/home/ada/r.ts" }], false],
    ["tools.bash.shell", "sh", false],
    ["tools.bash.env", { A: "b" }, false],
    ["sandbox.policy.rw_paths", ["/p"], true],
    ["hooks.on_done", "true", false],
    ["providers.anthropic.base_url", "https://a.example", false],
    ["tools.truncate.output_path_format", "/p/x", false],
    ["sandbox.enabled", false, true],
    ["sandbox.backend", "bwrap", true],
    ["sandbox.backend", "landlock", false],
    ["undo.keep", 1, false],
    ["model", "m", true],
  ];
  for (const [key, value, counts] of rows) {
    const path = key.split(".");
    const share = trustedShare(new LayerLog("P", [{ op: "set", path, value }]), "/p", "/home/ada");
    assert.deepEqual(
      [share.operations.length, share.ignored],
      counts ? [1, []] : [0, [key]],
      `${key} ${value}`,
    );
  }
});

Deno.test("a project's code files are those that its settings load, not those that they remove from a list", () => {
  const log = new LayerLog("P", [
    { op: "set", path: ["tools", "auto_approve"], value: ["read", "./a.ts"] },
    { op: "remove", path: ["tools", "auto_approve"], value: "./b.ts" },
    { op: "append", path: ["tools", "resolvers"], value: { path: "../r.ts" } },
    { op: "set", path: ["tools", "bash", "shell"], value: "./sh.ts" },
    { op: "set", path: ["sandbox", "backend"], value: "./backend.ts" },
  ]);
  assert.deepEqual(namedFiles(log, "/p", "/home/ada"), [
    "/p/.flemma/a.ts",
    "/p/r.ts",
    "/p/.flemma/backend.ts",
  ]);
});

test("a code file that decides about approval must exist", async (world) => {
  await world.write(`${world.home}/.config/flemma/there.ts`, "export default () => true;\n");
  await Deno.mkdir(`${world.home}/.config/flemma/folder.ts`);
  for (const [name, isThere] of [["there", true], ["gone", false], ["folder", false]] as const) {
    for (const list of [`auto_approve: [./${name}.ts]`, `resolvers: [{ path: ./${name}.ts }]`]) {
      await world.write(`${world.home}/.config/flemma/config.yaml`, `tools: { ${list} }\n`);
      const loaded = await loadSettingsLayers({ environment: world.environment() });
      assert.equal(loaded.ok, isThere, list);
      if (!loaded.ok) assert.match(loaded.problem.message, /names the module .*, which does not exist/);
    }
    const list = `auto_approve: { $remove: ./${name}.ts }`;
    await world.write(`${world.home}/.config/flemma/config.yaml`, `tools: { ${list} }\n`);
    assert.ok(
      (await loadSettingsLayers({ environment: world.environment() })).ok,
      "a removed item need not exist",
    );
  }
});

test("trust applies only to exactly this path, this settings text, and these files with this content", async (world) => {
  const environment = { ...world.environment(), variables: { XDG_STATE_HOME: `${world.folder}/state` } };
  const [settings, code, other] = ["config.yaml", "a.ts", "b.ts"].map((name) => `${world.project}/${name}`);
  await world.write(code!, "export default 1;\n");
  await world.write(other!, "export default 2;\n");
  assert.ok((await recordTrust(environment, settings!, "text", { code: [code!] }, new Date())).ok);
  const rows: readonly (readonly [string, string, string, readonly string[], boolean])[] = [
    ["as it was", settings!, "text", [code!], true],
    ["another path", `${settings}2`, "text", [code!], false],
    ["another text", settings!, "texts", [code!], false],
    ["a file more", settings!, "text", [code!, other!], false],
    ["a file less", settings!, "text", [], false],
    ["another file", settings!, "text", [other!], false],
    ["a file that is not there", settings!, "text", [`${code}x`], false],
  ];
  for (const [what, path, text, files, expected] of rows) {
    assert.deepEqual(
      await isTrusted(environment, path, text, { code: files }),
      { ok: true, value: expected },
      what,
    );
  }
  await world.write(code!, "export default 3;\n");
  assert.deepEqual(await isTrusted(environment, settings!, "text", { code: [code!] }), {
    ok: true,
    value: false,
  });
});

test("an invalid list of trusted files or of session settings is an error and never counts as an empty list", async (world) => {
  const environment = world.environment();
  const entry = { op: "set", path: ["model"], value: "m" };
  const session = await sessionPath(environment, null);
  const rows: readonly (readonly [unknown, boolean])[] = [
    [{ version: 1, created: "", expires: null, ops: [entry] }, true],
    [{ version: 2, created: "", expires: null, ops: [entry] }, false],
    [{ version: 1, created: "", expires: null, ops: {} }, false],
    [{ version: 1, created: "", expires: null, ops: [null] }, false],
    [{ version: 1, created: "", expires: null, ops: ["set"] }, false],
    [{ version: 1, created: "", expires: null, ops: [{ ...entry, op: "put" }] }, false],
    [{ version: 1, created: "", expires: null, ops: [{ ...entry, path: "model" }] }, false],
    [{ version: 1, created: "", expires: null, ops: [{ ...entry, path: [1] }] }, false],
  ];
  for (const [content, sound] of rows) {
    await world.write(session, JSON.stringify(content));
    assert.equal((await readSession(environment, null, new Date())).ok, sound, JSON.stringify(content));
  }
  for (const content of ["{}", '{"version":2,"entries":[]}', '{"version":1,"entries":{}}', "no json"]) {
    await world.write(trustPath(environment), content);
    assert.equal((await isTrusted(environment, "/x", "")).ok, false, content);
  }
  await world.write(trustPath(environment), '{"version":1,"entries":[]}');
  assert.deepEqual(await isTrusted(environment, "/x", ""), { ok: true, value: false });
});

test("resetting a session setting removes its key and the keys below it, and the file if it is then empty", async (world) => {
  const environment = world.environment();
  const now = new Date();
  const path = await sessionPath(environment, null);
  const set = (key: string, value: unknown) => ({ op: "set" as const, path: key.split("."), value });
  const ops = [set("model", "m"), set("sandbox.policy.network", false), set("sandbox.enabled", true)];
  assert.ok((await addToSession(environment, null, ops, now)).ok);
  const left = async () => {
    const found = await readSession(environment, null, now);
    assert.ok(found.ok);
    return found.value.flatMap(({ operations }) => operations.map((each) => each.path.join(".")));
  };
  assert.deepEqual(await resetSession(environment, null, ["sandbox.pol"], now), { ok: true, value: false });
  assert.equal((await left()).length, 3);
  assert.deepEqual(await resetSession(environment, null, ["sandbox.policy"], now), { ok: true, value: true });
  assert.deepEqual(await left(), ["model", "sandbox.enabled"]);
  assert.ok((await addToSession(environment, null, [set("model", "n")], now)).ok);
  assert.deepEqual(await left(), ["sandbox.enabled", "model"]);
  assert.deepEqual(await resetSession(environment, null, null, now), { ok: true, value: true });
  await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
  assert.deepEqual(await resetSession(environment, null, null, now), { ok: true, value: false });
});

test("one operation can be taken from the session settings, and others on the same key stay", async (world) => {
  const environment = world.environment();
  const now = new Date();
  const append = (value: string) => ({ op: "append" as const, path: ["tools", "auto_approve"], value });
  const take = (value: string) => takeFromSession(environment, null, append(value), now);
  assert.deepEqual(await take("read"), { ok: true, value: false });
  assert.ok((await addToSession(environment, null, [append("read"), append("ls")], now)).ok);
  assert.deepEqual(await take("find"), { ok: true, value: false });
  assert.deepEqual(await take("read"), { ok: true, value: true });
  assert.deepEqual(await take("read"), { ok: true, value: false });
  const found = await readSession(environment, null, now);
  assert.ok(found.ok);
  assert.deepEqual(found.value.flatMap(({ operations }) => operations), [append("ls")]);
});

test("session settings end at their time and not before", async (world) => {
  const environment = { ...world.environment(), variables: { XDG_STATE_HOME: `${world.folder}/state` } };
  const began = new Date("2026-01-01T00:00:00Z");
  const at = (hours: number) => new Date(began.getTime() + hours * 3_600_000);
  assert.ok((await addToSession(environment, null, [{ op: "set", path: ["model"], value: "m" }], began)).ok);
  for (const [hours, holds] of [[0, true], [11.9, true], [12, false], [13, false]] as const) {
    const found = await readSession(environment, null, at(hours));
    assert.ok(found.ok);
    assert.equal(found.value.length, holds ? 1 : 0, `${hours} hours`);
  }
});

const draft = (layer: Layer, lua = false, ...others: LayerLog[]) =>
  draftLayer({ layer, others, catalog, lua });

Deno.test("a record such as thinking can be set as a whole or by its fields, and unknown keys are reported", () => {
  const kinds = (key: string) => {
    const answer = draft("M").kind(key.split("."));
    return answer.ok ? answer.value : answer.problem.code;
  };
  assert.equal(kinds("keymaps"), "object");
  assert.equal(kinds("thinking.level"), "scalar");
  assert.equal(kinds("thinking"), "record");
  assert.equal(kinds("tools.auto_approve"), "list");
  assert.equal(kinds("tools"), "tools");
  assert.equal(kinds("sandbox"), "object");
  assert.equal(kinds("model"), "scalar");
  assert.equal(kinds("nope"), "config_unknown_key");
  const read = draft("M").read(["nope"]);
  assert.equal(read.ok ? "" : read.problem.code, "config_unknown_key");
  const table = draft("M").read(["sandbox"]);
  assert.equal(table.ok ? "" : table.problem.code, "config_not_assignable");
  assert.deepEqual(draft("M").read(["keymaps"]), { ok: true, value: null });
});

Deno.test("an empty Lua table is accepted in place of a group of settings; any other list is refused", () => {
  const codes = (value: unknown, lua: boolean) =>
    draft("M", lua).apply("set", ["sandbox"], value).map(({ code }) => code);
  assert.deepEqual(codes([], true), []);
  assert.deepEqual(codes(["x"], true), ["config_not_a_list"]);
  assert.deepEqual(codes([], false), ["config_not_a_list"]);
  assert.deepEqual(codes("x", true), ["config_not_assignable"]);
});

Deno.test("an approval list that a document assigns is recorded as assigned, even if the document also adds items to the list", () => {
  const assigned = (...ops: Op[]) => {
    const log = new LayerLog(
      "M",
      ops.map((op) => ({
        op,
        path: ["tools", "auto_approve"],
        value: op === "set" ? ["read"] : "read",
      })),
    );
    return effectiveSettings([log], { catalog }).settings.tools.document?.assigned;
  };
  assert.equal(assigned(), undefined);
  assert.equal(assigned("set"), true);
  assert.equal(assigned("append"), false);
  assert.equal(assigned("set", "append"), true);
  assert.equal(assigned("remove", "set"), true);
});

Deno.test("if the two forms of a preset contradict each other, the error is reported for the key model, which uses the preset", () => {
  const log = new LayerLog("G", [
    {
      op: "set",
      path: ["presets", "$x"],
      value: { provider: "vertex", model: "m", parameters: { project_id: "p" } },
    },
    { op: "set", path: ["tools", "presets", "$x"], value: { provider: "anthropic" } },
    { op: "set", path: ["model"], value: "$x" },
  ]);
  const { faults } = effectiveSettings([log], { catalog });
  assert.deepEqual(faults.map(({ code, key }) => [code, key]), [["config_invalid_value", "model"]]);
});

Deno.test("the origin of a value is every layer that set it, or the defaults if no layer set it", () => {
  const logs = [
    new LayerLog("G", [{ op: "append", path: ["tools", "auto_approve"], value: "bash" }]),
    new LayerLog("C", [{ op: "set", path: ["model"], value: "m" }]),
  ];
  assert.equal(originOf(logs, catalog, "tools.auto_approve"), "defaults, global file");
  assert.equal(originOf(logs, catalog, "model"), "command line");
  assert.equal(originOf(logs, catalog, "provider"), "defaults");
  assert.equal(originOf(logs, catalog, "sandbox.policy"), "defaults");
  assert.equal(originOf(logs, catalog, "tools.autopilot"), "defaults");
  assert.equal(originOf(logs, catalog, "nope"), "defaults");
  logs.push(new LayerLog("M", [{ op: "set", path: ["sandbox", "policy", "network"], value: false }]));
  assert.equal(originOf(logs, catalog, "sandbox.policy"), "frontmatter");
});

Deno.test("list operations give the right value on a list, on no value and on a function, with and without presets", () => {
  const policy = () => true;
  const presets = { $p: { approve: ["read", "$q", "edit"] } };
  type Step = readonly [Layer, Op, unknown];
  type Row = readonly [
    string,
    readonly unknown[] | null,
    readonly Step[],
    boolean,
    readonly [value: unknown, layers: string, excluded: string],
  ];
  const rows: readonly Row[] = [
    ["nothing", ["a"], [], true, [["a"], "D", ""]],
    ["append", ["a"], [["G", "append", "b"]], true, [["a", "b"], "DG", ""]],
    ["append again", ["a", "b"], [["G", "append", "a"]], true, [["b", "a"], "DG", ""]],
    ["prepend", ["a"], [["G", "prepend", "b"]], true, [["b", "a"], "DG", ""]],
    ["set", ["a"], [["G", "set", ["b"]]], true, [["b"], "G", ""]],
    ["twice in a layer", ["a"], [["G", "append", "b"], ["G", "append", "c"]], true, [
      ["a", "b", "c"],
      "DG",
      "",
    ]],
    ["remove the first", ["a", "b"], [["G", "remove", "a"]], true, [["b"], "DG", "a"]],
    ["remove the first, no presets", ["a", "b"], [["G", "remove", "a"]], false, [["b"], "DG", ""]],
    ["remove the second, no presets", ["a", "b"], [["G", "remove", "b"]], false, [["a"], "DG", ""]],
    ["remove what is not there", ["a"], [["G", "remove", "b"]], false, [["a"], "D", ""]],
    ["remove what a preset may hold", ["$p"], [["G", "remove", "b"]], true, [["$p"], "DG", "b"]],
    ["remove it twice", ["$p"], [["G", "remove", "b"], ["M", "remove", "b"]], true, [["$p"], "DG", "b"]],
    ["remove a duplicate twice", ["a", "a"], [["G", "remove", "a"], ["M", "remove", "a"]], true, [
      [],
      "DGM",
      "a",
    ]],
    ["remove a reference", ["$p", "read"], [["G", "remove", "$p"]], true, [["read"], "DG", ""]],
    ["remove a reference that is not there", ["read", "bash"], [["G", "remove", "$p"]], true, [
      ["bash"],
      "DG",
      "read edit",
    ]],
    ["remove an unknown reference", ["read"], [["G", "remove", "$x"]], true, [["read"], "D", ""]],
    ["add what was excluded", ["$p"], [["G", "remove", "b"], ["M", "append", "b"]], true, [
      ["$p", "b"],
      "DGM",
      "",
    ]],
    ["set after an exclusion", ["$p"], [["G", "remove", "b"], ["M", "set", ["$p"]]], true, [["$p"], "M", ""]],
    ["remove from no value", null, [["G", "remove", "a"]], true, [null, "D", "a"]],
    ["remove from no value, no presets", null, [["G", "remove", "a"]], false, [null, "D", ""]],
    ["add to no value", null, [["G", "append", "a"]], true, [["a"], "DG", ""]],
    ["no value over a list", ["a"], [["G", "set", null]], true, [null, "G", ""]],
    ["a function", ["a"], [["G", "set", policy]], true, [policy, "G", ""]],
    ["add to a function", ["a"], [["G", "set", policy], ["M", "append", "b"]], true, [["b"], "GM", ""]],
    ["remove next to a function", ["a"], [["G", "set", policy], ["M", "remove", "b"]], true, [[], "GM", "b"]],
    ["a table by its content", [{ path: "/a" }], [["G", "remove", { path: "/a" }]], false, [[], "DG", ""]],
    ["another table", [{ path: "/a" }], [["G", "remove", { path: "/b" }]], false, [
      [{ path: "/a" }],
      "D",
      "",
    ]],
  ];
  for (const [what, start, steps, hasPresets, expected] of rows) {
    const logs = [...new Set(steps.map(([layer]) => layer))].map((layer) =>
      new LayerLog(
        layer,
        steps.filter((step) => step[0] === layer).map(([, op, value]) => ({ op, path: ["list"], value })),
      )
    );
    const { value, layers, excluded } = resolveList(logs, "list", start, hasPresets ? presets : undefined);
    assert.deepEqual([value, layers.join(""), excluded.join(" ")], expected, what);
  }
});

Deno.test("two values are equal if their content is, whatever their representation", () => {
  const rows: readonly (readonly [unknown, unknown, boolean])[] = [
    [1, 1, true],
    [1, "1", false],
    [null, undefined, false],
    [["a"], ["a"], true],
    [["a"], ["a", "b"], false],
    [["a", "b"], ["a"], false],
    [["a"], ["b"], false],
    [["a"], "a", false],
    [{ a: 1 }, { a: 1 }, true],
    [{ a: 1 }, { a: 2 }, false],
    [{ a: 1 }, { a: 1, b: 2 }, false],
    [{ a: 1, b: 2 }, { a: 1 }, false],
    [{ a: { b: ["c"] } }, { a: { b: ["c"] } }, true],
    [{ a: 1 }, [1], false],
    [{}, null, false],
  ];
  for (const [a, b, expected] of rows) {
    assert.equal(sameValue(a, b), expected, `${JSON.stringify(a)} ${JSON.stringify(b)}`);
  }
});

Deno.test("the tools of an approval list are listed without excluded tools and duplicates; a function in place of the list gives no tools", () => {
  const expanded = (value: unknown, excluded?: readonly string[]) =>
    expandedOf([], { key: "tools.auto_approve", value, layers: ["D"], ...(excluded ? { excluded } : {}) });
  assert.deepEqual(expanded(["$default", "bash", "read"]), ["read", "write", "edit", "bash"]);
  assert.deepEqual(expanded(["$default"], ["write"]), ["read", "edit"]);
  assert.deepEqual(expanded(["$nobody", "bash"]), ["bash"]);
  assert.deepEqual(expanded(() => true), []);
  assert.deepEqual(expanded(null), []);
});

Deno.test("only the person's own settings may name a sandbox that repairs instead of protecting", () => {
  for (
    const [layer, value, warned] of [["M", "landlock", 1], ["M", "bwrap", 0], ["G", "landlock", 0]] as const
  ) {
    const layerDraft = draft(layer);
    assert.deepEqual(layerDraft.apply("set", ["sandbox", "backend"], value), []);
    assert.equal(layerDraft.warnings.length, warned, `${layer} ${value}`);
    assert.equal(layerDraft.log.operations.length, 1 - warned, `${layer} ${value}`);
  }
});

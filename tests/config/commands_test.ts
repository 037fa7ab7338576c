import assert from "node:assert/strict";
import { sandboxOf } from "../../agent/sandbox.ts";
import { loadSettingsLayers } from "../../config/load.ts";
import { addToSession } from "../../config/sources/session_overrides.ts";
import { testInWorld as test } from "./world.ts";

test("config check lists all ten mistakes of a file with line, column and suggestion, and exits with 2", async (world) => {
  const yaml = [
    "modle: x", // 1 unknown key, near one
    "provider: []", // 2 a list for one value
    "parameters:",
    "  cache_retention: shrt", // 4 wrong word, near one
    "  temperature: hot", // 5 wrong type
    "tools:",
    "  $remove: raed", // 7 unknown tool, near one
    "  max_concurrent: -1", // 8 out of range
    "  presets: { yolo: { approve: [bash] } }", // 9 name without $
    "  rules: [{ deny: bash, comand: ls }]", // 10 member that is not there
    "rw_paths: []", // 11 known leaf at the wrong depth
    "sandbox: { policy: { $append: x } }", // 12 operator on what is no list
    "",
  ].join("\n");
  const path = `${world.home}/.config/flemma/config.yaml`;
  await world.write(path, yaml);
  const { code, out } = await world.run("config", "check");
  assert.equal(code, 2);
  assert.deepEqual(out.trimEnd().split("\n"), [
    `${path}:1:1: unknown key "modle"; did you mean "model"?`,
    `${path}:2:11: "provider" takes one value, not a list`,
    `${path}:4:20: "parameters.cache_retention" expects one of short, long, none, found "shrt"; did you mean "short"?`,
    `${path}:5:16: "parameters.temperature" expects a number of at least 0, found "hot"`,
    `${path}:7:12: "tools" names the tool "raed", which does not exist; did you mean "read"?`,
    `${path}:8:19: "tools.max_concurrent" expects a whole number of at least 0, found -1`,
    `${path}:9:14: "tools.presets" contains the name "yolo", which must begin with $; did you mean "$yolo"?`,
    `${path}:10:11: "tools.rules" expects items that are a rule such as { approve: bash, command: [git status] }, found a mapping: comand is not a member of a rule; did you mean command?`,
    `${path}:11:1: unknown key "rw_paths"; it belongs to "sandbox.policy.rw_paths"`,
    `${path}:12:31: "sandbox.policy" is a table of settings, not a list`,
  ]);
  const shown = await world.run("config", "show");
  assert.equal(shown.code, 2);
  assert.equal(shown.out, "");
});

test("if all six layers have values, config show names the layer of each value", async (world) => {
  await world.write(
    `${world.home}/.config/flemma/config.yaml`,
    "thinking: low\ntimeout: 5\ntools: { auto_approve: [$default] }\n",
  );
  await world.write(
    `${world.project}/.flemma/config.yaml`,
    "timeout: 6\ntools: { max_concurrent: 1, auto_approve: { $remove: write } }\n",
  );
  await world.write(
    `${world.project}/talk.chat`,
    '```json\n{"flemma": {"timeout": 8, "temperature": 0.3, "tools": {"auto_approve": {"$append": "bash"}}}}\n```\n\n@You:\nHi\n',
  );
  assert.equal((await world.run("session", "set", "timeout=7", "max_tokens=100")).code, 0);
  const { code, out, err } = await world.run("config", "show", "talk.chat", "--json");
  assert.equal(code, 0, err);
  const rows = new Map((JSON.parse(out) as { key: string }[]).map((row) => [row.key, row]));
  const row = (key: string) => rows.get(key);
  assert.deepEqual(row("provider"), { key: "provider", value: "anthropic", layers: ["D"] });
  assert.deepEqual(row("parameters.thinking"), {
    key: "parameters.thinking",
    value: { level: "low", foreign: "preserve" },
    layers: ["G"],
  });
  assert.deepEqual(row("tools.max_concurrent"), { key: "tools.max_concurrent", value: 1, layers: ["P"] });
  assert.deepEqual(row("parameters.max_tokens"), { key: "parameters.max_tokens", value: 100, layers: ["R"] });
  assert.deepEqual(row("parameters.temperature"), {
    key: "parameters.temperature",
    value: 0.3,
    layers: ["M"],
  });
  assert.deepEqual(row("parameters.timeout"), {
    key: "parameters.timeout",
    value: 8,
    layers: ["M"],
    hidden: { layer: "R", value: 7 },
  });
  assert.deepEqual(row("tools.auto_approve"), {
    key: "tools.auto_approve",
    value: ["$default", "bash"],
    layers: ["G", "P", "M"],
    excluded: ["write"],
  });
  const given = ["--param", "max_tokens=50", "--approve", "grep"];
  const text = await world.run("config", "show", "talk.chat", "--changed", ...given);
  assert.match(text.out, /^C +parameters\.max_tokens +50 +\(hides the session's 100\)$/m);
  assert.match(text.out, /^M +parameters\.timeout +8 +\(hides the session's 7\)$/m);
  assert.match(text.out, /^GPMC +tools\.auto_approve +\[\$default, bash, grep\] +\(without write\)$/m);
});

test("config show evaluates a document's Lua, and config check reports the mistakes in it with their lines", async (world) => {
  const lua = (code: string) =>
    world.write(`${world.project}/a.chat`, `\`\`\`lua\n${code}\n\`\`\`\n\n@You:\nHi\n`);
  await lua(
    'flemma.opt.temperature = 0.3\nflemma.opt.tools.auto_approve = flemma.opt.tools.auto_approve + "bash" - "write"',
  );
  const { out } = await world.run("config", "show", "a.chat", "--changed");
  assert.match(out, /^M +parameters\.temperature +0\.3$/m);
  assert.match(out, /^DM +tools\.auto_approve +\[\$default, bash\] +\(without write\)$/m);
  assert.equal((await world.run("config", "check", "a.chat")).code, 0);

  await lua("x = 1\nflemma.opt.tempature = 1");
  const broken = await world.run("config", "check", "a.chat");
  assert.equal(broken.code, 4);
  assert.match(broken.out, /^a\.chat:3:1: error config_unknown_key .*did you mean "temperature"\?$/m);

  await world.write(`${world.home}/.config/flemma/config.yaml`, "frontmatter: { max_steps: 1000 }\n");
  await lua("while true do end");
  const endless = await world.run("config", "check", "a.chat");
  assert.equal(endless.code, 4);
  assert.match(endless.out, /frontmatter_runtime/);
});

test("config get says what replaced an old key without effect, and prints the value of a renamed key", async (world) => {
  for (
    const [key, message] of [
      ["tools.mcporter.path", '"tools.mcporter.path" has no effect; flemma no longer starts mcporter.'],
      ["pricing.foo", '"pricing" is now "ui.pricing".'],
    ]
  ) {
    assert.deepEqual(await world.run("config", "get", key!), {
      code: 2,
      out: "",
      err: `flemma: ${message}\n`,
    });
  }
  assert.deepEqual(await world.run("config", "get", "pricing.enabled"), { code: 0, out: "true\n", err: "" });
});

test("config get prints one value; for an unknown key it suggests the nearest key and exits with 2", async (world) => {
  assert.deepEqual(await world.run("config", "get", "sandbox.backend"), { code: 0, out: "auto\n", err: "" });
  assert.equal((await world.run("config", "get", "model")).out, "claude-sonnet-5-5\n");
  assert.equal((await world.run("config", "get", "model", "--model", "$best")).out, "claude-fable-5-2\n");
  assert.equal((await world.run("config", "get", "temperature")).out, "");
  const { code, err } = await world.run("config", "get", "sandbox.bakend");
  assert.equal(code, 2);
  assert.match(err, /did you mean "sandbox\.backend"\?/);
});

test("an untrusted project can only restrict, and trust in it ends when its settings or code change", async (world) => {
  const file = `${world.project}/.flemma/config.yaml`;
  await world.write(`${world.project}/.flemma/approve.ts`, "export default () => true;\n");
  const yaml =
    "tools: { auto_approve: [bash, ./approve.ts], default_timeout: 99 }\nsandbox: { backends: { bwrap: { path: /x } } }\n";
  await world.write(file, yaml);
  const approvals = async () => (await world.run("config", "get", "tools.auto_approve")).out.trim();
  const module = `${world.project}/.flemma/approve.ts`;
  assert.equal(await approvals(), "[$default]");
  const shown = await world.run("config", "show", "--changed");
  assert.match(
    shown.err,
    /is not trusted, so its permissions have no effect: tools\.auto_approve, tools\.default_timeout/,
  );
  assert.match(shown.err, /flemma trust /);
  assert.match(shown.out, /^DP +tools\.auto_approve +\[\$default\] +\(without read, write, edit\)$/m);

  assert.equal((await world.run("trust", ".")).code, 0);
  assert.equal(await approvals(), `[bash, ${module}]`);
  assert.match(
    (await world.run("trust", "--list")).out,
    /project\/\.flemma\/config\.yaml\n +with .*approve\.ts\n/,
  );
  const ignored = await world.run("config", "show", "--changed");
  assert.match(ignored.err, /A project may not set sandbox\.backends\.bwrap\.path/);
  assert.doesNotMatch(ignored.out, /bwrap/);

  await world.write(module, "export default () => 'deny';\n");
  assert.equal(await approvals(), "[$default]");
  await world.run("trust", ".");
  await world.write(file, `${yaml}# changed\n`);
  assert.equal(await approvals(), "[$default]");
  await world.run("trust", ".");
  assert.equal((await world.run("trust", "--revoke", ".")).code, 0);
  assert.equal(await approvals(), "[$default]");
  assert.equal((await world.run("trust", "--revoke", ".")).code, 1);
});

test("trust in a project ends when a file changes that its trusted code imports directly or indirectly", async (world) => {
  const folder = `${world.project}/.flemma`;
  await world.write(`${folder}/config.yaml`, "tools: { auto_approve: [./approve.ts] }\n");
  await world.write(`${folder}/approve.ts`, 'import { rule } from "../lib/rule.ts";\nexport default rule;\n');
  await world.write(`${world.project}/lib/rule.ts`, 'export const { rule } = await import("./deep.ts");\n');
  await world.write(
    `${world.project}/lib/deep.ts`,
    "export const rule = () => false;\n// from './gone.ts'\n",
  );
  const policy = async () => (await world.run("config", "get", "tools.auto_approve")).out.trim();
  assert.match((await world.run("trust", ".")).err, /including \S+lib\/deep\.ts/);
  assert.equal(await policy(), `[${folder}/approve.ts]`);
  await world.write(`${world.project}/lib/deep.ts`, "export const rule = () => true;\n");
  assert.equal(await policy(), "[$default]");
});

test("if there is no sandbox policy, an untrusted project that removes names from it does not create one", async (world) => {
  await world.write(`${world.home}/.config/flemma/config.yaml`, "tools: { auto_approve: null }\n");
  for (const item of ["write", "$default"]) {
    await world.write(
      `${world.project}/.flemma/config.yaml`,
      `tools: { auto_approve: { $remove: ${item} } }\n`,
    );
    const shown = await world.run("config", "get", "tools.auto_approve", "--json");
    assert.equal(JSON.parse(shown.out).value, null, shown.out);
  }
});

test("--preset applies a preset for one run; an unknown preset is refused, and unknown approvals are reported", async (world) => {
  await world.write(
    `${world.home}/.config/flemma/config.yaml`,
    "presets: { $quick: { provider: anthropic, model: m1, temperature: 0.2, approve: [bash] } }\n",
  );
  const value = async (key: string, ...words: string[]) =>
    (await world.run("config", "get", key, ...words)).out.trim();
  assert.equal(await value("model", "--preset", "quick"), "m1");
  assert.equal(await value("model", "--preset", "$quick", "--model", "m2"), "m2");
  assert.equal(await value("tools.auto_approve", "--preset", "quick", "--approve", "read"), "[$quick, read]");
  assert.equal(await value("tools.auto_approve"), "[$default]");
  const unknown = await world.run("config", "show", "--preset", "quik");
  assert.equal(unknown.code, 2);
  assert.match(unknown.err, /There is no preset "\$quik"/);
  const approved = await world.run("config", "show", "--approve", "raed");
  assert.match(approved.err, /names the tool "raed", which does not exist; did you mean "read"\?\n/);
});

test("a parameter with the name of a built-in object property is an unknown key", async (world) => {
  for (const name of ["__proto__.polluted", "constructor.polluted", "__proto__"]) {
    const { code, err } = await world.run("config", "show", "--param", `${name}=1`);
    assert.equal(code, 2, name);
    assert.match(err, /unknown key "parameters\.(?:__proto__|constructor)"/);
  }
});

test("a module that decides about approval is protected like the settings file that names it, and must exist", async (world) => {
  const file = `${world.home}/.config/flemma/config.yaml`;
  await world.write(file, "tools: { auto_approve: [./guard.ts] }\n");
  const missing = await loadSettingsLayers({ environment: world.environment() });
  assert.ok(!missing.ok);
  assert.match(
    missing.problem.message,
    /:1:24: "tools\.auto_approve" names the module .*guard\.ts, which does not exist$/,
  );
  const guard = `${world.home}/.config/flemma/guard.ts`;
  await world.write(guard, "export default () => undefined;\n");
  const loaded = await loadSettingsLayers({ environment: world.environment() });
  assert.ok(loaded.ok);
  assert.deepEqual([loaded.value.files, loaded.value.code], [[file], [guard]]);
});

test("files that an approval module imports, directly or indirectly, are protected too, because the module is loaded late", async (world) => {
  const lib = (name: string) => `${world.project}/lib/${name}`;
  await world.write(lib("one.ts"), 'export { two } from "./two.ts";\n');
  await world.write(lib("two.ts"), "export const two = 2;\n");
  await world.write(lib("other.ts"), "");
  const guard = `${world.home}/.config/flemma/guard.ts`;
  await world.write(guard, `import { two } from "${lib("one.ts")}";\nexport default () => two;\n`);
  const lists = ["auto_approve: [./guard.ts]", "resolvers: [{ path: ./guard.ts }]"];
  for (const list of lists) {
    await world.write(`${world.home}/.config/flemma/config.yaml`, `tools: { ${list} }\n`);
    const loaded = await loadSettingsLayers({ environment: world.environment() });
    assert.ok(loaded.ok);
    assert.deepEqual(loaded.value.code, [guard, lib("one.ts"), lib("two.ts")]);
    const { settings } = loaded.value;
    const sandbox = sandboxOf(world.environment(), { path: null }, { settings, loaded: loaded.value });
    const writable = ["one", "two", "other"].map((name) => sandbox.isPathWritable(lib(`${name}.ts`)));
    assert.deepEqual(writable, [false, false, true]);
  }
});

test("session settings end after twelve hours on systems where logout does not end them", async (world) => {
  const { cwd, home } = world.environment();
  const environment = { cwd, home, variables: {} };
  const start = new Date("2026-01-01T00:00:00Z");
  const later = (hours: number) => new Date(start.getTime() + hours * 3600_000);
  const added = await addToSession(environment, null, [{
    op: "set",
    path: ["parameters", "timeout"],
    value: 9,
  }], start);
  assert.ok(added.ok);
  const timeoutAt = async (now: Date) => {
    const loaded = await loadSettingsLayers({ environment, now });
    assert.ok(loaded.ok);
    return loaded.value.settings.parameters.timeout;
  };
  assert.equal(await timeoutAt(later(11)), 9);
  assert.equal(await timeoutAt(later(12)), 300);
  const forged = [{ op: "set" as const, path: ["tools", "bash", "shell"], value: "/evil" }];
  assert.ok((await addToSession(environment, null, forged, start)).ok);
  const loaded = await loadSettingsLayers({ environment, now: later(1) });
  assert.ok(loaded.ok);
  assert.deepEqual(loaded.value.settings.tools.named, {});
  assert.match(loaded.value.notices[0]!.message, /not by the session; it has no effect/);
});

test("a project whose settings contain a mistake is not trusted, and the program stops", async (world) => {
  await world.write(`${world.project}/.flemma/config.yaml`, "tools: { auto_aprove: [] }\n");
  const trusted = await world.run("trust", ".");
  assert.equal(trusted.code, 2);
  assert.match(trusted.err, /config\.yaml:1:10: unknown key "tools\.auto_aprove"/);
  assert.equal((await world.run("config", "show")).code, 2);
});

test("session set validates its value, and applies to all documents or to one", async (world) => {
  await world.write(`${world.project}/a.chat`, "@You:\nHi\n");
  await world.write(`${world.project}/b.chat`, "@You:\nHi\n");
  const refused = await world.run("session", "set", "tools.bash.shell=zsh");
  assert.equal(refused.code, 2);
  assert.match(refused.err, /not by the session/);
  assert.equal((await world.run("session", "set", "max_tokens=none")).code, 2);
  assert.equal((await world.run("session", "set", "tools.auto_approve+=bash", "a.chat")).code, 0);
  assert.equal((await world.run("session", "set", "timeout=9")).code, 0);
  const get = async (key: string, file: string) => (await world.run("config", "get", key, file)).out.trim();
  assert.equal(await get("tools.auto_approve", "a.chat"), "[$default, bash]");
  assert.equal(await get("tools.auto_approve", "b.chat"), "[$default]");
  assert.equal(await get("parameters.timeout", "b.chat"), "9");
  assert.match(
    (await world.run("session", "show", "a.chat")).out,
    /parameters\.timeout = 9\n.*\n +tools\.auto_approve \+= bash\n/s,
  );
  assert.equal((await world.run("session", "reset", "a.chat")).code, 0);
  assert.equal(await get("tools.auto_approve", "a.chat"), "[$default]");
  assert.equal(await get("parameters.timeout", "a.chat"), "9");
  const mode = (await Deno.stat(`${world.folder}/run/flemma/session/default.json`)).mode! & 0o777;
  assert.equal(mode, 0o600);
});

test("session set accepts whole rules and lists, written as in settings files or as JSON", async (world) => {
  const get = async (key: string) => JSON.parse((await world.run("config", "get", key, "--json")).out).value;
  const rules = '[{"deny":"bash","command":["git push **","sudo a, b"]},{"ask":"write"}]';
  assert.equal((await world.run("session", "set", `tools.rules=${rules}`)).code, 0);
  assert.deepEqual(await get("tools.rules"), JSON.parse(rules));
  const flow = "tools.rules=[{ deny: bash, command: [git push **, ls] }, { ask: write }]";
  assert.equal((await world.run("session", "set", flow)).code, 0);
  const read = [{ deny: "bash", command: ["git push **", "ls"] }, { ask: "write" }];
  assert.deepEqual(await get("tools.rules"), read);
  assert.equal((await world.run("session", "set", "tools.rules+={ask: read, path: [a, b]}")).code, 0);
  const more = [...read, { ask: "read", path: ["a", "b"] }];
  assert.deepEqual(await get("tools.rules"), more);
  assert.equal((await world.run("session", "set", "tools.rules-={ask: write}")).code, 0);
  assert.deepEqual(await get("tools.rules"), [more[0], more[2]]);
  const list = "tools.auto_approve=bash(git log **, git status),read";
  assert.equal((await world.run("session", "set", list)).code, 0);
  assert.deepEqual(await get("tools.auto_approve"), ["bash(git log **, git status)", "read"]);
  const broken = await world.run("session", "set", "tools.rules=[{ deny: bash, command: [a ]");
  assert.equal(broken.code, 2);
  assert.match(broken.err, /tools\.rules: the value cannot be read \(1:\d+\): /);
});

test("session switch applies a preset's model and approvals", async (world) => {
  await world.write(
    `${world.home}/.config/flemma/config.yaml`,
    "presets:\n  $quick: { provider: openai, model: gpt-5, approve: [read] }\n",
  );
  assert.equal((await world.run("session", "switch", "$quick")).code, 0);
  assert.equal((await world.run("config", "get", "tools.auto_approve")).out, "[$quick]\n");
  assert.equal((await world.run("config", "get", "model")).out, "gpt-5\n");
  const unknown = await world.run("session", "switch", "$quack");
  assert.equal(unknown.code, 2);
  assert.match(unknown.err, /There is no preset "\$quack"/);
});

test("the session's sandbox switch overrides the document until it is reset", async (world) => {
  await world.write(`${world.project}/a.chat`, '```json\n{"flemma": {"sandbox": true}}\n```\n\n@You:\nHi\n');
  const enabled = async () => (await world.run("config", "get", "sandbox.enabled", "a.chat")).out.trim();
  assert.equal((await world.run("sandbox", "disable")).code, 0);
  assert.equal(await enabled(), "false");
  assert.equal((await world.run("sandbox", "reset")).code, 0);
  assert.equal(await enabled(), "true");
});

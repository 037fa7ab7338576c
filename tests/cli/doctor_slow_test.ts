// What `doctor` reports about the machine, the settings and the state.

import assert from "node:assert/strict";
import { testWithScene as test } from "./harness.ts";

test("doctor shows versions, settings, key names, state, tools and sandbox on one page", async (place) => {
  place.settings("tools: { auto_approve: [read] }\n");
  const env = { ANTHROPIC_API_KEY: "sk-very-secret" };
  const { stdout } = await place.exits(0, ["doctor"], { env });
  const lines = [
    /^ {2}flemma +\d+\.\d+\.\d+$/m,
    /^ {2}G {2}\S+\/config\/flemma\/config\.yaml$/m,
    /^ {2}anthropic +from ANTHROPIC_API_KEY$/m,
    /^ {2}read +built in, runs without asking \(your settings\)$/m,
    /^ {2}bash +built in, runs without asking \(the sandbox\)$/m,
    /^ {2}write +built in, asks you$/m,
    /^ {2}sandbox +on and working$/m,
  ];
  for (const line of lines) assert.match(stdout, line);
  assert.ok(!stdout.includes("sk-very-secret"));
  const json = JSON.parse((await place.run(["doctor", "--json"], { env })).stdout);
  assert.deepEqual(json.credentials.anthropic, { found: true, detail: "ANTHROPIC_API_KEY" });
  assert.equal(json.sandbox.available, true);
  assert.ok(!JSON.stringify(json).includes("sk-very-secret"));
});

test("doctor shows how much of the model's context window a document takes", async (place) => {
  place.write("a.chat", `@You:\n${"word ".repeat(800)}\n`);
  const { stdout } = await place.run(["doctor", "a.chat"]);
  assert.match(stdout, /^ {2}context: about 1,00\d tokens, less than 1 % of the window$/m);
  assert.equal(JSON.parse((await place.run(["doctor", "a.chat", "--json"])).stdout).context.estimated, true);
  assert.equal(JSON.parse((await place.run(["doctor", "--json"])).stdout).context, null);
});

test("doctor names what is wrong and sets its exit code accordingly", async (place) => {
  const noKey = await place.exits(1, ["doctor"]);
  assert.match(noKey.stdout, /anthropic +! No key for Anthropic was found.*ANTHROPIC_API_KEY/);
  place.settings("sandbox: { backends: { bwrap: { path: /nowhere/bwrap } } }\n");
  const noSandbox = await place.exits(1, ["doctor"]);
  assert.match(noSandbox.stdout, /\/nowhere\/bwrap/);
  place.settings("modle: x\n");
  const wrong = await place.exits(2, ["doctor"]);
  assert.match(wrong.stdout, /! .*config\.yaml:1:1: unknown key "modle".*did you mean "model"/);
});

test("config show --changed says so if no setting is changed, and status --json contains the same as the text of status", async (place) => {
  const changed = await place.run(["config", "show", "--changed"]);
  assert.equal(changed.stdout, "No setting differs from its default.\n");
  place.write("a.chat", "```yaml\nflemma:\n  modle: x\n```\n@You:\nhi\n");
  const status = await place.run(["status", "a.chat", "--json"]);
  const { next, next_step, problems, in_use_by, left_running } = JSON.parse(status.stdout);
  const text = (await place.run(["status", "a.chat"])).stdout;
  assert.ok(text.includes(`next: ${next_step}\n`), text);
  assert.match(next_step, /^correct the frontmatter: /);
  assert.deepEqual([next, problems[0].code, problems[0].severity], ["idle", "config_unknown_key", "error"]);
  assert.deepEqual([in_use_by, left_running], [null, []]);
});

test("doctor shows the size of the caches of commands, and sandbox reset --caches removes them", async (place) => {
  const env = { ANTHROPIC_API_KEY: "sk" };
  const fill = [
    "sandbox",
    "run",
    "--",
    "sh",
    "-c",
    'mkdir -p "$PIP_CACHE_DIR" && head -c 20000 /dev/zero >"$PIP_CACHE_DIR/x"',
  ];
  assert.ok(!(await place.exits(0, ["doctor"], { env })).stdout.includes("caches of commands"));
  await place.exits(0, fill);
  assert.match(
    (await place.exits(0, ["doctor"], { env })).stdout,
    /^caches of commands\n {2}\S+-[0-9a-f]{28} +20 kB$/m,
  );
  const json = JSON.parse((await place.run(["doctor", "--json"], { env })).stdout);
  assert.deepEqual(json.caches.map(({ bytes }: { bytes: number }) => bytes), [20000]);
  assert.match(
    (await place.exits(0, ["sandbox", "reset", "--caches"])).stderr,
    /Removed the caches of commands \(20 kB\)\./,
  );
  assert.ok(!(await place.exits(0, ["doctor"], { env })).stdout.includes("caches of commands"));
  assert.match((await place.exits(0, ["sandbox", "reset", "--caches"])).stderr, /\(0 B\)/);
});

test("doctor reports files of an editor that commands can write", async (place) => {
  const env = { ANTHROPIC_API_KEY: "sk" };
  await place.exits(0, ["editor", "vim", "--install"], { env });
  const words = /^ {2}vim +! \S+ is in \S+, which commands can write: install it elsewhere/m;
  assert.doesNotMatch((await place.exits(0, ["doctor"], { env })).stdout, words);
  const { folder } = JSON.parse((await place.run(["doctor", "--json"], { env })).stdout).editors[0];
  place.settings(`sandbox: { policy: { rw_paths: ["${folder.replace(/\/[^/]*$/, "")}"], protect: [] } }\n`);
  assert.match((await place.run(["doctor"], { env })).stdout, words);
});

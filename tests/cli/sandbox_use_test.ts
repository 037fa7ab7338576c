// `flemma sandbox use` and `--backend`: choosing the sandbox backend.

import assert from "node:assert/strict";
import { COMMANDS } from "../../commands/line/table.ts";
import { landlockVersion } from "../../sandbox/kernel/landlock_version.ts";
import { testWithScene as test } from "./harness.ts";

const settingsFile = (folder: string) => `${folder}/config/flemma/config.yaml`;

test("a backend that works is written into the settings, and one that does not is refused", async (place) => {
  const used = await place.run(["sandbox", "use", "bwrap"]);
  assert.equal(used.code, 0, used.stderr);
  assert.equal(Deno.readTextFileSync(settingsFile(place.folder)), "sandbox:\n  backend: bwrap\n");
  for (const name of ["seatbelt", "no-such-backend"]) {
    const refused = await place.run(["sandbox", "use", name]);
    assert.notEqual(refused.code, 0, name);
    assert.equal(Deno.readTextFileSync(settingsFile(place.folder)), "sandbox:\n  backend: bwrap\n", name);
  }
});

test("settings that cannot be edited stay unchanged, and the message says what to write", async (place) => {
  place.settings("sandbox: true");
  const before = Deno.readTextFileSync(settingsFile(place.folder));
  const { code, stderr } = await place.run(["sandbox", "use", "bwrap"]);
  assert.notEqual(code, 0);
  assert.match(stderr, /Set sandbox\.backend to bwrap in .*config\.yaml yourself/);
  assert.equal(Deno.readTextFileSync(settingsFile(place.folder)), before);
});

test("without a configuration file, nothing can be written", async (place) => {
  const { code, stderr } = await place.run(["sandbox", "use", "bwrap", "--no-config"]);
  assert.equal(code, 2);
  assert.match(stderr, /--no-config/);
});

if (landlockVersion().ok) {
  test("if bubblewrap does not work, the message offers Landlock, and the offered command works", async (place) => {
    place.settings("sandbox: { backends: { bwrap: { path: /nonexistent/bwrap } } }");
    const { stdout } = await place.run(["sandbox", "status"]);
    const [, offered = ""] = /: (flemma sandbox use landlock)$/m.exec(stdout) ?? [];
    const used = await place.run(offered.split(" ").slice(1));
    assert.equal(used.code, 0, used.stderr);
    assert.match(used.stderr, /does not cover:\n/);
    const status = JSON.parse((await place.run(["sandbox", "status", "--json"])).stdout);
    assert.equal(status.backend, "landlock");
    assert.equal(status.available, true);
    assert.ok(["exact", "repaired"].includes(status.kind) && status.abi >= 2);
  });

  test("--backend chooses the backend for one run only", async (place) => {
    const status = async (...words: string[]) =>
      JSON.parse((await place.run(["sandbox", "status", "--json", ...words])).stdout).backend;
    assert.equal(await status("--backend", "landlock"), "landlock");
    assert.equal(await status(), "bwrap");
    const ran = await place.run([
      "sandbox",
      "run",
      "--backend",
      "landlock",
      "--",
      "grep",
      "-q",
      "NoNewPrivs",
      "/proc/self/status",
    ]);
    assert.equal(ran.code, 0, ran.stderr);
  });

  test("a document cannot choose Landlock", async (place) => {
    place.write("a.chat", "```yaml\nsandbox: { backend: landlock }\n```\n\n@You:\nHello\n");
    const status = await place.run(["sandbox", "status", "--json", "a.chat"]);
    assert.equal(JSON.parse(status.stdout).backend, "bwrap");
  });
}

Deno.test("every command that runs calls takes a backend for this run", () => {
  const runs = COMMANDS.filter(({ name }) =>
    ["advance", "execute", "ask", "new", "sandbox run"].includes(name)
  );
  const without = runs.filter(({ options }) => !options.some(({ name }) => name === "backend"));
  assert.deepEqual([runs.length, without.map(({ name }) => name)], [5, []]);
});

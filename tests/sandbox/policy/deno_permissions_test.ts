// Deno permissions of a process that runs third-party tools: the flags, and what a child can do under them.

import assert from "node:assert/strict";
import { permissionFlags } from "../../../sandbox/mod.ts";
import { plant, projectSandbox, requireBubblewrap, runPrepared } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

const POLICY = {
  rw_paths: ["/w", "/tmp"],
  network: false,
  allow_privileged: false,
  protect: ["/w/.git/hooks"],
};

Deno.test("with a sandbox backend, a tool host may write to the writable paths, read its variables and start programs", () => {
  assert.deepEqual(permissionFlags(POLICY, { variables: ["HOME", "PATH"], wrapped: true }), [
    "--no-prompt",
    "--allow-read",
    "--allow-write=/w,/tmp",
    "--deny-write=/w/.git/hooks",
    "--allow-env=HOME,PATH",
    "--allow-run",
  ]);
});

Deno.test("without a sandbox backend, a tool host may start no program, and may reach only the hosts that Deno's flags can express", () => {
  const policy = {
    ...POLICY,
    deny_read: ["/h/.ssh"],
    network_allow: ["a.org", "b.org:8080", "*.c.org", "10.0.0.0/8", "[2001:db8::1]:443"],
  };
  assert.deepEqual(permissionFlags(policy, { variables: [], wrapped: false }), [
    "--no-prompt",
    "--allow-read",
    "--deny-read=/h/.ssh",
    "--allow-write=/w,/tmp",
    "--deny-write=/w/.git/hooks,/h/.ssh",
    "--allow-net=a.org:80,a.org:443,b.org:8080,[2001:db8::1]:443",
  ]);
  assert.ok(permissionFlags(policy, { variables: [], wrapped: true }).includes("--allow-net"));
  assert.ok(
    permissionFlags({ ...POLICY, network: true }, { variables: [], wrapped: false }).includes("--allow-net"),
  );
});

Deno.test("if there are no writable paths, no write flag is passed, because an empty list would allow every path", () => {
  const flags = permissionFlags({ ...POLICY, rw_paths: [], protect: [] }, { variables: [], wrapped: true });
  assert.deepEqual(flags, ["--no-prompt", "--allow-read", "--allow-run"]);
});

Deno.test("a path with a comma, which no Deno flag can express, is not allowed; if it must be denied, its parent is denied", () => {
  const policy = { ...POLICY, rw_paths: ["/w", "/a,b"], protect: ["/w/x,y/z"], deny_read: ["/h/p,q"] };
  const flags = permissionFlags(policy, { variables: [], wrapped: true });
  assert.ok(flags.includes("--allow-write=/w"));
  assert.ok(flags.includes("--deny-write=/w,/h") && flags.includes("--deny-read=/h"));
});

const CHILD = `
const attempts = {
  "write beside": () => Deno.writeTextFileSync("made", "x"),
  "write outside": () => Deno.writeTextFileSync("../outside", "x"),
  "write protected": () => Deno.writeTextFileSync("notes.chat", "x"),
  "read outside": () => Deno.readTextFileSync("/etc/passwd"),
  "read hidden": () => Deno.readTextFileSync("../secret"),
  "env given": () => Deno.env.get("HOME"),
  "env other": () => Deno.env.get("SECRET"),
  "env all": () => Deno.env.toObject(),
  "run": () => { if (!new Deno.Command("true").outputSync().success) throw new Error("failed"); },
  "ffi": () => Deno.dlopen("libc.so.6", {}),
  "net": () => Deno.listen({ port: 0, hostname: "127.0.0.1" }).close(),
};
for (const [name, attempt] of Object.entries(attempts)) {
  try { attempt(); console.log(name + ": yes"); } catch (e) { console.log(name + ": " + e.name); }
}`;

for (const wrapped of [true, false]) {
  test(`a Deno child process ${wrapped ? "inside the sandbox" : "outside the sandbox"} is restricted by its flags`, async (root) => {
    plant(root, "project/notes.chat", "secret");
    Deno.writeTextFileSync(`${root}/project/child.js`, CHILD);
    const sandbox = projectSandbox(root, {
      enabled: wrapped,
      policy: { network: false, deny_read: [`${root}/secret`] },
    }, { variables: { DENO_DIR: `${root}/cache`, SECRET: "s" } });
    if (wrapped) await requireBubblewrap(sandbox);
    const policy = sandbox.policy();
    assert.ok(policy.ok);
    const flags = permissionFlags(policy.value, { variables: ["HOME", "PATH"], wrapped });
    const ran = await runPrepared(sandbox, [Deno.execPath(), "run", "--no-config", ...flags, "child.js"]);
    assert.deepEqual(ran.out.trim().split("\n"), [
      "write beside: yes",
      "write outside: NotCapable",
      "write protected: NotCapable",
      "read outside: yes",
      "read hidden: NotCapable",
      "env given: yes",
      "env other: NotCapable",
      "env all: NotCapable",
      wrapped ? "run: yes" : "run: NotCapable",
      "ffi: NotCapable",
      "net: NotCapable",
    ], ran.err);
  });
}

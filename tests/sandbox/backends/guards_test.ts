// What backends guarantee, and which of their answers are trusted: one row per condition.

import assert from "node:assert/strict";
import { failure, type Problem, success } from "../../../base/problem.ts";
import { BackendRegistry } from "../../../sandbox/mod.ts";
import { bwrap, registerBuiltinBackends } from "../../../sandbox/backends/builtin.ts";
import { bwrapSettings } from "../../../sandbox/backends/bwrap.ts";
import { readCachedFailure, saveFailure } from "../../../sandbox/backends/cached_failure.ts";
import { EMPTY_COMMAND, forgetProbe, probe } from "../../../sandbox/backends/probe.ts";
import { prepareBwrap } from "../../../sandbox/backends/prepare.ts";
import { emptyPolicy } from "../../../sandbox/protect/mountable.ts";
import { seatbelt } from "../../../sandbox/backends/seatbelt.ts";
import type { BackendPreparation, Host, MountablePolicy } from "../../../sandbox/types.ts";
import { plant, script, world } from "../fixture.ts";
import { inFolder, testInFolder as test } from "../../folder.ts";

const POLICY = { rw_paths: ["/w"], network: true, allow_privileged: false, protect: [] };

function hostIn(root: string, changes: Partial<Host> = {}): Host {
  return {
    environment: world(root, { XDG_RUNTIME_DIR: `${root}/run` }),
    root: false,
    container: false,
    program: (name) => success(name),
    notice: () => {},
    ...changes,
  };
}

Deno.test("a backend registered under a built-in name stays registered; restoring the built-in backends adds only missing ones", () => {
  const registry = new BackendRegistry();
  const own = { ...bwrap, description: "mine" };
  registry.register("bwrap", own);
  registerBuiltinBackends(registry);
  assert.equal(registry.get("bwrap")?.description, "mine");
  assert.deepEqual(registry.getAll().map(({ name }) => name).sort(), [
    "bwrap",
    "container",
    "landlock",
    "seatbelt",
  ]);
});

Deno.test("bubblewrap counts as missing only if it does not exist, not if flemma may not run or test it", {
  ignore: Deno.build.os !== "linux",
}, () =>
  inFolder(async (root) => {
    const rows: readonly (readonly [string, Problem | null, boolean])[] = [
      ["there", null, true],
      ["not found", { code: "program-not-found", message: "m" }, false],
      ["planted", { code: "program-in-writable-path", message: "m" }, true],
      ["not executable", { code: "program-not-executable", message: "m" }, true],
    ];
    for (const [name, problem, available] of rows) {
      const host = hostIn(root, {
        program: () => problem === null ? success("/bwrap") : { ok: false, problem },
      });
      assert.equal((await bwrap.available({}, host)).ok, available, name);
    }
    const missing = await bwrap.available(
      {},
      hostIn(root, { program: () => failure("program-not-found", "m") }),
    );
    assert.match(missing.ok ? "" : missing.problem.next ?? "", /Install the package bubblewrap/);
    const own = { program: () => failure("program-not-found", "m", "Do that.") };
    const reported = await bwrap.available({}, hostIn(root, own));
    assert.equal(reported.ok ? "" : reported.problem.next, "Do that.");
    assert.equal(
      (await bwrap.available({ path: "" }, hostIn(root))).ok,
      true,
      "settings are reported at the start",
    );
    assert.equal(await bwrap.version!({}, hostIn(root, own)), null);
    for (const [says, version] of [["bubblewrap 1.2.3", "1.2.3"], ["", null]] as const) {
      const path = script(`${root}/v`, `echo "${says}"`);
      assert.equal(await bwrap.version!({}, hostIn(root, { program: () => success(path) })), version);
    }
  }));

Deno.test("the settings of bubblewrap accept only a program and a list of arguments", () => {
  const rows: readonly (readonly [Record<string, unknown>, boolean])[] = [
    [{}, true],
    [{ path: "/opt/bwrap", extra_args: ["--tmpfs", "/x"] }, true],
    [{ path: "" }, false],
    [{ path: 1 }, false],
    [{ extra_args: "--tmpfs /x" }, false],
    [{ extra_args: ["--tmpfs", 1] }, false],
    [{ extra_args: [1, "--tmpfs"] }, false],
    [{ extra_args: { 0: "--tmpfs" } }, false],
    [{ extra_args: [] }, true],
  ];
  for (const [config, ok] of rows) assert.equal(bwrapSettings(config).ok, ok, JSON.stringify(config));
  const read = (config: Record<string, unknown>) => {
    const settings = bwrapSettings(config);
    return settings.ok ? [settings.value.proc, settings.value.seccomp] : [];
  };
  assert.deepEqual(read({}), [true, true]);
  assert.deepEqual(read({ proc: false }), [false, true]);
  assert.deepEqual(read({ seccomp: false }), [true, false]);
});

Deno.test("flemma switches off a part of the sandbox only if the part is on and optional, and the system refused this very part", () => {
  const refused = (part?: unknown) => ({ code: "x", message: "m", ...(part === undefined ? {} : { part }) });
  const rows: readonly (readonly [Record<string, unknown>, Problem, unknown])[] = [
    [{}, refused("proc"), { proc: false }],
    [{ path: "p" }, refused("seccomp"), { path: "p", seccomp: false }],
    [{ proc: false }, refused("seccomp"), { proc: false, seccomp: false }],
    [{ proc: false }, refused("proc"), null],
    [{ seccomp: false }, refused("seccomp"), null],
    [{}, refused("user"), null],
    [{}, refused(1), null],
    [{}, refused(), null],
  ];
  for (const [config, problem, expected] of rows) {
    assert.deepEqual(bwrap.retry!(config, problem), expected, JSON.stringify([config, problem]));
  }
});

test("the status reports exactly the hardening that is in effect: one row per condition", (root) => {
  const reported = (
    changes: Partial<typeof POLICY>,
    config: Record<string, unknown>,
    superuser: boolean,
  ) => bwrap.hardening!({ ...POLICY, ...changes }, config, hostIn(root, { root: superuser })).join("\n");
  const rows: readonly (readonly [string, string, boolean, boolean, boolean, boolean])[] = [
    // name, text, superuser without capabilities, filtered, not filtered for privileges, other /proc
    ["ordinary", reported({}, {}, false), false, true, false, false],
    ["superuser", reported({}, {}, true), true, true, false, false],
    ["privileged superuser", reported({ allow_privileged: true }, {}, true), false, false, true, false],
    ["ordinary, privileges kept", reported({ allow_privileged: true }, {}, false), false, true, false, false],
    ["filter refused", reported({}, { seccomp: false }, false), false, false, false, false],
    ["/proc refused", reported({}, { proc: false }, false), false, true, false, true],
    ["settings that do not hold", reported({}, { path: "" }, false), false, false, false, false],
  ];
  for (const [name, text, superuser, filtered, privileges, proc] of rows) {
    assert.equal(/commands get no capabilities/.test(text), superuser, name);
    assert.equal(/terminal input are blocked/.test(text), filtered, name);
    assert.equal(/commands keep root privileges/.test(text), privileges, name);
    assert.equal(/commands see the processes/.test(text), proc, name);
    assert.equal(/this machine has no filter/.test(text), !filtered && !privileges, name);
  }
});

Deno.test("on macOS, a network list that would restrict commands is reported as impossible to enforce", () => {
  const reported = (network: boolean, network_allow?: string[]) =>
    seatbelt.hardening!({ ...POLICY, network, network_allow }, {}, hostIn("/nowhere"))
      .some((sentence) => /network list cannot be enforced/.test(sentence));
  assert.deepEqual(
    [reported(false, ["a.org"]), reported(false, []), reported(false), reported(true, ["a.org"])],
    [true, false, false, false],
  );
});

test("a stored test result is trusted only if the machine is in the same state and the file belongs to this user", async (root) => {
  const host = hostIn(root);
  const program = script(`${root}/bwrap`, "exit 1");
  const programOf = () => Promise.resolve(program);
  const file = `${root}/run/flemma/none-b`;
  const problem = { code: "c", message: "None.", next: "Do that." };
  await saveFailure("b", () => Promise.resolve(null), problem, host);
  assert.deepEqual([...Deno.readDirSync(`${root}/run/flemma`)], [], "without a program nothing is stored");
  await saveFailure("b", programOf, problem, host);
  const whole = Deno.readTextFileSync(file);
  const ask = (of = programOf) => readCachedFailure("b", of, host);
  assert.deepEqual(await ask(), problem);
  assert.equal(await readCachedFailure("other", programOf, host), null);
  assert.equal(await ask(() => Promise.resolve(`${root}/none`)), null);
  assert.equal(await ask(() => Promise.resolve("/bin/sh")), null, "another program");
  const { machine } = JSON.parse(whole);
  const spoilt = [
    "{",
    "null",
    JSON.stringify({ machine: JSON.parse(machine), problem }),
    JSON.stringify({ machine, problem: { code: "c" } }),
    JSON.stringify({ machine, problem: { code: "c", message: 1 } }),
    JSON.stringify({ machine }),
    JSON.stringify({ problem }),
  ];
  for (const text of spoilt) {
    Deno.writeTextFileSync(file, text);
    assert.equal(await ask(), null, text);
  }
  Deno.writeTextFileSync(file, whole);
  const look = Deno.lstatSync;
  const pretending = async (changes: Partial<Deno.FileInfo>) => {
    Deno.lstatSync = (path) => String(path) === file ? { ...look(path), ...changes } : look(path);
    try {
      return await ask() !== null;
    } finally {
      Deno.lstatSync = look;
    }
  };
  const rows: readonly (readonly [Partial<Deno.FileInfo>, boolean])[] = [
    [{}, true],
    [{ uid: 4242 }, false],
    [{ isFile: false, isSymlink: true }, false],
    [{ mode: 0o100620 }, false],
    [{ mode: 0o100602 }, false],
    [{ mode: 0o100644 }, true],
    [{ mode: null }, false],
  ];
  for (const [changes, believed] of rows) {
    assert.equal(await pretending(changes), believed, JSON.stringify(changes));
  }
  script(program, "exit 2 # another program at the same place, of another time");
  Deno.utimeSync(program, 1, 1);
  assert.equal(await ask(), null);
});

function preparation(argv: readonly string[], changes: Partial<BackendPreparation> = {}): BackendPreparation {
  return {
    argv,
    fingerprint: argv,
    setupFailure: () => Promise.resolve(null),
    dispose: () => Promise.resolve(),
    ...changes,
  };
}

test("the newest sixty-four stored test results are kept, and no other file in their folder is changed", async (root) => {
  const host = hostIn(root);
  plant(root, ...Array.from({ length: 70 }, (_, n) => `run/flemma/probe-${n}`), "run/flemma/none-bwrap");
  for (let n = 0; n < 70; n++) Deno.utimeSync(`${root}/run/flemma/probe-${n}`, 1000 + n, 1000 + n);
  plant(root, ...Array.from({ length: 70 }, (_, n) => `run/flemma/status-${n}`));
  assert.ok((await probe(preparation(["/bin/true", root]), host)).ok);
  const names = [...Deno.readDirSync(`${root}/run/flemma`)].map(({ name }) => name);
  const probes = names.filter((name) => name.startsWith("probe-"));
  assert.equal(probes.length, 64);
  assert.ok(probes.includes("probe-69") && probes.includes("probe-7") && !probes.includes("probe-6"));
  assert.equal(names.length - probes.length, 71);
});

test("a test result is stored for its exact arguments and absolute program path, until it is refreshed or deleted", async (root) => {
  const host = hostIn(root);
  const count = () => {
    try {
      return Deno.readTextFileSync(`${root}/runs`).length;
    } catch {
      return 0;
    }
  };
  const path = script(`${root}/b`, `printf x >> ${root}/runs`);
  const argv = [path, "--one", ...EMPTY_COMMAND];
  const ask = (options = {}, of = argv) => probe(preparation(of), host, options);
  await ask();
  await ask();
  assert.equal(count(), 1);
  await ask({ again: true });
  assert.equal(count(), 2);
  await ask({}, [path, "--two", ...EMPTY_COMMAND]);
  assert.equal(count(), 3);
  await ask();
  assert.equal(count(), 3);
  await forgetProbe([path, "--one", "cmd"], ["cmd"], host);
  await ask();
  assert.equal(count(), 4);
  const relative = preparation(["/bin/sh", path], { fingerprint: ["b", "--one"] });
  await probe(relative, host);
  await probe(relative, host);
  assert.equal(count(), 6, "a name is looked up again each time");
});

test("a test of the sandbox reports the first error message, and always cleans up", async (root) => {
  const host = hostIn(root);
  let disposed = 0;
  const dispose = () => Promise.resolve(void disposed++);
  const ask = async (shell: string, changes: Partial<BackendPreparation> = {}) => {
    const answer = await probe(preparation(["/bin/sh", "-c", shell, root], { dispose, ...changes }), host);
    return answer.ok ? "works" : answer.problem.message;
  };
  assert.equal(await ask("exit 3"), "An empty command failed inside the sandbox with exit code 3.");
  assert.equal(
    await ask("printf '\\n  why \\nmore\\n' >&2; exit 3"),
    "An empty command failed inside the sandbox with exit code 3: why",
  );
  const failed = { code: "sandbox-setup-failed" as const, message: "Set-up.", stderr: "", forModel: "" };
  assert.equal(await ask("exit 0", { setupFailure: () => Promise.resolve(failed) }), "Set-up.");
  assert.equal(await ask("exit 0"), "works");
  assert.equal(disposed, 4);
});

test("a preparation that fails ends its proxy and removes its files, as the end of a command does", async (root) => {
  plant(root, "project/", "run/");
  const policy: MountablePolicy = {
    ...emptyPolicy(false),
    rw_paths: [`${root}/project`],
    network: false,
    network_allow: ["example.org"],
    limits: { processes: 100 },
  };
  const missing = failure("program-not-found", "The program prlimit was not found.");
  // Programs and filters stay for other commands.
  const own = () => [
    ...files(`${root}/run`).filter((name) => !/\/(?:relay|seccomp)-\d+-/.test(name)),
    ...Deno.readTextFileSync("/proc/net/unix").split("\n").filter((line) => line.includes(root)),
  ];
  /** The proxy is closed as soon as it has stopped to wait for connections. */
  const gone = async () => {
    while (own().length > 0) await new Promise((done) => setTimeout(done, 1));
  };
  const prepare = (hasLimits: boolean) =>
    prepareBwrap(
      policy,
      {},
      ["/bin/true"],
      hostIn(root, {
        program: (name) => name === "prlimit" && !hasLimits ? missing : success(`/bin/${name}`),
      }),
    );
  const prepared = await prepare(true);
  assert.ok(prepared.ok, prepared.ok ? "" : prepared.problem.message);
  assert.notDeepEqual(own(), []);
  await prepared.value.dispose();
  await gone();
  const failed = await prepare(false);
  assert.ok(!failed.ok);
  assert.equal(failed.problem.code, "limits-not-kept");
  await gone();
});

/** All files and sockets below a folder. */
function files(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory ? files(`${folder}/${name}`) : [`${folder}/${name}`]
  );
}

// Modes, detection, test runs and their memory, with backends and bwraps made for the purpose.

import assert from "node:assert/strict";
import { failure, type Outcome, success } from "../../base/problem.ts";
import {
  type Backend,
  BackendRegistry,
  createSandbox,
  renderStatus,
  type RunSandbox,
  sandboxStatus,
  statusExitCode,
} from "../../sandbox/mod.ts";
import {
  exists,
  plant,
  projectSandbox,
  type Ran,
  requireBubblewrap,
  runPrepared,
  script,
  settings,
  withoutLandlock,
  world,
} from "./fixture.ts";
import { inFolder, testInFolder as test } from "../folder.ts";

/** A backend that puts its name before the command. */
function naming(name: string, answer: Outcome<void> = success(undefined), priority?: number): Backend {
  return {
    available: () => answer,
    wrap: (_policy, _config, inner) => success([name, ...inner]),
    probe: () => Promise.resolve(success(undefined)),
    priority,
  };
}

const BROKEN: Outcome<void> = failure("broken", "It is broken.", "Mend it.");

function withBackends(root: string, backend: string, entries: Record<string, Backend>): RunSandbox {
  const registry = new BackendRegistry();
  for (const [name, entry] of Object.entries(entries)) registry.register(name, entry);
  return createSandbox({
    settings: settings({ backend, policy: { rw_paths: [`${root}/work`] } }),
    environment: world(root),
    document: null,
    protect: [],
    registry,
  });
}

async function argvOf(sandbox: RunSandbox): Promise<readonly string[] | string> {
  const prepared = await sandbox.prepare(["cmd"]);
  return prepared.ok ? prepared.value.argv : prepared.problem.code;
}

test("backend auto takes the first backend that works, and skips those that are missing, throw or fail", async (root) => {
  const throwing: Backend = {
    ...naming("throwing", success(undefined), 90),
    available: () => {
      throw new Error("no");
    },
  };
  const unprobed: Backend = {
    ...naming("unprobed", success(undefined), 80),
    probe: () => Promise.resolve(BROKEN),
  };
  const sandbox = withBackends(root, "auto", {
    broken: naming("broken", BROKEN, 100),
    throwing,
    unprobed,
    works: naming("works", success(undefined), 70),
    spare: naming("spare"),
  });
  assert.deepEqual(await argvOf(sandbox), ["works", "cmd"]);
  assert.deepEqual(await sandbox.available(), success("works"));
});

test("if auto finds no working backend, commands run without a sandbox, one notice says so, and the sandbox counts as unavailable", async (root) => {
  const sandbox = withBackends(root, "auto", { broken: naming("broken", BROKEN) });
  assert.deepEqual(await argvOf(sandbox), ["cmd"]);
  assert.deepEqual(await argvOf(sandbox), ["cmd"]);
  const [notice, ...more] = sandbox.notices();
  assert.equal(notice?.code, "running-bare");
  assert.match(notice?.message ?? "", /broken: It is broken\./);
  assert.equal(notice?.next, "Mend it.");
  assert.deepEqual(more, []);
  const answer = await sandbox.available();
  assert.equal(answer.ok ? "available" : answer.problem.code, "backend-unavailable");
});

test("if a backend throws or fails for a temporary reason, auto stops the command and does not use a container instead", async (root) => {
  const failing: Backend = { ...naming("failing"), probe: () => Promise.resolve(BROKEN) };
  const throwing: Backend = {
    ...naming("throwing"),
    available: () => {
      throw new Error("no");
    },
  };
  const container: Backend = { ...naming("container", success(undefined), 1), confines: false };
  assert.equal(await argvOf(withBackends(root, "auto", { failing })), "backend-setup");
  assert.equal(await argvOf(withBackends(root, "auto", { throwing })), "backend-setup");
  assert.equal(await argvOf(withBackends(root, "auto", { failing, container })), "backend-setup");
  const absent = naming("absent", BROKEN);
  assert.deepEqual(await argvOf(withBackends(root, "auto", { absent, container })), ["container", "cmd"]);
});

test("the reason that stopped one command is not stored: the backend is tested again for the next command", async (root) => {
  let works = false;
  const passing: Backend = {
    ...naming("passing"),
    probe: () => Promise.resolve(works ? success(undefined) : BROKEN),
  };
  const sandbox = withBackends(root, "auto", { passing });
  assert.equal(await argvOf(sandbox), "backend-setup");
  assert.equal(sandbox.refused?.code, "backend-setup", "the exit code of the run shows it");
  works = true;
  assert.deepEqual(await argvOf(sandbox), ["passing", "cmd"]);
});

test("in required mode, or with a named backend, no command ever runs without the sandbox", async (root) => {
  const broken = { broken: naming("broken", BROKEN), spare: naming("spare") };
  assert.equal(await argvOf(withBackends(root, "required", {})), "backend-unavailable");
  assert.deepEqual(await argvOf(withBackends(root, "required", broken)), ["spare", "cmd"]);
  assert.equal(await argvOf(withBackends(root, "broken", broken)), "backend-unavailable");
  assert.deepEqual(await argvOf(withBackends(root, "spare", broken)), ["spare", "cmd"]);
  const ghost = withBackends(root, "ghost", broken);
  assert.equal(await argvOf(ghost), "unknown-backend");
  const answer = await ghost.available();
  assert.ok(!answer.ok);
  assert.match(answer.problem.next ?? "", /broken, spare/);
});

test("a backend that only repairs is used last, and calls wait until the person names it; one that covers the policy is used like any other", async (root) => {
  const covering = (kind: "exact" | "repaired"): Backend => ({
    ...naming("covering", success(undefined), 50),
    coverage: () => Promise.resolve(success({ kind, abi: 7, notCovered: [] })),
  });
  const absent = naming("absent", BROKEN, 100);
  const container: Backend = { ...naming("container", success(undefined), 1), confines: false };
  const failing: Backend = {
    ...naming("failing", success(undefined), 90),
    probe: () => Promise.resolve(BROKEN),
  };
  for (const mode of ["auto", "required"]) {
    const sandbox = withBackends(root, mode, { absent, covering: covering("repaired") });
    const answer = await sandbox.available();
    assert.equal(answer.ok ? "available" : answer.problem.code, "backend-repairs");
    assert.match(
      answer.ok ? "" : answer.problem.message,
      /^absent: It is broken\. The sandbox covering works, but/,
    );
    assert.equal(
      answer.ok ? "" : answer.problem.next,
      "Mend it. To use the sandbox covering, which covers less: flemma sandbox use covering",
    );
    assert.deepEqual(await argvOf(sandbox), ["covering", "cmd"], "a call that the person approved");
    assert.equal(sandbox.notices().filter(({ code }) => code === "backend-repairs").length, 1);
    const status = await sandboxStatus(sandbox);
    assert.deepEqual([status.commands, status.kind, statusExitCode(status)], ["confined", "repaired", 1]);
    assert.match(renderStatus(status), /^sandbox {3}on, but calls wait: absent: It is broken/);
    const exact = withBackends(root, mode, { absent, covering: covering("exact"), container });
    assert.deepEqual(await exact.available(), success("covering"));
    // A better backend may work the next moment.
    for (const kind of ["exact", "repaired"] as const) {
      const passing = withBackends(root, mode, { failing, covering: covering(kind) });
      assert.equal(await argvOf(passing), "backend-setup");
    }
    const trusted = withBackends(root, mode, { absent, covering: covering("repaired"), container });
    assert.deepEqual(await trusted.available(), success("container"));
  }
  // All reasons and remedies are named if the last backend cannot do what the policy wants.
  const cannot: Backend = {
    ...covering("exact"),
    probe: () => Promise.resolve(failure("cannot", "It cannot.", "Allow it.")),
  };
  const refused = await withBackends(root, "auto", { absent, cannot }).available();
  assert.deepEqual(
    refused.ok ? null : [refused.problem.code, refused.problem.message, refused.problem.next],
    [
      "backend-setup",
      "The sandbox could not be set up: absent: It is broken. cannot: It cannot.",
      "Mend it. Allow it.",
    ],
  );
  const named = withBackends(root, "covering", { absent, covering: covering("repaired") });
  assert.deepEqual(await named.available(), success("covering"));
  const unknown: Backend = { ...covering("exact"), coverage: () => Promise.resolve(BROKEN) };
  assert.equal(await argvOf(withBackends(root, "covering", { covering: unknown })), "backend-setup");
});

test("a backend that is registered late is used by the next command, and no backend is tested twice before", async (root) => {
  let asked = 0;
  const registry = new BackendRegistry();
  registry.register("broken", {
    ...naming("broken"),
    available: () => {
      asked++;
      return BROKEN;
    },
  });
  const sandbox = createSandbox({
    settings: settings({ policy: { rw_paths: [`${root}/work`] } }),
    environment: world(root),
    document: null,
    protect: [],
    registry,
  });
  await argvOf(sandbox);
  await sandbox.available();
  assert.deepEqual(await argvOf(sandbox), ["cmd"]);
  assert.equal(asked, 1);
  registry.register("late", naming("late"));
  assert.deepEqual(await argvOf(sandbox), ["late", "cmd"]);
  registry.unregister("late");
  assert.deepEqual(await argvOf(sandbox), ["cmd"]);
});

test("if a backend fails or throws while it wraps a command, the command does not run, also with backend auto", async (root) => {
  const wraps = (wrap: Backend["wrap"]) => withBackends(root, "auto", { b: { ...naming("b"), wrap } });
  const odd = wraps(() => failure("odd", "Odd."));
  assert.equal(await argvOf(odd), "odd");
  assert.equal(odd.activeCommands, 0, "it does not count as a live command");
  const throwing = wraps(() => {
    throw new Error("no");
  });
  assert.equal(await argvOf(throwing), "backend-failed");
});

test("if the sandbox is switched off, commands are unchanged and every path is writable except protected paths", async (root) => {
  plant(root, "project/");
  const sandbox = projectSandbox(root, { enabled: false, policy: { rw_paths: ["/"] } });
  assert.deepEqual(await argvOf(sandbox), ["cmd"]);
  const answer = await sandbox.available();
  assert.equal(answer.ok ? "available" : answer.problem.code, "sandbox-disabled");
  assert.ok(sandbox.isPathWritable("/etc/hosts"));
  assert.ok(!sandbox.isPathWritable(`${root}/project/notes.chat`));
  assert.deepEqual(sandbox.notices(), []);
});

test("with an invalid policy no command is wrapped or run, and no path is writable", async (root) => {
  plant(root, "project/");
  const sandbox = projectSandbox(root, { policy: { rw_paths: ["urn:flemma:cwd", "urn:flemma:nope"] } });
  assert.equal(await argvOf(sandbox), "unknown-urn");
  const answer = await sandbox.available();
  assert.equal(answer.ok ? "available" : answer.problem.code, "unknown-urn");
  assert.ok(!sandbox.isPathWritable(`${root}/project/x`));
});

test("an entry of the policy that is left out is among the notices before any command is prepared", (root) => {
  const sandbox = projectSandbox(root, { policy: { rw_paths: ["urn:flemma:cwd", "a\0b"] } });
  assert.deepEqual(sandbox.notices().map(({ code }) => code), ["writable-path-dropped"]);
});

test("the policy is fixed when the sandbox is created", async (root) => {
  const rw_paths = [`${root}/a`];
  const backendSettings: Record<string, Record<string, unknown>> = { seen: { word: "before" } };
  const registry = new BackendRegistry();
  registry.register("seen", {
    ...naming("seen"),
    wrap: (policy, { word }) => success([String(word), ...policy.rw_paths]),
  });
  const sandbox = createSandbox({
    settings: settings({ policy: { rw_paths }, backends: backendSettings }),
    environment: world(root),
    document: null,
    protect: [],
    registry,
  });
  rw_paths.push("/");
  backendSettings.seen = { word: "after" };
  assert.deepEqual(await argvOf(sandbox), ["before", `${root}/a`]);
  assert.ok(!sandbox.isPathWritable("/etc/hosts"));
});

test("a tool cannot write the running document through a link, but can write other files in its folder", (root) => {
  plant(root, "project/notes.chat", "project/alias -> notes.chat", "shared -> project");
  const sandbox = projectSandbox(root);
  for (
    const path of ["notes.chat", "./notes.chat", "alias", `${root}/shared/notes.chat`, "x/../notes.chat"]
  ) {
    assert.ok(!sandbox.isPathWritable(path), path);
  }
  assert.ok(sandbox.isPathWritable("notes.chat.bak") && sandbox.isPathWritable("."));
  assert.ok(!sandbox.isPathWritable("notes\0.chat"));
});

Deno.test("if root keeps full privileges, the sandbox is reported as unavailable for approvals", {
  ignore: Deno.uid() !== 0,
}, () =>
  inFolder(async (root) => {
    plant(root, "project/");
    const answer = await projectSandbox(root, { policy: { allow_privileged: true } }).available();
    assert.equal(answer.ok ? "available" : answer.problem.code, "sandbox-privileged-root");
  }));

/** Marks in the file of `folder` how often a bwrap of `fakeBwrap` ran. */
function runsOf(folder: string): number {
  try {
    return Deno.readTextFileSync(`${folder}/runs`).length;
  } catch {
    return 0;
  }
}

/** A bwrap that runs the empty command and fails at everything else with `words`; without words it runs all. */
function fakeBwrap(root: string, words: string): string {
  plant(root, "system/");
  return script(
    `${root}/system/bwrap`,
    `printf x >> ${root}/runs`,
    `for word; do case $word in --json-status-fd) open=yes;; esac; done`,
    `[ "$open" = yes ] || exit 99`,
    `case "${words}:$word" in :*|*:':') echo '{ "child-pid": 1 }' >&9; echo '{ "exit-code": 0 }' >&9; exit 0;; esac`,
    `echo "${words}" >&2`,
    `exit 1`,
  );
}

/** What a bwrap may say, and whether it means that this machine has no sandbox to give. */
const FAILURES: [words: string, ofMachine: boolean][] = [
  ["bwrap: setting up uid map: Permission denied", true],
  ["bwrap: No permissions to create a new namespace", true],
  ["bwrap: Creating new namespace failed: max_user_namespaces exceeded (ENOSPC)", false],
  ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", true],
  ["bwrap: Failed to make / slave: Permission denied", true],
  ["bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", true],
  ["bwrap: Can't find source path /gone: No such file or directory", false],
  ["bwrap: something nobody has seen", false],
];

for (const [words, ofMachine] of FAILURES) {
  test(`a bwrap that fails with "${words}" after a successful test run is reported as a set-up failure`, async (root) => {
    plant(root, "project/");
    const path = fakeBwrap(root, words);
    const sandbox = projectSandbox(root, { backend: "required", backends: { bwrap: { path } } });
    const ran: Ran = await runPrepared(sandbox, ["cat", "file"]);
    assert.deepEqual([ran.setup, ran.code, ran.err], ["sandbox-setup-failed", 1, `${words}\n`]);
    assert.deepEqual(sandbox.notices(), [], "once may be chance, and is tried again");
    assert.equal((await runPrepared(sandbox, ["cat", "file"])).setup, "sandbox-setup-failed");
    assert.deepEqual(sandbox.notices().map(({ code }) => code), ["sandbox-setup-failed"]);
  });

  test(`a bwrap that always fails with "${words}" lets commands ${ofMachine ? "run unsandboxed" : "stop"} under auto`, async (root) => {
    plant(root, "project/", "system/");
    const path = script(
      `${root}/system/bwrap`,
      `[ "$1" = --version ] && echo bubblewrap 9 && exit`,
      `echo "${words}" >&2; exit 1`,
    );
    const sandbox = projectSandbox(root, { backends: { bwrap: { path } } });
    const answer = await sandbox.available();
    assert.ok(!answer.ok);
    const code = ofMachine ? "backend-unavailable" : "backend-setup";
    assert.equal(answer.problem.code, code);
    const reported = ofMachine
      ? /^No sandbox works on this machine: bwrap: (?!The sandbox)/
      : /could not be set up/;
    assert.match(answer.problem.message, reported);
    assert.ok(answer.problem.next);
    assert.deepEqual(await argvOf(sandbox), ofMachine ? ["cmd"] : code);
    assert.deepEqual(
      sandbox.notices().map(({ code }) => code),
      ofMachine ? ["backend-unavailable", "running-bare"] : ["backend-setup"],
    );
    const required = projectSandbox(root, { backend: "required", backends: { bwrap: { path } } });
    assert.equal(await argvOf(required), code);
  });
}

test("if bwrap is missing, the message says how to install it", async (root) => {
  plant(root, "project/");
  const answer = await projectSandbox(root, {}, { variables: { PATH: `${root}/project` } }).available();
  assert.ok(!answer.ok);
  assert.match(answer.problem.next ?? "", /package bubblewrap/);
});

/** Asks for the sandbox in a process of its own, whose memory is empty. */
async function availableElsewhere(root: string, bwrap: string, network = true): Promise<string> {
  const program = new URL("./available.ts", import.meta.url).pathname;
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", program, root, bwrap, String(network)],
  }).output();
  return new TextDecoder().decode(stdout).trim() || new TextDecoder().decode(stderr);
}

test("in one process, a successful test of the sandbox is not repeated for the same arguments and program", async (root) => {
  plant(root, "project/");
  const path = fakeBwrap(root, "");
  const ask = (network: boolean) =>
    projectSandbox(root, { policy: { network }, backends: { bwrap: { path } } });
  assert.ok((await ask(true).available()).ok);
  assert.ok((await ask(true).available()).ok);
  assert.equal(runsOf(root), 1);
  assert.ok((await ask(false).available()).ok);
  assert.equal(runsOf(root), 2, "other arguments are tested again");
  Deno.removeSync(path);
  fakeBwrap(root, "");
  Deno.utimeSync(path, 1, 1);
  assert.ok((await ask(true).available()).ok);
  assert.equal(runsOf(root), 3, "another program is tested again");
});

test("in one process, a successful test of the sandbox is not repeated even if it cannot be stored", async (root) => {
  plant(root, "project/", "home/.local/state/flemma");
  const path = fakeBwrap(root, "");
  for (let times = 0; times < 2; times++) {
    assert.ok((await projectSandbox(root, { backends: { bwrap: { path } } }).available()).ok);
  }
  assert.equal(runsOf(root), 1);
});

test("another process does not repeat a successful test of the sandbox, unless the stored result is corrupted", async (root) => {
  plant(root, "project/");
  const path = fakeBwrap(root, "");
  assert.equal(await availableElsewhere(root, path), "bwrap");
  assert.equal(await availableElsewhere(root, path), "bwrap");
  assert.equal(runsOf(root), 1);
  const folder = `${root}/home/.local/state/flemma`;
  const records = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) =>
    name.startsWith("probe-")
  );
  assert.equal(records.length, 1, records.join());
  Deno.writeTextFileSync(`${folder}/${records[0]}`, "spoilt");
  assert.equal(await availableElsewhere(root, path), "bwrap");
  assert.equal(runsOf(root), 2);
  assert.equal(await availableElsewhere(root, path, false), "bwrap");
  assert.equal(runsOf(root), 3);
});

test("a failed test of the sandbox is stored only for the run, and a failed set-up deletes the stored success", async (root) => {
  plant(root, "project/", "system/");
  const path = script(`${root}/system/bwrap`, "echo no >&2; exit 1");
  const ask = () => projectSandbox(root, { backends: { bwrap: { path } } });
  assert.ok(!(await ask().available()).ok);
  fakeBwrap(root, "later");
  const sandbox = ask();
  assert.ok((await sandbox.available()).ok);
  const records = () =>
    [...Deno.readDirSync(`${root}/home/.local/state/flemma`)].map(({ name }) => name)
      .filter((name) => name.startsWith("probe-"));
  assert.equal(records().length, 1);
  assert.equal((await runPrepared(sandbox, ["cat", "x"])).setup, "sandbox-setup-failed");
  assert.deepEqual(records(), []);
});

test("flemma remembers that the sandbox does not work on this machine until a new test is requested or the program changes", async (root) => {
  plant(root, "project/", "system/");
  const path = `${root}/system/bwrap`;
  const fake = (works: boolean) => {
    Deno.writeTextFileSync(`${path}.new`, "", { mode: 0o755 });
    script(
      `${path}.new`,
      `printf x >> ${root}/runs`,
      works ? "" : `echo "bwrap: setting up uid map: Permission denied" >&2; exit 1`,
      `echo '{ "child-pid": 1 }' >&9; echo '{ "exit-code": 0 }' >&9`,
    );
  };
  const ask = (more: { ignoreCache?: boolean } = {}) =>
    createSandbox({
      settings: settings({ policy: { rw_paths: ["urn:flemma:cwd"] }, backends: { bwrap: { path } } }),
      environment: world(root, {}, `${root}/project`),
      document: null,
      protect: [],
      registry: withoutLandlock(),
      ...more,
    });
  fake(false);
  Deno.renameSync(`${path}.new`, path);
  const { mtime } = Deno.statSync(path);
  assert.deepEqual(await argvOf(ask()), ["cmd"]);
  const runs = runsOf(root);
  assert.ok(runs >= 2, "the policy of the run, and the empty one");
  assert.deepEqual(await argvOf(ask()), ["cmd"]);
  assert.equal(runsOf(root), runs, "kept");
  // The same file with the same time, for the settings of the kernel cannot be changed here.
  fake(true);
  Deno.writeFileSync(path, Deno.readFileSync(`${path}.new`));
  Deno.utimeSync(path, mtime!, mtime!);
  assert.deepEqual(await argvOf(ask()), ["cmd"], "still kept");
  assert.ok((await ask({ ignoreCache: true }).available()).ok);
  assert.ok((await ask().available()).ok, "taken back");

  Deno.removeSync(path);
  fake(false);
  Deno.renameSync(`${path}.new`, path);
  assert.deepEqual(await argvOf(ask()), ["cmd"]);
  fake(true);
  Deno.renameSync(`${path}.new`, path);
  assert.ok((await ask().available()).ok, "another program");
});

test("flemma ignores a stored test result that another user could have written", async (root) => {
  plant(root, "project/", "system/");
  const path = script(
    `${root}/system/bwrap`,
    `echo "bwrap: setting up uid map: Permission denied" >&2; exit 1`,
  );
  const ask = () => projectSandbox(root, { backends: { bwrap: { path } } });
  assert.deepEqual(await argvOf(ask()), ["cmd"]);
  const kept = `${root}/home/.local/state/flemma/none-bwrap`;
  const text = Deno.readTextFileSync(kept);
  const lie = text.replace(/"cause":"[^"]*"/, '"cause":"A lie."');
  const reported = async (): Promise<boolean> => {
    const answer = await ask().available();
    return !answer.ok && answer.problem.message.includes("A lie.");
  };
  Deno.writeTextFileSync(kept, lie);
  assert.ok(await reported());
  Deno.chmodSync(kept, 0o622);
  assert.ok(!await reported(), "writable for others");
  Deno.removeSync(kept);
  Deno.writeTextFileSync(`${root}/lie`, lie);
  Deno.symlinkSync(`${root}/lie`, kept);
  assert.ok(!await reported(), "a link");
  Deno.removeSync(kept);
  Deno.writeTextFileSync(kept, "{");
  assert.ok(!await reported(), "cut short");
  if (Deno.uid() !== 0) return;
  Deno.writeTextFileSync(kept, lie, { mode: 0o600 });
  Deno.chownSync(kept, 64123, 64123);
  assert.ok(!await reported(), "of somebody else");
});

test("a worker does not start without its sandbox if a backend fails for a temporary reason, and a notice says why", async (root) => {
  const failing: Backend = { ...naming("failing"), probe: () => Promise.resolve(BROKEN) };
  const sandbox = withBackends(root, "auto", { failing });
  const started = await sandbox.startWorker(["/bin/cat"], {});
  assert.equal(started.ok ? "started" : started.problem.code, "backend-setup");
  assert.deepEqual(sandbox.notices().map(({ code }) => code), ["backend-setup"]);
});

test("if the sandbox of a worker cannot be set up, a notice says why", async (root) => {
  plant(root, "project/");
  const path = fakeBwrap(root, "bwrap: something nobody has seen");
  const sandbox = projectSandbox(root, { backend: "required", backends: { bwrap: { path } } });
  const started = await sandbox.startWorker(["/bin/cat"], {});
  assert.ok(started.ok);
  assert.equal((await started.value.ended)?.code, "sandbox-setup-failed");
  assert.deepEqual(sandbox.notices().map(({ code }) => code), ["sandbox-setup-failed"]);
  await sandbox.endWorker();
});

test("the worker of a run has the folders that the policy asks to create", async (root) => {
  plant(root, "project/");
  const sandbox = projectSandbox(root, {
    policy: { rw_paths: [{ path: `${root}/made/deep`, create: true }] },
  });
  await requireBubblewrap(sandbox);
  assert.ok((await sandbox.startWorker(["/bin/cat"], {})).ok);
  try {
    assert.ok(exists(`${root}/made/deep`));
  } finally {
    await sandbox.endWorker();
  }
});

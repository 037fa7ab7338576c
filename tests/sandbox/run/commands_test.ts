// Commands of a run with a backend made for the purpose: what is disposed of, asked again, recorded and reported.

import assert from "node:assert/strict";
import { type Outcome, success } from "../../../base/problem.ts";
import { BackendRegistry } from "../../../sandbox/mod.ts";
import { records } from "../../../sandbox/process/leftovers.ts";
import { SettingsWatch } from "../../../sandbox/protect/settings_watch.ts";
import { lockRepairs } from "../../../sandbox/protect/shared_state.ts";
import type { Backend, SetupFailure } from "../../../sandbox/types.ts";
import { exists, plant, projectSandbox } from "../fixture.ts";
import { descriptorsInto, testInFolder as test } from "../../folder.ts";

/** The end of a set-up that only the machine can be the cause of. */
const OF_MACHINE = "bwrap: setting up uid map: Permission denied";

function setupFailure(stderr: string): SetupFailure {
  return { code: "sandbox-setup-failed", message: "It failed.", stderr, forModel: "It failed." };
}

/**
 * A sandbox with a backend that wraps nothing, how often it was asked, prepared a command and disposed of one, and the
 * protected paths of each command, which are the same list as long as the snapshot is the same.
 */
function scene(root: string, parts: Partial<Backend> & { readonly fails?: () => string | null } = {}) {
  const counts = { asked: 0, prepared: 0, disposed: 0 };
  const lists: unknown[] = [];
  const { fails = () => null, ...more } = parts;
  const registry = new BackendRegistry();
  registry.register("plain", {
    available: () => {
      counts.asked++;
      return success(undefined);
    },
    wrap: (_policy, _config, inner) => success([...inner]),
    prepare: ({ protect }, _config, inner) => {
      counts.prepared++;
      lists.push(protect);
      return Promise.resolve(success({
        argv: inner,
        fingerprint: inner,
        setupFailure: () => {
          const stderr = fails();
          return Promise.resolve(stderr === null ? null : setupFailure(stderr));
        },
        dispose: () => Promise.resolve(void counts.disposed++),
      }));
    },
    ...more,
  });
  plant(root, "project/notes.chat");
  return { sandbox: projectSandbox(root, {}, { registry }), counts, lists };
}

function valueOf<T>(outcome: Outcome<T>): T {
  assert.ok(outcome.ok, outcome.ok ? "" : outcome.problem.message);
  return outcome.value;
}

test("whatever was prepared to test a backend is disposed of, also if it was not run", async (root) => {
  const { sandbox, counts } = scene(root, { fails: () => OF_MACHINE });
  const answer = await sandbox.available();
  assert.equal(answer.ok ? "" : answer.problem.code, "backend-unavailable");
  // The policy of the run, the empty one, and the program whose failure is cached.
  assert.ok(counts.prepared >= 3, String(counts.prepared));
  assert.equal(counts.disposed, counts.prepared);
});

test("a set-up that fails is tried again with a new snapshot, and settings that work are kept for the run", async (root) => {
  const policies: unknown[] = [];
  const configs: unknown[] = [];
  const { sandbox } = scene(root, {
    retry: (config) => config.less === true ? null : { less: true },
    prepare: (policy, config, inner) => {
      policies.push(policy.protect);
      configs.push(config.less ?? false);
      const failed = config.less === true ? null : setupFailure("no");
      return Promise.resolve(success({
        argv: inner,
        fingerprint: inner,
        setupFailure: () => Promise.resolve(failed),
        dispose: () => Promise.resolve(),
      }));
    },
  });
  await (await valueOf(await sandbox.prepare(["/bin/true"]))).dispose();
  // The policy, the empty one in full and reduced, the policy reduced, and the command.
  assert.deepEqual(configs, [false, false, true, true, true]);
  assert.notEqual(policies[0], policies[3]);
  assert.equal(policies[3], policies[4], "the command uses the snapshot of the test");
});

test("after a set-up failed, the next command looks for the backend again, with a new snapshot", async (root) => {
  let words: string | null = null;
  const { sandbox, counts, lists } = scene(root, { fails: () => words });
  const prepare = async () => valueOf(await sandbox.prepare(["/bin/true"]));
  // The first command makes the state folder.
  for (let at = 0; at < 2; at++) await (await prepare()).dispose();
  const used = lists.at(-1);
  const failing = await prepare();
  assert.deepEqual([counts.asked, lists.at(-1) === used], [1, true]);
  words = "no";
  assert.equal((await failing.setupFailure("", null))?.stderr, "no");
  words = null;
  await failing.dispose();
  await (await prepare()).dispose();
  assert.equal(counts.asked, 2);
  assert.notEqual(lists.at(-1), used);
});

test("a run reports what it repairs to other runs, and neither to itself nor to its own commands", async (root) => {
  const { sandbox } = scene(root, { repairs: true });
  const state = `${root}/home/.local/state/flemma`;
  const first = valueOf(await sandbox.prepare(["/bin/true"]));
  assert.ok(first.handOut().ok);
  const second = valueOf(await sandbox.prepare(["/bin/true"]));
  assert.ok(second.handOut().ok);
  Deno.symlinkSync("evil", `${root}/project/.envrc`);
  await second.dispose();
  assert.ok(!exists(`${root}/project/.envrc`), "repaired while the first command lives");
  Deno.symlinkSync("evil", `${root}/project/.envrc`);
  await first.dispose();
  assert.ok(!exists(`${root}/project/.envrc`));
  assert.equal(exists(`${state}/repaired`), false, "no report that nobody takes");
  assert.deepEqual(records(sandbox.host.environment), []);
  assert.deepEqual(descriptorsInto(state), [], "the lock for repairs is released");
});

test("a command that may be repaired does not begin without the lock for repairs", async (root) => {
  const { sandbox } = scene(root, { repairs: true });
  plant(root, "home/.local/state/flemma/commands/.repairs/");
  const prepared = await sandbox.prepare(["/bin/true"]);
  assert.equal(prepared.ok ? "" : prepared.problem.code, "command-not-recorded");
  assert.equal(sandbox.activeCommands, 0);
});

test("if the last command ends while another one waits for the lock, its effects are repaired before the other begins", async (root) => {
  const { sandbox } = scene(root, { repairs: true });
  const first = valueOf(await sandbox.prepare(["/bin/true"]));
  assert.ok(first.handOut().ok);
  const lock = valueOf(await lockRepairs(sandbox.host.environment));
  const { ino } = lock.statSync();
  const { tryLockSync } = Deno.FsFile.prototype;
  /** The file by which the second command waits: it gets the lock before the repairs of the first. */
  let waiting: Deno.FsFile | null = null;
  let hasBegun = false;
  Deno.FsFile.prototype.tryLockSync = function (exclusive) {
    if (this.statSync().ino !== ino) return tryLockSync.call(this, exclusive);
    waiting ??= this;
    if (this !== waiting && !hasBegun) return false;
    const isHeld = tryLockSync.call(this, exclusive);
    if (this === waiting) hasBegun = isHeld;
    return isHeld;
  };
  try {
    const second = sandbox.prepare(["/bin/true"]);
    while (waiting === null) await new Promise((resolve) => setTimeout(resolve, 5));
    Deno.symlinkSync("evil", `${root}/project/.envrc`);
    const ended = first.dispose();
    lock.close();
    const begun = valueOf(await second);
    assert.ok(!exists(`${root}/project/.envrc`));
    await begun.dispose();
    await ended;
  } finally {
    Deno.FsFile.prototype.tryLockSync = tryLockSync;
  }
});

test("a record of a command that cannot be removed is a notice, and the command keeps its result", async (root) => {
  const { sandbox } = scene(root);
  const prepared = valueOf(await sandbox.prepare(["/bin/true"]));
  assert.ok(prepared.handOut().ok);
  const { removeSync, truncateSync } = Deno;
  const refuse = (path: string | URL) => {
    if (String(path).includes("/flemma/started/")) throw new Deno.errors.PermissionDenied("read-only");
  };
  Deno.removeSync = (path, options) => {
    refuse(path);
    removeSync(path, options);
  };
  Deno.truncateSync = (path, length) => {
    refuse(path);
    truncateSync(path, length);
  };
  try {
    await prepared.dispose();
  } finally {
    Object.assign(Deno, { removeSync, truncateSync });
  }
  assert.deepEqual(sandbox.notices().map(({ code }) => code), ["state-unwritable"]);
});

test("a run that refuses its commands because no sandbox works says why", async (root) => {
  plant(root, "project/");
  const registry = new BackendRegistry();
  const sandbox = projectSandbox(root, { backend: "required" }, { registry });
  const prepared = await sandbox.prepare(["/bin/true"]);
  assert.equal(prepared.ok ? "" : prepared.problem.code, "backend-unavailable");
  assert.deepEqual(sandbox.notices().map(({ code }) => code), ["backend-unavailable"]);
  assert.equal(sandbox.refused?.code, "backend-unavailable");
});

test("what was prepared for a command that may not begin stays until its process is gone", async (root) => {
  const { sandbox, counts } = scene(root);
  const { environment } = sandbox.host;
  const script = "read -r line; : > waiting; while [ -e waiting ]; do sleep 0.01; done";
  const prepared = valueOf(await sandbox.prepare(["/bin/sh", "-c", script], { waits: true }));
  const { disposed } = counts;
  plant(root, "home/.local/state/flemma/started");
  const started = prepared.start({
    cwd: environment.cwd,
    env: environment.variables as Record<string, string>,
  });
  assert.equal(started.ok ? "" : started.problem.code, "command-not-recorded");
  const gone = prepared.dispose();
  while (!exists(`${environment.cwd}/waiting`)) await new Promise((resolve) => setTimeout(resolve, 5));
  const then = counts.disposed;
  Deno.removeSync(`${environment.cwd}/waiting`);
  await gone;
  assert.equal(then, disposed);
  assert.equal(counts.disposed, disposed + 1);
});

test("if the process of a command is replaced before the command began, nothing watches for the first one any more", async (root) => {
  let replaced = 0;
  const script = "[ -e again ] || { : > again; exit 1; }; read -r line";
  const { sandbox } = scene(root, {
    prepare: (_policy, _config, inner) =>
      Promise.resolve(success({
        argv: inner,
        fingerprint: inner,
        gated: () => ["/bin/sh", "-c", script],
        isTied: () => replaced > 0,
        mayRunAgain: () => replaced++ === 0,
        setupFailure: () => Promise.resolve(null),
        dispose: () => Promise.resolve(),
      })),
  });
  const { environment } = sandbox.host;
  const prepared = valueOf(await sandbox.prepare(["/bin/true"]));
  const { close } = SettingsWatch.prototype;
  const closed = new Set<SettingsWatch>();
  SettingsWatch.prototype.close = function () {
    closed.add(this);
    close.call(this);
  };
  try {
    const env = environment.variables as Record<string, string>;
    const { stdout, stderr, status } = valueOf(prepared.start({ cwd: environment.cwd, env }));
    await Promise.all([stdout.cancel(), stderr.cancel(), status]);
    assert.equal(replaced, 1);
    await prepared.dispose();
  } finally {
    SettingsWatch.prototype.close = close;
  }
  assert.equal(closed.size, 2);
  assert.deepEqual(records(environment), []);
});

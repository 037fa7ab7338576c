// The worker of a run: when it is started again, and what is cleaned up behind it.

import assert from "node:assert/strict";
import { failure, success } from "../../../base/problem.ts";
import { emptyPolicy } from "../../../sandbox/protect/mountable.ts";
import { WorkerKeeper, type WorkerSandbox } from "../../../sandbox/run/worker.ts";
import { createWorkerSandbox } from "../../../sandbox/run/worker_sandbox.ts";
import { testInFolder as test } from "../../folder.ts";
import type { BackendPreparation, SandboxWorker } from "../../../sandbox/types.ts";

const CAT = ["/bin/cat"];

/** A sandbox that wraps nothing, and what happened to it in order. */
function sandboxOf(changes: Partial<WorkerSandbox> = {}, argv: readonly string[] = CAT) {
  const happened: string[] = [];
  const preparation: BackendPreparation = {
    argv,
    fingerprint: argv,
    setupFailure: () => Promise.resolve(null),
    dispose: () => Promise.resolve(void happened.push("disposed")),
  };
  const sandbox: WorkerSandbox = {
    mounts: {},
    own: "",
    commandsLive: false,
    wrap: () => Promise.resolve(success(preparation)),
    failed: () => Promise.resolve(),
    ...changes,
  };
  return { sandbox, happened };
}

async function get(keeper: WorkerKeeper, sandbox: WorkerSandbox): Promise<SandboxWorker> {
  const worker = await keeper.get(CAT, {}, () => Promise.resolve(success(sandbox)));
  assert.ok(worker.ok, worker.ok ? "" : worker.problem.message);
  return worker.value;
}

/** Whether a worker still copies its input to its output. */
async function answers(worker: SandboxWorker): Promise<boolean> {
  await worker.input.write(new TextEncoder().encode("x"));
  const reader = worker.output.getReader();
  const { value } = await reader.read();
  reader.releaseLock();
  return value !== undefined && new TextDecoder().decode(value) === "x";
}

Deno.test("the worker gets the mounts that hold once repairs after earlier commands are done", async () => {
  const snapshotOf = (name: string) => ({ name, policy: emptyPolicy(false), settings: [], repairs: false });
  let snapshot = snapshotOf("before the repairs");
  const commands = {
    get snapshot() {
      return snapshot;
    },
    settled: () => Promise.resolve().then(() => void (snapshot = snapshotOf("after the repairs"))),
  };
  const parts = {
    context: { ownPlaces: [] },
    snapshots: { othersReach: () => false },
    backend: { find: () => Promise.resolve(success({})) },
    commands,
    recover: () => Promise.resolve(),
  };
  type Arguments = Parameters<typeof createWorkerSandbox>;
  const made = await createWorkerSandbox(
    parts as unknown as Arguments[0],
    emptyPolicy(false) as unknown as Arguments[1],
    CAT,
  );
  assert.ok(made.ok);
  assert.equal((made.value.mounts as { name: string }).name, "after the repairs");
});

Deno.test("the worker is started again only if its sandbox would be another one now: one row per condition", async () => {
  const { sandbox } = sandboxOf({ own: "a" });
  const rows: readonly (readonly [string, Partial<WorkerSandbox>, same: boolean])[] = [
    ["nothing changed", {}, true],
    ["other mounts", { mounts: {} }, false],
    ["a lost mount while no command lives", { own: "b" }, true],
    ["a lost mount while a command lives", { own: "b", commandsLive: true }, false],
    ["a command lives", { commandsLive: true }, true],
  ];
  for (const [name, change, same] of rows) {
    const keeper = new WorkerKeeper();
    const first = await get(keeper, sandbox);
    const second = await get(keeper, { ...sandbox, ...change });
    assert.equal(second === first, same, name);
    if (!same) assert.equal(await first.ended, null, `${name}: the first one has ended`);
    assert.ok(await answers(second), name);
    await keeper.end();
    await second.output.cancel();
    if (!same) await first.output.cancel();
  }
});

Deno.test("a worker that has ended on its own is started again, and its sandbox is removed", async () => {
  const keeper = new WorkerKeeper();
  const { sandbox, happened } = sandboxOf();
  const first = await get(keeper, sandbox);
  await first.input.close();
  await first.ended;
  assert.deepEqual(happened, ["disposed"]);
  const second = await get(keeper, sandbox);
  assert.ok(await answers(second));
  await keeper.end();
  for (const { output } of [first, second]) await output.cancel();
});

/** Milliseconds a worker has to exit after its input is closed. */
const GRACE = 500;

/** Runs the body while that time never ends. Returns how many such waits were not cancelled. */
async function withEndlessGrace(body: () => Promise<void>): Promise<number> {
  const timeout = AbortSignal.timeout;
  let waits = 0;
  AbortSignal.timeout = (milliseconds) => {
    if (milliseconds !== GRACE) return timeout.call(AbortSignal, milliseconds);
    waits++;
    const { signal } = new AbortController();
    signal.removeEventListener = () => waits--;
    return signal;
  };
  try {
    await body();
    return waits;
  } finally {
    AbortSignal.timeout = timeout;
  }
}

test("a worker finishes its work when it is ended, and the next one starts only after that", async (root) => {
  const keeper = new WorkerKeeper();
  new Deno.Command("mkfifo", { args: [`${root}/go`] }).outputSync();
  using go = await Deno.open(`${root}/go`, { read: true, write: true });
  const shell = `cat; echo working; read -r line < ${root}/go; echo finished`;
  const { sandbox, happened } = sandboxOf({}, ["/bin/sh", "-c", shell]);
  const [first, same] = await Promise.all([get(keeper, sandbox), get(keeper, sandbox)]);
  assert.equal(same, first, "two requests at the same time start one worker");
  const waits = await withEndlessGrace(async () => {
    const reader = first.output.getReader();
    const ending = keeper.end();
    const starting = keeper.get(CAT, {}, () => {
      happened.push("next");
      return Promise.resolve(success(sandboxOf().sandbox));
    });
    assert.deepEqual((await reader.read()).value, new TextEncoder().encode("working\n"));
    await go.write(new TextEncoder().encode("\n"));
    assert.deepEqual((await reader.read()).value, new TextEncoder().encode("finished\n"));
    await ending;
    const second = await starting;
    assert.ok(second.ok && await answers(second.value));
    assert.deepEqual(happened, ["disposed", "next"]);
    await keeper.end();
    await second.value.output.cancel();
  });
  assert.equal(waits, 0, "no wait keeps the program alive");
});

Deno.test("a worker that does not stop when its input closes is killed", async () => {
  const keeper = new WorkerKeeper();
  const worker = await get(keeper, sandboxOf({}, ["/bin/sleep", "600"]).sandbox);
  await keeper.end();
  assert.equal(await worker.ended, null);
  await worker.output.cancel();
});

Deno.test("if the program of a worker cannot be started, its sandbox is removed and the next request tries again", async () => {
  const keeper = new WorkerKeeper();
  const { sandbox, happened } = sandboxOf({}, ["/no/such/program"]);
  const started = await keeper.get(CAT, {}, () => Promise.resolve(success(sandbox)));
  assert.equal(started.ok ? "started" : started.problem.code, "program-not-found");
  assert.deepEqual(happened, ["disposed"]);
  const worker = await get(keeper, sandboxOf().sandbox);
  assert.ok(await answers(worker));
  await keeper.end();
  await worker.output.cancel();
});

Deno.test("a worker that was ended is not used again, even while its sandbox is still being removed", async () => {
  const keeper = new WorkerKeeper();
  const removed = Promise.withResolvers<void>();
  const wrapped = await sandboxOf().sandbox.wrap();
  assert.ok(wrapped.ok && wrapped.value !== null);
  const slow = success({ ...wrapped.value, dispose: () => removed.promise });
  const { sandbox } = sandboxOf({ wrap: () => Promise.resolve(slow) });
  const first = await get(keeper, sandbox);
  const { sandbox: none } = sandboxOf({ wrap: () => Promise.resolve(failure("odd", "Odd.")) });
  const started = await keeper.get(CAT, {}, () => Promise.resolve(success(none)));
  assert.equal(started.ok ? "started" : started.problem.code, "odd");
  const second = await get(keeper, sandbox);
  assert.ok(second !== first && await answers(second), "another one could not replace it");
  await keeper.end();
  const third = await get(keeper, sandbox);
  assert.ok(third !== second && await answers(third), "its time to exit had passed");
  await keeper.end();
  removed.resolve();
  for (const { ended, output } of [first, second, third]) {
    await ended;
    await output.cancel();
  }
});

Deno.test("a failed set-up of a worker is passed on with what the backend wrote", async () => {
  const keeper = new WorkerKeeper();
  const reported: string[] = [];
  const { sandbox, happened } = sandboxOf({
    failed: ({ message }) => Promise.resolve(void reported.push(message)),
  }, ["/bin/sh", "-c", "echo broken >&2"]);
  const wrapped = await sandbox.wrap();
  assert.ok(wrapped.ok && wrapped.value !== null);
  const setupFailure = (stderr: string) =>
    Promise.resolve({ code: "sandbox-setup-failed" as const, message: stderr.trim(), stderr, forModel: "" });
  const failing = success({ ...wrapped.value, setupFailure });
  const worker = await get(keeper, { ...sandbox, wrap: () => Promise.resolve(failing) });
  assert.equal((await worker.ended)?.message, "broken");
  assert.deepEqual([reported, happened], [["broken"], ["disposed"]]);
  await keeper.end();
  await worker.output.cancel();
});

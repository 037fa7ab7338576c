// The launcher of Landlock that is started before the next command is known.

import assert from "node:assert/strict";
import { landlockVersion } from "../../../sandbox/kernel/landlock_version.ts";
import { GUARD_ROLE, WAITS } from "../../../sandbox/kernel/launcher_plan.ts";
import { startAheadLater } from "../../../sandbox/kernel/waiting_launcher.ts";
import { processTable } from "../../../sandbox/process/process_table.ts";
import { testInFolder } from "../../folder.ts";
import { plant, projectSandbox, runPrepared } from "../fixture.ts";

const version = landlockVersion();
const test: typeof testInFolder = version.ok && version.value >= 6 ? testInFolder : () => {};

const TRUE = ["/bin/sh", "-c", "true"];

/**
 * The launchers of a process that wait.
 *
 * @param folder a folder in the PATH of the launchers, by which they are told from those of other tests in this process
 */
function waitingOf(owner: number, folder: string): number[] {
  return processTable().filter(({ parent, alive, pid }) => {
    if (parent !== owner || !alive) return false;
    try {
      const words = Deno.readTextFileSync(`/proc/${pid}/cmdline`).split("\0");
      const isOwn = Deno.readTextFileSync(`/proc/${pid}/environ`).includes(folder);
      return isOwn && words.includes(GUARD_ROLE) && words.at(-2) === WAITS;
    } catch {
      return false; // It has ended.
    }
  }).map(({ pid }) => pid);
}

function landlockSandbox(root: string) {
  return projectSandbox(root, { backend: "landlock" }, { variables: { PATH: `${root}/bin:/usr/bin:/bin` } });
}

/** Waits for the launcher of the next command. */
async function nextWaiting(owner: number, folder: string): Promise<number> {
  await until(() => waitingOf(owner, folder).length > 0);
  const [next, ...others] = waitingOf(owner, folder);
  assert.deepEqual(others, []);
  return next!;
}

async function until(what: () => boolean): Promise<void> {
  while (!what()) await new Promise((resolve) => setTimeout(resolve, 5));
}

test("a command uses the launcher that waits, with its own environment, folder and input, and another one waits then", async (root) => {
  plant(root, "project/sub/", "outside");
  const sandbox = landlockSandbox(root);
  assert.equal((await runPrepared(sandbox, TRUE)).setup, null);
  const first = await nextWaiting(Deno.pid, root);
  const shell =
    `pwd; cat; echo "$OWN|$DENO_DIR|$HOME"; tool; (echo x > ${root}/outside) 2>/dev/null || echo refused`;
  plant(root, "bin/");
  Deno.writeTextFileSync(`${root}/bin/tool`, "#!/bin/sh\necho found\n", { mode: 0o755 });
  const prepared = await sandbox.prepare(["sh", "-c", shell]);
  assert.ok(prepared.ok);
  const secret = crypto.randomUUID();
  const env = { PATH: `${root}/bin:/usr/bin:/bin`, OWN: "a\nb", DENO_DIR: "/d", SECRET: secret };
  const stdin = new TextEncoder().encode("first line\nsecond line\n");
  const started = prepared.value.start({ cwd: `${root}/project/sub`, env, stdin });
  assert.ok(started.ok);
  assert.equal(started.value.pid, first);
  const [program = "", ...args] = ["grep", "-rsl", secret, `/dev/shm/flemma-${Deno.uid()}`, `${root}/home`];
  assert.equal(new TextDecoder().decode((await new Deno.Command(program, { args }).output()).stdout), "");
  started.value.stderr.cancel().catch(() => {});
  const [out] = await Promise.all([new Response(started.value.stdout).text(), started.value.status]);
  assert.equal(out, `${root}/project/sub\nfirst line\nsecond line\na\nb|/d|\nfound\nrefused\n`);
  assert.equal(await prepared.value.setupFailure("", null), null);
  await prepared.value.dispose();
  assert.notEqual(await nextWaiting(Deno.pid, root), first);
  await sandbox.endWorker();
  await until(() => waitingOf(Deno.pid, root).length === 0);
});

test("the start of a launcher that is due when the sandbox ends is cancelled", async (root) => {
  plant(root, "project/");
  const sandbox = landlockSandbox(root);
  let starts = 0;
  const later = () => startAheadLater(root, () => (starts++, null));
  later();
  await until(() => starts === 1);
  later();
  await sandbox.endWorker();
  // By then, the cancelled one would have happened.
  let isLater = false;
  startAheadLater(`${root} last`, () => (isLater = true, null));
  await until(() => isLater);
  assert.equal(starts, 1);
});

test("two commands at the same time do not share a launcher, and a missing folder is reported as always", async (root) => {
  plant(root, "project/");
  const sandbox = landlockSandbox(root);
  await runPrepared(sandbox, TRUE);
  const shell = ["/bin/sh", "-c", "echo $$"];
  const [one, two] = await Promise.all([runPrepared(sandbox, shell), runPrepared(sandbox, shell)]);
  assert.deepEqual([one.setup, two.setup], [null, null]);
  assert.notEqual(one.out, two.out);
  const prepared = await sandbox.prepare(TRUE);
  assert.ok(prepared.ok);
  const started = prepared.value.start({ cwd: `${root}/missing`, env: {} });
  assert.equal(started.ok ? null : started.problem.code, "no-such-directory");
  await prepared.value.dispose();
  await sandbox.endWorker();
});

test("if the launcher that waits was killed, the next command starts its own", async (root) => {
  plant(root, "project/");
  const sandbox = landlockSandbox(root);
  for (let round = 0; round < 5; round++) {
    await runPrepared(sandbox, TRUE);
    const waiting = await nextWaiting(Deno.pid, root);
    Deno.kill(waiting, "SIGKILL");
    await until(() => waitingOf(Deno.pid, root).length === 0);
    const { out, setup } = await runPrepared(sandbox, ["/bin/sh", "-c", "echo ran"]);
    assert.deepEqual([setup, out], [null, "ran\n"]);
  }
  await sandbox.endWorker();
});

test("if flemma is killed, the launcher that waits ends", async (root) => {
  plant(root, "project/");
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-A", "--no-check", "--quiet"],
      new URL("./busy.ts", import.meta.url).pathname,
      root,
      "wait",
    ],
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const reader = child.stdout.getReader();
  await reader.read();
  const waiting = await nextWaiting(child.pid, "");
  const all = () =>
    processTable().filter(({ pid, parent, alive }) => alive && (pid === waiting || parent === waiting));
  child.kill("SIGKILL");
  await child.status;
  await reader.cancel();
  await until(() => all().length === 0);
});

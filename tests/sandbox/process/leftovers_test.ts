// A killed program leaves neither a running command nor what the command planted, whenever it is killed.

import assert from "node:assert/strict";
import { recover } from "../../../sandbox/protect/recover.ts";
import {
  findLeftRecords,
  identify,
  isAlive,
  othersAlive,
  record,
  records,
  removeRecord,
  survivors,
} from "../../../sandbox/process/leftovers.ts";
import { newMark } from "../../../sandbox/process/marks.ts";
import { endsWithOutside, processTable } from "../../../sandbox/process/process_table.ts";
import { spawn } from "../../../sandbox/process/spawn.ts";
import { plant, projectSandbox, runInside, world } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

const PROGRAM = new URL("./starts_and_waits.ts", import.meta.url).pathname;

/** Whether any process of the machine has this argument. */
function lives(mark: string): boolean {
  return [...Deno.readDirSync("/proc")].some(({ name }) => {
    try {
      return /^\d+$/.test(name) && identify(Number(name)) !== null &&
        Deno.readTextFileSync(`/proc/${name}/cmdline`).split("\0").includes(mark);
    } catch {
      return false;
    }
  });
}

async function gone(mark: string): Promise<void> {
  while (lives(mark)) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** A program that starts a command; `at` says where it kills itself. */
async function killed(root: string, at: "gate" | "early" | "started", shell: string): Promise<void> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--quiet", PROGRAM, root, at, shell],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const { signal, stderr } = await child.output();
  assert.equal(signal, "SIGKILL", new TextDecoder().decode(stderr));
}

test("if flemma is killed before it releases a command, the command has not started", async (root) => {
  plant(root, "project/notes.chat");
  await killed(root, "gate", `touch ran; exec sleep ${root}`);
  await gone(root);
  assert.throws(() => Deno.statSync(`${root}/project/ran`), Deno.errors.NotFound);
});

test("a command starts only when it is certain to end with flemma, however early flemma is killed", async (root) => {
  plant(root, "project/notes.chat");
  await killed(root, "early", `touch ran; exec sleep ${root}`);
  await gone(root);
  assert.throws(() => Deno.statSync(`${root}/project/ran`), Deno.errors.NotFound);
});

Deno.test("a process is known to end with its parent if it has an additional system call filter or is asleep: one row per condition", () => {
  const stated = (name: string, state: string, filters?: number) =>
    `Name:\t${name}\nState:\t${state}\n${filters === undefined ? "" : `Seccomp_filters:\t${filters}\n`}`;
  const asleep = (filters?: number) => stated("bwrap", "S (sleeping)", filters);
  const running = (filters?: number) => stated("bwrap", "R (running)", filters);
  const rows: readonly [
    inside: string | null,
    outside: string | null,
    filtered: boolean,
    children: boolean,
    tied: boolean | null,
  ][] = [
    [running(1), asleep(0), true, false, true],
    [asleep(0), asleep(0), true, true, false],
    [asleep(1), asleep(1), true, true, false], // Both have that of their container.
    [running(2), asleep(1), true, false, true],
    [running(1), asleep(0), false, true, false],
    [asleep(), asleep(), true, false, false], // An old kernel counts none.
    [asleep(), asleep(), true, true, true],
    [running(), asleep(), true, true, false],
    [asleep(1), asleep(), true, false, false],
    [asleep(0), asleep(0), false, false, false],
    [asleep(0), asleep(0), false, true, true],
    [stated("bash", "S (sleeping)"), asleep(0), false, false, true], // It is the command itself.
    [stated("bash", "R (running)"), asleep(0), false, false, false],
    [null, asleep(0), true, true, null],
    [asleep(1), null, true, true, null],
  ];
  for (const [inside, outside, filtered, children, tied] of rows) {
    const looks = {
      status: (pid: number) => pid === 7 ? inside : outside,
      hasChild: (pid: number) => pid === 7 && children,
    };
    assert.equal(
      endsWithOutside(7, 6, filtered, looks),
      tied,
      JSON.stringify([inside, outside, filtered, children]),
    );
  }
  assert.equal(endsWithOutside(2 ** 22 + 1, Deno.pid, true), null, "there is no such process");
});

test("each process in a sandbox carries the mark of its record, and the mark finds it after its parents have ended", async (root) => {
  plant(root, "project/notes.chat");
  const sandbox = projectSandbox(root);
  const prepared = await sandbox.prepare(["/bin/sh", "-c", "echo $FLEMMA_COMMAND; exec sleep 300"]);
  assert.ok(prepared.ok && prepared.value.wrapped);
  const { cwd, variables } = sandbox.host.environment;
  const started = prepared.value.start({ cwd, env: variables });
  assert.ok(started.ok);
  const reader = started.value.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value: stated } = await reader.read();
  const [recorded] = records(sandbox.host.environment);
  assert.equal(stated?.trim(), recorded?.mark);
  assert.match(stated!, /^[-0-9a-f]{36}\.\d+\n$/);
  // Of the group nothing is left, as far as anybody knows.
  const left = survivors({ ...recorded!, leader: { pid: recorded!.leader.pid, started: "1" } });
  assert.ok(left.length >= 2, `${left}: the first process inside and the command`);
  await started.value.kill();
  assert.deepEqual(survivors(recorded!), []);
  await reader.cancel();
  await started.value.stderr.cancel();
  await prepared.value.dispose();
});

test("if flemma is killed its command ends too, and the next run removes the files that the command planted", async (root) => {
  plant(root, "project/notes.chat", "project/r1/.git/HEAD", "project/r2/.git/HEAD");
  const mark = String(300000 + Math.floor(Math.random() * 100000));
  await killed(
    root,
    "started",
    `mkdir .vscode; echo x > .vscode/tasks.json; for r in r1 r2; do echo x > $r/.envrc; done; touch ran; exec sleep ${mark}`,
  );
  await gone(mark);
  assert.ok(Deno.statSync(`${root}/project/.vscode/tasks.json`).isFile, "no process was left to do it");
  const sandbox = projectSandbox(root);
  const { out } = await runInside(sandbox, "ls -A . r1 r2 r1/.git r2/.git");
  assert.equal(
    out,
    ".:\nnotes.chat\nr1\nr2\nran\n\nr1:\n.git\n\nr1/.git:\nHEAD\n\nr2:\n.git\n\nr2/.git:\nHEAD\n",
  );
  assert.deepEqual(sandbox.notices().map(({ code }) => code), Array(3).fill("protected-path-appeared"));
  assert.deepEqual(records(sandbox.host.environment), []);
});

test("a command of a killed run that still runs unsandboxed is reported, and flemma ends it before the next command starts", async (root) => {
  const environment = world(root);
  const started = spawn(["/bin/sh", "-c", "sleep 300 & exec sleep 300"], {
    cwd: root,
    env: { PATH: "/usr/bin:/bin" },
  });
  assert.ok(started.ok);
  const file = record(environment, started.value.pid, { writable: [], before: "null" });
  assert.deepEqual(findLeftRecords(environment), [], "its program lives");
  const sandbox = projectSandbox(root);
  assert.deepEqual(sandbox.leftRunning(), []);
  // As if whoever started it had died.
  const text = Deno.readTextFileSync(file);
  Deno.writeTextFileSync(file, text.replace(`"pid":${Deno.pid}`, `"pid":${2 ** 22 + 1}`));
  assert.match(
    sandbox.leftRunning().join(),
    new RegExp(`process ${started.value.pid}, a command of the killed run`),
  );
  const reported = await recover(environment);
  assert.deepEqual(reported.map(({ code }) => code), ["command-left-behind"]);
  assert.deepEqual(records(environment), []);
  assert.ok((await started.value.status).signal);
  await Promise.all([started.value.stdout.cancel(), started.value.stderr.cancel()]);
});

test("a process without a sandbox that left its session is found by its mark, and no other process is ended", async (root) => {
  const environment = world(root);
  const started = spawn(["/bin/sh", "-c", "( setsid sleep 300 & )"], {
    cwd: root,
    env: { PATH: "/usr/bin:/bin" },
  }, {
    mark: "m1",
    open: () => null,
  });
  const bystander = spawn(["/bin/sleep", "300"], { cwd: root, env: {} });
  assert.ok(started.ok && bystander.ok);
  await started.value.status;
  const file = record(environment, started.value.pid, { writable: [], before: "null", mark: "m1" });
  // Whoever started it has died, and the number of its group is that of another process by now.
  const record1 = JSON.parse(Deno.readTextFileSync(file));
  const leader = { pid: bystander.value.pid, started: "1" };
  const owner = { ...record1.owner, started: "1" };
  Deno.writeTextFileSync(file, JSON.stringify({ ...record1, owner, leader }));
  const reported = await recover(environment);
  assert.deepEqual(reported.map(({ code }) => code), ["command-left-behind"]);
  assert.equal(identify(bystander.value.pid)?.pid, bystander.value.pid, "the bystander lives");
  await new Response(started.value.stdout).text();
  await bystander.value.kill();
  for (const { value } of [started, bystander]) await value.stderr.cancel();
  await bystander.value.stdout.cancel();
});

test("in a process group that somebody else started, flemma ends only marked processes", async (root) => {
  const environment = world(root);
  const mark = newMark();
  // The program that handed the command out leads a group with others, as in a pipe of a shell, and is gone.
  const script = "sleep 300 & FLEMMA_COMMAND=$0 sh -c 'echo $$; exec sleep 300' &";
  const group = spawn(["/bin/sh", "-c", script, mark], { cwd: root, env: { PATH: "/usr/bin:/bin" } });
  assert.ok(group.ok);
  const { pid } = group.value;
  const reader = group.value.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const handedOut = Number((await reader.read()).value);
  await group.value.status;
  const file = record(environment, Deno.pid, { writable: [], before: "null", mark });
  const own = { pid, started: "1" };
  Deno.writeTextFileSync(
    file,
    JSON.stringify({ ...JSON.parse(Deno.readTextFileSync(file)), owner: own, leader: own }),
  );
  const reported = await recover(environment);
  assert.deepEqual(reported.map(({ code }) => code), ["command-left-behind"]);
  assert.equal(identify(handedOut), null);
  assert.equal(
    processTable().filter((each) => each.group === pid && each.alive).length,
    1,
    "the bystander lives",
  );
  await group.value.kill();
  await reader.cancel();
  await group.value.stderr.cancel();
});

test("a record matches only one process: no later process with the same number, and none of another machine or boot", (root) => {
  const environment = world(root);
  const own = identify(Deno.pid)!;
  assert.ok(isAlive(own));
  assert.ok(!isAlive({ ...own, started: "1" }), "started at another time");
  const file = record(environment, Deno.pid, { writable: ["/w"], before: "null" });
  const read = () => JSON.parse(Deno.readTextFileSync(file));
  const write = (changes: Record<string, unknown>) =>
    Deno.writeTextFileSync(file, JSON.stringify({ ...read(), ...changes }));
  const { machine, owner } = read();
  assert.deepEqual(findLeftRecords(environment), [], "it lives");
  write({ owner: { ...owner, started: "1" } });
  assert.equal(findLeftRecords(environment).length, 1, "another process has its owner's number");
  write({ leader: { ...own, started: "1" } });
  assert.deepEqual(survivors(findLeftRecords(environment)[0]!), [], "another process has its number");
  write({ owner, leader: own });
  const [host, boot, namespace] = machine.split(" ");
  write({ machine: [host, "another-boot", namespace].join(" ") });
  assert.equal(findLeftRecords(environment).length, 1, "of an earlier boot");
  assert.deepEqual(survivors(findLeftRecords(environment)[0]!), [], "which nothing of survived");
  write({ machine: ["another-host", boot, namespace].join(" ") });
  assert.deepEqual(records(environment), [], "from another machine");
  write({ machine: [host, boot, "pid:[1]"].join(" ") });
  assert.deepEqual(records(environment), [], "of a container that shares the home");
  Deno.writeTextFileSync(file, "{");
  assert.deepEqual(records(environment), [], "cut short");
  removeRecord(file);
  removeRecord(file);
});

test("flemma distinguishes a running command of its own from other processes and from finished commands", (root) => {
  const environment = world(root);
  const file = record(environment, Deno.pid, { writable: ["/w"], before: "null" });
  assert.deepEqual(othersAlive(environment), [], "our own");
  const other = file.replace(`/${Deno.pid}-`, "/1-");
  Deno.renameSync(file, other);
  assert.deepEqual(othersAlive(environment).map(({ writable }) => writable), [["/w"]]);
  const text = Deno.readTextFileSync(other);
  const { leader, owner } = JSON.parse(text);
  Deno.writeTextFileSync(other, JSON.stringify({ ...JSON.parse(text), leader: { ...leader, started: "1" } }));
  assert.deepEqual(othersAlive(environment), [], "its command is over");
  Deno.writeTextFileSync(other, JSON.stringify({ ...JSON.parse(text), owner: { ...owner, started: "1" } }));
  assert.deepEqual(othersAlive(environment), [], "its program is gone");
});

test("if a command cannot be released, it does not start", async (root) => {
  plant(root, "project/notes.chat");
  const sandbox = projectSandbox(root);
  const prepared = await sandbox.prepare(["/bin/sh", "-c", "touch ran"]);
  assert.ok(prepared.ok);
  // Where the record would lie stands a file.
  plant(root, "home/.local/state/flemma/started");
  const { cwd, variables } = sandbox.host.environment;
  const started = prepared.value.start({ cwd, env: variables });
  assert.equal(started.ok ? "started" : started.problem.code, "command-not-recorded");
  await prepared.value.dispose();
  assert.throws(() => Deno.statSync(`${root}/project/ran`), Deno.errors.NotFound);
});

test("standard input reaches the command after its release, byte for byte", async (root) => {
  plant(root, "project/notes.chat");
  const sandbox = projectSandbox(root);
  for (const stdin of [undefined, new Uint8Array(), new TextEncoder().encode("\nfirst\n\nlast")]) {
    const prepared = await sandbox.prepare(["cat"]);
    assert.ok(prepared.ok);
    const { cwd, variables } = sandbox.host.environment;
    const started = prepared.value.start({ cwd, env: variables, stdin });
    assert.ok(started.ok);
    const [out] = await Promise.all([
      new Response(started.value.stdout).bytes(),
      started.value.stderr.cancel(),
      started.value.status,
    ]);
    assert.deepEqual(out, stdin ?? new Uint8Array());
    await prepared.value.dispose();
  }
});

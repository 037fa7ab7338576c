// Child processes: own session, no inherited environment, whole groups ended.

import assert from "node:assert/strict";
import { newMark } from "../../../sandbox/process/marks.ts";
import { processEntry, processTable } from "../../../sandbox/process/process_table.ts";
import { type Running, spawn, type SpawnOptions } from "../../../sandbox/process/spawn.ts";

const OPTIONS: SpawnOptions = { cwd: "/", env: { PATH: "/usr/bin:/bin" } };

function start(argv: string[], options: Partial<SpawnOptions> = {}): Running {
  const started = spawn(argv, { ...OPTIONS, ...options });
  assert.ok(started.ok, started.ok ? "" : started.problem.message);
  return started.value;
}

async function text(stream: ReadableStream<Uint8Array>): Promise<string> {
  return await new Response(stream).text();
}

/** Reads up to the first line end and leaves the stream to `rest`. */
async function firstLine(stream: ReadableStream<Uint8Array>): Promise<[string, ReadableStreamDefaultReader]> {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let line = "";
  while (!line.includes("\n")) {
    const { value, done } = await reader.read();
    assert.ok(!done, "the stream ended before a complete line arrived");
    line += value;
  }
  return [line.trim(), reader];
}

async function finish(running: Running): Promise<{ out: string; err: string; code: number }> {
  const [out, err, { code }] = await Promise.all([
    text(running.stdout),
    text(running.stderr),
    running.status,
  ]);
  return { out, err, code };
}

Deno.test("a child process leads its own session and group, and flemma returns its output and exit code", async () => {
  const script = 'read -r _ _ _ _ pgid sid _ < /proc/self/stat; echo "$$ $pgid $sid"; echo oops >&2; exit 42';
  const running = start(["/bin/sh", "-c", script]);
  const { out, err, code } = await finish(running);
  assert.equal(out.trim(), `${running.pid} ${running.pid} ${running.pid}`);
  assert.equal(err, "oops\n");
  assert.equal(code, 42);
});

Deno.test("a child process sees only the environment that it is given, and its standard input is empty", async () => {
  Deno.env.set("FLEMMA_SPAWN_TEST", "leaked");
  try {
    const running = start(["/bin/sh", "-c", 'cat; echo "[$FLEMMA_SPAWN_TEST] [$GIVEN]"'], {
      env: { ...OPTIONS.env, GIVEN: "yes" },
    });
    assert.equal((await finish(running)).out, "[] [yes]\n");
  } finally {
    Deno.env.delete("FLEMMA_SPAWN_TEST");
  }
});

Deno.test("all bytes for standard input arrive, and writing also ends if the child stops reading", async () => {
  const bytes = new TextEncoder().encode("x".repeat(300_000));
  assert.equal((await finish(start(["/usr/bin/wc", "-c"], { stdin: bytes }))).out.trim(), "300000");
  assert.equal((await finish(start(["/bin/true"], { stdin: bytes }))).code, 0);
});

Deno.test("if a process ends before its command begins, the stream for its standard input is cancelled", async () => {
  const { promise: cancelled, resolve: cancel } = Promise.withResolvers<void>();
  const stdin = new ReadableStream<Uint8Array>({ cancel }, { highWaterMark: 0 });
  const started = spawn(["/bin/true"], { ...OPTIONS, stdin }, { open: () => null, isTied: () => false });
  assert.ok(started.ok);
  await Promise.all([finish(started.value), cancelled]);
});

Deno.test("a process whose command must not begin ends, although it still writes", async () => {
  let ended: Promise<unknown> | undefined;
  const problem = { code: "not-now", message: "Not now." };
  const open = (_: number, end: Promise<unknown>) => {
    ended = end;
    return problem;
  };
  assert.deepEqual(spawn(["/bin/sh", "-c", "yes; yes >&2"], OPTIONS, { open }), { ok: false, problem });
  await ended;
});

Deno.test("a command's arguments are never parsed by a shell", async () => {
  const { out } = await finish(start(["/usr/bin/printf", "%s\n", "$HOME; `id`", "*"]));
  assert.equal(out, "$HOME; `id`\n*\n");
});

Deno.test("if a program cannot start, the reason is reported", () => {
  const code = (argv: string[], options: Partial<SpawnOptions> = {}) => {
    const started = spawn(argv, { ...OPTIONS, ...options });
    return started.ok ? "started" : started.problem.code;
  };
  assert.equal(code(["no-such-program-here"]), "program-not-found");
  assert.equal(code(["/etc/passwd"]), "program-not-executable");
  assert.equal(code(["/bin/true"], { cwd: "/no/such/folder" }), "no-such-directory");
  assert.equal(code(["/bin/true", "a\0b"]), "spawn-failed");
  assert.equal(code(["/bin/true", "a".repeat(3_000_000)]), "arguments-too-long");
  assert.equal(code([]), "spawn-failed");
});

Deno.test("kill ends the whole group and names the signal", async () => {
  const running = start(["/bin/sh", "-c", "sleep 600 & echo ready; wait"]);
  const [, reader] = await firstLine(running.stdout);
  await running.kill();
  assert.deepEqual(await running.status, { code: 143, signal: "SIGTERM" });
  assert.equal(
    (await reader.read()).done,
    true,
    "the pipe closes only when no process of the group holds it",
  );
  await running.stderr.cancel();
});

Deno.test("a group that ignores SIGTERM is killed", async () => {
  const running = start(["/bin/sh", "-c", "trap '' TERM; echo ready; while :; do sleep 600; done"]);
  const [, reader] = await firstLine(running.stdout);
  await running.kill();
  assert.deepEqual(await running.status, { code: 137, signal: "SIGKILL" });
  await reader.cancel();
  await running.stderr.cancel();
});

Deno.test("kill also ends processes that the leader of the group left behind when it ended", async () => {
  const running = start(["/bin/sh", "-c", "sleep 600 & echo ready"]);
  const [, reader] = await firstLine(running.stdout);
  assert.deepEqual(await running.status, { code: 0, signal: null });
  await running.kill();
  assert.equal((await reader.read()).done, true);
  await running.kill();
  await running.stderr.cancel();
});

Deno.test("kill ends descendants in sessions of their own, including those that ignore SIGTERM", async () => {
  const stubborn = "trap '' TERM; echo ready; while :; do sleep 600; done";
  const running = start(["/bin/sh", "-c", `setsid /bin/sh -c "${stubborn}" & wait`]);
  const [, reader] = await firstLine(running.stdout);
  await running.kill();
  assert.equal((await reader.read()).done, true, "the pipe closes only when no process holds it");
  await running.stderr.cancel();
});

Deno.test("kill ends the first process of a container, even if the kernel does not end this process together with its parent", async () => {
  // As bubblewrap's: in a session of its own, and nothing ends it when its parent goes at the first signal.
  const container =
    "setsid /bin/sh -c 'echo ready; exec sleep 600' & trap 'kill -9 $$' TERM; while :; do sleep 600 & wait; done";
  const running = start(["/bin/sh", "-c", container]);
  const [, reader] = await firstLine(running.stdout);
  await running.kill();
  assert.equal((await reader.read()).done, true);
  await running.stderr.cancel();
});

Deno.test("kill does not end other child processes of flemma", async () => {
  const other = start(["/bin/sh", "-c", "echo ready; sleep 600"]);
  const ended = start(["/bin/sh", "-c", "echo ready; sleep 600"]);
  const readers = await Promise.all([other, ended].map(async ({ stdout }) => (await firstLine(stdout))[1]));
  await ended.kill();
  assert.equal(processEntry(ended.pid)?.alive ?? false, false);
  assert.equal(processEntry(other.pid)?.alive, true);
  await other.kill();
  for (const reader of readers) await reader.cancel();
  for (const { stderr } of [other, ended]) await stderr.cancel();
});

Deno.test("kill ends processes with the mark of the command, such as a daemon with its own session, and no others", async () => {
  const daemon = "setsid /bin/sh -c 'trap \"\" TERM HUP; echo $$; while :; do sleep 600; done' &";
  const [own, other] = [newMark(), newMark()].map((mark) => {
    const started = spawn(["/bin/sh", "-c", `( ${daemon} )`], OPTIONS, { mark, open: () => null });
    assert.ok(started.ok);
    return started.value;
  });
  const [ownPid, reader] = await firstLine(own!.stdout);
  const [otherPid, otherReader] = await firstLine(other!.stdout);
  assert.deepEqual((await own!.status).code, 0, "the command itself is over");
  assert.notEqual(processEntry(Number(ownPid))!.parent, own!.pid, "only the mark identifies its owner");
  await own!.kill();
  assert.equal((await reader.read()).done, true, "the pipe closes only when no process holds it");
  assert.equal(processEntry(Number(otherPid))?.alive, true);
  await other!.kill();
  assert.equal((await otherReader.read()).done, true);
  for (const running of [own!, other!]) await running.stderr.cancel();
});

Deno.test("if flemma ends early its commands end too, including marked daemons", async () => {
  const program = new URL("./ends_in_the_middle.ts", import.meta.url).pathname;
  const id = `marker-${crypto.randomUUID()}`;
  const deaf = `: ${id}; trap "" TERM INT HUP; while :; do sleep 600; done`;
  const inGroup = `sh -c '${deaf}' & echo ready; wait`;
  const daemon = `( setsid sh -c '${deaf}' & ); echo ready; ${deaf}`;
  for (const [shell, mark] of [[inGroup, ""], [daemon, "m"]] as const) {
    const args = ["run", "-A", "--no-check", "--quiet", program, shell, mark];
    const { code, stderr } = await new Deno.Command(Deno.execPath(), { args, stdin: "null" }).output();
    assert.equal(code, 3, new TextDecoder().decode(stderr));
    const left = () => processTable().filter(({ pid, alive }) => alive && commandLine(pid).includes(id));
    // A process that was killed may still be on its way out.
    while (left().length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
});

function commandLine(pid: number): string {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/cmdline`);
  } catch {
    return "";
  }
}

Deno.test("kill does not end a process without a mark that left the process group and lost its parent", async () => {
  // It speaks only once it has a session of its own: before that it is one of the group, and ends with it.
  const running = start(["/bin/sh", "-c", "( setsid sh -c 'echo $$; exec sleep 600' & )"]);
  const [pid, reader] = await firstLine(running.stdout);
  await running.status;
  await running.kill();
  assert.equal(processEntry(Number(pid))?.alive, true);
  Deno.kill(Number(pid), "SIGKILL");
  await reader.cancel();
  await running.stderr.cancel();
});

Deno.test("where flemma cannot list processes, kill ends only the process group of the command", async () => {
  const list = Deno.readDirSync;
  Deno.readDirSync = (path) => String(path) === "/proc" ? [].values() as ReturnType<typeof list> : list(path);
  try {
    const running = start(["/bin/sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done"]);
    const [, reader] = await firstLine(running.stdout);
    await running.kill();
    assert.equal((await running.status).signal, "SIGKILL");
    await reader.cancel();
    await running.stderr.cancel();
  } finally {
    Deno.readDirSync = list;
  }
});

// Commands under Landlock: what the kernel refuses, what is restored afterwards, and that nothing lives on.

import assert from "node:assert/strict";
import { planFor, prepareLandlock } from "../../../sandbox/backends/landlock.ts";
import { landlockVersion } from "../../../sandbox/kernel/landlock_version.ts";
import { emptyPolicy } from "../../../sandbox/protect/mountable.ts";
import { success } from "../../../base/problem.ts";
import { backends, sandboxStatus } from "../../../sandbox/mod.ts";
import { lives } from "../attacks/types.ts";
import { exists, git, plant, projectSandbox, runPrepared, script } from "../fixture.ts";
import { testInFolder } from "../../folder.ts";

const version = landlockVersion();
/** The tests need the kernel's interface in the version that limits signals. */
const test: typeof testInFolder = version.ok && version.value >= 6 ? testInFolder : () => {};

const read = (path: string) => Deno.readTextFileSync(path);

function sandboxIn(
  root: string,
  policy: Parameters<typeof projectSandbox>[1] = {},
  more: Parameters<typeof projectSandbox>[2] = {},
) {
  return projectSandbox(root, { backend: "landlock", ...policy }, more);
}

async function run(sandbox: ReturnType<typeof sandboxIn>, shell: string) {
  const ran = await runPrepared(sandbox, ["/bin/sh", "-c", shell]);
  assert.equal(ran.setup, null, ran.err);
  return ran;
}

test("if bubblewrap fails, commands run under Landlock: at once if the plan is exact, otherwise only if the person approved them", async (root) => {
  plant(root, "project/.flemma/config.yaml", "project/other/", "outside", "system/");
  const path = script(
    `${root}/system/bwrap`,
    `echo "bwrap: setting up uid map: Permission denied" >&2; exit 1`,
  );
  const inAuto = (rw_paths: string[]) =>
    projectSandbox(
      root,
      { backends: { bwrap: { path } }, policy: { rw_paths } },
      { registry: backends, protect: [`${root}/project/.flemma/config.yaml`] },
    );
  const attack = `echo x > ${root}/outside || echo refused; echo x > .flemma/config.yaml; true`;
  const exact = inAuto([`${root}/project/other`]);
  assert.deepEqual(await exact.available(), success("landlock"));
  assert.equal((await run(exact, attack)).out, "refused\n");
  const repaired = inAuto(["urn:flemma:cwd"]);
  const answer = await repaired.available();
  assert.match(answer.ok ? "" : answer.problem.next ?? "", /flemma sandbox use landlock$/);
  assert.equal((await run(repaired, attack)).out, "refused\n");
  assert.match(repaired.takeRepaired().join(), /Restored .*config\.yaml/);
  for (const file of ["outside", "project/.flemma/config.yaml"]) {
    assert.equal(read(`${root}/${file}`), `text of ${file}\n`);
  }
});

test("a limit on processes counts those of the command, not the threads of the launcher", async (root) => {
  plant(root, "project/");
  const sandbox = sandboxIn(root, { policy: { limits: { processes: 4 } } });
  const { out } = await run(
    sandbox,
    "(sleep 0; echo two); for i in 1 2 3 4 5 6 7 8; do sleep 600 & done; echo all",
  );
  if (sandbox.notices().every(({ code }) => code !== "processes-not-limited")) assert.equal(out, "two\n");
});

test("a command writes only where the policy allows it, and reads everything but hidden paths and devices", async (root) => {
  plant(root, "project/", "outside", "home/.secret", "home/.secrets/key", "home/open");
  const deny_read = [`${root}/home/.secret`, `${root}/home/.secrets`];
  const sandbox = sandboxIn(root, { policy: { deny_read } });
  const { out } = await run(
    sandbox,
    `touch made && echo made; mkdir a b && touch a/x && mv a/x b/ && echo moved
    for f in ${root}/outside /etc/x ${root}/home/x /dev/shm/x /proc/self/comm; do (echo x > $f) 2>/dev/null && echo PWNED $f; done
    ln ${root}/outside here 2>/dev/null && echo PWNED link
    for f in ${root}/home/.secret ${root}/home/.secrets/key /dev/ptmx /proc/1/environ; do cat $f >/dev/null 2>&1 && echo PWNED $f; done
    cat ${root}/home/open; echo x > /dev/null && echo null`,
  );
  assert.equal(out, "made\nmoved\ntext of home/open\nnull\n");
  assert.equal(read(`${root}/outside`), "text of outside\n");
});

test("a command has no capabilities, no open files, no signals to others, and no sockets that the policy forbids", async (root) => {
  plant(root, "project/");
  const shell = `grep -c 'Cap.*0000000000000000' /proc/self/status; ls /proc/self/fd | wc -l
    kill -0 ${Deno.pid} 2>/dev/null && echo PWNED signal
    kill -0 $PPID 2>/dev/null && echo PWNED guard
    [ "$(cut -d' ' -f6 /proc/$$/stat)" = $$ ] || echo PWNED session
    prlimit --pid ${Deno.pid} --core=0 2>/dev/null && echo PWNED limit
    python3 -c 'import socket
for family in (1, 2, 10, 17, 40):
  try: socket.socket(family, 1 if family != 17 else 3); print(family)
  except OSError: pass'; trap - PIPE; yes 2>/dev/null | head -1`;
  assert.equal((await run(sandboxIn(root, { policy: { network: false } }), shell)).out, "5\n4\ny\n");
  assert.equal((await run(sandboxIn(root), shell)).out, "5\n4\n2\n10\ny\n");
});

test("a command gets exactly its own environment, also without a home folder, and keeps its cache of Deno", async (root) => {
  plant(root, "project/");
  const sandbox = sandboxIn(root);
  const owns: Record<string, string>[] = [{}, { DENO_DIR: "/a b", LC_ALL: "C" }];
  for (const own of owns) {
    const prepared = await sandbox.prepare(["/usr/bin/env"]);
    assert.ok(prepared.ok);
    const started = prepared.value.start({ cwd: `${root}/project`, env: { PATH: "/usr/bin:/bin", ...own } });
    assert.ok(started.ok);
    const [out] = await Promise.all([new Response(started.value.stdout).text(), started.value.status]);
    started.value.stderr.cancel().catch(() => {});
    await prepared.value.dispose();
    const names = out.split("\n").filter((line) => !/^(?:PWD|OLDPWD|SHLVL|_|FLEMMA_COMMAND)=|^$/.test(line))
      .sort();
    const wanted = Object.entries({ PATH: "/usr/bin:/bin", ...own }).map(([name, value]) =>
      `${name}=${value}`
    );
    assert.deepEqual(names, wanted.sort());
  }
});

test("the exit code and signal of a command are passed through, and a missing program counts as a failed set-up", async (root) => {
  plant(root, "project/");
  const sandbox = sandboxIn(root);
  assert.equal((await run(sandbox, "exit 42")).code, 42);
  assert.equal((await run(sandbox, "kill -TERM $$")).code, 143);
  const missing = await runPrepared(sandbox, ["no-such-program"]);
  assert.equal(missing.setup, "sandbox-setup-failed");
});

test("protected files are restored after a command, with their modes, also if their folder was moved or replaced", async (root) => {
  plant(root, "project/notes.chat", "project/.flemma/config.yaml", "project/deep/down/file", "home/.profile");
  git(`${root}/project`, "init", "-q");
  const project = `${root}/project`;
  const protect = [`${project}/notes.chat`, `${project}/deep/down/file`];
  const intact = () => {
    assert.equal(read(`${project}/.flemma/config.yaml`), "text of project/.flemma/config.yaml\n");
    assert.equal(read(`${project}/deep/down/file`), "text of project/deep/down/file\n");
    assert.ok(!exists(`${project}/.git/hooks/pre-commit`));
    assert.equal(Deno.statSync(`${project}/.flemma/config.yaml`).mode! & 0o777, 0o644);
    assert.equal(Deno.statSync(`${project}/.flemma/config.yaml`).nlink, 1);
    assert.equal(Deno.statSync(`${root}/home`).mode! & 0o777, 0o755);
    assert.equal(Deno.statSync(`${root}/home/.profile`).mode! & 0o777, 0o644);
  };
  for (const path of [`${project}/.flemma/config.yaml`, `${root}/home/.profile`]) Deno.chmodSync(path, 0o644);
  Deno.chmodSync(`${root}/home`, 0o755);
  const attempts: [shell: string, says: RegExp][] = [
    ["echo x > .flemma/config.yaml", /Restored .*config\.yaml/],
    ["rm .flemma/config.yaml", /Restored .*config\.yaml/],
    ["chmod 777 .flemma/config.yaml", /Restored .*config\.yaml/],
    ["echo x > .flemma/new && mv .flemma/new .flemma/config.yaml", /Restored .*config\.yaml/],
    ["echo x > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit", /Moved .*pre-commit/],
    ["ln .flemma/config.yaml other-name", /Restored .*config\.yaml/],
    ["mv deep aside", /Restored .*deep\/down\/file/],
    [
      `mv deep aside2; mkdir -p evil/down; echo x > evil/down/file; ln -s evil deep`,
      /put it in place of a folder/,
    ],
    [`chmod 777 ${root}/home ${root}/home/.profile`, /Restored the permissions/],
  ];
  for (const [shell, says] of attempts) {
    const sandbox = sandboxIn(root, {}, { protect });
    await run(sandbox, shell);
    assert.match(sandbox.takeRepaired().join("\n"), says, shell);
    intact();
  }
  const sandbox = sandboxIn(root, {}, { protect });
  await run(sandbox, "rm notes.chat; rm -rf .git/hooks");
  assert.equal(read(`${project}/notes.chat`), "text of project/notes.chat\n");
});

/** Starts a command that says a line, and ends when its input does. */
async function startWaiting(sandbox: ReturnType<typeof sandboxIn>, shell: string) {
  const prepared = await sandbox.prepare(["/bin/sh", "-c", `${shell}; echo done; read -r _; true`]);
  assert.ok(prepared.ok);
  const input = new TransformStream<Uint8Array>();
  const { cwd, variables: env } = sandbox.host.environment;
  const started = prepared.value.start({ cwd, env, stdin: input.readable });
  assert.ok(started.ok);
  const { stdout, stderr, status } = started.value;
  stderr.cancel().catch(() => {});
  const reader = stdout.getReader();
  await reader.read();
  return {
    end: async () => {
      await input.writable.getWriter().close();
      await status;
      reader.cancel().catch(() => {});
      await prepared.value.dispose();
    },
  };
}

test("commands of several runs run at the same time, and each end restores what was there before the first of them", async (root) => {
  plant(root, "project/notes.chat", "project/.flemma/config.yaml", "project/.vscode/settings.json");
  git(`${root}/project`, "init", "-q");
  const project = `${root}/project`;
  const attack =
    `echo evil > .flemma/config.yaml; rm .vscode/settings.json; mkdir -p .idea; echo evil > .vscode/tasks.json
    echo evil > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`;
  const intact = (when: string) => {
    for (const file of ["project/.flemma/config.yaml", "project/.vscode/settings.json"]) {
      assert.equal(read(`${root}/${file}`), `text of ${file}\n`, when);
    }
    for (const file of [".vscode/tasks.json", ".git/hooks/pre-commit"]) {
      assert.ok(!exists(`${project}/${file}`), `${file} ${when}`);
    }
  };
  for (const endsFirst of ["the attacker", "the other"]) {
    const [attacker, other, third] = [sandboxIn(root), sandboxIn(root), sandboxIn(root)];
    const attacking = await startWaiting(attacker, attack);
    const beside = await startWaiting(other, "cat .flemma/config.yaml");
    const [first, second] = endsFirst === "the attacker" ? [attacking, beside] : [beside, attacking];
    await first.end();
    intact(`after ${endsFirst}`);
    // It begins while one of them lives, and adopts what that one restores.
    assert.equal(
      (await run(third, `cat .flemma/config.yaml; ${attack}`)).out.split("\n")[0],
      "text of project/.flemma/config.yaml",
    );
    intact("after the third");
    await second.end();
    intact("after all");
    assert.deepEqual([...Deno.readDirSync(`${root}/home/.local/state/flemma/started`)], []);
    for (const sandbox of [attacker, other, third]) {
      assert.match(sandbox.takeRepaired().join("\n"), /Restored .*config\.yaml/, "each run learns it");
    }
  }
});

test("another process adopts what a living command's run restores", async (root) => {
  plant(root, "project/notes.chat", "project/.flemma/config.yaml");
  const sandbox = sandboxIn(root);
  const attacking = await startWaiting(sandbox, "echo evil > .flemma/config.yaml");
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--quiet", new URL("./busy.ts", import.meta.url).pathname, root],
    stdout: "piped",
    stderr: "piped",
  }).output();
  assert.equal(code, 0);
  assert.equal(read(`${root}/project/.flemma/config.yaml`), "text of project/.flemma/config.yaml\n");
  await attacking.end();
  assert.equal(read(`${root}/project/.flemma/config.yaml`), "text of project/.flemma/config.yaml\n");
  assert.match(sandbox.takeRepaired().join("\n"), /Restored .*config\.yaml/);
});

test("if a command ends while another one of its run lives, its changes are restored immediately", async (root) => {
  plant(root, "project/notes.chat", "project/.flemma/config.yaml");
  const sandbox = sandboxIn(root);
  const server = await startWaiting(sandbox, "true");
  await run(sandbox, "echo evil > .flemma/config.yaml");
  assert.equal(read(`${root}/project/.flemma/config.yaml`), "text of project/.flemma/config.yaml\n");
  assert.match(sandbox.takeRepaired().join("\n"), /Restored .*config\.yaml/);
  await server.end();
});

test("status names the kind, the kernel interface, and what is not covered", async (root) => {
  plant(root, "project/notes.chat", "project/.flemma/");
  const repaired = await sandboxStatus(sandboxIn(root));
  assert.equal(repaired.kind, "repaired");
  assert.ok(repaired.abi !== null && repaired.abi >= 6);
  assert.match(repaired.notCovered.join("\n"), /restored when it has ended/);
});

test("what the kernel cannot refuse is a failure with the reason, and nothing runs", async (root) => {
  plant(root, "project/.env");
  const sandbox = sandboxIn(root, { policy: { deny_read: [`${root}/project/.env`] } });
  const answer = await sandbox.available();
  assert.match(answer.ok ? "" : answer.problem.message, /cannot hide .*\.env/);
  assert.equal((await sandbox.prepare(["true"])).ok, false);
});

test("a command does not begin without the lock under which runs repair", async (root) => {
  plant(root, "project/", "home/.local/state/flemma/commands/.repairs/");
  const prepared = await sandboxIn(root).prepare(["true"]);
  assert.equal(prepared.ok ? "" : prepared.problem.code, "command-not-recorded");
});

test("a protected folder that is too large to restore is named if it is elsewhere, and refused if the run needs it", async (root) => {
  plant(root, "project/notes.chat", "other/.flemma/tools/small", "home/.config/flemma/");
  Deno.writeTextFileSync(`${root}/other/.flemma/tools/big`, "x".repeat(300_000));
  git(`${root}/other`, "init", "-q");
  const policy = { rw_paths: ["urn:flemma:cwd", `${root}/other`] };
  const sandbox = sandboxIn(root, { policy });
  const { notCovered } = await sandboxStatus(sandbox);
  assert.ok(
    notCovered.some((line) => line.startsWith(`${root}/other/.flemma is too large`)),
    notCovered.join(),
  );
  await run(sandbox, `cd ../other/.flemma/tools; echo x > small; echo x > big`);
  assert.equal(read(`${root}/other/.flemma/tools/small`), "text of other/.flemma/tools/small\n");
  assert.match(sandbox.takeRepaired().join("\n"), /big, and this could not be undone: it was too large/);
  plant(root, "project/.flemma/tools/");
  Deno.writeTextFileSync(`${root}/project/.flemma/tools/big`, "x".repeat(300_000));
  const answer = await sandboxIn(root, { policy }).available();
  assert.match(answer.ok ? "" : answer.problem.message, /cannot protect .*project\/\.flemma/);
  Deno.removeSync(`${root}/project/.flemma`, { recursive: true });
  const executable = `${root}/other/flemma`;
  Deno.writeTextFileSync(executable, "x".repeat(300_000));
  const running = { executable, standalone: true, module: import.meta.url, main: import.meta.url };
  const own = await sandboxIn(root, { policy }, { running }).available();
  assert.match(own.ok ? "" : own.problem.message, /cannot protect .*other\/flemma/);
});

test("if the kernel does not refuse what the plan forbids, the command does not run", async (root) => {
  plant(root, "project/");
  const { host } = sandboxIn(root);
  const prepared = await prepareLandlock(
    { ...emptyPolicy(false), rw_paths: [root] },
    ["/bin/sh", "-c", "echo ran"],
    // The file that must not be written is in this folder, which is writable here.
    { ...host, environment: { ...host.environment, variables: { XDG_RUNTIME_DIR: `${root}/run` } } },
  );
  assert.ok(prepared.ok);
  const [program = "", ...args] = prepared.value.argv;
  const { stdout, stderr } = await new Deno.Command(program, { args }).output();
  const failed = await prepared.value.setupFailure(new TextDecoder().decode(stderr), null);
  assert.match(failed?.message ?? "", /the kernel did not refuse writing/);
  assert.equal(stdout.length, 0);
  await prepared.value.dispose();
});

test("a writable path that became a symbolic link is not granted", async (root) => {
  plant(root, "project/", "real/");
  const { host } = sandboxIn(root);
  const policy = { ...emptyPolicy(false), rw_paths: [`${root}/project`] };
  const prepared = await prepareLandlock(policy, ["/bin/sh", "-c", "echo ran"], host);
  assert.ok(prepared.ok && planFor(policy).ok);
  Deno.removeSync(`${root}/project`);
  Deno.symlinkSync("real", `${root}/project`);
  const [program = "", ...args] = prepared.value.argv;
  const { stdout } = await new Deno.Command(program, { args }).output();
  assert.match(
    (await prepared.value.setupFailure("", null))?.message ?? "",
    /was replaced by a symbolic link/,
  );
  assert.equal(stdout.length, 0);
  await prepared.value.dispose();
});

/** A command that leaves processes in sessions of their own, without the mark that flemma looks for. */
const leaving = (mark: string) =>
  `env -i setsid sleep ${mark} & env -i setsid sh -c 'sleep ${mark} & sleep ${mark}' & (setsid sleep ${mark} &) ; ` +
  "sleep 0.01; echo ready; sleep 600";

test("if the process that starts the launcher has ended, or is not the one that prepared the command, nothing runs", async (root) => {
  plant(root, "project/");
  const sandbox = sandboxIn(root);
  const prepared = await sandbox.prepare(["/bin/sh", "-c", "echo ran"]);
  assert.ok(prepared.ok);
  const [program = "", option = "", lines = "", ...rest] = prepared.value.argv;
  assert.ok(lines.includes('"$PPID"'));
  const args = [option, lines.replace('"$PPID"', '"1"'), ...rest];
  const { code, stdout, stderr } = await new Deno.Command(program, { args }).output();
  assert.deepEqual([code, stdout.length], [125, 0]);
  const failed = await prepared.value.setupFailure(new TextDecoder().decode(stderr), null);
  assert.match(failed?.message ?? "", /ended without a message/);
  await prepared.value.dispose();
});

test("a writable folder that a superuser cannot enter without capabilities does not keep commands from running", async (root) => {
  if (Deno.uid() !== 0) return;
  plant(root, "project/", "closed/inner/");
  Deno.chmodSync(`${root}/closed`, 0o700);
  Deno.chownSync(`${root}/closed`, 64123, 64123);
  const sandbox = sandboxIn(root, { policy: { rw_paths: ["urn:flemma:cwd", `${root}/closed/inner`] } });
  const shell = `touch made && echo made; (touch ${root}/closed/inner/x) 2>/dev/null || echo refused`;
  assert.equal((await run(sandbox, shell)).out, "made\nrefused\n");
});

test("many repositories are compared and restored, although bubblewrap would make their folder read-only", async (root) => {
  plant(root, "project/notes.chat", "home/");
  for (let at = 0; at < 205; at++) {
    plant(
      root,
      `project/packages/p${at}/.git/HEAD`,
      `project/packages/p${at}/.git/objects/`,
      `project/packages/p${at}/.git/refs/`,
    );
  }
  const sandbox = sandboxIn(root);
  assert.ok((await sandbox.available()).ok);
  await run(
    sandbox,
    "cd packages/p100; mkdir .git/hooks; echo x > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; echo x > file",
  );
  assert.match(sandbox.takeRepaired().join(), /Moved .*p100\/\.git\/hooks/);
  assert.ok(exists(`${root}/project/packages/p100/file`));
});

test("nothing that a command started lives on: after its end, SIGTERM, SIGHUP, and SIGKILL of the guard at any moment", async (root) => {
  plant(root, "project/");
  const sandbox = sandboxIn(root);
  const mark = () => `${600 + Math.random()}`;
  const own = mark();
  await run(sandbox, leaving(own).replace(/sleep 600$/, "true"));
  assert.ok(!lives(own), "after its end");
  for (let round = 0; round < KILLS; round++) {
    const now = mark();
    const prepared = await sandbox.prepare(["/bin/sh", "-c", leaving(now)]);
    assert.ok(prepared.ok);
    const started = prepared.value.start({ cwd: `${root}/project`, env: sandbox.host.environment.variables });
    assert.ok(started.ok);
    const { pid, stdout, stderr, status } = started.value;
    stderr.cancel().catch(() => {});
    const reader = stdout.getReader();
    // Every other kill comes while the command starts.
    if (round % 2 === 0) await reader.read();
    else for (let spins = 0; spins < 200_000 * (round % 16); spins++);
    Deno.kill(pid, round % 8 === 2 ? "SIGTERM" : round % 8 === 6 ? "SIGHUP" : "SIGKILL");
    const { signal } = await status;
    assert.ok(!lives(now), `round ${round}`);
    if (round % 4 === 2) assert.equal(await prepared.value.setupFailure("", signal), null, "it had begun");
    reader.cancel().catch(() => {});
    await prepared.value.dispose();
  }
});

const KILLS = Number(Deno.env.get("FLEMMA_TEST_KILLS") ?? 40);

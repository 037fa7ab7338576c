// What a command inside the real bubblewrap can and cannot do.

import assert from "node:assert/strict";
import { createSandbox, spawn } from "../../../sandbox/mod.ts";
import { prepareBwrap } from "../../../sandbox/backends/prepare.ts";
import {
  exists,
  git,
  plant,
  projectSandbox,
  requireBubblewrap,
  runInside,
  runPrepared,
  script,
  settings,
  world,
} from "../fixture.ts";
import { inFolder, testInFolder as test } from "../../folder.ts";

function read(path: string): string {
  return Deno.readTextFileSync(path);
}

test("a command can write next to the document, and nowhere outside the policy", async (root) => {
  plant(root, "project/notes.chat", "outside/");
  const { out } = await runInside(
    projectSandbox(root),
    `touch made && echo made; touch ${root}/outside/x ${root}/x || echo refused`,
  );
  assert.equal(out, "made\nrefused\n");
  assert.ok(exists(`${root}/project/made`));
  assert.ok(!exists(`${root}/outside/x`) && !exists(`${root}/x`));
});

test("a command cannot write, replace, remove, move or link the running document", async (root) => {
  plant(root, "project/deep/down/notes.chat", "project/deep/down/other");
  const document = `${root}/project/deep/down/notes.chat`;
  const before = read(document);
  const sandbox = projectSandbox(root, {}, { protect: [document] });
  const attempts = [
    "echo x > deep/down/notes.chat",
    "echo x >> deep/down/notes.chat",
    "cp /etc/hostname deep/down/notes.chat",
    "mv deep/down/other deep/down/notes.chat",
    "ln -f deep/down/other deep/down/notes.chat",
    "rm -f deep/down/notes.chat",
    "mv deep/down/notes.chat deep/down/gone",
    "ln deep/down/notes.chat deep/down/second",
    "mv deep/down deep/aside",
    "mv deep aside",
    `mv ${root}/project ${root}/elsewhere`,
    "rm -rf deep",
    "chmod 777 deep/down/notes.chat",
    "umount deep/down/notes.chat",
  ];
  for (const attempt of attempts) {
    const { code } = await runInside(sandbox, attempt);
    assert.notEqual(code, 0, attempt);
    assert.equal(read(document), before, attempt);
  }
  const { code } = await runInside(
    sandbox,
    "mkdir -p deep/down && echo y > deep/down/sibling && echo z > top",
  );
  assert.equal(code, 0);
  assert.equal(read(`${root}/project/deep/down/sibling`), "y\n");
});

test("a command cannot mount everything writable again, not even from a namespace inside the sandbox", async (root) => {
  plant(root, "project/", "outside");
  const remount = `mount -o remount,bind,rw / ; echo x > ${root}/outside`;
  const sandbox = projectSandbox(root);
  assert.notEqual((await runInside(sandbox, remount)).code, 0);
  await runInside(sandbox, `unshare -Urm sh -c '${remount}'`);
  await runInside(
    sandbox,
    `unshare -Urm sh -c 'umount ${root}/project; umount -l /; echo x > ${root}/outside'`,
  );
  assert.equal(read(`${root}/outside`), "text of outside\n");
});

Deno.test("bubblewrap also confines an ordinary user, without the arguments that restrict root", {
  // As an ordinary user every other test here shows the same.
  ignore: Deno.uid() !== 0,
}, () =>
  inFolder(async (root) => {
    plant(root, "project/notes.chat", "open");
    const { host } = projectSandbox(root, {}, { variables: { XDG_RUNTIME_DIR: `${root}/run` } });
    plant(root, "run/flemma/");
    const project = `${root}/project`;
    const policy = {
      rw_paths: [project],
      network: true,
      allow_privileged: false,
      protect: [`${project}/notes.chat`],
      inner: [],
      network_allow: [],
      links: [],
      deny_read: [],
      hidden: [],
      unsteady: true,
      sockets: [],
      runtime: [],
      masked: [],
      block_unix_sockets: false,
      refuses_sockets: false,
      limits: {},
    };
    const shell =
      `id -u; echo x > made && echo made; for f in /etc/x ${root}/open notes.chat; do echo x > $f; done; ` +
      `unshare -Urm sh -c 'mount -o remount,bind,rw /; echo x > ${root}/open'; exit 7`;
    const prepared = await prepareBwrap(policy, {}, ["/bin/sh", "-c", shell], { ...host, root: false });
    assert.ok(prepared.ok, prepared.ok ? "" : prepared.problem.message);
    assert.ok(!prepared.value.argv.includes("--cap-drop"));
    const owned = new Deno.Command("chown", { args: ["-R", "65534:65534", root] }).outputSync();
    assert.ok(owned.success);
    const started = spawn(
      ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", ...prepared.value.argv],
      { cwd: project, env: host.environment.variables },
    );
    assert.ok(started.ok, started.ok ? "" : started.problem.message);
    const [out, err, { code }] = await Promise.all([
      new Response(started.value.stdout).text(),
      new Response(started.value.stderr).text(),
      started.value.status,
    ]);
    assert.equal((await prepared.value.setupFailure(err))?.message, undefined);
    await prepared.value.dispose();
    assert.equal(out, "65534\nmade\n");
    assert.equal(code, 7);
    assert.equal(read(`${root}/open`), "text of open\n");
    assert.equal(read(`${project}/notes.chat`), "text of project/notes.chat\n");
  }));

test("the exit code, signal and working directory of a command are passed through", async (root) => {
  plant(root, "project/");
  const sandbox = projectSandbox(root);
  assert.deepEqual(
    [(await runInside(sandbox, "exit 42")).code, (await runInside(sandbox, "kill -TERM $$")).code],
    [42, 143],
  );
  assert.equal((await runInside(sandbox, "pwd")).out, `${root}/project\n`);
});

test("if a command ran, its output is returned even if it looks like the error of a failed set-up", async (root) => {
  plant(root, "project/");
  const ran = await runInside(
    projectSandbox(root),
    "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1",
  );
  assert.equal(ran.code, 1);
  assert.equal(ran.setup, null);
});

test("if a program does not exist inside the sandbox, this counts as a failed set-up, not as a failed command", async (root) => {
  plant(root, "project/");
  const sandbox = projectSandbox(root);
  await requireBubblewrap(sandbox);
  assert.equal((await runPrepared(sandbox, ["no-such-shell", "-c", ":"])).setup, "sandbox-setup-failed");
});

test("a command whose name begins with a dash is not read as options of the sandbox", async (root) => {
  plant(root, "project/", "outside/");
  const sandbox = projectSandbox(root);
  await requireBubblewrap(sandbox);
  const ran = await runPrepared(sandbox, ["--bind", "/", "/", "touch", `${root}/outside/x`]);
  assert.equal(ran.setup, "sandbox-setup-failed");
  assert.ok(!exists(`${root}/outside/x`));
});

test("killing ends every process inside, including those that ignore SIGTERM, and does not count as a failed set-up", async (root) => {
  plant(root, "project/");
  const sandbox = projectSandbox(root);
  await requireBubblewrap(sandbox);
  const shell =
    "trap '' TERM; (trap '' TERM; while :; do sleep 600; done) & echo ready; while :; do sleep 600; done";
  const prepared = await sandbox.prepare(["/bin/sh", "-c", shell]);
  assert.ok(prepared.ok);
  assert.equal(sandbox.activeCommands, 1);
  const started = spawn(prepared.value.argv, { cwd: root, env: sandbox.host.environment.variables });
  assert.ok(started.ok);
  assert.match(prepared.value.argv[3] ?? "", /\/status-/);
  const reader = started.value.stdout.getReader();
  assert.equal(new TextDecoder().decode((await reader.read()).value), "ready\n");
  await started.value.kill();
  assert.equal((await reader.read()).done, true, "the pipe closes only when no process is left inside");
  const { signal } = await started.value.status;
  assert.notEqual(signal, null);
  const err = await new Response(started.value.stderr).text();
  assert.equal(await prepared.value.setupFailure(err, signal), null);
  assert.equal(await prepared.value.setupFailure(err), null);
  await prepared.value.dispose();
  await prepared.value.dispose();
  assert.equal(sandbox.activeCommands, 0);
  assert.ok(!exists(prepared.value.argv[3] ?? ""));
});

test("with the network off only the loopback interface exists", async (root) => {
  plant(root, "project/");
  const interfaces = async (network: boolean) => {
    const { out } = await runInside(projectSandbox(root, { policy: { network } }), "cat /proc/net/dev");
    return [...out.matchAll(/^\s*(\S+):/gm)].map(([, name]) => name);
  };
  assert.deepEqual(await interfaces(false), ["lo"]);
  const outside = [...read("/proc/net/dev").matchAll(/^\s*(\S+):/gm)].map(([, name]) => name);
  assert.deepEqual(await interfaces(true), outside);
});

test("with a home folder that has no cache folders, the default policy works and creates only the private one", async (root) => {
  plant(root, "project/");
  const sandbox = createSandbox({
    settings: settings(),
    environment: world(root, {}, `${root}/project`),
    document: null,
    protect: [],
  });
  assert.equal((await runInside(sandbox, "echo hi")).out, "hi\n");
  assert.deepEqual(sandbox.notices(), []);
  assert.deepEqual([...Deno.readDirSync(`${root}/home/.cache`)].map(({ name }) => name), ["flemma"]);
  assert.ok(!exists(`${root}/home/.local/share`));
});

test("a missing path in the list is skipped with one notice, or created if its entry requests this", async (root) => {
  plant(root, "project/");
  const rw_paths = ["urn:flemma:cwd", "missing", { path: `${root}/wanted/deep`, create: true }];
  const sandbox = projectSandbox(root, { policy: { rw_paths } });
  // Inside the writable folder the missing entry is covered; outside it is not.
  assert.equal((await runInside(sandbox, `touch ${root}/wanted/deep/x`)).code, 0);
  assert.deepEqual(sandbox.notices(), []);
  const outside = projectSandbox(root, { policy: { rw_paths: [`${root}/missing`] } });
  await runInside(outside, ":");
  await runInside(outside, ":");
  assert.deepEqual(outside.notices().map(({ code }) => code), ["writable-path-missing"]);
  assert.ok(!exists(`${root}/missing`));
});

test("an entry of the policy below /dev or /proc is reported as having no effect", async (root) => {
  plant(root, "project/");
  const sandbox = projectSandbox(root, { policy: { rw_paths: ["/dev/shm"] } });
  await runInside(sandbox, ":");
  assert.deepEqual(sandbox.notices().map(({ code }) => code), ["hidden-writable-path"]);
});

test("an entry of the policy that names a file allows exactly that file", async (root) => {
  plant(root, "project/f");
  const sandbox = projectSandbox(root, { policy: { rw_paths: ["f"] } });
  assert.equal((await runInside(sandbox, "echo x > f")).code, 0);
  assert.notEqual((await runInside(sandbox, "echo x > g")).code, 0);
});

test("a cache folder and a working directory behind links work under their real paths", async (root) => {
  plant(root, "real/", "store/", "home/.cache -> ../store", "project -> real");
  const sandbox = createSandbox({
    settings: settings({ policy: { rw_paths: ["urn:flemma:cwd", "~/.cache"] } }),
    environment: world(root, {}, `${root}/project`),
    document: null,
    protect: [],
  });
  assert.equal((await runInside(sandbox, "echo a > rel && echo b > $HOME/.cache/c")).code, 0);
  assert.equal(read(`${root}/store/c`), "b\n");
});

test("git works in a repository, and commands can neither change nor move its hooks and configuration", async (root) => {
  plant(root, "project/.flemma/config.yaml", "project/file");
  const project = `${root}/project`;
  git(project, "init", "-q");
  const config = read(`${project}/.git/config`);
  const sandbox = projectSandbox(root);
  const commit =
    "git add file && git -c user.name=t -c user.email=t@example.org commit -qm one && git log --format=%s";
  assert.equal((await runInside(sandbox, commit)).out, "one\n");
  // The configuration is compared, not mounted: what git would run is taken out and reported.
  await runInside(sandbox, "git config core.hooksPath /tmp && git config pull.rebase true");
  const withRebase = read(`${project}/.git/config`);
  assert.ok(withRebase.startsWith(config));
  assert.equal(withRebase.slice(config.length), '[pull]\n\trebase = "true"\n');
  const [reported] = sandbox.notices().filter(({ code }) => code === "protected-settings-put-back");
  assert.match(reported?.message ?? "", /core\.hookspath = \/tmp was taken out, because git would run it/);
  const attempts = [
    "echo x > .git/hooks/pre-commit",
    "mv .git aside",
    "rm -rf .git",
    "mv .git/hooks .git/aside",
    "echo x > .flemma/config.yaml",
    "mv .flemma aside",
    "echo x > .flemma/new",
  ];
  for (const attempt of attempts) {
    assert.notEqual((await runInside(sandbox, attempt)).code, 0, attempt);
    assert.equal(read(`${project}/.git/config`), withRebase, attempt);
  }
  assert.ok(!exists(`${project}/.git/hooks/pre-commit`));
  for (const path of [".git/hooks/pre-commit", ".git/config", ".flemma/x", "notes.chat"]) {
    assert.equal(sandbox.isPathWritable(path), false, path);
  }
  assert.ok(sandbox.isPathWritable(".git/index") && sandbox.isPathWritable("file"));
});

test("protecting missing paths leaves no file behind on the host", async (root) => {
  plant(root, "project/");
  const sandbox = projectSandbox(root, {}, { protect: [`${root}/project/later.chat`] });
  assert.equal((await runInside(sandbox, ":")).code, 0);
  assert.deepEqual([...Deno.readDirSync(`${root}/project`)], []);
  assert.equal(sandbox.isPathWritable("later.chat"), false);
  assert.equal(sandbox.isPathWritable(".git/hooks/x"), false);
  assert.equal(sandbox.isPathWritable(".git"), false);
});

test("a repository that a command creates can be used, and from the next command on its hooks are protected", async (root) => {
  plant(root, "project/");
  const sandbox = projectSandbox(root);
  assert.equal((await runInside(sandbox, "git init -q . && touch f && git add f")).code, 0);
  const commit = "git -c user.name=t -c user.email=t@example.org commit -qm one";
  assert.equal((await runInside(sandbox, commit)).code, 0);
  assert.notEqual((await runInside(sandbox, "echo x > .git/hooks/pre-commit")).code, 0);
});

test("a worktree works although its .git is a file, and commands cannot change that file", async (root) => {
  plant(root, "main/file");
  git(`${root}/main`, "init", "-q");
  git(`${root}/main`, "add", "file");
  git(`${root}/main`, "commit", "-qm", "one");
  git(`${root}/main`, "worktree", "add", "-q", "../project");
  const sandbox = projectSandbox(root);
  assert.equal((await runInside(sandbox, "touch new && git status --porcelain")).out, "?? new\n");
  const pointer = read(`${root}/project/.git`);
  assert.notEqual((await runInside(sandbox, "echo 'gitdir: /tmp/evil' > .git")).code, 0);
  assert.notEqual((await runInside(sandbox, "mv .git aside || rm .git")).code, 0);
  assert.equal(read(`${root}/project/.git`), pointer);
  assert.equal(sandbox.isPathWritable(".git"), false);
});

test("commands work if the folder of hooks is a link, and cannot write to its target", async (root) => {
  plant(root, "project/tracked-hooks/pre-commit");
  git(`${root}/project`, "init", "-q");
  Deno.removeSync(`${root}/project/.git/hooks`, { recursive: true });
  Deno.symlinkSync("../tracked-hooks", `${root}/project/.git/hooks`);
  const sandbox = projectSandbox(root);
  assert.equal((await runInside(sandbox, "git status --porcelain")).code, 0);
  assert.notEqual((await runInside(sandbox, "echo x > .git/hooks/pre-commit")).code, 0);
  assert.notEqual((await runInside(sandbox, "echo x > tracked-hooks/pre-commit")).code, 0);
  assert.equal(sandbox.isPathWritable("tracked-hooks/pre-commit"), false);
});

test("if .git is a link that leads outside the writable paths, git can still read the repository", async (root) => {
  plant(root, "project/file", "repositories/");
  git(`${root}/project`, "init", "-q");
  git(`${root}/project`, "add", "file");
  git(`${root}/project`, "commit", "-qm", "one");
  Deno.renameSync(`${root}/project/.git`, `${root}/repositories/p.git`);
  Deno.symlinkSync("../repositories/p.git", `${root}/project/.git`);
  const sandbox = projectSandbox(root);
  assert.equal((await runInside(sandbox, "git log --format=%s")).out, "one\n");
  const commit = await runInside(
    sandbox,
    "git -c user.name=t -c user.email=t@e.org commit --allow-empty -qm two",
  );
  assert.notEqual(commit.code, 0);
  assert.match(commit.err, /Read-only file system/);
});

test("a bwrap that a command placed in the project is never run", async (root) => {
  plant(root, "project/bin/");
  const mark = `${root}/project/ran`;
  script(`${root}/project/bwrap`, `touch ${mark}`);
  script(`${root}/project/bin/bwrap`, `touch ${mark}`);
  const variables = { PATH: `.:${root}/project/bin::${root}/project:/usr/bin:/bin` };
  const sandbox = projectSandbox(root, {}, { variables });
  assert.equal((await runInside(sandbox, "echo hi")).out, "hi\n");
  const named = projectSandbox(root, { backend: "bwrap", backends: { bwrap: { path: "./bwrap" } } });
  const prepared = await named.prepare(["true"]);
  assert.equal(prepared.ok ? "prepared" : prepared.problem.code, "backend-setup");
  const auto = projectSandbox(root, { backends: { bwrap: { path: "./bwrap" } } });
  assert.ok(!(await auto.prepare(["true"])).ok, "a planted bwrap is not a reason to run unsandboxed");
  assert.ok(!exists(mark));
});

test("the status file is never written through a link that another user put at its path", async (root) => {
  plant(root, "project/", "victim");
  const sandbox = projectSandbox(root);
  await requireBubblewrap(sandbox);
  const prepared = await sandbox.prepare(["true"]);
  assert.ok(prepared.ok);
  const status = prepared.value.argv[3] ?? "";
  assert.match(status, /^\/.*\/flemma[^/]*\/status-[0-9a-z.]+-[0-9a-f]{32}$/);
  Deno.symlinkSync(`${root}/victim`, status);
  const started = spawn(prepared.value.argv, { cwd: root, env: sandbox.host.environment.variables });
  assert.ok(started.ok);
  const err = await new Response(started.value.stderr).text();
  await started.value.stdout.cancel();
  assert.notEqual((await started.value.status).code, 0);
  assert.notEqual(await prepared.value.setupFailure(err, null), null);
  await prepared.value.dispose();
  assert.equal(read(`${root}/victim`), "text of victim\n");
});

test("a command cannot change flemma's stored test results of the sandbox", async (root) => {
  plant(root, "project/");
  const runtime = `${root}/project/run/flemma`;
  const sandbox = projectSandbox(root, {}, { variables: { XDG_RUNTIME_DIR: `${root}/project/run` } });
  await runInside(sandbox, ":");
  const before = [...Deno.readDirSync(runtime)].map(({ name }) => name).sort();
  // An empty folder stands in its place inside, so some of these succeed there, without any effect here.
  for (
    const attempt of [`touch ${runtime}/x`, `rm -rf ${runtime}`, `mv ${root}/project/run ${root}/project/r`]
  ) {
    await runInside(sandbox, attempt);
    assert.deepEqual([...Deno.readDirSync(runtime)].map(({ name }) => name).sort(), before, attempt);
  }
  assert.equal(sandbox.isPathWritable(`${runtime}/x`), false);
});

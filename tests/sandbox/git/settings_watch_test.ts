// What git would run does not stay in a repository until the command ends that wrote it.

import assert from "node:assert/strict";
import { FsSnapshot } from "../../../base/disk/fs_snapshot.ts";
import { remember } from "../../../sandbox/protect/compared.ts";
import { SettingsWatch } from "../../../sandbox/protect/settings_watch.ts";
import { git, plant, projectSandbox, requireBubblewrap } from "../fixture.ts";
import { descriptorsInto, testInFolder as test } from "../../folder.ts";
import { callsDocument, testWithScene } from "../../cli/harness.ts";

/** Runs a command through `start`, which watches it, and returns its exit status. */
async function run(root: string, shell: string) {
  const sandbox = projectSandbox(root);
  await requireBubblewrap(sandbox);
  const prepared = await sandbox.prepare(["/bin/sh", "-c", shell]);
  assert.ok(prepared.ok);
  try {
    const { cwd, variables } = sandbox.host.environment;
    const running = prepared.value.start({ cwd, env: { ...variables } });
    assert.ok(running.ok);
    const [status] = await Promise.all([
      running.value.status,
      new Response(running.value.stdout).text(),
      new Response(running.value.stderr).text(),
    ]);
    return { status, sandbox };
  } finally {
    await prepared.value.dispose();
  }
}

/** What a command does, and whether that ends it. */
type Rows = readonly (readonly [name: string, shell: string, ends: boolean])[];

const ROWS: Rows = [
  ["git writes a command", "git config core.fsmonitor ./evil", true],
  ["a program appends one", "printf '[core]\\n\\tpager = ./evil\\n' >> .git/config", true],
  ["the file becomes a link", "printf '[core]\\n\\tpager = ./evil\\n' > c; ln -sfn ../c .git/config", true],
  [
    "a link appears",
    "echo '[core] pager=./evil' > c; rm .git/config; sleep 0.3; ln -s ../c .git/config",
    true,
  ],
  ["the repository gets a remote", "git remote add up ./up", false],
  ["the address of a remote changes", "git remote set-url origin ./evil", false],
  [
    "a configuration of the worktree appears",
    "printf '[core] fsmonitor=./evil' > .git/config.worktree",
    true,
  ],
  ["a harmless one appears", "printf '[core] sparseCheckout=true' > .git/config.worktree", false],
  ["another common folder appears", "echo ../evil > .git/commondir", true],
  ["a folder of hooks appears with a hook in it", "mkdir h; echo > h/pre-commit; mv h .git/hooks", true],
  ["a hook appears in a new folder", "mkdir .git/hooks; echo > .git/hooks/post-commit", true],
  ["a folder of hooks becomes a link", "mkdir h; ln -s ../h .git/hooks", true],
  ["a sample of a hook appears", "mkdir .git/hooks; echo > .git/hooks/pre-commit.sample", false],
];

for (const [name, shell, ends] of ROWS) {
  test(`if ${name} while a command runs, the command ${ends ? "is ended" : "goes on"}`, async (root) => {
    plant(root, "project/file");
    git(`${root}/project`, "init", "-q");
    Deno.removeSync(`${root}/project/.git/hooks`, { recursive: true });
    git(`${root}/project`, "remote", "add", "origin", "./origin");
    await checkEnd(root, shell, ends);
    assert.equal(git(`${root}/project`, "remote", "get-url", "origin"), "./origin\n");
  });
}

const NEW: Rows = [
  ["a repository", "git init -q; git remote add origin ./origin", false],
  ["a repository with a command", "git init -q; git config core.fsmonitor ./evil", true],
  ["a repository with a hook", "git init -q; cp .git/hooks/pre-commit.sample .git/hooks/pre-commit", true],
  ["a repository by moving it", "git init -q a; git -C a config core.pager ./evil; mv a/.git .git", true],
  ["a file that leads to a repository", "echo 'gitdir: evil' > .git", true],
  ["a link that leads to a repository", "ln -s evil .git", true],
];

for (const [name, shell, ends] of NEW) {
  test(`a command that creates ${name} where there was none ${ends ? "is ended" : "goes on"}`, async (root) => {
    plant(root, "project/file");
    await checkEnd(root, shell, ends);
  });
}

testWithScene("a command runs while another program keeps writing to a watched folder", async (place) => {
  place.write("a.chat", callsDocument([{ id: "c1", command: "echo done", status: "approved" }]));
  const shell = "while [ -e a.chat ]; do : > noise; done";
  const writer = new Deno.Command("/bin/sh", { args: ["-c", shell], cwd: place.path("") }).spawn();
  try {
    const { code, stderr } = await place.process(["advance", "a.chat", "--no-autopilot"]);
    assert.equal(code, 0, stderr);
    assert.match(place.read("a.chat"), /^done$/m);
  } finally {
    writer.kill("SIGKILL");
    await writer.status;
  }
});

test("a configuration that changes at the time of a check, to the same size, is found", async (root) => {
  plant(root, "place/.git/HEAD");
  const path = `${root}/place/.git/config`;
  let watch: SettingsWatch | undefined;
  let deadline: ReturnType<typeof setTimeout> | undefined;
  const planted = await new Promise<string | null>((resolve) => {
    deadline = setTimeout(() => resolve(null), 10_000);
    const status = () => Deno.lstatSync(path);
    do {
      watch?.close();
      Deno.writeTextFileSync(path, "[core]\n\tbare = x\n");
      watch = new SettingsWatch({ compared: remember([path], new FsSnapshot()), missingInGit: [] }, resolve);
      const { ctime } = status();
      Deno.writeTextFileSync(path, "[core]\n\tpager= x\n");
      if (status().ctime!.getTime() === ctime!.getTime()) break;
    } while (true);
  });
  watch!.close();
  clearTimeout(deadline);
  assert.equal(planted, path);
});

test("what a command planted is reported once, although it stays", async (root) => {
  plant(root, "place/.git/HEAD");
  const path = `${root}/place/.git/config`;
  const before = { compared: remember([path], new FsSnapshot()), missingInGit: [path] };
  Deno.writeTextFileSync(path, "[core]\n\tpager = x\n");
  const reported: string[] = [];
  const watches: SettingsWatch[] = [];
  const report = () =>
    new Promise<void>((resolve) => {
      const planted = () => {
        reported.push(`watch ${at}`);
        resolve();
      };
      const at = watches.push(new SettingsWatch(before, planted));
    });
  // Each of the later watches has looked once when the first one could have looked again.
  for (let count = 0; count < 4; count++) await report();
  for (const watch of watches) watch.close();
  assert.deepEqual(reported, ["watch 1", "watch 2", "watch 3", "watch 4"]);
});

async function checkEnd(root: string, shell: string, ends: boolean): Promise<void> {
  // Long enough for the watch to end it, unless nothing does.
  const wait = ends ? "sleep 20" : "true";
  const { status, sandbox } = await run(root, `${shell}; ${wait}; touch done`);
  assert.equal(status.signal === "SIGKILL" || status.code === 137, ends);
  const codes = sandbox.notices().map(({ code }) => code);
  assert.equal(codes.includes("protected-command-ended"), ends);
  const repaired = sandbox.takeRepaired();
  assert.equal(repaired.some((sentence) => sentence.startsWith("Ended the command")), ends);
}

test("a command that its caller runs is ended by the caller", async (root) => {
  plant(root, "project/file");
  git(`${root}/project`, "init", "-q");
  const sandbox = projectSandbox(root);
  await requireBubblewrap(sandbox);
  const prepared = await sandbox.prepare(["/bin/sh", "-c", "git config core.fsmonitor ./evil; sleep 600"]);
  assert.ok(prepared.ok);
  try {
    let child: Deno.ChildProcess | null = null;
    assert.ok(prepared.value.handOut(() => child?.kill("SIGKILL")).ok);
    const { cwd, variables } = sandbox.host.environment;
    const [program = "", ...args] = prepared.value.argv;
    child = new Deno.Command(program, { args, cwd, clearEnv: true, env: { ...variables }, stdin: "null" })
      .spawn();
    assert.equal((await child.status).signal, "SIGKILL");
  } finally {
    await prepared.value.dispose();
  }
  const codes = sandbox.notices().map(({ code }) => code);
  assert.ok(codes.includes("protected-command-ended"), codes.join());
});

/** Exchanges two entries a given number of times, faster than anybody can read their events. */
const EXCHANGE = `python3 -c '
import ctypes, sys
libc = ctypes.CDLL(None)
for _ in range(int(sys.argv[3])):
    libc.renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2)
'`;

const STORMS: Rows = [
  ["the configuration becomes a pipe", "rm .git/config; mkfifo .git/config", false],
  ["a device is linked as the configuration", "ln -sf /dev/zero .git/config", true],
  [
    "the configuration is exchanged for a pipe very often, and a setting follows",
    `mkfifo .git/p; ${EXCHANGE} .git/config .git/p 200000; echo '[core] pager=./evil' >> .git/config`,
    true,
  ],
];

for (const [name, shell, ends] of STORMS) {
  test(`if ${name}, flemma does not hang, and the command ${ends ? "is ended" : "goes on"}`, async (root) => {
    plant(root, "project/file");
    git(`${root}/project`, "init", "-q");
    git(`${root}/project`, "remote", "add", "origin", "./origin");
    await checkEnd(root, shell, ends);
  });
}

test("watching a command leaves no descriptor open", async (root) => {
  plant(root, "project/file");
  await run(root, "true");
  const before = descriptorsInto(root).length;
  for (let at = 0; at < 3; at++) await run(root, "sleep 0.1");
  assert.equal(descriptorsInto(root).length, before);
});

test("a watch that nobody closes does not keep the process alive", (root) => {
  plant(root, "place/.git/config");
  const [snapshot, compared, watch] = [
    "base/disk/fs_snapshot",
    "sandbox/protect/compared",
    "sandbox/protect/settings_watch",
  ]
    .map((path) => JSON.stringify(new URL(`../../../${path}.ts`, import.meta.url).href));
  const program = `
    import { FsSnapshot } from ${snapshot};
    import { remember } from ${compared};
    import { SettingsWatch } from ${watch};
    const before = remember([${JSON.stringify(`${root}/place/.git/config`)}], new FsSnapshot());
    new SettingsWatch({ compared: before, missingInGit: [] }, () => {});`;
  const { code, stderr } = new Deno.Command(Deno.execPath(), { args: ["eval", program] }).outputSync();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
});

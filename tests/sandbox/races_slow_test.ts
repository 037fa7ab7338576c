// Commands, other runs and other users at the wrong moment: nothing makes a command run without the sandbox.

import assert from "node:assert/strict";
import { WAIT_FOR_START, withInnerScript } from "../../sandbox/process/inner_script.ts";
import { record } from "../../sandbox/process/leftovers.ts";
import { plant, projectSandbox, runInside, runPrepared, script } from "./fixture.ts";
import { inFolder, testInFolder as test } from "../folder.ts";

/** How often each is tried. */
const TRIES = 30;

const EXCHANGE = `
import ctypes, sys
libc = ctypes.CDLL(None)
while True:
    libc.renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2)
`;

/** Runs `body` while a command of another run exchanges the folder `nr` of the project for a link to the outside and back. */
async function besideExchange(body: (root: string) => Promise<number>): Promise<void> {
  await inFolder(async (root) => {
    plant(root, "project/notes.chat", "project/nr/.git/hooks/", "project/nr/.git/config", "outside/file");
    Deno.symlinkSync("../outside", `${root}/project/lnk`);
    plant(root, "outside/.git/hooks/", "outside/.git/config");
    Deno.chmodSync(`${root}/outside/.git/hooks`, 0o500);
    const before = everything(`${root}/outside`);
    const exchanging = new Deno.Command("python3", {
      args: ["-c", EXCHANGE, `${root}/project/nr`, `${root}/project/lnk`],
      stdin: "null",
    }).spawn();
    try {
      // As a command of another run is known to all runs.
      const { environment } = projectSandbox(root).host;
      const file = record(environment, exchanging.pid, { writable: [`${root}/project`], before: "null" });
      Deno.renameSync(file, file.replace(`/${Deno.pid}-`, "/1-"));
      const ran = await body(root);
      assert.equal(Deno.readTextFileSync(`${root}/outside/file`), "text of outside/file\n");
      assert.deepEqual(everything(`${root}/outside`), before);
      assert.ok(ran > 0, "and it does not block the other");
    } finally {
      exchanging.kill("SIGKILL");
      await exchanging.status;
    }
  });
}

/** What lies in a folder, with modes and texts. */
function everything(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    const mode = (Deno.lstatSync(path).mode ?? 0).toString(8);
    return isDirectory
      ? [`${path} ${mode}`, ...everything(path)]
      : [`${path} ${mode} ${Deno.readTextFileSync(path)}`];
  }).sort();
}

const WRITING_OUTSIDE = "echo PWNED > ../outside/file; touch ../outside/new; touch nr/.git/hooks/new; " +
  "mkdir -p nr/.vscode; echo x > nr/.vscode/tasks.json; echo x >> nr/.git/config";

Deno.test("if one of two runs in a folder replaces a subfolder by a link, the other writes to the original subfolder or not at all", () =>
  besideExchange(async (root) => {
    let ran = 0;
    for (let at = 0; at < TRIES; at++) {
      const sandbox = projectSandbox(root);
      const prepared = await sandbox.prepare(["/bin/sh", "-c", WRITING_OUTSIDE]);
      if (!prepared.ok) {
        assert.equal(prepared.problem.code, "backend-setup");
        continue;
      }
      assert.ok(prepared.value.wrapped, "never bare");
      await prepared.value.dispose();
      const result = await runPrepared(sandbox, ["/bin/sh", "-c", WRITING_OUTSIDE]);
      if (result.setup === null) ran++;
    }
    return ran;
  }));

Deno.test("if another run replaces a folder by a link, a command that was prepared earlier and waits for its start stays confined", () =>
  besideExchange(async (root) => {
    let ran = 0;
    const sandbox = projectSandbox(root);
    for (let at = 0; at < TRIES; at++) {
      const prepared = await sandbox.prepare(["/bin/bash", "-c", `${WAIT_FOR_START}${WRITING_OUTSIDE}`], {
        waits: true,
      });
      if (!prepared.ok) {
        assert.equal(prepared.problem.code, "backend-setup");
        continue;
      }
      assert.ok(prepared.value.wrapped, "never bare");
      const { cwd, variables } = sandbox.host.environment;
      const started = prepared.value.start({ cwd, env: variables });
      if (!started.ok) assert.equal(started.problem.code, "sandbox-outdated");
      else {
        const { stdout, stderr, status } = started.value;
        const [, stated, { signal }] = await Promise.all([
          new Response(stdout).text(),
          new Response(stderr).text(),
          status,
        ]);
        if (await prepared.value.setupFailure(stated, signal) === null) ran++;
      }
      await prepared.value.dispose();
    }
    return ran;
  }));

Deno.test("if a mount ends up at the wrong path, flemma notices it before the command starts", async () => {
  const lines = (wanted: string[]) => {
    const [program = "", ...args] = withInnerScript(wanted, "", ["/bin/echo", "began"]);
    return new Deno.Command(program, { args, stdin: "null" }).output();
  };
  const read = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  const here = Deno.readTextFileSync("/proc/self/mountinfo").split("\n")[0]!.split(" ").slice(2, 5).join(" ");
  assert.equal(read((await lines([here])).stdout), "began\n");
  const { code, stdout, stderr } = await lines([here, "0:0 /elsewhere /project/nr"]);
  assert.deepEqual([code, read(stdout)], [125, ""]);
  assert.match(read(stderr), /\/project\/nr was replaced during the mount/);
});

test("hundreds of repositories and thousands of worktrees neither stop commands nor make them run without the sandbox", async (root) => {
  plant(root, "project/notes.chat");
  const made = script(
    `${root}/make`,
    `cd ${root}/project; git init -q .`,
    "for i in $(seq 400); do mkdir -p r$i/.git/hooks r$i/.git/objects r$i/.git/refs; echo x > r$i/.git/config; echo 'ref: refs/heads/x' > r$i/.git/HEAD; done",
    "long=$(printf '%0100d' 0)",
    "for i in $(seq 1800); do mkdir -p .git/worktrees/$long$i; : > .git/worktrees/$long$i/commondir; done",
  );
  assert.ok((await new Deno.Command(made, { stdin: "null" }).output()).success);
  const sandbox = projectSandbox(root);
  const ran = await runInside(
    sandbox,
    "echo x > .git/worktrees/w; echo y > .git/config; echo z > .git/hooks/pre-commit; for r in r*; do echo evil > $r/.git/hooks/pre-commit; done; echo fine > made",
  );
  assert.match(ran.err, /worktrees\/w: Read-only[^]*pre-commit: Read-only/);
  assert.match(Deno.readTextFileSync(`${root}/project/.git/config`), /^\[core\]/, "it was put back");
  assert.equal(Deno.readTextFileSync(`${root}/project/made`), "fine\n");
  // Of those nobody works in, what a command did is put right when it is over, as far as folders are looked into.
  const left = Array.from({ length: 400 }, (_, at) => `${root}/project/r${at + 1}/.git/hooks/pre-commit`)
    .filter((path) => {
      try {
        return Deno.statSync(path).isFile;
      } catch {
        return false;
      }
    });
  assert.ok(left.length <= 250, `${left.length} of 400 are left`);
  const codes = sandbox.notices().map(({ code }) => code).sort();
  assert.deepEqual([...new Set(codes)], [
    "protected-path-appeared",
    "protected-path-restored",
    "too-many-git-folders",
  ]);
  for (let at = 0; at < TRIES; at++) {
    const prepared = await sandbox.prepare(["/bin/sh", "-c", ":"]);
    assert.ok(prepared.ok && prepared.value.wrapped);
    await prepared.value.dispose();
  }
});

test("if a command's change in a repository would make git run a program, flemma undoes the change; other changes stay", async (root) => {
  plant(root, "project/notes.chat");
  const project = `${root}/project`;
  // So many that their folders of hooks are compared instead of mounted.
  for (let at = 0; at < 15; at++) {
    plant(root, `project/r${at}/.git/hooks/`, `project/r${at}/.git/HEAD`);
    Deno.writeTextFileSync(`${project}/r${at}/.git/config`, "[core]\n\tbare = false\n");
  }
  Deno.writeTextFileSync(`${project}/r1/.git/hooks/post-commit`, "#!/bin/sh\n", { mode: 0o755 });
  const sandbox = projectSandbox(root);
  await runInside(
    sandbox,
    [
      "printf '[core]\\n\\tfsmonitor = evil\\n' > r0/.git/config",
      "echo evil >> r1/.git/hooks/post-commit",
      "echo evil > r2/.git/hooks/pre-push",
      "printf '[user]\\n\\tname = me\\n' >> r3/.git/config",
      "rm -r r4",
      "rm -r r5/.git/hooks; ln -s /etc r5/.git/hooks",
    ].join("; "),
  );
  const read = (name: string) => Deno.readTextFileSync(`${project}/${name}`);
  assert.equal(read("r0/.git/config"), "[core]\n\tbare = false\n");
  assert.equal(read("r1/.git/hooks/post-commit"), "#!/bin/sh\n");
  assert.equal(Deno.statSync(`${project}/r1/.git/hooks/post-commit`).mode! & 0o777, 0o755);
  assert.throws(() => read("r2/.git/hooks/pre-push"), Deno.errors.NotFound);
  assert.match(read("r3/.git/config"), /name = me/);
  assert.throws(() => Deno.lstatSync(`${project}/r5/.git/hooks`), Deno.errors.NotFound);
  const reported = sandbox.notices().map(({ message }) => /project\/([^\s,:]*[^\s,:.])/.exec(message)?.[1])
    .sort();
  assert.deepEqual(reported, [
    "r0/.git/config",
    "r1/.git/hooks/post-commit",
    "r2/.git/hooks/pre-push",
    "r5/.git/hooks",
  ]);
});

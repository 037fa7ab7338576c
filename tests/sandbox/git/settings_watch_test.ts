// A setting that runs something does not stay in a configuration until the command ends that wrote it.

import assert from "node:assert/strict";
import { git, plant, projectSandbox, requireBubblewrap } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

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

const ROWS: readonly (readonly [string, string, boolean])[] = [
  ["git writes a command", "git config core.fsmonitor ./evil", true],
  ["a program appends one", "printf '[core]\\n\\tpager = ./evil\\n' >> .git/config", true],
  ["the file becomes a link", "printf '[core]\\n\\tpager = ./evil\\n' > c; ln -sfn ../c .git/config", true],
  ["the repository gets a remote", "git remote add up ./up", false],
  ["the address of a remote changes", "git remote set-url origin ./evil", false],
];

for (const [name, shell, ends] of ROWS) {
  test(`if ${name} while a command runs, the command ${ends ? "is ended" : "goes on"}`, async (root) => {
    plant(root, "project/file");
    git(`${root}/project`, "init", "-q");
    git(`${root}/project`, "remote", "add", "origin", "./origin");
    // It would wait for ever for a file that only the test makes.
    const wait = ends ? "while [ ! -e go ]; do sleep 0.05; done" : "true";
    const { status, sandbox } = await run(root, `${shell}; ${wait}; touch done`);
    assert.equal(status.signal === "SIGKILL" || status.code === 137, ends);
    assert.equal(git(`${root}/project`, "remote", "get-url", "origin"), "./origin\n");
    const codes = sandbox.notices().map(({ code }) => code);
    assert.equal(codes.includes("protected-command-ended"), ends);
    const repaired = sandbox.takeRepaired();
    assert.equal(repaired.some((sentence) => sentence.startsWith("Ended the command")), ends);
  });
}

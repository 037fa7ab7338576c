// A command is prepared from an earlier snapshot of the file system, and starts only if the snapshot is still valid.

import assert from "node:assert/strict";
import { WAIT_FOR_START } from "../../sandbox/process/inner_script.ts";
import type { PreparedCommand, RunSandbox } from "../../sandbox/mod.ts";
import { plant, projectSandbox, requireBubblewrap, runInside } from "./fixture.ts";
import { inFolder, testInFolder as test } from "../folder.ts";

async function prepare(sandbox: RunSandbox, shell: string): Promise<PreparedCommand> {
  await requireBubblewrap(sandbox);
  const prepared = await sandbox.prepare(["/bin/bash", "-c", `${WAIT_FOR_START}${shell}`], { waits: true });
  assert.ok(prepared.ok, prepared.ok ? "" : prepared.problem.message);
  return prepared.value;
}

/** Starts it; its exit code once it is over, or the code of the problem. */
async function begin(prepared: PreparedCommand, sandbox: RunSandbox): Promise<number | string> {
  const { cwd, variables } = sandbox.host.environment;
  const started = prepared.start({ cwd, env: variables });
  if (!started.ok) return started.problem.code;
  const [, stated, { code, signal }] = await Promise.all([
    new Response(started.value.stdout).text(),
    new Response(started.value.stderr).text(),
    started.value.status,
  ]);
  assert.equal((await prepared.setupFailure(stated, signal))?.message, undefined);
  return code;
}

async function runWaiting(sandbox: RunSandbox, shell: string): Promise<number | string> {
  const prepared = await prepare(sandbox, shell);
  try {
    return await begin(prepared, sandbox);
  } finally {
    await prepared.dispose();
  }
}

/** Runs `body` in a project with a sandbox under which a command has run. */
function afterOne(body: (root: string, sandbox: RunSandbox) => Promise<void>): Promise<void> {
  return inFolder(async (root) => {
    plant(
      root,
      "project/notes.chat",
      "project/r/.git/hooks/",
      "project/r/.git/config",
      "project/r/.git/HEAD",
    );
    // More git folders than are mounted each, so that all of them are compared.
    for (let at = 0; at < 13; at++) plant(root, `project/r${at}/.git/hooks/`, `project/r${at}/.git/config`);
    const sandbox = projectSandbox(root);
    assert.equal(await runWaiting(sandbox, "true"), 0);
    await body(root, sandbox);
  });
}

const filesOf = (folder: string) => Array.from(Deno.readDirSync(folder), ({ name }) => name).sort();

/** What somebody else does between the look and the beginning: one of each kind of thing that the look rests on. */
const CHANGES: Readonly<Record<string, (project: string) => void>> = {
  "a protected path appears": (project) => plant(project, ".vscode/tasks.json"),
  "a settings file is written": (project) => Deno.writeTextFileSync(`${project}/r/.git/config`, "[core]\n"),
  "a hook appears": (project) => plant(project, "r/.git/hooks/pre-commit"),
  "a git folder is replaced": (project) => {
    Deno.renameSync(`${project}/r/.git`, `${project}/r/old`);
    plant(project, "r/.git/hooks/", "r/.git/config", "r/.git/HEAD");
  },
  "a parent folder becomes a link": (project) => {
    Deno.renameSync(`${project}/r`, `${project}/elsewhere`);
    Deno.symlinkSync("elsewhere", `${project}/r`);
  },
  "a protected path disappears": (project) => Deno.removeSync(`${project}/notes.chat`),
};

for (const [name, change] of Object.entries(CHANGES)) {
  Deno.test(`if ${name} while a command is prepared, the command does not start, and the next attempt uses the new state`, () =>
    afterOne(async (root, sandbox) => {
      const project = `${root}/project`;
      const prepared = await prepare(sandbox, "touch ran");
      change(project);
      const there = filesOf(project);
      assert.equal(await begin(prepared, sandbox), "sandbox-outdated");
      await prepared.dispose();
      assert.deepEqual(filesOf(project), there, "it did not run, and nothing of the person's was moved");
      assert.equal(await runWaiting(sandbox, "touch ran"), 0);
      assert.deepEqual(filesOf(project), [...there, "ran"].sort());
      assert.deepEqual(sandbox.notices(), []);
    }));
}

/** What happens all the time between two commands, and must not cost a second attempt. */
const DAILY: Readonly<Record<string, (project: string) => void>> = {
  "the document is rewritten": (project) => {
    Deno.writeTextFileSync(`${project}/new`, "more", {
      mode: Deno.statSync(`${project}/notes.chat`).mode! & 0o777,
    });
    Deno.renameSync(`${project}/new`, `${project}/notes.chat`);
  },
  "temporary files come and go": (project) => {
    plant(project, "src/main.ts", "r1/made");
    Deno.removeSync(`${project}/r1/made`);
  },
  "git commits": (project) => {
    const git = (...words: string[]) =>
      new Deno.Command("git", { args: ["-c", "user.name=a", "-c", "user.email=a@b", ...words], cwd: project })
        .outputSync();
    assert.ok(git("add", "notes.chat").success);
    assert.ok(git("commit", "-qm", "x").success);
  },
};

for (const [name, change] of Object.entries(DAILY)) {
  test(`the next command starts at the first attempt even if ${name}`, async (root) => {
    plant(root, "project/notes.chat", "project/r1/.git/HEAD", "project/r1/.git/config");
    const project = `${root}/project`;
    new Deno.Command("git", { args: ["init", "-q"], cwd: project }).outputSync();
    const sandbox = projectSandbox(root);
    assert.equal(await runWaiting(sandbox, "true"), 0);
    change(project);
    assert.equal(await runWaiting(sandbox, "true"), 0);
    assert.deepEqual(sandbox.notices(), []);
  });
}

Deno.test("files that a person creates between two commands are protected from the next command and stay where they are", () =>
  afterOne(async (root, sandbox) => {
    plant(root, "project/.vscode/tasks.json");
    if (await runWaiting(sandbox, "true") !== 0) assert.equal(await runWaiting(sandbox, "true"), 0);
    assert.equal(await runWaiting(sandbox, "echo x > .vscode/tasks.json"), 1);
    assert.equal(
      Deno.readTextFileSync(`${root}/project/.vscode/tasks.json`),
      "text of .vscode/tasks.json\n".replace(".vscode", "project/.vscode"),
    );
    assert.deepEqual(sandbox.notices(), []);
  }));

Deno.test("if several commands are prepared from one outdated snapshot, none starts, and one can be retried while the others wait", () =>
  afterOne(async (root, sandbox) => {
    const [first, second] = [await prepare(sandbox, "touch one"), await prepare(sandbox, "touch two")];
    plant(root, "project/.vscode/tasks.json");
    assert.equal(await begin(first, sandbox), "sandbox-outdated");
    const again = await prepare(sandbox, "touch one; echo x > .vscode/tasks.json || exit 7");
    assert.equal(await begin(again, sandbox), 7, "it uses a new snapshot");
    assert.equal(await begin(second, sandbox), "sandbox-outdated", "this one was wrapped by the old one");
    await Promise.all([first, second, again].map((each) => each.dispose()));
    assert.deepEqual(filesOf(`${root}/project`).filter((name) => ["one", "two"].includes(name)), ["one"]);
    assert.equal(sandbox.activeCommands, 0);
    assert.deepEqual(sandbox.notices(), []);
  }));

Deno.test("a command that is prepared while another one waits to start uses the current state of the files", () =>
  afterOne(async (root, sandbox) => {
    const waiting = await prepare(sandbox, "touch waited");
    plant(root, "project/.vscode/tasks.json");
    assert.match((await runInside(sandbox, "echo x > .vscode/tasks.json")).err, /Read-only/);
    assert.equal(await begin(waiting, sandbox), "sandbox-outdated");
    await waiting.dispose();
    assert.deepEqual(sandbox.notices(), []);
  }));

Deno.test("if a prepared command never starts, files that the person created meanwhile are kept, and flemma leaves none of its own files", () =>
  afterOne(async (root, sandbox) => {
    const prepared = await prepare(sandbox, "true");
    plant(root, "project/.vscode/tasks.json");
    await prepared.dispose();
    const refused = await prepare(sandbox, "true");
    plant(root, "project/.envrc");
    await begin(refused, sandbox);
    const [, , , status = ""] = refused.argv;
    await refused.dispose();
    assert.ok(filesOf(`${root}/project`).includes(".vscode"));
    assert.ok(filesOf(`${root}/project`).includes(".envrc"));
    assert.match(status, /\/status-/);
    const folder = status.slice(0, status.lastIndexOf("/"));
    const left = filesOf(folder).filter((name) => status.endsWith(name));
    assert.deepEqual(left, []);
    assert.deepEqual(filesOf(`${root}/home/.local/state/flemma/started`), []);
  }));

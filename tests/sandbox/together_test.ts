// Commands that run in parallel: none can falsify the scan of the file system made for another.

import assert from "node:assert/strict";
import { type PreparedCommand, type RunSandbox, spawn } from "../../sandbox/mod.ts";
import { exists, plant, projectSandbox, requireBubblewrap, runInside } from "./fixture.ts";
import { testInFolder as test } from "../folder.ts";

async function prepare(sandbox: RunSandbox, shell: string): Promise<PreparedCommand> {
  await requireBubblewrap(sandbox);
  const prepared = await sandbox.prepare(["/bin/sh", "-c", shell]);
  assert.ok(prepared.ok, prepared.ok ? "" : prepared.problem.message);
  return prepared.value;
}

async function run(prepared: PreparedCommand, sandbox: RunSandbox): Promise<{ code: number; err: string }> {
  const { cwd, variables } = sandbox.host.environment;
  const started = spawn(prepared.argv, { cwd, env: variables });
  assert.ok(started.ok, started.ok ? "" : started.problem.message);
  const [, err, { code, signal }] = await Promise.all([
    new Response(started.value.stdout).text(),
    new Response(started.value.stderr).text(),
    started.value.status,
  ]);
  assert.equal((await prepared.setupFailure(err, signal))?.message, undefined);
  return { code, err };
}

test("if one of two parallel commands turns a folder into a link, the other command reaches nothing outside", async (root) => {
  plant(root, "project/notes.chat", "outside/hooks/pre-commit");
  const sandbox = projectSandbox(root);
  const first = await prepare(sandbox, ":");
  // What the first command does while the second one starts.
  plant(root, "project/.git/hooks/pre-commit");
  const second = await prepare(sandbox, `echo x > ${root}/outside/made; echo x > .git/made; echo x > fine`);
  Deno.removeSync(`${root}/project/.git`, { recursive: true });
  Deno.symlinkSync("../outside", `${root}/project/.git`);
  assert.equal((await run(second, sandbox)).code, 0);
  await second.dispose();
  await first.dispose();
  assert.ok(exists(`${root}/project/fine`));
  assert.ok(!exists(`${root}/outside/made`));
  assert.ok(!exists(`${root}/project/.git`), "the link was moved away when both were over");
  assert.deepEqual(sandbox.notices().map(({ code }) => code), ["protected-path-appeared"]);
});

test("if one command creates a protected link and another command ends, flemma removes the link and does not restore it", async (root) => {
  plant(root, "project/notes.chat", "project/evil");
  const sandbox = projectSandbox(root);
  const first = await prepare(sandbox, "ln -s evil .envrc");
  assert.equal((await run(first, sandbox)).code, 0);
  const second = await prepare(sandbox, ":");
  await first.dispose();
  assert.ok(exists(`${root}/project/.envrc`), "nothing is restored while a command runs");
  await run(second, sandbox);
  await second.dispose();
  assert.ok(!exists(`${root}/project/.envrc`));
  assert.deepEqual(sandbox.notices().map(({ code }) => code), ["protected-path-appeared"]);
});

test("a command that starts while another one runs has the same protected and hidden paths", async (root) => {
  plant(root, "project/notes.chat", "project/key", "project/soon-gone");
  const sandbox = projectSandbox(root, {
    policy: { deny_read: ["key"], protect: [`${root}/project/soon-gone`] },
  });
  const first = await prepare(sandbox, ":");
  Deno.removeSync(`${root}/project/soon-gone`);
  const second = await prepare(sandbox, "cat key || echo x > notes.chat");
  assert.notEqual((await run(second, sandbox)).code, 0);
  assert.equal(Deno.readTextFileSync(`${root}/project/notes.chat`), "text of project/notes.chat\n");
  await Promise.all([first.dispose(), second.dispose()]);
  assert.equal(sandbox.activeCommands, 0);
  assert.equal((await runInside(sandbox, "echo fine")).out, "fine\n");
});

test("a hidden path that appears while a command lives is hidden from the next one, unless commands could have made it", async (root) => {
  plant(root, "project/notes.chat", "outside/file");
  const hidden = [`${root}/outside/key`, `${root}/outside/keys`, `${root}/project/made`];
  const sandbox = projectSandbox(root, { policy: { deny_read: hidden } });
  const first = await prepare(sandbox, `cat ${root}/outside/key`);
  plant(root, "outside/key", "outside/keys/one", "project/made");
  const [key, keys, made] = hidden as [string, string, string];
  const second = await prepare(
    sandbox,
    `cat ${key} ; ls -A ${keys} | grep . ; cat ${made} ${root}/outside/file >both`,
  );
  await run(second, sandbox);
  const third = await prepare(sandbox, `test -s ${key} || test -e ${keys}/one`);
  assert.notEqual((await run(third, sandbox)).code, 0);
  await Promise.all([first.dispose(), second.dispose(), third.dispose()]);
  assert.equal(Deno.readTextFileSync(`${root}/project/both`), "text of project/made\ntext of outside/file\n");
  assert.equal((await runInside(sandbox, `cat ${made} 2>/dev/null || echo hidden`)).out, "hidden\n");
});

test("after the person changed a protected path between two commands, flemma still repairs what the second one does", async (root) => {
  plant(root, "project/notes.chat", "project/.vscode/");
  const sandbox = projectSandbox(root);
  await runInside(sandbox, ":");
  Deno.removeSync(`${root}/project/.vscode`);
  await runInside(sandbox, "ln -s evil .envrc");
  assert.ok(!exists(`${root}/project/.envrc`));
  assert.deepEqual(sandbox.notices().map(({ code }) => code), ["protected-path-appeared"]);
});

test("the host is notified before the first of several commands starts, and after flemma has cleaned up behind the last one", async (root) => {
  plant(root, "project/notes.chat", "project/evil");
  const reported: string[] = [];
  let live = false;
  const sandbox = projectSandbox(root, {}, {
    around: {
      begin: () => {
        if (!live) reported.push(`begin ${sandbox.activeCommands}`);
        live = true;
        return Promise.resolve(null);
      },
      end: () => {
        reported.push(exists(`${root}/project/.envrc`) ? "end unsettled" : `end ${sandbox.activeCommands}`);
        live = false;
        return Promise.resolve();
      },
    },
  });
  const [first, second] = [await prepare(sandbox, "ln -s evil .envrc"), await prepare(sandbox, ":")];
  assert.equal((await run(first, sandbox)).code, 0);
  await first.dispose();
  assert.deepEqual(reported, ["begin 0"]);
  // One more that is asked for while the last one's traces are settled waits, and is watched anew.
  const [, third] = await Promise.all([second.dispose(), prepare(sandbox, ":")]);
  assert.deepEqual(reported, ["begin 0", "end 0", "begin 0"]);
  await third.dispose();
  assert.deepEqual(reported.slice(3), ["end 0"]);
});

test("while the document cannot be watched no command starts; once it can, the next command starts", async (root) => {
  plant(root, "project/notes.chat");
  let problem: { code: string; message: string } | null = { code: "state-unwritable", message: "full" };
  const sandbox = projectSandbox(root, {}, {
    around: { begin: () => Promise.resolve(problem), end: () => Promise.resolve() },
  });
  await requireBubblewrap(sandbox);
  const refused = await sandbox.prepare(["/bin/sh", "-c", ":"]);
  assert.deepEqual(refused, { ok: false, problem });
  assert.equal(sandbox.activeCommands, 0);
  problem = null;
  await (await prepare(sandbox, ":")).dispose();
});

// Paths that cannot be read, inside the sandbox or by the program's own tools.

import assert from "node:assert/strict";
import { SECRET_PATHS } from "../../../sandbox/policy/secrets.ts";
import { plant, projectSandbox, runInside } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

test("hidden files cannot be opened, hidden folders are empty and closed, and hiding leaves no file on the host", async (root) => {
  plant(root, "project/keys/id", "project/token", "secret/a", "project/open", "link -> secret");
  const deny_read = ["keys", "token", `${root}/secret`, "missing"];
  const sandbox = projectSandbox(root, { policy: { deny_read } });
  const { out } = await runInside(
    sandbox,
    `for f in keys/id token ${root}/secret/a ${root}/link/a keys/../token; do cat $f 2>/dev/null && echo read $f; done; ` +
      `ls keys ${root}/secret 2>/dev/null; touch keys/x ${root}/secret/x token 2>/dev/null && echo wrote; ` +
      "chmod 777 keys 2>/dev/null; ls keys 2>/dev/null; cat open",
  );
  assert.equal(out, "text of project/open\n");
  assert.deepEqual([...Deno.readDirSync(`${root}/project/keys`)].map(({ name }) => name), ["id"]);
  assert.throws(() => Deno.lstatSync(`${root}/project/missing`));
});

test("if hidden and writable entries overlap, the longest one decides", async (root) => {
  plant(root, "vault/shared/f", "vault/other", "project/");
  const policy = { rw_paths: ["urn:flemma:cwd", `${root}/vault/shared`], deny_read: [`${root}/vault`] };
  const sandbox = projectSandbox(root, { policy });
  const { out } = await runInside(
    sandbox,
    `cd ${root}/vault/shared && cat f && echo new > g; cat ../other 2>/dev/null; ls .. 2>/dev/null; echo end`,
  );
  assert.equal(out, "text of vault/shared/f\nend\n");
  assert.ok(
    sandbox.isPathReadable(`${root}/vault/shared/g`) && sandbox.isPathWritable(`${root}/vault/shared/h`),
  );
  assert.ok(!sandbox.isPathReadable(`${root}/vault/other`) && !sandbox.isPathReadable(`${root}/vault`));
});

test("a command cannot move a hidden file to a path where the next command can read it", async (root) => {
  plant(root, "project/a/b/key", "project/vault/inner/folder/id");
  const sandbox = projectSandbox(root, { policy: { deny_read: ["a/b/key", "vault/inner/folder"] } });
  for (const move of ["mv a c", "mv a/b c", "mv vault v", "mv vault/inner v", "rm -rf a vault"]) {
    await runInside(sandbox, move);
    const { out } = await runInside(sandbox, "grep -r 'text of' . 2>/dev/null");
    assert.equal(out, "", move);
  }
  assert.equal(Deno.readTextFileSync(`${root}/project/a/b/key`), "text of project/a/b/key\n");
});

test("if a command removes a link to a hidden path, the link is restored", async (root) => {
  plant(root, "project/dotfiles/ssh/id", "project/ssh -> dotfiles/ssh");
  const hides = { policy: { deny_read: ["ssh"] } };
  for (const take of ["rm ssh", "mv ssh gone", "ln -sfn elsewhere ssh"]) {
    await runInside(projectSandbox(root, hides), take);
    assert.equal(Deno.readLinkSync(`${root}/project/ssh`), "dotfiles/ssh", take);
    const { out } = await runInside(projectSandbox(root, hides), "cat dotfiles/ssh/id 2>/dev/null");
    assert.equal(out, "", take);
  }
});

test("flemma's own tools obey the list of hidden paths, also through links, when they read and write", (root) => {
  plant(root, "project/keys/id", "project/alias -> keys/id", "project/open");
  const sandbox = projectSandbox(root, { policy: { deny_read: ["keys"] } });
  for (const path of ["keys", "keys/id", "alias", "./keys/../keys/new", `${root}/project/alias`]) {
    assert.ok(!sandbox.isPathReadable(path), path);
    assert.ok(!sandbox.isPathWritable(path), path);
  }
  for (const path of ["open", "keys2", "/etc/passwd", "."]) assert.ok(sandbox.isPathReadable(path), path);
  assert.ok(!sandbox.isPathReadable("open\0"));
  const off = projectSandbox(root, { enabled: false, policy: { deny_read: ["keys"] } });
  assert.ok(off.isPathReadable("keys/id"));
});

test("$secrets stands for the built-in list of secrets and flemma's own state", async (root) => {
  plant(root, "project/", "home/.ssh/id", "home/.netrc", "home/.aws/x", "home/.bashrc");
  const sandbox = projectSandbox(root, { policy: { deny_read: ["$secrets"] } });
  const { out } = await runInside(
    sandbox,
    "cd; for f in .ssh/id .netrc .aws/x .local/state/flemma/x; do cat $f 2>&1 | grep -c ermission; done; cat .bashrc",
  );
  assert.equal(out, "1\n1\n1\n1\ntext of home/.bashrc\n");
  assert.ok(SECRET_PATHS.includes("~/.docker/config.json") && SECRET_PATHS.includes("~/.config/gcloud"));
  assert.ok(!sandbox.isPathReadable("~/.ssh/id") && !sandbox.isPathReadable("~/.local/state/flemma/journal"));
});

test("an unknown URN among hidden paths makes the whole policy invalid, so no path is readable or writable", async (root) => {
  plant(root, "project/f");
  const sandbox = projectSandbox(root, { policy: { deny_read: ["urn:flemma:nope"] } });
  const prepared = await sandbox.prepare(["true"]);
  assert.equal(prepared.ok ? "prepared" : prepared.problem.code, "unknown-urn");
  assert.ok(!sandbox.isPathReadable("f") && !sandbox.isPathWritable("f"));
});

// Ordinary work with git inside the sandbox: it succeeds, and what it changes stays.

import assert from "node:assert/strict";
import { git, plant, projectSandbox, runInside } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

const AS = "-c user.name=a -c user.email=a@example.org -c protocol.file.allow=always";

/** A project with a remote repository next to it, and another one that nothing knows yet. */
function project(root: string): void {
  for (const name of ["origin", "other"]) {
    plant(root, `${name}/file`);
    git(`${root}/${name}`, "init", "-q");
    git(`${root}/${name}`, "add", "file");
    git(`${root}/${name}`, "commit", "-qm", "one");
    git(`${root}/${name}`, "branch", "side");
  }
  git(root, "clone", "-q", "--bare", "origin", "project/remote.git");
  git(`${root}/project`, "init", "-q");
  git(`${root}/project`, "remote", "add", "origin", "./remote.git");
  git(`${root}/project`, "pull", "-q", "origin", "main");
  git(`${root}/project`, "branch", "-q", "--set-upstream-to", "origin/main");
}

/** A command, and a later one that prints what must have remained. */
const WORK: readonly (readonly [string, string, string, RegExp])[] = [
  ["a remote that is added", `git remote add up ${"$PWD"}/remote.git`, "git remote", /^origin\nup$/m],
  [
    "a branch that is renamed",
    "git branch -m main trunk",
    "git rev-parse --abbrev-ref @{u}",
    /^origin\/main$/m,
  ],
  [
    "a branch that is pushed for the first time",
    "git switch -qc topic && git push -qu origin topic",
    "git rev-parse --abbrev-ref @{u}",
    /^origin\/topic$/m,
  ],
  [
    "a branch that tracks another",
    "git fetch -q origin && git switch -q --track origin/side",
    "git rev-parse --abbrev-ref @{u}",
    /^origin\/side$/m,
  ],
  [
    "a submodule that is added",
    `git ${AS} submodule --quiet add "$PWD/remote.git" sub`,
    "git submodule status && git -C sub log --format=%s",
    /^one$/m,
  ],
  [
    "a branch that is deleted",
    "git branch -q b && git push -q -u origin b && git branch -qD b",
    "git branch",
    /main/,
  ],
  [
    "a clone with settings",
    "git clone -q remote.git copy && git -C copy config pull.rebase true",
    "git -C copy config pull.rebase; git -C copy remote get-url origin; git -C copy status -sb",
    /^true\n.*remote\.git\n## main/m,
  ],
  ["a worktree below the project", "git worktree add -q wt", "git -C wt status -sb", /^## wt$/m],
  ["a plain setting", "git config pull.rebase true", "git config pull.rebase", /^true$/m],
];

for (const [name, shell, later, shown] of WORK) {
  test(`after git works inside the sandbox, ${name} stays and nothing is reported`, async (root) => {
    project(root);
    const sandbox = projectSandbox(root);
    const first = await runInside(sandbox, shell);
    assert.equal(first.code, 0, first.err);
    assert.deepEqual(sandbox.notices().map(({ message }) => message), []);
    const { code, out, err } = await runInside(sandbox, later);
    assert.equal(code, 0, err);
    assert.match(out, shown);
    const second = projectSandbox(root);
    assert.match((await runInside(second, later)).out, shown, "in the next run");
    assert.deepEqual([...sandbox.notices(), ...second.notices()], []);
  });
}

test("if a command changes the address of a remote, it is put back and both values are reported", async (root) => {
  project(root);
  const sandbox = projectSandbox(root);
  const shell =
    "git remote add up https://example.org/up && git remote set-url origin https://example.org/evil";
  assert.equal((await runInside(sandbox, shell)).code, 0);
  assert.equal(git(`${root}/project`, "remote", "get-url", "origin"), "./remote.git\n");
  assert.equal(git(`${root}/project`, "remote", "get-url", "up"), "https://example.org/up\n");
  assert.deepEqual(sandbox.notices().map(({ code }) => code), ["protected-settings-put-back"]);
  const { message, next = "" } = sandbox.notices()[0]!;
  assert.match(
    message,
    /remote\.origin\.url was changed to https:\/\/example\.org\/evil and is \.\/remote\.git again/,
  );
  assert.match(next, /run git config outside the sandbox/);
});

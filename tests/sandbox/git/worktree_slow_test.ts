// A linked worktree may write to its repository, if the repository leads back to it and nobody else is affected.

import assert from "node:assert/strict";
import { FsSnapshot } from "../../../base/disk/fs_snapshot.ts";
import { sharedGitFolder } from "../../../sandbox/git/worktree.ts";
import { git, plant, projectSandbox, runInside } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

function repository(root: string): void {
  plant(root, "main/file");
  git(`${root}/main`, "init", "-q");
  git(`${root}/main`, "add", "file");
  git(`${root}/main`, "commit", "-qm", "one");
  git(`${root}/main`, "worktree", "add", "-q", "../project");
  git(`${root}/main`, "worktree", "add", "-q", "../other");
}

const own = "main/.git/worktrees/project";

/** One change after which exactly one condition does not hold. */
const CONDITIONS: Readonly<Record<string, (root: string) => { uid?: number; home?: string } | void>> = {
  "the repository does not lead back to the worktree": (root) =>
    Deno.writeTextFileSync(`${root}/${own}/gitdir`, `${root}/other/.git\n`),
  "the repository does not know the worktree": (root) => Deno.removeSync(`${root}/${own}/gitdir`),
  "the common folder is another one": (root) => {
    plant(root, "evil/objects/", "evil/refs/", "evil/HEAD");
    Deno.writeTextFileSync(`${root}/${own}/commondir`, `${root}/evil\n`);
  },
  "the folder is not a repository": (root) => Deno.removeSync(`${root}/main/.git/HEAD`),
  "another user owns the repository": () => ({ uid: 12345 }),
  "the repository is the one of the home folder": (root) => ({ home: `${root}/main` }),
  "the repository manages the home folder": (root) => {
    git(`${root}/main`, "config", "core.worktree", `${root}/home`);
  },
  "a link is in place of the file": (root) => {
    Deno.renameSync(`${root}/project/.git`, `${root}/project/git`);
    Deno.symlinkSync("git", `${root}/project/.git`);
  },
};

test("the repository of a worktree is writable, without the state of other worktrees", (root) => {
  repository(root);
  const user = { uid: Deno.uid(), home: `${root}/home` };
  const shared = sharedGitFolder(`${root}/project`, user, new FsSnapshot());
  assert.equal(shared?.path, `${root}/main/.git`);
  const held = shared.held.map((path) => path.slice(`${root}/main/.git/`.length)).sort();
  assert.deepEqual(held, ["HEAD", "index", "info", "logs/HEAD", "worktrees/other"]);
  const branches = shared.branches.map((path) => path.slice(`${root}/main/.git/`.length)).sort();
  assert.deepEqual(branches, ["refs/heads/main", "refs/heads/other"]);
  assert.equal(sharedGitFolder(`${root}/main`, user, new FsSnapshot()), null, "an ordinary repository");
});

for (const [name, change] of Object.entries(CONDITIONS)) {
  test(`the repository of a worktree is not writable if ${name}`, (root) => {
    repository(root);
    plant(root, "home/");
    const { uid = Deno.uid(), home = `${root}/home` } = change(root) ?? {};
    assert.equal(sharedGitFolder(`${root}/project`, { uid, home }, new FsSnapshot()), null);
  });
}

test("in a linked worktree commands commit, push and add worktrees, and cannot change other worktrees", async (root) => {
  repository(root);
  const sandbox = projectSandbox(root);
  const as = "-c user.name=a -c user.email=a@example.org";
  const work = `echo x > new && git add new && git ${as} commit -qm two && git branch b && git tag t && ` +
    `git worktree add -q inner b && git -C inner ${as} commit -q --allow-empty -m three && git stash list && git fetch -q .`;
  const { code, err } = await runInside(sandbox, work);
  assert.equal(code, 0, err);
  assert.equal(git(`${root}/main`, "log", "--format=%s", "b", "--"), "three\ntwo\none\n");
  const main = `${root}/main/.git`;
  await runInside(
    sandbox,
    `for f in HEAD index hooks/post-checkout worktrees/other/HEAD rebase-merge/git-rebase-todo config.worktree; do mkdir -p ${main}/$(dirname $f); echo evil > ${main}/$f; done; echo evil > ${root}/main/file`,
  );
  assert.equal(git(`${root}/main`, "status", "--porcelain"), "");
  assert.equal(git(`${root}/other`, "status", "--porcelain"), "");
  const none = projectSandbox(root, { policy: { rw_paths: ["/nonexistent"] } });
  assert.ok(!none.isPathWritable(`${main}/objects/x`), "a policy without the worktree");
  const free = projectSandbox(root, { policy: { protect: [] } });
  assert.ok(!free.isPathWritable(`${main}/objects/x`), "a policy that does not protect git");
});

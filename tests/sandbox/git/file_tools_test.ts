// What write and edit must not do in a git folder: exactly what a command could not keep there.

import assert from "node:assert/strict";
import { git, plant, projectSandbox } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

/** Paths in a project, and whether tools may write them. */
const PATHS: readonly (readonly [string, boolean])[] = [
  ["plain", true],
  ["sub/plain", true],
  [".gitignore", true],
  ["gitdir", true],
  [".git/description", true],
  [".git/COMMIT_EDITMSG", true],
  [".git/info/exclude", true],
  [".git/hooks/pre-commit", false],
  [".git/config", false],
  [".git/config.worktree", false],
  [".git/commondir", false],
  [".git/info/attributes", false],
  [".git/rebase-merge/git-rebase-todo", false],
  [".git/rebase-merge/strategy", false],
  [".git/rebase-merge/message", true],
  [".git/sequencer/todo", false],
  [".git/sequencer/opts", false],
  [".git/BISECT_RUN", false],
  [".git/BISECT_NAMES", false],
  [".git/modules/x/config", false],
  [".git/modules/x/y/hooks/post-checkout", false],
  [".git/modules/x/description", true],
  [".git/worktrees/w/commondir", false],
  [".git/worktrees/w/config.worktree", false],
  [".git/worktrees/w/gitdir", false],
  [".git/worktrees/w/rebase-merge/git-rebase-todo", false],
  [".git/worktrees/w/ORIG_HEAD", true],
  ["sub/.git", false],
  ["sub/.git/config", false],
  ["sub/.git/HEAD", true],
  ["deep/er/than/any/walk/goes/.git/config", false],
  ["deep/er/than/any/walk/goes/.git/hooks/pre-commit", false],
  ["x/.GIT/config", false],
  ["bare/config", false],
  ["bare/hooks/post-update", false],
  ["bare/objects/ab", true],
  ["almost/HEAD", false],
  ["almost/head", false],
  ["almost/config", true],
  ["half/refs/heads/x", false],
  ["half/readme", true],
  ["tree/commondir", false],
  ["tree/CommonDir", false],
];

test("file tools may not write where git would run or obey what they write, and may write everything else", (root) => {
  plant(
    root,
    "project/file",
    "project/sub/",
    "project/bare/HEAD",
    "project/bare/objects/",
    "project/bare/refs/",
  );
  plant(
    root,
    "project/almost/objects/",
    "project/almost/refs/",
    "project/half/objects/",
    "project/half/HEAD",
  );
  plant(root, "project/tree/HEAD");
  git(`${root}/project`, "init", "-q");
  const sandbox = projectSandbox(root);
  for (const [path, isWritable] of PATHS) {
    assert.equal(sandbox.isPathWritable(`${root}/project/${path}`), isWritable, path);
  }
  const free = projectSandbox(root, { policy: { protect: ["$project"] } });
  assert.ok(free.isPathWritable(`${root}/project/sub/.git/config`), "without the word $git");
});

// What happens to protected paths that a command created, and to links that it replaced.

import assert from "node:assert/strict";
import type { RunSandbox } from "../../../sandbox/mod.ts";
import { git, plant, projectSandbox, runInside } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

function names(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => name.replace(/^[0-9a-f]{8}-/, "")).sort();
  } catch {
    return [];
  }
}

function textOf(path: string): string | null {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return null;
  }
}

const moved = (root: string) => names(`${root}/home/.local/state/flemma/moved`);
const codes = (sandbox: RunSandbox) => sandbox.notices().map(({ code }) => code);

test("a file that a command creates where other programs would run it is moved away, and its new path is reported", async (root) => {
  plant(root, "project/");
  const sandbox = projectSandbox(root);
  const shell =
    "mkdir -p .vscode .flemma && echo x > .vscode/tasks.json && echo x > .envrc && echo x > plain";
  await runInside(sandbox, shell);
  assert.deepEqual(names(`${root}/project`), ["plain"]);
  assert.deepEqual(moved(root), [".envrc", ".flemma", ".vscode"]);
  assert.deepEqual(new Set(codes(sandbox)), new Set(["protected-path-appeared"]));
  assert.match(sandbox.notices()[0]?.message ?? "", /state\/flemma\/moved\/[0-9a-f]{8}-/);
});

test("if a command creates hooks in a repository without hooks, they are moved away, and git continues to work", async (root) => {
  plant(root, "project/f");
  new Deno.Command("git", { args: ["init", "-q"], cwd: `${root}/project` }).outputSync();
  Deno.removeSync(`${root}/project/.git/hooks`, { recursive: true });
  const sandbox = projectSandbox(root);
  await runInside(
    sandbox,
    "mkdir .git/hooks && printf '#!/bin/sh\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/*",
  );
  assert.deepEqual(moved(root), ["hooks"]);
  assert.ok(!names(`${root}/project/.git`).includes("hooks"));
  assert.equal((await runInside(sandbox, "git status --short")).out, "?? f\n");
});

test("a repository that a command creates stays, but a setting that names a command to run is taken out", async (root) => {
  plant(root, "project/");
  const sandbox = projectSandbox(root);
  await runInside(sandbox, "git init -q");
  assert.deepEqual([codes(sandbox), moved(root)], [[], []]);
  Deno.removeSync(`${root}/project/.git`, { recursive: true });
  await runInside(sandbox, "git init -q && git config core.fsmonitor ./evil && git config pull.rebase true");
  assert.deepEqual([codes(sandbox), moved(root)], [["protected-settings-put-back"], ["config"]]);
  const { out } = await runInside(sandbox, "git config --list --local");
  assert.match(out, /^pull\.rebase=true$/m);
  assert.doesNotMatch(out, /fsmonitor/);
});

test("a configuration of which no setting stays is not left behind empty, but its other settings stay", async (root) => {
  for (const [extra, left] of [["", null], ["[pull] rebase=true\n", "pull.rebase=true\n"]] as const) {
    const folder = `${root}/${left === null ? "a" : "b"}`;
    plant(folder, "project/");
    git(`${folder}/project`, "init", "-q");
    const sandbox = projectSandbox(folder);
    await runInside(sandbox, `printf '%s' '[core] fsmonitor=./evil\n${extra}' > .git/config.worktree`);
    assert.deepEqual([codes(sandbox), moved(folder)], [["protected-settings-put-back"], ["config.worktree"]]);
    const path = `${folder}/project/.git/config.worktree`;
    assert.equal(textOf(path) === null ? null : git(folder, "config", "--file", path, "--list"), left);
  }
});

test("if a command removes what it can of a git folder, the configuration is restored with its permissions", async (root) => {
  plant(root, "project/");
  git(`${root}/project`, "init", "-q");
  git(`${root}/project`, "remote", "add", "origin", "./origin");
  const path = `${root}/project/.git/config`;
  const config = textOf(path);
  Deno.chmodSync(path, 0o640);
  const sandbox = projectSandbox(root);
  assert.notEqual((await runInside(sandbox, "rm -rf .git")).code, 0);
  assert.deepEqual(codes(sandbox), ["protected-path-restored"]);
  assert.deepEqual([textOf(path), Deno.statSync(path).mode! & 0o777], [config, 0o640]);
});

test("a configuration that is too large for memory is moved away without being read", async (root) => {
  plant(root, "project/");
  const sandbox = projectSandbox(root);
  await runInside(sandbox, "git init -q && truncate -s 4G .git/config");
  assert.deepEqual([codes(sandbox), moved(root)], [["protected-path-appeared"], ["config"]]);
});

test("if a command creates a .git that is a file or a link, it is moved away", async (root) => {
  plant(root, "project/sub/", "project/evil/HEAD");
  for (const shell of ["echo 'gitdir: evil' > .git", "ln -s evil .git"]) {
    await runInside(projectSandbox(root), shell);
    assert.deepEqual(names(`${root}/project`), ["evil", "sub"], shell);
  }
  assert.deepEqual(moved(root), [".git", ".git"]);
  assert.deepEqual(names(`${root}/project/evil`), ["HEAD"], "what the link led to was not touched");
});

test("if a command replaces a link to protected hooks, the link is restored", async (root) => {
  plant(root, "project/tracked/pre-commit", "project/.git/hooks -> ../tracked", "project/.git/config");
  const sandbox = projectSandbox(root);
  await runInside(sandbox, "rm .git/hooks && mkdir .git/hooks && echo evil > .git/hooks/pre-commit");
  assert.equal(Deno.readLinkSync(`${root}/project/.git/hooks`), "../tracked");
  assert.deepEqual([codes(sandbox), moved(root)], [["protected-link-restored"], ["hooks"]]);
  await runInside(sandbox, "rm .git/hooks");
  assert.equal(Deno.readLinkSync(`${root}/project/.git/hooks`), "../tracked");
});

test("a command cannot replace the folder that contains a protected link, so flemma never restores the link in a wrong folder", async (root) => {
  plant(
    root,
    "project/sub/.git/hooks -> ../../tracked",
    "project/sub/.git/config",
    "project/tracked/",
    "victim/",
  );
  const sandbox = projectSandbox(root);
  await runInside(
    sandbox,
    `mv sub/.git aside; ln -s ${root}/victim sub/.git; mv sub x; ln -s ${root}/victim sub`,
  );
  assert.deepEqual(names(`${root}/victim`), []);
  assert.equal(Deno.readLinkSync(`${root}/project/sub/.git/hooks`), "../../tracked");
});

test("the document and flemma's own folders may appear while a command runs", async (root) => {
  plant(root, "project/");
  const sandbox = projectSandbox(root);
  const prepared = await sandbox.prepare(["true"]);
  assert.ok(prepared.ok);
  plant(root, "project/notes.chat", "home/.local/state/flemma/journal");
  await prepared.value.dispose();
  assert.ok(names(`${root}/project`).includes("notes.chat"));
  assert.deepEqual([codes(sandbox), moved(root)], [[], []]);
});

test("hooks are protected in submodules and in repositories below the working folder", async (root) => {
  plant(
    root,
    ...[
      "project/.git/modules/lib/HEAD",
      "project/.git/modules/lib/hooks/",
      "project/.git/modules/lib/config",
    ],
    ...[
      "project/vendor/x/.git/hooks/",
      "project/vendor/x/.git/config",
      "project/.git/config",
      "project/.git/HEAD",
    ],
  );
  const sandbox = projectSandbox(root);
  const rows = [
    ".git/modules/lib/hooks/x",
    ".git/modules/lib/config",
    "vendor/x/.git/hooks/x",
    "vendor/x/.git/config",
  ];
  for (const path of rows) {
    const before = textOf(`${root}/project/${path}`);
    await runInside(sandbox, `printf '[core]\\n\\teditor = evil\\n' > ${path}`);
    assert.equal(textOf(`${root}/project/${path}`), before, path);
    assert.ok(!sandbox.isPathWritable(path), path);
  }
  assert.notEqual((await runInside(sandbox, "mv vendor v")).code, 0);
});

test("a person can remove a list of protected paths or add paths, and misspelled keywords are refused", async (root) => {
  plant(root, "project/.vscode/settings.json", "project/mine");
  const shell = "echo x > .vscode/settings.json; echo x > mine";
  await runInside(projectSandbox(root, { policy: { protect: ["$git", "mine"] } }), shell);
  assert.equal(Deno.readTextFileSync(`${root}/project/.vscode/settings.json`), "x\n");
  assert.equal(Deno.readTextFileSync(`${root}/project/mine`), "text of project/mine\n");
  const prepared = await projectSandbox(root, { policy: { protect: ["$gti"] } }).prepare(["true"]);
  assert.equal(prepared.ok ? "prepared" : prepared.problem.code, "unknown-protect-word");
});

const COMMIT = "git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m x";

test("repositories, worktrees and submodules that commands create are kept if git would run no program because of them", async (root) => {
  plant(root, "project/f");
  new Deno.Command("git", { args: ["init", "-q"], cwd: `${root}/project` }).outputSync();
  const sandbox = projectSandbox(root);
  const allow = "git -c protocol.file.allow=always";
  const cases = [
    [`${COMMIT}; git worktree add -q wt`, "git -C wt status --short"],
    [`git init -q sub && cd sub && ${COMMIT}`, "git -C sub log --oneline"],
    [
      "git clone -q sub copy && git clone -q --bare sub bare.git && git clone -q --mirror sub m.git",
      "git -C m.git log -1",
    ],
    [
      `cd copy && ${allow} submodule --quiet add ../sub in && cd .. && ${allow} clone -q --recurse-submodules copy again`,
      "git -C copy/in status",
    ],
    ["git -C sub config user.name me && git -C sub branch -q other", "git -C sub branch"],
  ] as const;
  for (const [shell, look] of cases) {
    const { code, err } = await runInside(sandbox, shell);
    assert.equal(code, 0, `${shell}: ${err}`);
    const looked = await runInside(sandbox, look);
    assert.equal(looked.code, 0, `${look}: ${looked.err}`);
  }
  assert.deepEqual([sandbox.notices(), moved(root)], [[], []]);
});

test("if a person changes a repository between two commands, the change stays, even if a command created the repository", async (root) => {
  plant(root, "project/");
  const sandbox = projectSandbox(root);
  await runInside(sandbox, "git init -q sub");
  new Deno.Command("git", { args: ["config", "core.editor", "vim"], cwd: `${root}/project/sub` })
    .outputSync();
  await runInside(sandbox, "touch sub/x");
  assert.deepEqual([sandbox.notices(), moved(root)], [[], []]);
  await runInside(sandbox, "git -C sub config core.pager ./evil");
  assert.deepEqual([codes(sandbox), moved(root)], [["protected-settings-put-back"], ["config"]]);
  assert.equal(
    (await runInside(sandbox, "git -C sub config core.editor; git -C sub config core.pager")).out,
    "vim\n",
  );
});

test("the configuration of a submodule may name its own folder but no other path", async (root) => {
  plant(root, "project/");
  const sandbox = projectSandbox(root);
  const made =
    "git init -q sub && mkdir -p top/.git/modules && git init -q top && mv sub/.git top/.git/modules/sub";
  for (const worktree of ["../../../../outside", "..", "../../..", "/home"]) {
    const config = `git config --file top/.git/modules/sub/config core.worktree ${worktree}`;
    await runInside(sandbox, `${made}; mkdir -p top/.git/modules; ${config}`);
    const left = textOf(`${root}/project/top/.git/modules/sub/config`);
    assert.ok(left !== null && !left.includes("worktree"), worktree);
    await runInside(sandbox, "rm -rf top sub");
  }
});

test("if a command leaves an unfinished rebase whose next steps run programs, it is reported once", async (root) => {
  plant(root, "project/f");
  const sandbox = projectSandbox(root);
  const commits = ["one", "two"].map((name) =>
    `echo ${name} > f; git add f; ${COMMIT.replace("-m x", `-m ${name}`)}`
  );
  await runInside(sandbox, `git init -q; ${commits.join("; ")}`);
  const rebase = (steps: string) =>
    `git rebase --abort 2>/dev/null; GIT_SEQUENCE_EDITOR='printf "${steps}" >' git rebase -q -i --root`;
  await runInside(sandbox, rebase("break\\n"));
  assert.deepEqual(codes(sandbox), []);
  await runInside(sandbox, rebase("break\\nexec touch PWNED\\n"));
  assert.deepEqual(codes(sandbox), ["git-steps-run-programs"]);
  await runInside(sandbox, "touch x");
  assert.equal(sandbox.notices().length, 1);
});

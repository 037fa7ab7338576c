// Every place where commands can write is searched for what git would run: all levels, all writable folders, any number
// of repositories, and those that earlier runs saw.

import assert from "node:assert/strict";
import { FsSnapshot } from "../../../base/disk/fs_snapshot.ts";
import { GitSteps, newSteps } from "../../../sandbox/git/steps.ts";
import { landlockVersion } from "../../../sandbox/kernel/landlock_version.ts";
import { createSandbox, type RunSandbox, sandboxStatus } from "../../../sandbox/mod.ts";
import { exists, git, plant, projectSandbox, runInside, settings, world } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

const TRAP = "[core]\\n\\tfsmonitor = touch PWNED; false\\n";
const codes = (sandbox: RunSandbox) => sandbox.notices().map(({ code }) => code);

/** A sandbox for `root/place` with these writable folders. */
function sandboxAt(
  root: string,
  place: string,
  writable: string[],
  document = `${place}/notes.chat`,
): RunSandbox {
  return createSandbox({
    settings: settings({ policy: { rw_paths: writable.map((name) => `${root}/${name}`) } }),
    environment: world(root, {}, `${root}/${place}`),
    document: `${root}/${document}`,
    protect: [],
  });
}

/** Whether git, run by a person in a folder, runs the trap. */
function springs(folder: string): boolean {
  new Deno.Command("git", {
    args: ["status"],
    cwd: folder,
    env: { HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" },
    stdout: "null",
    stderr: "null",
  }).outputSync();
  return exists(`${folder}/PWNED`);
}

/** Turns a folder into a bare repository with a trap. The trap is in a file that git reads as its configuration. */
const bare = (folder: string) =>
  `mkdir -p ${folder}/objects ${folder}/refs; echo 'ref: refs/heads/x' > ${folder}/HEAD; ` +
  `printf '[core]\\n\\tbare = false\\n\\tworktree = .\\n${TRAP.slice(8)}' > ${folder}/config`;

for (const place of ["top", "top/in", "top/in/work", "top/docs"]) {
  test(`a command cannot turn ${place} into a bare repository, if it is on the way to the working folder or the document`, async (root) => {
    plant(root, "top/in/work/file", "top/docs/file");
    const sandbox = sandboxAt(root, "top/in/work", ["top"], "top/docs/notes.chat");
    await runInside(sandbox, bare(`${root}/${place}`));
    assert.ok(!springs(`${root}/${place}`));
    assert.ok(codes(sandbox).length > 0);
  });
}

test("a command cannot turn the working folder into a bare repository around the project's own files", async (root) => {
  plant(root, "project/objects/", "project/refs/", "project/hooks/");
  Deno.writeTextFileSync(`${root}/project/config`, "[core]\n\tbare = false\n");
  const sandbox = projectSandbox(root);
  await runInside(sandbox, bare("."));
  assert.ok(!springs(`${root}/project`));
  assert.ok(exists(`${root}/project/config`), "the project's own file stays");
  assert.deepEqual(codes(sandbox), ["protected-path-appeared"]);
});

test("a repository that a command makes in any writable folder is checked, at any level", async (root) => {
  for (const place of ["tmp", "tmp/a/b", "project/a/b/c/d/e"]) {
    plant(root, "project/file", "tmp/file");
    const sandbox = sandboxAt(root, "project", ["project", "tmp"]);
    const shell =
      `mkdir -p ${root}/${place}/new && cd ${root}/${place}/new && git init -q && printf '${TRAP}' >> .git/config`;
    await runInside(sandbox, shell);
    assert.ok(!springs(`${root}/${place}/new`), place);
    assert.deepEqual(codes(sandbox), ["protected-settings-put-back"], place);
    for (const name of ["project", "tmp"]) Deno.removeSync(`${root}/${name}`, { recursive: true });
  }
});

test("new folders do not hide a new repository, and more folders than are searched are reported", async (root) => {
  plant(root, "project/file");
  const sandbox = projectSandbox(root);
  await runInside(sandbox, `mkdir $(seq -f a%g 300); git init -q z; printf '${TRAP}' >> z/.git/config`);
  assert.ok(!springs(`${root}/project/z`));
  await runInside(sandbox, "mkdir $(seq -f b%g 2100)");
  assert.ok(codes(sandbox).includes("folders-not-searched"));
});

for (
  const [name, shell] of [
    ["new folders", "mkdir $(seq -f a%g 1100)"],
    [
      "entries of the index",
      `git -C sub rev-parse HEAD > h; for i in $(seq 250); do echo "160000 $(cat h) 0\ta$i"; done | git update-index --index-info`,
    ],
  ] as const
) {
  test(`a repository that one run saw stays protected in the next, although a command made many ${name}`, async (root) => {
    plant(root, "project/file");
    const project = `${root}/project`;
    git(project, "init", "-q");
    const deep = name === "new folders" ? "sub" : "a/b/c/d/e/f/g/h/i/j/sub";
    Deno.mkdirSync(`${project}/${deep}`, { recursive: true });
    git(`${project}/${deep}`, "init", "-q");
    git(`${project}/${deep}`, "commit", "-q", "--allow-empty", "-m", "x");
    if (deep !== "sub") git(project, "-c", "advice.addEmbeddedRepo=false", "add", "a");
    await runInside(projectSandbox(root), shell.replace("-C sub", `-C ${deep}`));
    const next = projectSandbox(root);
    await runInside(
      next,
      `cd ${deep}; echo 'touch PWNED' > .git/hooks/post-index-change; chmod +x .git/hooks/*; printf '${TRAP}' >> .git/config`,
    );
    assert.ok(!exists(`${project}/${deep}/.git/hooks/post-index-change`));
    assert.ok(!springs(`${project}/${deep}`));
  });
}

test("repositories that an index names are protected in folders that are not searched, and those inside them too", async (root) => {
  const [outer, inner, deep] = ["project", "project/target/sub", "project/target/sub/target/deep"].map((
    name,
  ) => `${root}/${name}`);
  for (const folder of [deep!, inner!, outer!]) {
    Deno.mkdirSync(folder, { recursive: true });
    git(folder, "init", "-q");
    git(folder, "-c", "advice.addEmbeddedRepo=false", "add", ".");
    git(folder, "commit", "-q", "--allow-empty", "-m", "x");
  }
  for (const folder of [inner!, deep!]) {
    await runInside(projectSandbox(root), `printf '${TRAP}' >> ${folder}/.git/config`);
    assert.ok(!springs(outer!) && !exists(`${folder}/PWNED`), folder);
  }
});

test("hooks of at most twelve repositories are read-only, and those of more are restored after a command", async (root) => {
  plant(root, "project/file");
  for (const count of [12, 13]) {
    for (let at = 1; at <= count; at++) plant(root, `project/r${at}/.git/HEAD`, `project/r${at}/.git/hooks/`);
    const sandbox = projectSandbox(root);
    const { out } = await runInside(sandbox, "echo x > r3/.git/hooks/pre-commit && echo written");
    assert.equal(out, count === 12 ? "" : "written\n");
    assert.ok(!exists(`${root}/project/r3/.git/hooks/pre-commit`));
  }
});

test("more repositories than are protected one by one are read-only with their folder, and this is reported", async (root) => {
  plant(root, "project/file", "project/one/.git/HEAD", "project/one/.git/config");
  for (let at = 0; at < 260; at++) {
    plant(root, `project/many/r${at}/.git/HEAD`, `project/many/r${at}/.git/hooks/`);
  }
  const sandbox = projectSandbox(root);
  const { code } = await runInside(
    sandbox,
    "echo x > many/r259/.git/hooks/pre-commit; echo x > many/r3/.git/hooks/pre-commit",
  );
  assert.notEqual(code, 0);
  assert.ok(!exists(`${root}/project/many/r259/.git/hooks/pre-commit`));
  assert.ok(!sandbox.isPathWritable(`${root}/project/many/r3/file`));
  assert.ok(sandbox.isPathWritable(`${root}/project/one/file`));
  assert.deepEqual(codes(sandbox), ["too-many-repositories"]);
  const { notices } = await sandboxStatus(projectSandbox(root));
  assert.deepEqual(notices.map(({ code }) => code), ["too-many-repositories"]);
  // More than a thousand are too many for Landlock, too.
  assert.match(notices[0]!.next!, landlockVersion().ok ? /: flemma sandbox use landlock$/ : /repository\.$/);
  for (let at = 260; at < 1001; at++) plant(root, `project/many/r${at}/.git/HEAD`);
  const [more] = (await sandboxStatus(projectSandbox(root))).notices;
  assert.match(more!.next!, /repository\.$/);
  assert.equal((await runInside(sandbox, "echo x > file && mkdir -p more")).code, 0);
});

test("a repository that one command makes in the working folder is searched for submodules of the next", async (root) => {
  plant(root, "project/file");
  const sandbox = projectSandbox(root);
  await runInside(sandbox, "git init -q");
  await runInside(
    sandbox,
    "mkdir -p .git/modules/x/hooks; cp .git/HEAD .git/modules/x; echo evil > .git/modules/x/hooks/post-checkout",
  );
  assert.ok(!exists(`${root}/project/.git/modules/x/hooks/post-checkout`));
});

/** What a command leaves, in which git folder, and whether a continuation would run something. */
const STEPS: readonly (readonly [string, string, boolean])[] = [
  ["rebase-merge/git-rebase-todo", "pick 1\nexec touch PWNED\n", true],
  ["rebase-merge/git-rebase-todo", "pick 1\nx touch PWNED\n", true],
  ["rebase-merge/git-rebase-todo", "pick 1\nbreak\n", false],
  ["rebase-merge/strategy", "x/evil\n", true],
  ["rebase-merge/strategy", "ort\n", false],
  ["sequencer/todo", "exec touch PWNED\n", true],
  ["sequencer/opts", "[options]\n\tstrategy = x/evil\n", true],
  ["sequencer/opts", "[options]\n\tstrategy = ort\n", false],
  ["BISECT_RUN", "touch PWNED\n", true],
  ["BISECT_NAMES", " $(touch PWNED)\n", true],
  ["BISECT_NAMES", " 'a'\n", false],
  ["info/attributes", "* filter=x\n", true],
  ["info/attributes", "* text\n", false],
];
const GIT_FOLDERS = [".git", "nested/.git", ".git/worktrees/wt", ".git/modules/lib", "bare.git", "new/.git"];

test("unfinished work is reported if git would run something when it is continued", (root) => {
  for (const [path, text, runs] of STEPS) {
    const steps = new GitSteps();
    const before = steps.now([`${root}/g`], new FsSnapshot());
    plant(root, `g/${path}`);
    Deno.writeTextFileSync(`${root}/g/${path}`, text);
    const after = steps.now([`${root}/g`], new FsSnapshot());
    const reported = newSteps(before, after).map(({ code }) => code);
    assert.deepEqual(reported, runs ? ["git-steps-run-programs"] : [], `${path} ${text}`);
    assert.deepEqual(newSteps(after, steps.now([`${root}/g`], new FsSnapshot())), [], "only once");
    Deno.removeSync(`${root}/g`, { recursive: true });
  }
});

test("unfinished work that a command leaves in any git folder is reported", async (root) => {
  plant(root, "project/file", "project/.git/modules/lib/HEAD");
  const project = `${root}/project`;
  git(project, "init", "-q");
  git(project, "commit", "-q", "--allow-empty", "-m", "x");
  git(project, "worktree", "add", "-q", "wt");
  git(project, "init", "-q", "nested");
  git(project, "init", "-q", "--bare", "bare.git");
  const sandbox = projectSandbox(root);
  const shell = GIT_FOLDERS.map((folder) =>
    `mkdir -p ${folder}/rebase-merge; echo 'exec touch PWNED' > ${folder}/rebase-merge/git-rebase-todo`
  );
  await runInside(sandbox, ["git init -q new", ...shell].join("; "));
  const reported = sandbox.notices().map(({ code, message }) => [code, message.split(/[ :]/)[3]]);
  const expected = GIT_FOLDERS.map((folder) => [
    "git-steps-run-programs",
    `${project}/${folder}/rebase-merge/git-rebase-todo`,
  ]);
  assert.deepEqual(reported.sort(), expected.sort());
});

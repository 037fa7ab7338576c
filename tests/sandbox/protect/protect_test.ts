// Which paths are protected, where they lead, and what happens to them after a command.

import assert from "node:assert/strict";
import { FsSnapshot } from "../../../base/disk/fs_snapshot.ts";
import {
  findProtectedPaths,
  type ProtectionScope,
  traceProtected,
} from "../../../sandbox/protect/protect.ts";
import { areHarmlessHooks } from "../../../sandbox/git/harmless.ts";
import { gitHooks } from "../../../sandbox/git/repository.ts";
import { checkNewSettings } from "../../../sandbox/git/settings_changes.ts";
import { git, plant } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

function scope(members: Partial<ProtectionScope>): ProtectionScope {
  return {
    asked: [],
    listed: [],
    words: ["$git"],
    writable: [],
    workingFolders: [],
    repositories: [],
    gitFolders: [],
    held: [],
    home: "/home/me",
    gitConfigs: [],
    ...members,
  };
}

Deno.test("hooks are protected in each folder between a writable path and a working folder", () => {
  const paths = findProtectedPaths(scope({
    asked: ["/x/doc.chat"],
    writable: ["/w", "/tmp"],
    workingFolders: ["/w/a/repo", "/elsewhere"],
  }));
  const hooks = paths.map(({ path }) => path).filter((path) => path.endsWith("/.git/hooks"));
  assert.deepEqual(hooks.sort(), [
    "/elsewhere/.git/hooks",
    "/tmp/.git/hooks",
    "/w/.git/hooks",
    "/w/a/.git/hooks",
    "/w/a/repo/.git/hooks",
  ]);
  assert.deepEqual(paths.filter(({ asked }) => asked).map(({ path }) => path), ["/x/doc.chat"]);
});

test("the hooks and settings of bare repositories are protected", (root) => {
  const folder = `${root}/bare`;
  git(root, "init", "-q", "--bare", folder);
  const found = findProtectedPaths(scope({ workingFolders: [root], gitFolders: [folder] }));
  for (const name of ["hooks", "config"]) {
    assert.ok(found.some(({ path, apart }) => path === `${folder}/${name}` && apart), name);
  }
});

test("what the settings of a repository, of a bare one and of the person name is protected", (root) => {
  const folders = { repo: `${root}/repo`, bare: `${root}/bare` };
  git(root, "init", "-q", folders.repo);
  git(root, "init", "-q", "--bare", folders.bare);
  for (const [name, folder] of Object.entries(folders)) {
    git(folder, "config", "core.fsmonitor", `${root}/of-${name}`);
  }
  Deno.writeTextFileSync(`${root}/gitconfig`, "[core]\n\tfsmonitor = ./of-person\n");
  const paths = findProtectedPaths(scope({
    workingFolders: [folders.repo],
    gitFolders: [folders.bare],
    gitConfigs: [`${root}/gitconfig`],
  })).map(({ path }) => path);
  for (const path of [`${root}/of-repo`, `${root}/of-bare`, `${folders.repo}/of-person`]) {
    assert.ok(paths.includes(path), `${path}: ${paths}`);
  }
});

Deno.test("a policy whose only writable path is a hook still protects the hook", () => {
  for (
    const hook of ["/home/me/.git/hooks", "/home/me/w/.flemma", "/home/me/w/.git/hooks", "/home/me/.vscode"]
  ) {
    const words = ["$git", "$project"];
    const paths = findProtectedPaths(scope({ words, writable: [hook], workingFolders: ["/home/me/w"] }));
    assert.ok(paths.some(({ path }) => path === hook), hook);
  }
});

Deno.test("each keyword in the policy protects its list of paths; without keywords only .flemma and requested paths are protected", () => {
  const of = (words: string[]) =>
    findProtectedPaths(scope({ words, writable: ["/w"], workingFolders: ["/w"] })).map(({ path }) => path);
  assert.deepEqual(of([]), ["/w/.flemma"]);
  assert.ok(of(["$project"]).includes("/w/.vscode") && of(["$project"]).includes("/w/.envrc"));
  assert.ok(!of(["$project"]).includes("/w/.git/hooks"));
});

test("the name .git is protected while it is a file or missing, but not while it is a folder", (root) => {
  plant(root, "repo/.git/", "worktree/.git", "plain/");
  const real = (name: string) =>
    traceProtected(findProtectedPaths(scope({ writable: [`${root}/${name}`] })), root).real;
  assert.ok(!real("repo").includes(`${root}/repo/.git`));
  assert.ok(real("worktree").includes(`${root}/worktree/.git`));
  assert.ok(real("plain").includes(`${root}/plain/.git`));
});

test("if .git is a file, its own hooks and configuration are protected, and also those of the shared git folder", (root) => {
  plant(root, "main/.git/modules/deep/name/HEAD", "main/.git/worktrees/w/HEAD", "w/");
  Deno.writeTextFileSync(`${root}/w/.git`, `gitdir: ../main/.git/worktrees/w\n`);
  Deno.writeTextFileSync(`${root}/main/.git/worktrees/w/commondir`, "../..\n");
  const hooks = gitHooks(`${root}/w`, new FsSnapshot());
  const rows = [
    "main/.git/worktrees/w/config",
    "main/.git/worktrees/w/config.worktree",
    "main/.git/hooks",
    "main/.git/config",
    "main/.git/modules/deep/name/hooks",
    "main/.git/modules/deep/name/config",
  ];
  for (const path of rows) {
    assert.ok(hooks.includes(`${root}/${path}`), `${path} in ${hooks.join("\n")}`);
  }
});

test("of each worktree of a repository, the files are protected that a worktree has", (root) => {
  const worktree = `${root}/main/.git/worktrees/w`;
  plant(root, "main/.git/HEAD", "main/.git/worktrees/w/HEAD");
  const hooks = gitHooks(`${root}/main`, new FsSnapshot()).filter((path) => path.startsWith(worktree));
  assert.deepEqual(hooks, ["config.worktree", "commondir"].map((name) => `${worktree}/${name}`));
});

test("the folder of a submodule's worktrees is protected as a whole if it has too many of them", (root) => {
  const worktrees = "main/.git/modules/m/worktrees";
  plant(root, "main/.git/modules/m/HEAD", ...Array.from({ length: 257 }, (_, at) => `${worktrees}/w${at}/`));
  const hooks = gitHooks(`${root}/main`, new FsSnapshot());
  assert.ok(hooks.includes(`${root}/${worktrees}`));
  assert.ok(!hooks.some((path) => path.startsWith(`${root}/${worktrees}/`)));
});

test("each link on the way to a protected path is reported with its target", (root) => {
  plant(root, "real/hooks/", "w/.git/", "w/.git/hooks -> ../../real/hooks");
  const { real, links } = traceProtected(findProtectedPaths(scope({ writable: [`${root}/w`] })), root);
  assert.ok(real.includes(`${root}/real/hooks`));
  assert.deepEqual(links, [{ path: `${root}/w/.git/hooks`, target: "../../real/hooks" }]);
});

Deno.test("a git configuration is harmless only if it has the content that init and clone write", () => {
  const harmless = [
    "",
    "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n",
    '[remote "origin"]\n\turl = https://example.org/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n',
    '[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n# comment\n',
    '[submodule "a/b"]\n\tactive = true\n\turl = git@example.org:a/b.git\n',
  ];
  const harmful = [
    "[core]\n\tfsmonitor = ./evil\n",
    "[core]\n\thooksPath = evil\n",
    "[core] fsmonitor = ./evil\n",
    "[include]\n\tpath = evil\n",
    '[includeIf "gitdir:/"]\n\tpath = evil\n',
    "[alias]\n\tst = !evil\n",
    '[filter "x"]\n\tclean = evil\n',
    "[diff]\n\texternal = evil\n",
    "[credential]\n\thelper = !evil\n",
    '[remote "o"]\n\turl = ext::sh -c evil\n',
    '[remote "o"]\n\turl = --upload-pack=evil\n',
    '[remote "o"]\n\tuploadpack = evil\n',
    '[submodule "s"]\n\tupdate = !evil\n',
    "[remote.o]\n\turl = ext::evil\n",
    "[gpg]\n\tprogram = evil\n",
    "[core]\n\tsshCommand = evil\n",
    "[core]\n\tpager = evil\n",
    "not a configuration",
  ];
  const refused = (text: string) =>
    checkNewSettings(null, text, { isOwnWorktree: () => false })?.refused.length ?? -1;
  for (const text of harmless) assert.equal(refused(text), 0, text);
  for (const text of harmful) assert.notEqual(refused(text), 0, text);
});

test("a folder of hooks is harmless only if it contains nothing but sample files", (root) => {
  plant(
    root,
    ...[
      "empty/",
      "samples/pre-commit.sample",
      "real/pre-commit",
      "linked/x.sample -> /bin/sh",
      "link -> empty",
    ],
  );
  const evaluated = ["empty", "samples", "real", "linked", "link", "missing"].map((name) =>
    areHarmlessHooks(`${root}/${name}`)
  );
  assert.deepEqual(evaluated, [true, true, false, false, false, false]);
});

// Files that run when the person starts a tool: reported when a command changes them, never blocked.

import assert from "node:assert/strict";
import { fileChangeSentence, isWatchedName, obeyedBy } from "../../../sandbox/protect/watched.ts";
import { notChanged, TrackedGuard } from "../../../sandbox/protect/tracked.ts";
import { OBEYED_FILES, projectHooks } from "../../../sandbox/policy/hooks.ts";
import type { RunSandbox } from "../../../sandbox/mod.ts";
import { git, plant, projectSandbox, runInside } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

const changes = (root: string, sandbox: RunSandbox) =>
  sandbox.fileChanges().map(({ path, change }) => `${change} ${path.slice(root.length + 1)}`);

Deno.test("flemma reports every listed file by its name, in the project or in the home folder", () => {
  for (const [how, who, ...paths] of OBEYED_FILES) {
    for (const path of paths) {
      const name = path.replace("*", "any");
      // Held files in the home and data folders are reported by their protection.
      if (/^[~$]/.test(path)) {
        if (how !== "held") assert.notEqual(obeyedBy(`/home/me${name.slice(1)}`, "/home/me"), null, path);
        continue;
      }
      for (const folder of ["/w", "/w/a/b"]) {
        assert.equal(obeyedBy(`${folder}/${name}`, "/home/me"), who, path);
        assert.equal(obeyedBy(`${folder}/${name}/inside/x`, "/home/me"), who, "a file in a listed folder");
      }
      assert.ok(isWatchedName(name.split("/")[0]!), path);
    }
  }
});

test("what is behind a watched link is watched too, in files and folders that commands can write", async (root) => {
  plant(root, "project/docs/guide.md", "project/config/agent/settings.json", "outside/guide.md");
  Deno.symlinkSync("docs/guide.md", `${root}/project/CLAUDE.md`);
  Deno.symlinkSync("config/agent", `${root}/project/.claude`);
  Deno.symlinkSync(`${root}/outside/guide.md`, `${root}/project/GEMINI.md`);
  const sandbox = projectSandbox(root);
  await runInside(
    sandbox,
    "echo a >> docs/guide.md; echo a >> config/agent/settings.json; touch config/agent/new",
  );
  assert.deepEqual(changes(root, sandbox), [
    "made project/.claude/new",
    "changed project/.claude/settings.json",
    "changed project/CLAUDE.md",
  ]);
});

Deno.test("the table lists each path once, and a held path of a project contains no wildcard", () => {
  for (const treatments of [["held"], ["reported", "instructions"]]) {
    const paths = OBEYED_FILES.filter(([how]) => treatments.includes(how)).flatMap(([_, __, ...paths]) =>
      paths
    );
    assert.deepEqual(paths.filter((path, at) => paths.indexOf(path) !== at), []);
  }
  assert.deepEqual(projectHooks().$project!.filter((path) => path.includes("*")), []);
});

test("flemma holds every held file of the table in the project, and reports every other one", async (root) => {
  const inProject = OBEYED_FILES.flatMap(([how, _, ...paths]) =>
    paths.filter((path) => !/^[~$]/.test(path)).map((path) => ({ how, path: path.replace("*", "any") }))
  );
  Deno.mkdirSync(`${root}/project/sub`, { recursive: true });
  const sandbox = projectSandbox(root);
  const made = inProject.map(({ path }) => `mkdir -p "$(dirname ${path})" && echo x > ${path}`).join("; ");
  await runInside(sandbox, `{ ${made}; } 2>/dev/null; cd sub; { ${made}; } 2>/dev/null; true`);
  const found = new Set(changes(root, sandbox));
  const moved = sandbox.notices().map(({ message }) => message).join("\n");
  for (const { how, path } of inProject) {
    // A file in a folder that another row lists too is reported only once, by the first.
    const isListed = (folder: string) => found.has(`made project/${folder}${path}`);
    if (how === "held") {
      assert.match(moved, new RegExp(`project/${path.split("/")[0]!.replaceAll(".", "\\.")}`), path);
    } else assert.ok(isListed(""), path);
    assert.ok(isListed("sub/"), `sub/${path}`);
  }
});

test("a changed file with instructions for agents is reported with the changed lines", async (root) => {
  plant(root, "project/.claude/settings.json", "project/.npmrc");
  Deno.writeTextFileSync(`${root}/project/AGENTS.md`, "one\ntwo\nthree\n");
  const sandbox = projectSandbox(root);
  await runInside(
    sandbox,
    "printf 'one\\n2\\n\\033[2J\\nthree\\n' > AGENTS.md; rm .claude/settings.json; echo x > .npmrc; mkdir sub; echo run > sub/CLAUDE.md; seq 100 > GEMINI.md",
  );
  const diffs = Object.fromEntries(
    sandbox.fileChanges().map(({ path, diff }) => [path.slice(root.length + 9), diff]),
  );
  assert.deepEqual(diffs["AGENTS.md"], "- two\n+ 2\n+ \x1b[2J");
  assert.deepEqual(diffs["sub/CLAUDE.md"], "+ run");
  assert.deepEqual(diffs[".claude/settings.json"], "- text of project/.claude/settings.json");
  assert.deepEqual(diffs[".npmrc"], undefined);
  assert.match(diffs["GEMINI.md"] ?? "", /^\+ 1\n[^]*\n\+ 40\n… 60 more lines$/);
  const shown = fileChangeSentence(sandbox.fileChanges().find(({ path }) => path.endsWith("/AGENTS.md"))!);
  assert.match(shown, /which agents would act on\. [^\n]*\n {2}- two\n {2}\+ 2\n {2}\+ /);
  assert.ok(!shown.includes("\x1b"));
});

test("a command cannot hide a change behind many other watched files", async (root) => {
  plant(root, "project/.npmrc", "project/.zed/x");
  const sandbox = projectSandbox(root);
  await runInside(
    sandbox,
    "mkdir .agents; for i in $(seq 1100); do echo x > .agents/$i; done; echo x > .yarnrc.yml; echo x > .npmrc",
  );
  const found = changes(root, sandbox);
  assert.ok(found.includes("made project/.yarnrc.yml"));
  assert.ok(found.includes("changed project/.npmrc"));
  assert.ok(found.includes("made project/.agents"), "the files that are not compared one by one");
  const before = sandbox.fileChanges().length;
  await runInside(sandbox, "echo y > .yarnrc.yml");
  assert.ok(changes(root, sandbox).slice(before).includes("changed project/.yarnrc.yml"));
});

Deno.test("a path is watched if its file names match the list: one row per condition", () => {
  const watched = (path: string) => obeyedBy(path, "/home/me") !== null;
  const paths = [
    "/w/.npmrc",
    "/w/.cargo/config.toml",
    "/w/x.code-workspace",
    "/w/sub/.envrc",
    "/home/me/.config/pip/pip.conf",
  ];
  for (const path of paths) {
    assert.ok(watched(path), path);
  }
  const rows = [
    ...[
      "/w/npmrc",
      "/w/.npmrc2",
      "/w/x.npmrc",
      "/w/.cargo/x",
      "/w/.cargo",
      "/w/code-workspace",
      "/w/x.code-workspaces",
    ],
    ...["/w/.config/pip/pip.conf", "/home/other/.config/gdb/x", "/w/src/main.ts", "/"],
  ];
  for (const path of rows) assert.ok(!watched(path), path);
});

test("after each command, flemma reports exactly the watched files that were created, changed or removed, at any depth", async (root) => {
  plant(
    root,
    "project/.npmrc",
    "project/.cargo/config.toml",
    "project/sub/.tool-versions",
    "project/.claude/a/b",
  );
  plant(root, "project/plain");
  const sandbox = projectSandbox(root);
  await runInside(sandbox, "cat .npmrc; touch .npmrc; echo x > plain; echo x > .cargo/other");
  assert.deepEqual(changes(root, sandbox), []);
  await runInside(
    sandbox,
    "echo x >> .npmrc; rm .cargo/config.toml; echo x > a.code-workspace; echo x > sub/.tool-versions; mkdir -p sub/.vscode; echo x > sub/.vscode/tasks.json; echo x > .claude/a/c",
  );
  assert.deepEqual(changes(root, sandbox), [
    "removed project/.cargo/config.toml",
    "made project/.claude/a/c",
    "changed project/.npmrc",
    "made project/a.code-workspace",
    "changed project/sub/.tool-versions",
    "made project/sub/.vscode/tasks.json",
  ]);
  await runInside(sandbox, "echo y > plain");
  assert.equal(sandbox.fileChanges().length, 6);
  assert.deepEqual(sandbox.notices(), []);
});

test("a changed mode or link target counts as a change, and also new content of the same length and time", async (root) => {
  plant(root, "project/.npmrc", "project/.yarnrc", "project/.mcp.json -> plain", "project/plain");
  const sandbox = projectSandbox(root);
  await runInside(
    sandbox,
    "chmod +x .npmrc; ln -sfn other .mcp.json; touch -r .yarnrc t; printf 'TEXT of project/.yarnrc\\n' > .yarnrc; touch -r t .yarnrc",
  );
  assert.deepEqual(changes(root, sandbox), [
    "changed project/.mcp.json",
    "changed project/.npmrc",
    "changed project/.yarnrc",
  ]);
});

test("files in the home folder are watched only if commands can write there", async (root) => {
  plant(root, "project/", "home/.tool-versions");
  const sandbox = projectSandbox(root, { policy: { rw_paths: ["urn:flemma:cwd", "~"] } });
  await runInside(sandbox, "echo x > ~/.tool-versions; echo x > ~/.pdbrc");
  assert.deepEqual(changes(root, sandbox), ["made home/.pdbrc", "changed home/.tool-versions"]);
});

test("changes of $shell files in the home folder are reported, or undone if a policy protects these files", async (root) => {
  plant(root, "project/", "home/.npmrc");
  const rw_paths = ["urn:flemma:cwd", "~"];
  const shell = "echo x > ~/.npmrc; mkdir -p ~/.config/pip; echo x > ~/.config/pip/pip.conf";
  const retained = projectSandbox(root, { policy: { rw_paths } });
  await runInside(retained, shell);
  assert.deepEqual(changes(root, retained), []);
  assert.ok(retained.notices().some(({ code }) => code === "protected-path-appeared"));
  const left = projectSandbox(root, { policy: { rw_paths, protect: ["$git", "$project", "$data"] } });
  await runInside(left, shell);
  assert.deepEqual(changes(root, left), ["made home/.config/pip/pip.conf", "changed home/.npmrc"]);
  assert.ok(left.notices().every(({ code }) => code !== "protected-path-appeared"));
});

test("if git could not check out a protected file that it tracks, the command's result names the file", async (root) => {
  const project = `${root}/project`;
  plant(root, "project/.vscode/settings.json", "project/.envrc", "project/f");
  git(project, "init", "-q", "-b", "main");
  git(project, "add", ".");
  git(project, "commit", "-qm", "one");
  git(project, "checkout", "-qb", "other");
  Deno.writeTextFileSync(`${project}/.envrc`, "other");
  Deno.writeTextFileSync(`${project}/f`, "other");
  git(project, "commit", "-qam", "two");
  const sandbox = projectSandbox(root);
  const note = async (shell: string) => {
    const prepared = await sandbox.prepare(["/bin/sh", "-c", `exec 2>&1; ${shell}`]);
    assert.ok(prepared.ok);
    try {
      const [program = "", ...args] = prepared.value.argv;
      const { stdout } = await new Deno.Command(program, { args, cwd: project, stdin: "null" }).output();
      return prepared.value.note?.(new TextDecoder().decode(stdout)) ?? null;
    } finally {
      await prepared.value.dispose();
    }
  };
  assert.equal(await note("echo x > f; git add f; git status"), null);
  assert.match(
    await note("git checkout -q main -- . || git reset -q --hard main") ?? "",
    /protects \S+\/\.envrc, which git tracks/,
  );
  assert.equal(await note("cat .envrc"), null);
  // The running document can be committed although commands cannot write it.
  Deno.writeTextFileSync(`${project}/notes.chat`, "more\n");
  const as = "-c user.name=a -c user.email=a@example.org";
  assert.equal(await note(`git add -A && git ${as} commit -qm all`), null);
  Deno.writeTextFileSync(`${project}/notes.chat`, "even more\n");
  assert.equal(await note(`git ${as} commit -qam all`), null);
});

Deno.test("a file that git could not change in the sandbox is found by the index or by git's message: one row per condition", () => {
  const retained = new Map([["/w/.envrc", "1"], ["/w/.vscode/a", "2"]]);
  const reported = (after: [string, string][], output = "", isAsIndexed = false) =>
    notChanged(retained, new Map(after), output, () => isAsIndexed);
  assert.deepEqual(reported([...retained]), []);
  assert.deepEqual(reported([["/w/.envrc", "3"], ["/w/.vscode/a", "2"]]), ["/w/.envrc"], "other content");
  assert.deepEqual(
    reported([["/w/.envrc", "3"], ["/w/.vscode/a", "2"]], "", true),
    [],
    "git took it from the file",
  );
  assert.deepEqual(reported([["/w/.vscode/a", "2"]]), ["/w/.envrc"], "no longer tracked");
  assert.deepEqual(reported([["/w/.vscode/a", "2"]], "", true), ["/w/.envrc"], "no longer tracked");
  assert.deepEqual(reported([...retained, ["/w/.vscode/b", "4"]]), ["/w/.vscode/b"], "newly kept");
  assert.deepEqual(reported([...retained], "error: unable to unlink old '.envrc': Device or resource busy"), [
    "/w/.envrc",
  ]);
  assert.deepEqual(reported([...retained], "unable to unlink old 'x'"), [], "about another file");
  assert.deepEqual(reported([...retained], "cat .envrc: fine"), [], "no refusal");
});

test("flemma caches the content of git's index until the index or the protected paths change", (root) => {
  const project = `${root}/project`;
  plant(root, "project/a/x", "project/b");
  git(project, "init", "-q");
  git(project, "add", ".");
  const tracked = new TrackedGuard([project, `${project}/a`]);
  const keys = (retained: string[]) => [...tracked.now(retained).keys()].sort();
  const now = Date.now;
  for (const age of [0, 60_000]) {
    Date.now = () => now() + age;
    try {
      for (let time = 0; time < 2; time++) {
        assert.deepEqual(keys([`${project}/b`]), [`${project}/b`]);
        assert.deepEqual(keys([`${project}/a`, `${project}/b`]), [`${project}/a/x`, `${project}/b`]);
        assert.deepEqual(keys([]), []);
      }
      plant(root, `project/new${age}`);
      git(project, "add", ".");
      assert.deepEqual(keys([`${project}/new${age}`]), [`${project}/new${age}`]);
    } finally {
      Date.now = now;
    }
  }
  const below = new TrackedGuard([`${project}/a`]).now([`${project}/b`]);
  assert.deepEqual([...below.keys()], [`${project}/b`], "the repository around a folder");
  assert.deepEqual([...new TrackedGuard([root]).now([root])], [], "no repository");
});

// Settings of git that one command removes and a later one adds again, in the same run and in the next one.

import assert from "node:assert/strict";
import { RemovedSettings } from "../../../sandbox/git/removed_settings.ts";
import { git, plant, projectSandbox, runInside, world } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

const ORIGIN = "https://h.example/o";
const EVIL = "https://evil.example/x";

/** A repository whose branch `main` tracks `origin`, with a submodule `s` and an address for pushes. */
function project(root: string): void {
  plant(root, "project/file");
  const here = `${root}/project`;
  git(here, "init", "-q", "-b", "main");
  git(here, "add", "file");
  git(here, "commit", "-qm", "one");
  git(here, "remote", "add", "origin", ORIGIN);
  for (
    const [key, value] of [
      ["remote.origin.pushurl", `${ORIGIN}/push`],
      ["branch.main.remote", "origin"],
      ["branch.main.merge", "refs/heads/main"],
      ["submodule.s.url", `${ORIGIN}/s`],
      ["submodule.s.active", "true"],
    ] as const
  ) git(here, "config", key, value);
}

/** The setting, the commands one after another, its value after them, and the values that are reported. */
type Row = readonly [
  name: string,
  key: string,
  commands: readonly string[],
  value: string,
  reported: RegExp | null,
];

const AWAY = "git branch -m main tmp";
const BACK = "git branch -m tmp main";

const ROWS: readonly Row[] = [
  [
    "a branch that is renamed back and gets another remote",
    "branch.main.remote",
    [
      AWAY,
      `${BACK}; git remote add evil ${EVIL}; git config branch.main.remote evil`,
    ],
    "origin",
    /branch\.main\.remote was changed to evil and is origin again/,
  ],
  [
    "a branch that gets another remote after a third command",
    "branch.main.remote",
    [
      AWAY,
      "git branch main; git branch -D tmp -q || true",
      `git remote add evil ${EVIL}; git config branch.main.remote evil`,
    ],
    "origin",
    /branch\.main\.remote was changed to evil and is origin again/,
  ],
  ["a branch that is renamed back", "branch.main.remote", [AWAY, BACK], "origin", null],
  [
    "a branch that is renamed twice and back",
    "branch.main.remote",
    [
      AWAY,
      "git branch -m tmp more",
      "git branch -m more main",
    ],
    "origin",
    null,
  ],
  [
    "a branch that gets a remote for pushes when it is renamed back",
    "branch.main.remote",
    [
      AWAY,
      `${BACK}; git remote add evil ${EVIL}; git config branch.main.pushRemote evil`,
    ],
    "origin",
    /branch\.main\.pushremote = evil was taken out/,
  ],
  [
    "a submodule that is added again with another address",
    "submodule.s.url",
    [
      "git config --remove-section submodule.s",
      `git config submodule.s.url ${EVIL}`,
    ],
    `${ORIGIN}/s`,
    /submodule\.s\.url was changed to .*evil.* and is .*\/o\/s again/,
  ],
  [
    "a submodule of which only the address is removed",
    "submodule.s.url",
    [
      "git config --unset submodule.s.url",
      "git config submodule.s.active false",
      `git config submodule.s.url ${EVIL}`,
    ],
    `${ORIGIN}/s`,
    /submodule\.s\.url was changed to .*evil.* and is .*\/o\/s again/,
  ],
  [
    "a submodule that is added again",
    "submodule.s.url",
    [
      "git config --remove-section submodule.s",
      `git config submodule.s.url ${ORIGIN}/s`,
    ],
    `${ORIGIN}/s`,
    null,
  ],
  [
    "a remote that is added again with another address",
    "remote.origin.url",
    [
      "git remote remove origin",
      `git remote remove origin; git remote add origin ${EVIL}`,
    ],
    ORIGIN,
    /remote\.origin\.url was changed to .*evil.* and is .*\/o again/,
  ],
  [
    "an address for pushes that is added again with another value",
    "remote.origin.pushurl",
    [
      "git config --unset remote.origin.pushurl",
      `git config remote.origin.pushurl ${EVIL}`,
    ],
    `${ORIGIN}/push`,
    /remote\.origin\.pushurl was changed to .*evil.* and is .*\/push again/,
  ],
];

for (const [name, key, commands, value, reported] of ROWS) {
  for (const runs of ["one run", "several runs"]) {
    test(`${name} ${reported ? "is put back and reported" : "stays"} in ${runs}`, async (root) => {
      project(root);
      let sandbox = projectSandbox(root);
      const messages: string[] = [];
      for (const command of commands) {
        await runInside(sandbox, command);
        messages.push(...sandbox.notices().map(({ message }) => message));
        if (runs !== "one run") sandbox = projectSandbox(root);
      }
      assert.equal(git(`${root}/project`, "config", key), `${value}\n`);
      if (reported === null) assert.deepEqual(messages, []);
      else assert.match(messages.join("\n"), reported);
    });
  }
}

/** Commands that take a git folder away, and then put it back with another address. */
const MOVED: readonly (readonly [name: string, away: string, back: string])[] = [
  ["is moved away and back", "mv .git g", `git --git-dir=g config remote.origin.url ${EVIL}; mv g .git`],
  ["is copied and removed", "cp -r .git g; rm -rf .git", `sed -i 's#/o$#/evil#' g/config; mv g .git`],
  ["is replaced by a new one", "rm -rf .git", `git init -q; git remote add origin ${EVIL}`],
];

for (const [name, away, back] of MOVED) {
  for (const runs of ["one command", "one run", "several runs"]) {
    test(`a git folder that ${name} keeps its addresses in ${runs}`, async (root) => {
      project(root);
      // A missing folder of hooks is not mounted, so the git folder can be moved.
      Deno.removeSync(`${root}/project/.git/hooks`, { recursive: true });
      let sandbox = projectSandbox(root);
      const messages: string[] = [];
      for (const command of runs === "one command" ? [`${away}; ${back}`] : [away, back]) {
        await runInside(sandbox, command);
        messages.push(...sandbox.notices().map(({ message }) => message));
        if (runs === "several runs") sandbox = projectSandbox(root);
      }
      assert.equal(git(`${root}/project`, "config", "remote.origin.url"), `${ORIGIN}\n`);
      assert.match(messages.join("\n"), /remote\.origin\.url was changed to .*evil.* and is .*\/o again/);
    });
  }
}

test("a value that the person gave a setting since then replaces the removed one", async (root) => {
  project(root);
  const sandbox = projectSandbox(root);
  await runInside(sandbox, "git config --remove-section submodule.s");
  git(`${root}/project`, "config", "submodule.s.url", EVIL);
  await runInside(sandbox, "git config --remove-section submodule.s");
  await runInside(sandbox, `git config submodule.s.url ${EVIL}`);
  assert.deepEqual(sandbox.notices(), []);
});

test("a list of removed settings that cannot be used is reported, and an incomplete line is skipped", (root) => {
  const environment = world(root);
  const list = new RemovedSettings(environment);
  list.add("/a/config", new Map([["submodule.s.url", ["x"]]]));
  assert.equal(list.problem, null);
  const [file] = [...walk(root)].filter((path) => path.endsWith("/removed-settings"));
  Deno.writeTextFileSync(file!, '["/a/config","submodule.t', { append: true });
  const again = new RemovedSettings(environment);
  assert.deepEqual([...again.of("/a/config")], [["submodule.s.url", ["x"]]]);
  Deno.removeSync(file!);
  Deno.mkdirSync(file!);
  const broken = new RemovedSettings(environment);
  assert.equal(broken.problem?.code, "repositories-not-remembered");
});

function* walk(folder: string): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    yield `${folder}/${name}`;
    if (isDirectory) yield* walk(`${folder}/${name}`);
  }
}

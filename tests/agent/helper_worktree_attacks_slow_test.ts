// Worktrees as attackers would use them: commands that redirect git, repositories of other shapes, and what git would run.

import assert from "node:assert/strict";
import { advance, ask, modelOf, resultIn } from "./helpers.ts";
import { inPlace, type Place } from "./place.ts";
import { git, gitIn, inTree, repository, start, treeOf, TREES, working } from "./worktrees.ts";

/** What git runs and obeys in a repository, with its content. */
function obeyed(place: Place): string {
  const own = ["HEAD", "commondir", "config.worktree"].map((name) => `worktrees/one/${name}`);
  const files = ["config", "hooks", "HEAD", "refs/heads/main", "index", ...own];
  const show =
    'for f; do test -d "$f" && ls -la --time-style=+ "$f" | grep -v total || { echo "$f:"; cat "$f"; }; done';
  const { stdout } = new Deno.Command("sh", { args: ["-c", show, "sh", ...files], cwd: place.path(".git") })
    .outputSync();
  // Without settings in `config.worktree`, this one changes nothing.
  return new TextDecoder().decode(stdout).replace("[extensions]\n\tworktreeConfig = true\n", "");
}

const ATTACKS: readonly (readonly [what: string, command: string])[] = [
  ["the .git file is overwritten", "echo gitdir: /tmp/evil > .git"],
  ["the .git file is replaced by a link", "ln -sfn /tmp/evil .git"],
  ["the .git file is replaced by a folder", "rm -f .git; mkdir .git; git init -q ."],
  ["the .git file is moved away", "mv .git other"],
  [
    "a hook in the shared git folder",
    "printf '#!/bin/sh\\n' > $COMMON/hooks/post-commit; chmod +x $COMMON/hooks/post-commit",
  ],
  ["a hook by configuration", "git config core.hooksPath /tmp/evil"],
  ["a filter by configuration", "git config filter.x.clean 'touch /tmp/evil'"],
  [
    "settings of the worktree",
    "git config extensions.worktreeConfig true; git config --worktree core.fsmonitor /tmp/evil",
  ],
  ["config.worktree by hand", "printf '[core]\\n\\tfsmonitor = /tmp/evil\\n' > $OWN/config.worktree"],
  ["another common folder", "echo /tmp/evil > $OWN/commondir"],
  ["another place of the worktree", "echo $PROJECT/.git > $OWN/gitdir"],
  [
    "the HEAD of the project",
    "echo 1234567890123456789012345678901234567890 > $COMMON/HEAD",
  ],
  [
    "the branch of the project, moved",
    "git commit -q --allow-empty -m x; git update-ref refs/heads/main HEAD",
  ],
  ["the branch of the project, deleted", "git update-ref -d refs/heads/main"],
  ["the branch of the project, checked out", "git checkout -q main"],
  ["the index of the project", "echo x > $COMMON/index"],
  ["a file of the project", "echo x > $PROJECT/a.txt"],
  ["the document that asked", "echo x >> $PROJECT/notes.chat"],
  ["its own document", "echo x >> $PROJECT/notes.chat.d/one.chat"],
  ["the state of flemma", "echo x > $STATE/flemma/worktrees/x.json"],
  ["a second worktree from the project's folder", "mkdir ../two"],
];

Deno.test("commands in a worktree cannot redirect git, nor write what the project's git runs", async (t) => {
  for (const [what, command] of ATTACKS) {
    await t.step(what, () =>
      inPlace(async (place) => {
        repository(place);
        const project = place.path("").replace(/\/$/, "");
        const variables =
          `PROJECT=${project} COMMON=${project}/.git OWN=${project}/.git/worktrees/one STATE=${place.folder}/state; `;
        // The first command does nothing, so the state before the attack is known.
        let before = "";
        const model = working([inTree("call_1", "one")], { one: ["true", `${variables}${command}`] });
        const watching = {
          fetch: (input: Request | URL | string, init?: RequestInit) => {
            if (before === "" && model.asked.length === 2) before = obeyed(place);
            return model.fetch(input, init);
          },
        };
        await advance(place, "notes.chat", watching);
        const text = place.read("notes.chat.d/one.chat");
        assert.match(resultIn(place.read("notes.chat"), "call_1"), /Branch: flemma\/one/, text);
        assert.notEqual(before, "");
        assert.equal(obeyed(place), before, text);
        const tree = treeOf(place, "one");
        assert.equal(Deno.readTextFileSync(`${tree}/.git`), `gitdir: ${project}/.git/worktrees/one\n`, text);
        assert.equal(git(place, "status", "--porcelain", "--", ":(exclude)notes.*"), "");
        assert.equal(gitIn(tree, "branch", "--show-current"), "flemma/one");
        assert.equal(git(place, "branch", "--show-current"), "main");
        assert.ok(!place.read("notes.chat").endsWith("x\n"));
      }));
  }
});

Deno.test("repositories of other shapes: a submodule, a linked worktree, packed branches, a link on the way", async (t) => {
  const shapes: readonly (readonly [what: string, make: (place: Place) => void])[] = [
    ["a submodule", (place) => {
      start(`${place.folder}/library`);
      start(`${place.folder}/outer`);
      gitIn(`${place.folder}/outer`, "submodule", "add", "-q", `${place.folder}/library`, "inner");
      Deno.removeSync(`${place.folder}/place`);
      Deno.symlinkSync(`${place.folder}/outer/inner`, `${place.folder}/place`);
    }],
    ["a linked worktree", (place) => {
      start(`${place.folder}/first`);
      gitIn(`${place.folder}/first`, "worktree", "add", "-q", "-b", "second", place.path("."));
    }],
    ["packed branches", (place) => {
      start(place.path("."));
      git(place, "pack-refs", "--all");
    }],
    ["a detached HEAD", (place) => {
      start(place.path("."));
      git(place, "checkout", "-q", "--detach");
    }],
  ];
  for (const [what, make] of shapes) {
    await t.step(what, () =>
      inPlace(async (place) => {
        place.settings(TREES);
        make(place);
        git(place, "config", "user.name", "x");
        git(place, "config", "user.email", "x@x");
        place.write("notes.chat", "@You:\nAsk somebody.\n");
        const head = git(place, "rev-parse", "HEAD");
        const model = working([inTree("call_1", "one")], {
          one: ["echo x > x.txt && git add x.txt && git commit -qm x"],
        });
        assert.equal((await advance(place, "notes.chat", model)).reason, "done");
        const text = place.read("notes.chat");
        assert.match(resultIn(text, "call_1"), /^Done one\.\n\nBranch: flemma\/one\n/, text);
        assert.equal(git(place, "show", "flemma/one:x.txt"), "x", place.read("notes.chat.d/one.chat"));
        assert.equal(git(place, "rev-parse", "HEAD"), head);
      }));
  }
});

Deno.test("git runs no hook and no filter when it makes a worktree", () =>
  inPlace(async (place) => {
    repository(place);
    place.settings(`${TREES}sandbox: false\n`);
    const touch = (name: string) => `sh -c 'touch ${place.folder}/${name}; cat'`;
    git(place, "config", "filter.x=y.smudge", touch("smudge"));
    git(place, "config", "filter.x=y.clean", touch("clean"));
    git(place, "config", "filter.x=y.required", "true");
    git(place, "config", "core.fsmonitor", touch("fsmonitor"));
    Deno.writeTextFileSync(place.path(".git/info/attributes"), "* filter=x=y\n");
    Deno.writeTextFileSync(
      place.path(".git/hooks/post-checkout"),
      `#!/bin/sh\ntouch ${place.folder}/hook\n`,
      { mode: 0o755 },
    );
    const { reason } = await advance(place, "notes.chat", working([inTree("call_1", "one")], { one: [] }));
    assert.equal(reason, "done");
    assert.match(resultIn(place.read("notes.chat"), "call_1"), /Branch: flemma\/one/);
    assert.equal(Deno.readTextFileSync(`${treeOf(place, "one")}/a.txt`), "a\n");
    for (const name of ["smudge", "clean", "fsmonitor", "hook"]) {
      assert.throws(() => Deno.lstatSync(`${place.folder}/${name}`), Deno.errors.NotFound, name);
    }
  }));

Deno.test("a helper that fails or is canceled keeps its worktree, and the next question works there", () =>
  inPlace(async (place) => {
    repository(place);
    const stopping = new AbortController();
    const first = working([inTree("call_1", "one")], { one: ["echo kept > kept.txt", "true"] });
    const cancel = {
      fetch: (input: Request | URL | string, init?: RequestInit) => {
        if (first.asked.length === 2) stopping.abort();
        return first.fetch(input, init);
      },
    };
    const { reason } = await advance(place, "notes.chat", cancel, { signal: stopping.signal });
    assert.equal(reason, "cancelled");
    assert.equal(Deno.readTextFileSync(`${treeOf(place, "one")}/kept.txt`), "kept\n");
    assert.match(
      resultIn(place.read("notes.chat"), "call_1"),
      /has changes that are not in a commit\.\nBranch: flemma\/one\n/,
    );
    Deno.writeTextFileSync(
      place.path("notes.chat"),
      `${place.read("notes.chat").trimEnd()}\n\n@You:\nAsk again.\n`,
    );
    const again = modelOf(({ first, last }) =>
      first.includes("Ask somebody")
        ? last.includes("tool_result") && !last.includes("Ask again")
          ? ["All done."]
          : [ask("call_2", "Task two.", { document: "one" })]
        : last.includes("Task two.")
        ? [["call_cat", "bash", { label: "x", command: "cat kept.txt", timeout: null }]]
        : ["Done two."]
    );
    await advance(place, "notes.chat", again);
    assert.match(
      resultIn(place.read("notes.chat"), "call_2"),
      /^Done two\.\n\nThe worktree .*\nBranch: flemma\/one\n/,
    );
    assert.equal(resultIn(place.read("notes.chat.d/one.chat"), "call_cat"), "kept");
    assert.equal(gitIn(place.path("."), "worktree", "list").split("\n").length, 2);
  }));

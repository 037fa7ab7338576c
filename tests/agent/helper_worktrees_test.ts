// Helpers in git worktrees of their own: what they can write, what the result says, and what is left.

import assert from "node:assert/strict";
import { advance, modelOf, resultIn } from "./helpers.ts";
import { inPlace, type Place } from "./place.ts";
import { git, gitIn, inTree, repository, treeOf, TREES, working } from "./worktrees.ts";

Deno.test("helpers work and commit in worktrees of their own, and the results name the branches", () =>
  inPlace(async (place) => {
    repository(place);
    const commit = (name: string) => `echo ${name} > ${name}.txt && git add -A && git commit -qm ${name}`;
    const model = working([inTree("call_1", "one"), inTree("call_2", "two")], {
      one: [commit("one"), `echo bad > ${place.path("stray.txt")}`],
      two: [commit("two"), "echo more > more.txt"],
    });
    assert.equal((await advance(place, "notes.chat", model)).reason, "done");
    const text = place.read("notes.chat");
    const two = treeOf(place, "two");
    assert.equal(
      resultIn(text, "call_1"),
      "Done one.\n\nBranch: flemma/one\nHelper: one (notes.chat.d/one.chat)",
    );
    assert.equal(
      resultIn(text, "call_2"),
      `Done two.\n\nThe worktree ${two} has changes that are not in a commit.\n` +
        "Branch: flemma/two\nHelper: two (notes.chat.d/two.chat)",
    );
    assert.match(place.read("notes.chat.d/one.chat"), /stray\.txt: Read-only file system/);
    assert.equal(git(place, "status", "--short", "--", ":(exclude)notes.*"), "");
    assert.equal(git(place, "show", "flemma/one:one.txt"), "one");
    assert.equal(git(place, "show", "flemma/two:two.txt"), "two");
    assert.equal(git(place, "branch", "--show-current"), "main");
    assert.equal(git(place, "log", "--format=%s", "main"), "start");
    assert.equal(Deno.readTextFileSync(`${two}/more.txt`), "more\n");
    const [one, other] = model.asked.filter(({ first }) => /Task \w+\./.test(first));
    assert.deepEqual([one!.system, one!.tools], [other!.system, other!.tools], "helpers share a prefix");
  }));

Deno.test("a question is refused where no worktree is possible, and nothing is made", async (t) => {
  const rows: readonly [string, (place: Place) => string | void, RegExp][] = [
    [
      "no repository",
      (place) => place.write("notes.chat", "@You:\nAsk somebody.\n"),
      /not in the working tree of a git/,
    ],
    ["a repository without commits", (place) => {
      git(place, "init", "-q");
      place.write("notes.chat", "@You:\nAsk somebody.\n");
    }, /The repository has no commit yet\./],
    ["a folder that no commit has", (place) => {
      repository(place);
      Deno.mkdirSync(place.path("new"));
      place.write("new/notes.chat", "@You:\nAsk somebody.\n");
      return "new/notes.chat";
    }, /The last commit has no folder .*\/new\./],
    ["a preset of the document itself", (place) => {
      repository(place);
      place.settings("tools: { $append: [ask_document], auto_approve: [$default, ask_document] }\n");
      place.write(
        "notes.chat",
        "```yaml\nflemma: { presets: { $tree: { worktree: true } } }\n```\n\n@You:\nAsk somebody.\n",
      );
    }, /There is no preset "\$tree"\. The user has no presets/],
    ["a repository of the home folder", (place) => {
      repository(place);
      Deno.removeSync(place.path(".git"), { recursive: true });
      gitIn(place.folder, "init", "-q", "-b", "main");
      gitIn(place.folder, "add", "place/a.txt");
      gitIn(place.folder, "commit", "-qm", "all");
    }, /contains the home folder/],
    ["a branch named flemma", (place) => {
      repository(place);
      git(place, "branch", "flemma");
    }, /Git cannot make the worktree: .*refs\/heads\/flemma/],
  ];
  for (const [what, prepare, expected] of rows) {
    await t.step(what, () =>
      inPlace(async (place) => {
        place.settings(TREES);
        const name = prepare(place) ?? "notes.chat";
        const model = working([inTree("call_1", "one")], { one: ["echo hi"] });
        await advance(place, name, model);
        assert.match(resultIn(place.read(name), "call_1"), expected);
        assert.equal(model.asked.length, 2, "the helper asked nothing");
      }));
  }
});

Deno.test("the worktree has the last commit; a result says that other changes are not in it", () =>
  inPlace(async (place) => {
    repository(place);
    place.write("a.txt", "changed\n");
    place.write("new.txt", "new\n");
    git(place, "branch", "flemma/one");
    const status = () => git(place, "status", "--porcelain", "--", ":(exclude)notes.*");
    const before = status();
    const model = working([inTree("call_1", "one")], { one: ["cat a.txt; ls"] });
    await advance(place, "notes.chat", model);
    assert.match(
      resultIn(place.read("notes.chat"), "call_1"),
      /^Done one\.\n\nChanges of the project that are not in a commit were not in it\.\nBranch: flemma\/one-2\n/,
    );
    assert.match(place.read("notes.chat.d/one.chat"), /```\na\na\.txt\nsub\n```/);
    assert.equal(status(), before);
    assert.equal(place.read("a.txt"), "changed\n");
  }));

Deno.test("a helper works in the same folder of the repository, below the same settings and rules", () =>
  inPlace(async (place) => {
    repository(place);
    place.settings(
      `${TREES}sandbox: { policy: { rw_paths: [urn:flemma:cwd] } }\ntrust: { documents: always }\n`,
    );
    place.write(
      "sub/notes.chat",
      "```yaml\nflemma: { tools: { rules: [{ deny: write, path: b.txt }] } }\n```\n\n@You:\nAsk somebody.\n",
    );
    const write = (id: string, path: string) => [id, "write", { label: "w", path, content: "x" }] as const;
    const model = modelOf(({ first, last }) =>
      first.includes("Ask somebody")
        ? last.includes("tool_result") ? ["All done."] : [inTree("call_1", "one")]
        : last.includes("tool_result")
        ? ["Done."]
        : [
          write("w_1", "b.txt"),
          write("w_2", "c.txt"),
          write("w_3", place.path("sub/b.txt")),
          write("w_4", place.path("sub/c.txt")),
        ]
    );
    const { reason, events } = await advance(place, "sub/notes.chat", model);
    const helper = place.read("sub/notes.chat.d/one.chat");
    assert.equal(reason, "done", JSON.stringify(events) + helper);
    assert.match(resultIn(helper, "w_1"), /denied/i);
    assert.equal(Deno.readTextFileSync(`${treeOf(place, "one")}/sub/c.txt`), "x");
    assert.match(resultIn(helper, "w_3"), /denied/i);
    assert.match(resultIn(helper, "w_4"), /tools may not write to/);
  }));

// `flemma subagents`: what it lists, and that it removes only what is allowed.

import assert from "node:assert/strict";
import { type CleanChoice, decideCleaning } from "../../agent/runtime/helpers/cleaning.ts";
import type { HelperState, WorktreeState } from "../../agent/runtime/helpers/cleaning.ts";
import { startReplay } from "../../providers/replay/server.ts";
import { gitIn, start } from "../agent/worktrees.ts";
import { type Scene, withScene } from "./harness.ts";

const NONE: CleanChoice = { unmerged: false, documents: false, waiting: false };

Deno.test("only what is nowhere else, or waits, needs an option", () => {
  const rows: readonly [HelperState, WorktreeState | null, Partial<CleanChoice>, string, string][] = [
    ["idle", null, {}, "-", "-"],
    ["idle", null, { documents: true }, "removed", "-"],
    ["missing", "merged", { documents: true }, "-", "removed"],
    ["idle", "merged", {}, "-", "removed"],
    ["idle", "gone", {}, "-", "removed"],
    ["idle", "empty", {}, "-", "removed"],
    ["idle", "changed", {}, "-", "not in a commit"],
    ["idle", "unmerged", {}, "-", "no other branch"],
    ["idle", "unknown", {}, "-", "does not say"],
    ["idle", "changed", { unmerged: true }, "-", "removed"],
    ["idle", "unmerged", { unmerged: true }, "-", "removed"],
    ["idle", "unknown", { unmerged: true }, "-", "does not say"],
    ["idle", "unmerged", { documents: true }, "worktree stays", "no other branch"],
    ["waits", "merged", { documents: true, unmerged: true }, "waits for you", "waits for you"],
    ["waits", "merged", { documents: true, waiting: true }, "removed", "removed"],
    ["waits", "changed", { waiting: true }, "-", "not in a commit"],
    ["running", "merged", { documents: true, unmerged: true, waiting: true }, "a run uses", "a run uses"],
  ];
  for (const [state, worktree, choice, document, tree] of rows) {
    const decided = decideCleaning({ state, worktree }, { ...NONE, ...choice });
    const word = (part: { keep: string | null } | null) => part === null ? "-" : part.keep ?? "removed";
    const row = JSON.stringify([state, worktree, choice]);
    assert.ok(word(decided.document).includes(document), `${row}: ${word(decided.document)}`);
    assert.ok(word(decided.worktree).includes(tree), `${row}: ${word(decided.worktree)}`);
  }
});

const SETTINGS =
  `tools: { $append: [ask_document], auto_approve: [$default, ask_document], rules: [{ ask: bash, command: [touch **] }] }
presets: { $tree: { worktree: true } }
`;

const asking = (name: string) => ({
  tool_use: {
    id: `call_${name}`,
    name: "ask_document",
    input: { question: `Task ${name}.`, document: null, name, preset: "$tree", files: null },
  },
});
const bash = (id: string, command: string) => ({
  tool_use: { id, name: "bash", input: { label: "x", command, timeout: null } },
});
const NAMES = ["merged", "open", "dirty", "waits"];
const COMMANDS: Readonly<Record<string, string>> = {
  merged: "echo 1 > 1 && git add 1 && git commit -qm 1",
  open: "echo 2 > 2 && git add 2 && git commit -qm 2",
  dirty: "echo 3 > 3",
};

/** Lets helpers work in worktrees; one of them waits. */
async function work(place: Scene, names: readonly string[] = NAMES): Promise<string> {
  start(place.path("."));
  place.settings(SETTINGS);
  place.write("notes.chat", "@You:\nAsk them.\n");
  await using model = await startReplay({
    order: "any",
    replies: [
      { expect: { user: { contains: "Ask them" } }, reply: names.map(asking) },
      ...Object.keys(COMMANDS).map((name) => ({
        expect: { results: { [`run_${name}`]: { is_error: false } } },
        reply: [{ text: `Done ${name}.` }],
      })),
      ...Object.entries(COMMANDS).map(([name, command]) => ({
        expect: { user: { contains: `Task ${name}.` } },
        reply: [bash(`run_${name}`, command)],
      })),
      {
        expect: { user: { contains: "Task waits." } },
        reply: [bash("w1", "touch x")],
      },
    ],
  });
  const env = { FLEMMA_ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "replay" };
  const done = await place.run(["advance", "notes.chat"], { env });
  assert.equal(done.code, 3, `${done.stderr}\n${place.read("notes.chat")}`);
  const base = `${place.path("../home/.local/share/flemma/worktrees")}`;
  const [repository] = [...Deno.readDirSync(base)];
  return `${await Deno.realPath(base)}/${repository!.name}`;
}

Deno.test("list names documents and worktrees; clean shows first, and keeps work that is nowhere else", () =>
  withScene(async (place) => {
    const trees = await work(place);
    const git = (...args: string[]) => gitIn(place.path("."), ...args);
    git("merge", "-q", "flemma/merged");
    const listed = JSON.parse((await place.run(["subagents", "list", "notes.chat", "--json"])).stdout);
    const states = Object.fromEntries(
      listed.helpers.map((
        each: { name: string; state: string; worktree: { state: string } },
      ) => [each.name, [each.state, each.worktree.state]]),
    );
    assert.deepEqual(states, {
      dirty: ["idle", "changed"],
      merged: ["idle", "merged"],
      open: ["idle", "unmerged"],
      waits: ["waits", "merged"],
    });
    const text = (await place.run(["subagents", "list"])).stdout;
    assert.match(text, /^merged {2}idle\n {4}.*notes\.chat\.d\/merged\.chat\n {4}asked by .*notes\.chat\n/m);
    const preview = await place.run(["subagents", "clean"]);
    assert.match(
      preview.stdout,
      new RegExp(`^would remove  worktree ${trees}/merged, branch flemma/merged$`, "m"),
    );
    assert.match(
      preview.stdout,
      new RegExp(`^keeps  ${trees}/open: its commits are in no other branch`, "m"),
    );
    assert.match(preview.stderr, /To remove it, add --yes/);
    assert.equal(git("worktree", "list").split("\n").length, 5);
    const cleaned = JSON.parse((await place.run(["subagents", "clean", "--yes", "--json"])).stdout);
    assert.deepEqual(cleaned.removed, [{
      what: "worktree",
      path: `${trees}/merged`,
      branch: "flemma/merged",
    }]);
    assert.equal(cleaned.kept.length, 3);
    assert.deepEqual(names(trees), ["dirty", "open", "waits"]);
    assert.equal(git("branch", "--list", "flemma/merged"), "");
    assert.equal(git("log", "--format=%s", "-1"), "1");
    const all = ["subagents", "clean", "notes.chat", "--yes", "--unmerged", "--documents"];
    const second = await place.run(all);
    assert.match(second.stdout, /^keeps .*waits\.chat: the helper waits for you/m);
    assert.deepEqual(names(trees), ["waits"]);
    assert.deepEqual(names(place.path("notes.chat.d")), ["waits.chat"]);
    assert.equal((await place.run([...all, "--waiting"])).code, 0);
    assert.deepEqual(names(trees), []);
    assert.equal(git("worktree", "list").split("\n").length, 1);
    assert.equal(git("branch", "--list", "flemma/*"), "");
    assert.match((await place.run(["subagents", "list"])).stderr, /There are no helpers/);
  }));

Deno.test("a worktree whose git data a command has changed is kept, and the file of no other folder is removed", () =>
  withScene(async (place) => {
    const trees = await work(place, ["merged", "waits"]);
    const git = (...args: string[]) => gitIn(place.path("."), ...args);
    git("merge", "-q", "flemma/merged");
    Deno.writeTextFileSync(place.path(".git/worktrees/merged/gitdir"), `${place.path("sub")}/.git\n`);
    const cleaned = JSON.parse((await place.run(["subagents", "clean", "--yes", "--json"])).stdout);
    assert.deepEqual(cleaned.removed, []);
    assert.deepEqual(names(trees), ["merged", "waits"]);
    assert.ok(place.exists("sub/b.txt"));
    assert.equal(git("rev-parse", "flemma/merged"), git("rev-parse", "main"));
  }));

function names(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

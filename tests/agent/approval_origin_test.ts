// Where an approval in the text was given: one row per condition.

import assert from "node:assert/strict";
import { doubtOf, doubtText, type GitFacts, type JournalFacts } from "../../agent/trust/approval_origin.ts";
import { mayBeTracked, readBatch } from "../../agent/trust/committed.ts";
import { newApprovals } from "../../agent/trust/other_documents.ts";
import { isSameConversation, turnsBefore } from "../../cycle/plan/conversation.ts";
import type { Approval } from "../../cycle/types.ts";
import { parse } from "../../parser/mod.ts";
import { inFolder } from "../folder.ts";

/** A call that waited here, in a document that git does not track. */
const WAITED: JournalFacts = {
  approved: false,
  waited: true,
  ran: false,
  written: null,
  predates: false,
  asked: {},
};

const UNTRACKED: GitFacts = { is: "untracked" };
const BROUGHT: GitFacts = { is: "tracked", approves: true };

interface Row {
  readonly what: string;
  readonly setting?: "here" | "anywhere" | "commands";
  readonly facts?: Partial<JournalFacts>;
  /** Null if git must not be asked. */
  readonly git?: GitFacts | null;
  readonly doubt: string | null;
}

const ROWS: readonly Row[] = [
  { what: "it waited here", doubt: null },
  { what: "it never waited here", facts: { waited: false }, git: null, doubt: "elsewhere" },
  { what: "a command approved it", facts: { waited: false, approved: true }, git: null, doubt: null },
  { what: "it ran", facts: { ran: true }, git: null, doubt: "ran" },
  {
    what: "it ran after an approval by a command",
    facts: { ran: true, approved: true },
    git: null,
    doubt: "ran",
  },
  { what: "it ran, and the person was asked again", facts: { ran: true, asked: { ran: true } }, doubt: null },
  { what: "a command could write it", facts: { written: "of x" }, git: null, doubt: "written" },
  {
    what: "a command could write it, and a person approved it",
    facts: { written: "of x", approved: true },
    git: null,
    doubt: null,
  },
  { what: "the journal is older", facts: { waited: false, predates: true }, git: null, doubt: null },
  { what: "the journal is older, but it ran", facts: { predates: true, ran: true }, git: null, doubt: "ran" },
  { what: "a commit brought it", git: BROUGHT, doubt: "committed" },
  { what: "a commit without it", git: { ...BROUGHT, approves: false }, doubt: null },
  {
    what: "a commit brought it after it ran, and the person was asked again",
    facts: { ran: true, asked: { ran: true } },
    git: BROUGHT,
    doubt: "committed",
  },
  { what: "git does not answer", git: { is: "unknown", why: "it is gone" }, doubt: "git" },
  { what: "only commands count", setting: "commands", git: null, doubt: "commands" },
  {
    what: "only commands count, and one approved it",
    setting: "commands",
    facts: { approved: true },
    git: null,
    doubt: null,
  },
  {
    what: "every word counts",
    setting: "anywhere",
    facts: { waited: false, ran: true, written: "x" },
    git: null,
    doubt: null,
  },
];

for (const { what, setting = "here", facts = {}, git = UNTRACKED, doubt } of ROWS) {
  Deno.test(`if ${what}, an approval ${doubt === null ? "counts" : "does not count"} (${setting})`, async () => {
    const ask = () => git === null ? assert.fail("git is asked without need") : Promise.resolve(git);
    const found = await doubtOf(setting, { ...WAITED, ...facts }, ask);
    assert.equal(found?.code ?? null, doubt);
    if (found === null) return;
    assert.match(doubtText(found), /^[a-z].*[a-z)]$/);
    assert.doesNotMatch(doubtText(found, "several"), /its approval|it has already/);
  });
}

Deno.test("a conversation is recognized while at least half of the recorded turns are there", () => {
  const rows: readonly (readonly [recorded: string[], now: string[], same: boolean])[] = [
    [["a", "b"], ["a", "b"], true],
    [["a", "b"], ["x", "b"], true],
    [["a", "b"], ["x", "y"], false],
    [["a", "b", "c"], ["c"], false],
    [["a", "b", "c"], ["b", "c"], true],
    [["a"], ["a", "b", "c", "d"], true],
    [[], [], false],
    [[], ["a"], false],
  ];
  for (const [recorded, now, same] of rows) {
    assert.equal(isSameConversation(recorded, now), same, recorded.join());
  }
});

Deno.test("turns count without their place, line ends and blank lines at the end, and at most four", async () => {
  const turns = async (text: string) => {
    const chat = parse(new TextEncoder().encode(text));
    return await turnsBefore(chat, { turn: chat.turns.at(-1)! });
  };
  const text = "@You:\none\n\n@Assistant:\ntwo\n\n@You:\nthree\n";
  const digests = await turns(text);
  assert.equal(digests.length, 3);
  assert.deepEqual(await turns(text.replaceAll("\n", "\r\n")), digests);
  assert.deepEqual(await turns(`${text}\n\n`), digests);
  assert.deepEqual((await turns(`@System:\nx\n\n@You:\ny\n\n${text}`)).slice(-3), digests);
  assert.equal((await turns(`@System:\nx\n\n@You:\ny\n\n${text}`)).length, 4);
  assert.notDeepEqual(await turns(text.replace("three", "four")), digests);
});

Deno.test("git's answer is read completely or not at all", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const rows: readonly (readonly [string, string, number])[] = [
    ["HEAD:./a missing\n:./a missing\n", "untracked", 0],
    ["", "unknown", 0],
    ["aa blob 3\nabc\n:./a missing\n", "tracked", 1],
    ["aa blob 3\nabc\nbb blob 0\n\n", "tracked", 2],
    ["aa blob 3\na\nc\nbb blob 1\nx\n", "tracked", 2],
    ["aa blob 3\nabc\naa blob 3\nabc\n", "tracked", 1],
    ["aa tree 3\nabc\n:./a missing\n", "untracked", 0],
    ["aa blob 3\nabc\n:./b missing\n", "unknown", 0],
    ["aa blob 3\nabc\n", "unknown", 0],
    ["HEAD:./a missing\nbb blob 46\nversion https://git-lfs.github.com/spec/v1\noid x\n", "unknown", 0],
    ["HEAD:./a missing\nbb blob 10\n\0GITCRYPT\0\n", "unknown", 0],
    ["aa blob 30\nabc\n", "unknown", 0],
    ["aa blob 3\nabc", "unknown", 0],
    ["aa blob", "unknown", 0],
  ];
  for (const [answer, is, texts] of rows) {
    const found = readBatch(bytes(answer), ["HEAD:./a", ":./a"]);
    assert.deepEqual([found.is, found.is === "tracked" ? found.texts.length : 0], [is, texts], answer);
  }
});

Deno.test("only a folder below one with .git may be tracked", () =>
  inFolder(async (folder) => {
    await Deno.mkdir(`${folder}/a/b`, { recursive: true });
    assert.equal(mayBeTracked(`${folder}/a/b/x.chat`), false);
    await Deno.writeTextFile(`${folder}/a/.git`, "gitdir: /nowhere\n");
    assert.equal(mayBeTracked(`${folder}/a/b/x.chat`), true);
    assert.equal(mayBeTracked(`${folder}/x.chat`), false);
  }));

Deno.test("an approval is new if it was not there before and no command of flemma made it", () => {
  const rows: readonly (readonly [string, Record<string, string>, Approval | null, boolean])[] = [
    ["new", {}, null, true],
    ["there before", { c1: "h" }, null, false],
    ["there before for another text", { c1: "g" }, null, true],
    ["made here", {}, { by: "person", hash: "h" }, false],
    ["made here for another text", {}, { by: "person", hash: "g" }, true],
    ["only asked about", {}, { by: "person", hash: "h", asked: true }, true],
  ];
  for (const [what, before, approval, isNew] of rows) {
    const found = newApprovals(before, { c1: "h" }, { approval: () => approval });
    assert.equal(found !== null, isNew, what);
    if (isNew) assert.deepEqual(found?.calls, { c1: "h" });
  }
});

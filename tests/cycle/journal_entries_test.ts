// What single entries of a journal change, and what the state folder remembers of waiting calls and commands.

import assert from "node:assert/strict";
import { grow } from "../../cycle/storage/growing_block.ts";
import { openJournal } from "../../cycle/storage/journal.ts";
import { type JournalEntry, JournalState } from "../../cycle/storage/journal_entries.ts";
import { MemoryStore } from "../../cycle/storage/memory_store.ts";
import { keepText, listSavedTexts, SavedText } from "../../cycle/storage/saved_text.ts";
import { documentKey } from "../../cycle/storage/state_files.ts";
import {
  commandsEnded,
  forgetWaiting,
  noteWaiting,
  openCommands,
  recordCommands,
  recordCommandsEnd,
  waitingDocuments,
} from "../../cycle/storage/waiting_documents.ts";
import { parse } from "../../parser/mod.ts";
import { testWithState as test } from "../folder.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const id = "c1";
const approval: JournalEntry = { kind: "approval", id, by: "person", hash: "h", time: "noon" };
const held = { kind: "held", id, hash: "h", turns: ["t"], asked: { ran: true } } as const;
const end: JournalEntry = { kind: "end", id, ran: true, time: "one" };
const asked: JournalEntry = { kind: "asked", id, hash: "h", state: "s" };
const suspects = { why: "so", calls: { c1: "h" }, block: null };

/** Entries, and what they lead to. */
const ROWS: readonly (readonly [row: string, JournalEntry[], (state: JournalState) => unknown, unknown])[] = [
  ["a call that ran", [end], ({ ran }) => [...ran], [["c1", "one"]]],
  ["a call that ended without a result", [{ kind: "end", id }], ({ ran }) => ran.size, 0],
  ["an approval after the call ran", [end, approval], ({ ran }) => ran.size, 0],
  ["a call with a block after it ran", [end, held], ({ ran }) => ran.size, 0],
  ["the time of an approval", [approval], ({ decidedAt }) => decidedAt.get(id), "noon"],
  ["a block makes the journal one of this version", [held], ({ counted }) => counted, true],
  ["nothing but an approval does not", [approval], ({ counted }) => counted, false],
  ["questions of a server", [asked], ({ asked }) => asked.get(id)?.state, "s"],
  ["questions of a call that ran", [asked, end], ({ asked }) => asked.size, 0],
  [
    "a question about an earlier run permits one run",
    [held, end],
    ({ held }) => held.get(id)?.asked?.ran,
    undefined,
  ],
  [
    "parts that a command could have written",
    [{ kind: "left", by: "r", suspects }],
    ({ unsettled }) => unsettled,
    {
      exposure: null,
      suspects,
    },
  ],
  [
    "such parts after a decision",
    [{ kind: "left", by: "r", suspects }, approval],
    ({ unsettled }) => unsettled.suspects,
    null,
  ],
];

Deno.test("each entry of a journal has its effect: one row per effect", () => {
  for (const [row, entries, look, expected] of ROWS) {
    assert.deepEqual(look(new JournalState(entries)), expected, row);
  }
});

test("a journal has its document's name in the files it keeps, and reads what other runs record", async ({ folder, environment }) => {
  const path = `${folder}/a.chat`;
  const open = async () => {
    const opened = await openJournal({ environment, path });
    return opened.ok ? opened.value : assert.fail(opened.problem.message);
  };
  const [one, other] = [await open(), await open()];
  assert.equal(one.predates, false);
  assert.ok((await one.keepBody("c1", "x")).includes(`/${await documentKey(path)}-c1-`));
  await one.recordApprovals(new Map([["c1", { by: "person", hash: "h" }]]));
  assert.deepEqual(waitingDocuments(environment), [path]);
  assert.equal(other.approval("c1"), null);
  other.reread();
  assert.equal(other.approval("c1")?.hash, "h");
});

test("a journal of an earlier version is recognized until something is recorded in it", async ({ folder, environment }) => {
  const path = `${folder}/a.chat`;
  const file = `${folder}/state/flemma/journal/${await documentKey(path)}.jsonl`;
  await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true });
  await Deno.writeTextFile(file, `${JSON.stringify(approval)}\n`);
  const opened = await openJournal({ environment, path });
  assert.ok(opened.ok);
  assert.equal(opened.value.predates, true);
  await opened.value.recordEnd("c1");
  assert.equal(opened.value.predates, false);
});

test("documents with waiting calls and commands of runs are remembered until they are forgotten", async ({ folder, environment }) => {
  assert.deepEqual([waitingDocuments(environment), openCommands(environment)], [[], []]);
  const paths = [`${folder}/a.chat`, `${folder}/b.chat`];
  assert.equal(await commandsEnded(environment), 0);
  await recordCommands(environment, "r1", "one");
  for (const path of [...paths, paths[0]!]) await noteWaiting(environment, path);
  await recordCommands(environment, "r2", "two");
  const open = () => openCommands(environment).map(({ run, text }) => `${run} ${text}`).sort();
  assert.deepEqual([waitingDocuments(environment).sort(), open()], [paths, ["r1 one", "r2 two"]]);
  const before = Date.now();
  await recordCommandsEnd(environment, "r1");
  assert.ok(await commandsEnded(environment) >= before);
  await forgetWaiting(environment, paths[0]!);
  await forgetWaiting(environment, paths[0]!);
  assert.deepEqual([waitingDocuments(environment), open()], [[paths[1]], ["r2 two"]]);
});

test("a text that is kept until it is removed is listed as complete, and outlives newer texts", async ({ environment }) => {
  for (const text of ["one", "two"]) await keepText(environment, "batch-a", bytes(text));
  for (let count = 0; count < 22; count++) {
    const saved = new SavedText(environment, () => assert.fail());
    saved.update(bytes("x"));
    saved.close(false);
  }
  const kept = listSavedTexts(environment).filter(({ id }) => id === "batch-a");
  assert.equal(kept.length, 1);
  using held = Deno.openSync(kept[0]!.path, { write: true });
  assert.ok(held.tryLockSync(true));
  assert.deepEqual(listSavedTexts(environment).filter(({ running }) => running), []);
  assert.equal(await Deno.readTextFile(kept[0]!.path), "two");
});

test("a saved text that cannot be removed is reported, and closing it again does nothing", ({ environment }) => {
  const codes: string[] = [];
  const saved = new SavedText(environment, ({ code }) => codes.push(code));
  saved.update(bytes("x"));
  Deno.removeSync(listSavedTexts(environment)[0]!.path);
  assert.deepEqual([saved.close(true), saved.close(true)], [null, null]);
  assert.deepEqual(codes, ["state-unwritable"]);
  return Promise.resolve();
});

Deno.test("a document in memory reports each change, with the text to leave behind if the program ends", async () => {
  const seen: string[] = [];
  let asCut = (): Uint8Array => new Uint8Array();
  const store = new MemoryStore(bytes("@You:\nhi\n"), "/real/a.chat", (text, cut) => {
    seen.push(new TextDecoder().decode(text));
    asCut = cut;
  }, "/named/a.chat");
  assert.equal(store.named, "/named/a.chat");
  await store.extend(["\n@Assistant:\nOne"], { replace: 0, unfinished: true, last: false });
  assert.deepEqual(seen, ["@You:\nhi\n\n@Assistant:\nOne"]);
  const cut = new TextDecoder().decode(asCut());
  assert.ok(cut.startsWith(seen[0]!) && cut.length > seen[0]!.length, cut);
  store.replace(bytes("@You:\nother\n"));
  assert.equal(seen[1], "@You:\nother\n");
});

Deno.test("a long piece is added completely, whether or not it ends with a line break", () => {
  for (const parts of [["a", "b"], ["a\n", "b"], ["a", "b\n"], ["a\n", "b\n", "c"]]) {
    const before = "@You:\nhi\n";
    const grown = grow(parse(bytes(before)), before.length, 0, [new Set(parts)]);
    assert.equal(new TextDecoder().decode(grown.bytes), before + parts.join(""));
  }
});

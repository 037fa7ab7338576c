// The approvals of one long session, as of an editor: what was found for one version of the text is asked again later.

import assert from "node:assert/strict";
import { ApprovalOrigins } from "../../agent/trust/approval_origins.ts";
import { JournalSearch } from "../../agent/trust/journal_search.ts";
import type { Committed } from "../../agent/trust/committed.ts";
import { callHash, permittedHash } from "../../cycle/plan/call_hash.ts";
import { turnsBefore } from "../../cycle/plan/conversation.ts";
import { openJournal } from "../../cycle/storage/journal.ts";
import { documentKey } from "../../cycle/storage/state_files.ts";
import { openCommands, recordCommands } from "../../cycle/storage/waiting_documents.ts";
import type { DocumentStore, Journal } from "../../cycle/types.ts";
import { parse as parseBytes } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";
import { answeredDocument, callsDocument } from "../cli/harness.ts";
import { testWithState as test } from "../folder.ts";
import type { StatePlace } from "../folder.ts";

const parse = (text: string) => parseBytes(new TextEncoder().encode(text));

const CALLS = ["c1", "c2"].map((id) => ({ id, command: `echo ${id}` }));

const textWith = (first: string, second: string) =>
  callsDocument([{ ...CALLS[0]!, status: first }, { ...CALLS[1]!, status: second }]);

async function opened({ environment, folder }: StatePlace, { waits = true } = {}) {
  const path = `${folder}/a.chat`;
  const journal = await openJournal({ environment, path });
  assert.ok(journal.ok);
  const held = parse(textWith("pending", "pending"));
  if (waits) await journal.value.recordApprovals(new Map(), await waitingIn(held));
  const notices: string[] = [];
  const state = { chat: held, committed: { is: "untracked" } as Committed };
  const origins = new ApprovalOrigins({
    environment,
    setting: "here",
    store: {
      path,
      get chat() {
        return state.chat;
      },
    } as DocumentStore,
    journal: journal.value,
    committed: () => Promise.resolve(state.committed),
    emit: (event) => event.event === "notice" && notices.push(event.message),
    readOnly: false,
  });
  return { state, origins, notices, journal: journal.value as Journal };
}

async function waitingIn(chat: Chat) {
  const calls = chat.calls.map(async (call) =>
    [call.id, { hash: await callHash(call), turns: await turnsBefore(chat, call) }] as const
  );
  return new Map(await Promise.all(calls));
}

test("each turn before the calls of a reply is read once, however many calls the reply has", async () => {
  const calls = Array.from({ length: 50 }, (_, at) => ({ id: `c${at}`, command: "ls", status: "pending" }));
  const chat = parse(callsDocument(calls));
  const read: number[] = [];
  const { text } = chat;
  Object.defineProperty(chat, "text", {
    value: (from: number, to: number) => {
      read.push(from);
      return text.call(chat, from, to);
    },
  });
  const all = await Promise.all(chat.calls.map((call) => turnsBefore(chat, call)));
  assert.deepEqual(read, chat.turns.slice(0, chat.calls[0]!.turn.index + 1).map(({ place }) => place.from));
  assert.ok(all.every((each) => each.join() === all[0]!.join()));
});

test("what git said for one version of the text is asked again for the next approval", async (place) => {
  const { state, origins } = await opened(place);
  const texts = (text: string) => [new TextEncoder().encode(text)];
  state.committed = { is: "tracked", texts: texts(textWith("pending", "pending")) };
  state.chat = parse(textWith("approved", "pending"));
  assert.equal(await origins.doubt("c1"), null);
  state.committed = { is: "tracked", texts: texts(textWith("pending", "approved")) };
  state.chat = parse(textWith("approved", "approved"));
  assert.equal(
    await origins.doubt("c2"),
    "a commit contains its approval, so the word in the text does not count",
  );
  assert.equal(await origins.doubt("c1"), null);
});

test("the journals of other documents are read once, and again after they have changed", async (place) => {
  const { environment, folder } = place;
  const hash = "0".repeat(64);
  const turns = ["t"];
  const record = async (name: string, id: string) => {
    const journal = await openJournal({ environment, path: `${folder}/${name}` });
    assert.ok(journal.ok);
    await journal.value.recordApprovals(new Map(), new Map([[id, { hash, turns }]]));
  };
  await record("b.chat", "c1");
  await record("c.chat", "c9");
  const search = new JournalSearch(environment);
  const read = Deno.readTextFileSync;
  let reads = 0;
  Deno.readTextFileSync = (path) => {
    reads++;
    return read(path);
  };
  try {
    const found = async (id: string) =>
      (await search.find(`${folder}/a.chat`, id, hash)).filter(({ held }) => held?.hash === hash).length;
    assert.equal(await found("c1"), 1);
    reads = 0;
    assert.equal(await found("c9"), 1);
    assert.equal(reads, 2, "no journal has changed, so only those with the call are read");
    await record("c.chat", "c1");
    assert.equal(await found("c1"), 2);
    await record("d.chat", "c1");
    assert.equal(await found("c1"), 3);
    reads = 0;
    assert.equal((await search.find(`${folder}/a.chat`, "c1", "1".repeat(64))).length, 0);
    assert.equal(reads, 0, "no journal mentions the call");
    assert.equal((await search.find(`${folder}/b.chat`, "c1", hash)).length, 2, "not its own");
  } finally {
    Deno.readTextFileSync = read;
  }
});

for (const how of ["typed", "by command"]) {
  test(`a call that ran in this session does not run again by an undo (${how})`, async (place) => {
    const { state, origins, journal } = await opened(place);
    const hash = await callHash(state.chat.call("c1")!);
    if (how === "by command") await journal.recordApprovals(new Map([["c1", { by: "person", hash }]]));
    state.chat = parse(textWith("approved", "pending"));
    assert.equal(await origins.doubt("c1"), null);
    await journal.recordEnd("c1", { ran: true });
    state.chat = parse(textWith("error", "pending"));
    assert.equal(await origins.doubt("c1"), null);
    assert.equal(await origins.doubt("c2"), null);
    state.chat = parse(textWith("pending", "approved"));
    assert.equal(await origins.doubt("c2"), null);
    state.chat = parse(textWith("approved", "pending"));
    assert.match(await origins.doubt("c1") ?? "", /it has already run/);
  });
}

test("approvals that do not count are reported once, with all calls of one reason in one sentence", async (place) => {
  const { state, origins, notices } = await opened(place, { waits: false });
  state.chat = parse(textWith("approved", "approved"));
  for (const id of ["c1", "c2", "c1"]) {
    assert.equal(await origins.doubt(id), "its approval was not given here");
  }
  assert.equal(notices.length, 1);
  assert.match(notices[0]!, /^c1, c2 wait for you: their approvals were not given here\. /);
  assert.match(notices[0]!, /flemma approve \S+ c1 c2\. /);
  assert.deepEqual(await origins.sentences(), notices);
});

test("a call is asked about once, however often its doubt is read", async (place) => {
  const { state, origins } = await opened(place, { waits: false });
  state.chat = parse(textWith("approved", "pending"));
  const parsed = state.chat.call("c1");
  assert.equal(await origins.doubt("c1"), "its approval was not given here");
  const journal = await openJournal({ environment: place.environment, path: `${place.folder}/a.chat` });
  assert.ok(journal.ok);
  // What is known now does not change the answer for the same version of the text.
  await journal.value.recordApprovals(new Map(), await waitingIn(parse(textWith("pending", "pending"))));
  assert.equal(await origins.doubt("c1"), "its approval was not given here");
  // An approval that was taken back and given again is another one.
  state.chat = parse(textWith("pending", "pending"));
  assert.equal(await origins.doubt("c1"), null);
  assert.equal(await origins.doubt("c2"), null);
  state.chat = parse(textWith("pending", "approved"));
  assert.equal(await origins.doubt("c2"), null);
  state.chat = parse(textWith("approved", "approved"));
  assert.equal(await origins.doubt("c1"), null);
  assert.equal(parsed?.id, "c1");
});

test("the person is asked about a call that ran, until a command approves it", async (place) => {
  const { state, origins, journal } = await opened(place);
  const hash = await callHash(state.chat.call("c1")!);
  await journal.recordEnd("c1", { ran: true });
  state.chat = parse(textWith("approved", "pending"));
  assert.match(await origins.doubt("c1") ?? "", /it has already run/);
  assert.equal(origins.askedAlthough("c1")?.ran, true);
  await journal.recordApprovals(new Map([["c1", { by: "person", hash }]]));
  state.chat = parse(textWith("approved", "pending"));
  assert.equal(await origins.doubt("c1"), null);
  assert.equal(origins.askedAlthough("c1"), null);
});

test("after the person was asked about a call that ran, an approval that is typed then counts", async (place) => {
  const { state, origins, journal } = await opened(place);
  const asked = await waitingIn(parse(textWith("pending", "pending")));
  await journal.recordEnd("c1", { ran: true });
  state.chat = parse(textWith("approved", "pending"));
  assert.match(await origins.doubt("c1") ?? "", /it has already run/);
  assert.equal(origins.askedAlthough("c1")?.ran, true);
  await journal.recordApprovals(new Map(), new Map([["c1", { ...asked.get("c1")!, asked: { ran: true } }]]));
  state.chat = parse(textWith("pending", "approved"));
  assert.equal(await origins.doubt("c2"), null);
  state.chat = parse(textWith("approved", "approved"));
  assert.equal(await origins.doubt("c1"), null);
  assert.equal(origins.askedAlthough("c1"), null);
});

test("approvals of a journal from before this version count in one run, with one notice", async (place) => {
  const { environment, folder } = place;
  const journals = `${folder}/state/flemma/journal`;
  Deno.mkdirSync(journals, { recursive: true });
  const file = `${journals}/${await documentKey(`${folder}/a.chat`)}.jsonl`;
  Deno.writeTextFileSync(file, '{"kind":"day","day":"2026-11-28"}\n');
  const { state, origins, notices } = await opened(place, { waits: false });
  state.chat = parse(textWith("approved", "approved"));
  for (const id of ["c1", "c2"]) assert.equal(await origins.doubt(id), null);
  assert.equal(notices.length, 1);
  assert.match(notices[0]!, /The approvals in \S+ count this once/);
  const next = await openJournal({ environment, path: `${folder}/a.chat` });
  assert.ok(next.ok);
  assert.equal(next.value.predates, false);
});

test("a copy is compared with the end of commands whose run was killed", async (place) => {
  const { environment, folder } = place;
  const { state, origins } = await opened(place, { waits: false });
  const original = await openJournal({ environment, path: `${folder}/b.chat` });
  assert.ok(original.ok);
  await original.value.recordApprovals(new Map(), await waitingIn(parse(textWith("pending", "pending"))));
  Deno.writeTextFileSync(`${folder}/a.chat`, "");
  await recordCommands(environment, "killed", '{"pid":1073741824,"started":"never"}');
  state.chat = parse(textWith("approved", "pending"));
  assert.match(await origins.doubt("c1") ?? "", /commands ran when this copy was saved/);
  assert.deepEqual(openCommands(environment), [], "a copy that is saved from now on counts");
});

test("an approval that counts is recorded for copies", async (place) => {
  const { state, origins } = await opened(place);
  state.chat = parse(textWith("approved", "pending").replace("Please.", "Please do."));
  assert.equal(await origins.doubt("c1"), null);
  const journal = await openJournal({ environment: place.environment, path: `${place.folder}/a.chat` });
  assert.ok(journal.ok);
  assert.deepEqual(journal.value.held("c1")?.turns, await turnsBefore(state.chat, state.chat.call("c1")!));
});

test("what commands of another document wrote meanwhile does not count", async (place) => {
  const { state, origins } = await opened(place);
  const other = await openJournal({ environment: place.environment, path: `${place.folder}/a.chat` });
  assert.ok(other.ok);
  await other.value.recordReached("run", { owner: { pid: Deno.pid, started: "" }, approved: {} });
  state.chat = parse(textWith("approved", "pending"));
  assert.match(await origins.doubt("c1") ?? "", /a command of another document ran/);
});

test("an approval that was given with other answers counts only if no command could have written the answers", async (place) => {
  const { state, origins, journal } = await opened(place, { waits: false });
  const chats = ["1", "2", "3"].map((answer) => parse(answeredDocument("c1", answer)));
  const permits = async (at: number) => await permittedHash(chats[at]!, chats[at]!.call("c1")!);
  state.chat = chats[0]!;
  const { hash, turns } = (await waitingIn(state.chat)).get("c1")!;
  const approval = { by: "person", hash, permits: await permits(0) } as const;
  await journal.recordApprovals(new Map([["c1", approval]]), new Map([["c1", { hash, turns }]]));
  assert.equal(await origins.doubt("c1"), null);
  // A person edits the answer.
  state.chat = chats[1]!;
  assert.equal(await origins.doubt("c1"), null);
  await journal.recordTampered({ why: "so", calls: { c1: await permits(2) }, block: null });
  state.chat = chats[2]!;
  assert.equal(await origins.doubt("c1"), "a command could have written its approval, because so");
});

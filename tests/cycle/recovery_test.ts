// What the journal remembers: calls that ran when the program ended, approvals bound to a text, replaced text.

import assert from "node:assert/strict";
import { callHash } from "../../cycle/plan/call_hash.ts";
import { parse } from "../../parser/mod.ts";
import { type Bench, bench, block, callsOf, chatAnswered, chatWith, MemoryJournal } from "./harness.ts";

const OFF = {
  autopilot: { enabled: false, max_turns: 100, max_repeats: 3 },
  status_style: "header" as const,
};
const calls = chatWith(["c1", "echo", '{"text": "one"}'], ["c2", "echo", '{"text": "two"}']);

function status(built: Bench, id: string): string | null | undefined {
  return built.store.chat.result(id)?.status;
}

Deno.test("a call that was running when the program ended waits for the person; the other approved call runs", async () => {
  const journal = new MemoryJournal();
  await journal.recordStart("c1", "echo", "writes");
  const text = chatAnswered(calls, block("c1", "approved"), block("c2", "approved"));
  const built = bench({ text, journal, tools: OFF });
  const stop = await built.cycle.advance();
  assert.equal(built.store.text, chatAnswered(calls, block("c1", "pending"), block("c2", "", "two")));
  assert.deepEqual(built.ran, ["c2"]);
  assert.deepEqual([stop.reason, stop.ids], ["pending", ["c1"]]);
  assert.deepEqual(built.notices(), ["was-running"]);
  assert.deepEqual([...journal.started()], []);
});

Deno.test("a result that could not be written to the document is reported with the path of the saved result", async () => {
  const journal = new MemoryJournal();
  const text = chatAnswered(calls, block("c1", "approved"), block("c2", "", "x"));
  const lost = bench({
    text,
    journal,
    tools: OFF,
    run: () => {
      lost.store.problem = { code: "document-changed", message: "Somebody else changed the document." };
      return Promise.resolve({ success: true, output: "precious" });
    },
  });
  assert.equal((await lost.cycle.advance()).reason, "conflict");
  const next = bench({ text, journal, tools: OFF });
  await next.cycle.advance();
  const reported = next.events.flatMap((event) => event.event === "notice" ? [event.message] : []).join();
  assert.match(reported, /finished in an earlier run, .* saved in memory:1: /);
  assert.deepEqual([next.ran, journal.bodies[0]?.body, [...journal.savedResults()]], [[], "precious", []]);
});

Deno.test("a call that was running when the program ended runs once more after the person approves it", async () => {
  const journal = new MemoryJournal();
  await journal.recordStart("c1", "echo", "writes");
  const built = bench({
    text: chatAnswered(calls, block("c1", "approved"), block("c2", "", "x")),
    journal,
    tools: OFF,
  });
  await built.cycle.advance();
  assert.equal(await built.cycle.approve("c1"), null);
  await built.cycle.advance();
  assert.deepEqual(built.ran, ["c1"]);
  assert.equal(status(built, "c1"), null);
});

Deno.test("if a person writes `approved` for a call that was running when the program ended, this counts as approval", async () => {
  const journal = new MemoryJournal();
  await journal.recordStart("c1", "echo", "writes");
  const text = chatAnswered(calls, block("c1", "approved"), block("c2", "", "x"));
  const built = bench({ text, journal, tools: OFF });
  await built.cycle.advance();
  assert.equal(status(built, "c1"), "pending");
  built.store.text = text;
  await built.cycle.advance();
  assert.deepEqual(built.ran, ["c1"]);
});

Deno.test("a call of a read-only tool runs again after a crash", async () => {
  const journal = new MemoryJournal();
  await journal.recordStart("c1", "read", "reads");
  const text = callsOf("read", { c1: "approved" });
  const read = {
    name: "read",
    description: "",
    input_schema: {},
    effects: "reads",
    execute: () => ({ success: true, output: "text" }),
  } as const;
  const built = bench({ text, journal, tools: OFF, definitions: [read] });
  await built.cycle.advance();
  assert.equal(built.store.text, chatAnswered(chatWith(["c1", "read"]), block("c1", "", "text")));
  assert.deepEqual(built.notices(), []);
});

Deno.test("if the document contains the result of a call whose start was recorded, the call counts as finished", async () => {
  const journal = new MemoryJournal();
  await journal.recordStart("c1", "echo", "writes");
  const text = chatAnswered(calls, block("c1", "", "one"), block("c2", "", "two"));
  const built = bench({ text, journal, tools: OFF });
  await built.cycle.advance();
  assert.equal(built.store.text, text);
  assert.deepEqual([...journal.started()], []);
  assert.equal(built.sends(), 1);
});

Deno.test("the journal records the start of a call before the tool runs, and the end after the result is in the document", async () => {
  const journal = new MemoryJournal();
  const built: Bench = bench({
    text: callsOf("echo", { c1: "approved" }),
    journal,
    tools: OFF,
    run: () => {
      journal.log.push(`run, document says ${status(built, "c1")}`);
      return Promise.resolve({ success: true, output: "x" });
    },
  });
  const commit = built.store.commit.bind(built.store);
  built.store.commit = (edits) => {
    journal.log.push("commit");
    return commit(edits);
  };
  await built.cycle.advance();
  assert.deepEqual(journal.log, ["start c1", "run, document says approved", "commit", "end c1"]);
});

Deno.test("if the journal cannot record the start of a call, the call does not run", async () => {
  const journal = new MemoryJournal();
  journal.recordStart = () => Promise.reject(new Error("disk is full"));
  const text = chatAnswered(calls, block("c1", "approved"), block("c2", "approved"));
  const built = bench({ text, journal, tools: OFF });
  const stop = await built.cycle.advance();
  assert.deepEqual(built.ran, []);
  assert.equal(built.store.text, text);
  assert.deepEqual([stop.reason, stop.problem?.code], ["failed", "state-unwritable"]);
});

Deno.test("before a block with an approval by policy appears, the journal records the hash of the call's name and input", async () => {
  const journal = new MemoryJournal();
  const built = bench({ text: chatWith(["c1", "echo"]), journal, tools: { ...OFF, auto_approve: ["echo"] } });
  const commit = built.store.commit.bind(built.store);
  const known: (string | undefined)[] = [];
  built.store.commit = (edits) => {
    known.push(journal.approval("c1")?.by);
    return commit(edits);
  };
  await built.cycle.advance();
  assert.equal(known[0], "policy");
  const hash = await callHash({ name: "echo", inputText: "{}" });
  assert.deepEqual(journal.approval("c1"), { by: "policy", hash, source: "test" });
});

/** A document with an approved call whose approval was given to the text `{"text": "one"}`. */
async function approvedThenChanged(by: "policy" | "person", autoApprove: string[]): Promise<Bench> {
  const journal = new MemoryJournal();
  const hash = await callHash({ name: "echo", inputText: '{"text": "one"}' });
  await journal.recordApprovals(new Map([["c1", { by, hash }]]));
  const text = chatAnswered(chatWith(["c1", "echo", '{"text": "rm"}']), block("c1", "approved"));
  return bench({ text, journal, tools: { ...OFF, auto_approve: autoApprove } });
}

Deno.test("a call that was edited after the person approved it becomes pending, even if policy approves it", async () => {
  const built = await approvedThenChanged("person", ["echo"]);
  const stop = await built.cycle.advance();
  assert.deepEqual([status(built, "c1"), stop.reason], ["pending", "pending"]);
  assert.deepEqual([built.ran, built.notices()], [[], ["call-changed"]]);
});

Deno.test("if a call changes after policy approved it, policy decides again and may ask the person", async () => {
  const built = await approvedThenChanged("policy", []);
  await built.cycle.advance();
  assert.deepEqual([status(built, "c1"), built.ran, built.notices()], ["pending", [], ["call-changed"]]);
});

Deno.test("if a call changes after policy approved it, policy decides again and may approve the new text", async () => {
  const built = await approvedThenChanged("policy", ["echo"]);
  await built.cycle.advance();
  assert.deepEqual([status(built, "c1"), built.ran], [null, ["c1"]]);
  const hash = await callHash({ name: "echo", inputText: '{"text": "rm"}' });
  assert.equal(built.journal.approval("c1")?.hash, hash);
});

Deno.test("an approved block without a journal entry counts as an approval by the person", async () => {
  const built = bench({ text: callsOf("echo", { c1: "approved" }), tools: OFF });
  await built.cycle.advance();
  assert.deepEqual(built.ran, ["c1"]);
});

Deno.test("the approve command approves only the current text of a call; editing the input cancels the approval", async () => {
  const before = chatAnswered(chatWith(["c1", "echo", '{"text": "ls"}']), block("c1", "pending"));
  const built = bench({ text: before, tools: OFF });
  assert.equal(await built.cycle.approve("c1"), null);
  assert.equal(built.journal.approval("c1")?.by, "person");
  built.store.text = built.store.text.replace('"ls"', '"rm"');
  await built.cycle.advance();
  assert.deepEqual([status(built, "c1"), built.ran], ["pending", []]);
});

Deno.test("a call that is edited between the plan and its execution does not run with the old approval", async () => {
  const two = chatWith(["c1", "echo"], ["c2", "echo", '{"text": "ls"}']);
  const built: Bench = bench({
    text: two,
    tools: { ...OFF, auto_approve: ["echo"] },
    run: (call) => {
      if (call.id === "c1") built.store.text = built.store.text.replace('"ls"', '"rm"');
      return Promise.resolve({ success: true, output: "x" });
    },
  });
  await built.cycle.advance();
  assert.deepEqual([built.ran, status(built, "c2")], [["c1"], "approved"]);
});

Deno.test("flemma saves text that a result, an error or a message replaces, and the notice names the path", async () => {
  const text = chatAnswered(
    chatWith(["c1", "echo"], ["c2", "echo"], ["c3", "echo"]),
    block("c1", "pending", "mine"),
    block("c2", "denied", "why"),
    block("c3", "pending", "notes"),
  );
  const built = bench({ text, tools: OFF });
  await built.cycle.executeOne("c1");
  await built.cycle.executeOne("c2");
  await built.cycle.reject("c3", "no");
  assert.deepEqual(built.journal.bodies, [
    { id: "c1", body: "mine" },
    { id: "c2", body: "why" },
    { id: "c3", body: "notes" },
  ]);
  const messages = built.events.flatMap((event) => event.event === "notice" ? [event.message] : []);
  assert.equal(messages.length, 3);
  for (const [index, message] of messages.entries()) assert.ok(message.includes(`memory:${index + 1}`));
  assert.equal(built.store.chat.result("c3")?.status, "rejected");
  assert.equal(built.store.chat.result("c3")?.content, "no");
  assert.equal(built.store.chat.result("c2")?.content.includes("why"), false);
});

Deno.test("the hash of a call depends on its name, its input, and the boundary between the two", async () => {
  const hashes = await Promise.all([
    callHash({ name: "a", inputText: "b" }),
    callHash({ name: "ab", inputText: "" }),
    callHash({ name: "a", inputText: "b " }),
  ]);
  assert.equal(new Set(hashes).size, 3);
  const call = parse(new TextEncoder().encode(chatWith(["c1", "echo", '{"text": "é"}']))).call("c1");
  assert.equal(call?.inputText, '{"text": "é"}');
});

/** A journal without room for what gives way. */
class FullJournal extends MemoryJournal {
  override keepBody(): Promise<string> {
    return Promise.reject(new Error("no room"));
  }
}

Deno.test("if the text in a block cannot be saved before it is replaced, the block keeps the text", async () => {
  const text = chatAnswered(
    chatWith(["c1", "echo"], ["c2", "echo"]),
    block("c1", "pending", "mine"),
    block("c2", "denied", "why"),
  );
  const built = bench({ text, tools: OFF, journal: new FullJournal() });
  const problem = await built.cycle.reject("c1", "no");
  assert.equal(problem?.code, "state-unwritable");
  assert.match(problem!.message, /no room/);
  assert.equal(built.store.text, text);
  assert.equal((await built.cycle.executeOne("c2")).problem?.code, "state-unwritable");
  assert.equal(built.store.text, text);
  assert.equal(await built.cycle.reject("c1", ""), null, "without a message the text stays anyway");
  assert.match(built.store.text, /mine/);
});

// How a call ends without a result of its own: it waits elsewhere, starts a job, or its result cannot be written.

import assert from "node:assert/strict";
import type { Problem } from "../../base/problem.ts";
import { QUESTION } from "../../cycle/execute/writer.ts";
import { CANCELLED } from "../../cycle/plan/sentences.ts";
import type { CallResult, CycleEvent } from "../../cycle/types.ts";
import type { ToolDefinition } from "../../tools/definition.ts";
import { bench, block, callsOf, type Given, MemoryJournal } from "./harness.ts";

const OFF = {
  status_style: "header",
  autopilot: { enabled: false, max_turns: 100, max_repeats: 3 },
} as const;
const LIMIT: Problem = { code: "budget-reached", message: "The budget is spent." };
const WAITS = { helper: "writer", document: "/h/writer.chat", message: "The helper asks." };
const ASKS = { questions: "name: Ada", state: "state of the server", message: "The server asks" };

/** A tool of a server that also continues in the document of a helper. */
const TOOL: ToolDefinition = {
  name: "elsewhere",
  description: "has its result later",
  input_schema: {},
  continues: true,
  server: { name: "remote", host: null },
  execute: () => undefined,
};

/** A document with the approved call `a`, which ends with this result. */
function ending(result: CallResult, given: Partial<Given> = {}) {
  return bench({
    text: callsOf("elsewhere", { a: "approved" }),
    tools: OFF,
    definitions: [TOOL],
    run: () => Promise.resolve(result),
    ...given,
  });
}

const EXECUTING = { event: "tool:executing", id: "a", name: "elsewhere", preview: "elsewhere: a" };

const aboutTools = (events: readonly CycleEvent[]) => events.filter(({ event }) => event.startsWith("tool:"));

Deno.test("a call that waits in another document is reported, waits for a person, and is no longer running", async () => {
  const built = ending({ success: true, waits: WAITS });
  const stop = await built.cycle.advance();
  assert.deepEqual([stop.reason, stop.ids, built.cycle.isRunning("a")], ["pending", ["a"], false]);
  assert.match(built.store.text, /`a` \(pending helper=writer\)/);
  assert.deepEqual(built.journal.log, ["start a", "end a"]);
  assert.deepEqual(aboutTools(built.events), [EXECUTING, {
    event: "tool:waiting",
    id: "a",
    name: "elsewhere",
    helper: "writer",
    path: WAITS.document,
    message: WAITS.message,
  }]);
});

Deno.test("a wait that ends the whole run stops it with its problem", async () => {
  const built = ending({ success: true, waits: { ...WAITS, ends: LIMIT } });
  const stop = await built.cycle.advance();
  assert.deepEqual([stop.reason, stop.problem], ["budget", LIMIT]);
});

Deno.test("the questions of a server are written and reported, and only a later approval answers them", async () => {
  const built = ending({ success: true, asks: ASKS }, { text: callsOf("elsewhere", { a: "pending" }) });
  assert.equal(await built.cycle.approve("a"), null);
  const stop = await built.cycle.advance();
  assert.deepEqual([stop.reason, stop.ids, built.cycle.isRunning("a")], ["pending", ["a"], false]);
  const result = built.store.chat.result("a");
  assert.equal(result?.status, "pending");
  assert.equal(result?.questions, ASKS.questions);
  assert.deepEqual(built.journal.log, ["start a", "end a"]);
  assert.equal(built.journal.asked("a")?.state, ASKS.state);
  assert.equal(built.journal.approval("a")?.asked, QUESTION.asked);
  assert.deepEqual(aboutTools(built.events), [EXECUTING, {
    event: "tool:waiting",
    id: "a",
    name: "elsewhere",
    helper: null,
    path: null,
    message: `${ASKS.message} (line ${result!.header.start})`,
  }]);
});

Deno.test("if the document cannot be written, a wait ends the run and its start stays in the journal", async () => {
  for (const result of [{ success: true, waits: WAITS }, { success: true, asks: ASKS }]) {
    const built = ending(result, {
      run: () => {
        built.store.problem = { code: "document-changed", message: "somebody else" };
        return Promise.resolve(result);
      },
    });
    const stop = await built.cycle.advance();
    assert.deepEqual([stop.reason, stop.problem?.code], ["conflict", "document-changed"]);
    assert.deepEqual([built.cycle.isRunning("a"), built.journal.log], [false, ["start a"]]);
  }
});

Deno.test("a call that needs something of the person first is reported as ended, with what is needed", async () => {
  const needs = { code: "sign-in-needed", message: "Sign in.", next: "Run: sign-in" };
  const built = ending({ success: false, error: "Sign in.", needs });
  const stop = await built.cycle.advance();
  assert.deepEqual([stop.reason, stop.ids, built.cycle.isRunning("a")], ["yield", ["a"], false]);
  assert.deepEqual(aboutTools(built.events), [
    EXECUTING,
    { event: "tool:finished", id: "a", name: "elsewhere", status: "error", note: needs.message },
  ]);
  assert.deepEqual(built.events.filter(({ event }) => event === "notice"), [
    { event: "notice", code: needs.code, message: "Sign in. Run: sign-in", id: "a" },
  ]);
});

Deno.test("a job begins once the document names it, and is abandoned if it cannot: one row per end of the call", async () => {
  const rows: Readonly<Record<string, readonly string[]>> = {
    "the result is written": ["begin"],
    "the result cannot be written": ["abandon"],
    "the call was stopped before": ["abandon"],
  };
  for (const [row, expected] of Object.entries(rows)) {
    const seen: string[] = [];
    const job = { id: "j", begin: () => seen.push("begin"), abandon: () => seen.push("abandon") };
    const built = ending({ success: true }, {
      run: () => {
        if (row.includes("cannot")) built.store.problem = { code: "document-changed", message: "other" };
        if (row.includes("stopped")) built.cycle.cancelCall("a");
        return Promise.resolve({ success: true, output: "Started j.", job });
      },
    });
    await built.cycle.advance();
    assert.deepEqual(seen, expected, row);
  }
});

/** A journal on a disk that is full from some moment on. */
class FullJournal extends MemoryJournal {
  isFull = false;

  #refuse(): Promise<never> | null {
    return this.isFull ? Promise.reject(new Error("disk full")) : null;
  }

  override recordEnd(id: string): Promise<void> {
    return this.#refuse() ?? super.recordEnd(id);
  }

  override recordApprovals(...given: Parameters<MemoryJournal["recordApprovals"]>): Promise<void> {
    return this.#refuse() ?? super.recordApprovals(...given);
  }

  override keepBody(id: string, body: string): Promise<string> {
    return this.#refuse() ?? super.keepBody(id, body);
  }
}

const notices = (events: readonly CycleEvent[]) =>
  events.flatMap((event) => event.event === "notice" ? [[event.code, event.message, event.id]] : []);

Deno.test("if neither the document nor the state folder takes a result, the loss is reported with the call", async () => {
  const journal = new FullJournal();
  const built = ending({ success: true }, {
    journal,
    run: () => {
      journal.isFull = true;
      built.store.problem = { code: "document-changed", message: "other" };
      return Promise.resolve({ success: true, output: "precious" });
    },
  });
  await built.cycle.advance();
  const [[code, message, id] = []] = notices(built.events);
  assert.deepEqual([code, id], ["state-unwritable", "a"]);
  assert.match(String(message), /^Could not write the result of a into the document\. .*disk full/);
});

Deno.test("a full state folder is reported once, and neither results nor waiting calls are lost", async () => {
  const journal = new FullJournal();
  const built = ending({ success: true }, {
    journal,
    text: callsOf("elsewhere", { a: "approved", b: "approved", c: "pending" }),
    run: ({ id }) => {
      journal.isFull = id === "b";
      return Promise.resolve({ success: true, output: `result of ${id}` });
    },
  });
  const stop = await built.cycle.advance();
  assert.deepEqual([stop.reason, stop.ids], ["pending", ["c"]]);
  assert.equal(built.store.chat.result("b")?.content, "result of b");
  await built.cycle.advance();
  assert.deepEqual(built.notices(), ["state-unwritable"]);
});

Deno.test("an end that cannot be recorded is reported, and its result is written", async () => {
  const journal = new FullJournal();
  const built = ending({ success: true }, {
    journal,
    run: () => {
      journal.isFull = true;
      return Promise.resolve({ success: true, output: "done" });
    },
  });
  const stop = await built.cycle.advance();
  assert.deepEqual([stop.reason, built.notices()], ["stepped", ["state-unwritable"]]);
  assert.equal(built.store.chat.result("a")?.content, "done");
});

Deno.test("waiting calls that cannot be recorded are reported, and still wait", async () => {
  const journal = new FullJournal();
  journal.isFull = true;
  const built = ending({ success: true }, { journal, text: callsOf("elsewhere", { a: "pending" }) });
  const stop = await built.cycle.advance();
  assert.deepEqual([stop.reason, built.notices()], ["pending", ["state-unwritable"]]);
});

Deno.test("a rejection revokes an earlier approval, and is made even if that cannot be recorded", async () => {
  const journal = new FullJournal();
  const built = ending({ success: true }, {
    journal,
    text: callsOf("elsewhere", { a: "pending", b: "pending" }),
  });
  assert.equal(await built.cycle.approve("a", "b"), null);
  assert.notEqual(journal.approval("a")?.asked, true);
  assert.equal(await built.cycle.reject("a"), null);
  assert.deepEqual([journal.approval("a")?.asked, built.notices()], [true, []]);
  journal.isFull = true;
  assert.equal(await built.cycle.reject("b"), null);
  assert.equal(built.store.chat.result("b")?.status, "rejected");
  assert.deepEqual(built.notices(), ["state-unwritable"]);
});

Deno.test("an approval of an earlier run that the text no longer has is revoked: one row per condition", async () => {
  class EarlierJournal extends MemoryJournal {
    isEarlier = true;

    override isFromThisRun(): boolean {
      return !this.isEarlier;
    }
  }
  const waiting = block("a", "pending helper=writer");
  const rows:
    readonly (readonly [row: string, isEarlier: boolean, text: (text: string) => string, boolean])[] = [
      ["the approval is of an earlier run", true, (text) => text, true],
      ["the approval is of this run", false, (text) => text, false],
      [
        "the call waits in another document",
        true,
        (text) => text.replace(block("a", "pending"), waiting),
        false,
      ],
    ];
  for (const [row, isEarlier, change, isRevoked] of rows) {
    const journal = new EarlierJournal();
    const text = change(callsOf("elsewhere", { a: "pending" }));
    const built = ending({ success: true }, { journal, text });
    await journal.recordApprovals(new Map([["a", { by: "person", hash: "h" }]]));
    journal.isEarlier = isEarlier;
    await built.cycle.noteWaiting();
    assert.equal(journal.approval("a")?.asked === true, isRevoked, row);
  }
});

Deno.test("a text that could not be written when its call was stopped counts as somebody else's, and is saved", async () => {
  const answer = Promise.withResolvers<CallResult>();
  const built = ending({ success: true }, {
    run: (_call, _signal, onOutput) => {
      onOutput("so far");
      built.store.problem = { code: "busy", message: "not now" };
      built.cycle.cancelCall("a");
      return answer.promise;
    },
  });
  const tried = Promise.withResolvers<void>();
  const commit = built.store.commit.bind(built.store);
  built.store.commit = (edits) => commit(edits).finally(tried.resolve);
  const done = built.cycle.advance();
  await tried.promise;
  built.store.problem = null;
  const body = `so far\n\n${CANCELLED}`;
  built.store.text = built.store.text.replace(block("a", "approved"), block("a", "approved", body));
  answer.resolve({ success: false, output: "all of it" });
  await done;
  assert.deepEqual(built.journal.bodies, [{ id: "a", body }]);
  assert.equal(built.store.chat.result("a")?.content, `all of it\n\n${CANCELLED}`);
});

// Calls that run in parallel, are cancelled, end late or cannot be written; and where the run stops.

import assert from "node:assert/strict";
import type { SendOutcome } from "../../cycle/types.ts";
import { CANCELLED } from "../../cycle/plan/sentences.ts";
import type { ExecutionResult } from "../../tools/definition.ts";
import { type Bench, bench, block, callsOf, chatAnswered, chatWith, type Given } from "./harness.ts";
import { withoutWaiting } from "../waiting.ts";

const HEADER = { status_style: "header" as const };
/** The fake calls are all alike, which is no circle here. */
const ALIKE = { ...HEADER, autopilot: { enabled: true, max_turns: 100, max_repeats: 0 } };
const OFF = { ...HEADER, autopilot: { enabled: false, max_turns: 100, max_repeats: 3 } };

/** Calls of `slow` that end when the test says so. */
class Gates {
  readonly #waiting = new Map<string, (result: ExecutionResult) => void>();
  readonly signals = new Map<string, AbortSignal>();
  /** Settles when that many calls have been started. */
  #started: { count: number; resolve: () => void }[] = [];

  readonly run = (call: { readonly id: string }, signal: AbortSignal): Promise<ExecutionResult> => {
    this.signals.set(call.id, signal);
    const result = new Promise<ExecutionResult>((resolve) => this.#waiting.set(call.id, resolve));
    for (const waiter of this.#started) if (this.#waiting.size >= waiter.count) waiter.resolve();
    return result;
  };

  started(count: number): Promise<void> {
    if (this.#waiting.size >= count) return Promise.resolve();
    return new Promise((resolve) => this.#started.push({ count, resolve }));
  }

  aborted(id: string): Promise<void> {
    const signal = this.signals.get(id);
    if (signal === undefined || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
  }

  open(id: string, result: ExecutionResult = { success: true, output: `result of ${id}` }): void {
    const resolve = this.#waiting.get(id);
    assert.ok(resolve, `${id} was not started`);
    resolve(result);
  }
}

const slow = (...ids: string[]) => chatWith(...ids.map((id): [string, string] => [id, "slow"]));
const approved = (...ids: string[]) => chatAnswered(slow(...ids), ...ids.map((id) => block(id, "approved")));

/** A document of which `count` calls run by now. */
async function running(count: number, given: Given) {
  const gates = new Gates();
  const built = bench({ tools: OFF, run: gates.run, ...given });
  const done = built.cycle.advance();
  await gates.started(count);
  return { gates, built, done };
}

Deno.test("results are written in the order of the calls, whatever order they arrive in", async () => {
  const texts: string[] = [];
  for (const order of [["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]]) {
    const { gates, built, done } = await running(3, {
      text: slow("a", "b", "c"),
      tools: { ...OFF, max_concurrent: 0, auto_approve: ["slow"] },
    });
    for (const id of order) gates.open(id);
    await done;
    texts.push(built.store.text);
  }
  const results = ["a", "b", "c"].map((id) => block(id, "", `result of ${id}`));
  assert.deepEqual(texts, Array(3).fill(chatAnswered(slow("a", "b", "c"), ...results)));
});

Deno.test("after every commit, the document has complete results and an approved block for each running call", async () => {
  const { gates, built, done } = await running(2, { text: approved("a", "b") });
  gates.open("b");
  gates.open("a");
  await done;
  assert.deepEqual(built.store.commits, [
    chatAnswered(slow("a", "b"), block("a", "approved"), block("b", "", "result of b")),
    chatAnswered(slow("a", "b"), block("a", "", "result of a"), block("b", "", "result of b")),
  ]);
});

Deno.test("without autopilot, the run stops before calls that found no free slot", async () => {
  const text = chatAnswered(
    slow("a", "b", "c"),
    block("a", "approved"),
    block("b", "approved"),
    block("c", "pending"),
  );
  const { gates, built, done } = await running(1, { text, tools: { ...OFF, max_concurrent: 1 } });
  gates.open("a");
  const stop = await done;
  assert.deepEqual([stop.reason, stop.ids, built.ran], ["throttled", ["b"], ["a"]]);
});

Deno.test("with autopilot, calls that found no free slot run in the next round, and then the results are sent", async () => {
  const { gates, built, done } = await running(2, { text: approved("a", "b", "c"), tools: ALIKE });
  assert.deepEqual(built.ran, ["a", "b"]);
  gates.open("a");
  gates.open("b");
  await gates.started(3);
  gates.open("c");
  await done;
  assert.deepEqual([built.ran, built.sends(), built.notices()], [["a", "b", "c"], 1, ["throttled"]]);
});

Deno.test("cancel stops the call that started first; its result contains its output and then the message about the cancellation", async () => {
  const { gates, built, done } = await running(2, { text: approved("a", "b") });
  assert.notEqual(built.cycle.cancel(), null);
  assert.deepEqual([gates.signals.get("a")?.aborted, gates.signals.get("b")?.aborted], [true, false]);
  gates.open("a", { success: true, output: "late" });
  gates.open("b");
  const stop = await done;
  assert.equal(
    built.store.text,
    chatAnswered(slow("a", "b"), block("a", "error", `late\n\n${CANCELLED}`), block("b", "", "result of b")),
  );
  assert.deepEqual([stop.reason, stop.ids], ["cancelled", ["a"]]);
  assert.deepEqual([...built.journal.started()], []);
  const finished = built.events.filter(({ event }) => event === "tool:finished");
  assert.equal(finished.length, 2);
});

Deno.test("the known output of a stopped call is written immediately, and the tool's final output replaces it later", async () => {
  const gates = new Gates();
  const built = bench({
    text: approved("a"),
    tools: OFF,
    run: (call, signal, onOutput) => {
      onOutput("so far");
      return gates.run(call, signal);
    },
  });
  const done = built.cycle.advance();
  await gates.started(1);
  built.cycle.cancel();
  const before = built.store.commits.length;
  while (built.store.commits.length === before) await Promise.resolve();
  assert.equal(built.store.chat.result("a")?.content, `so far\n\n${CANCELLED}`);
  gates.open("a", { success: false, error: "so far and more" });
  await done;
  assert.equal(built.store.chat.result("a")?.content, `so far and more\n\n${CANCELLED}`);
  assert.deepEqual(built.journal.bodies, []);
});

Deno.test("the status of a failed call is followed by the reason, given by the tool or taken from the first line of its error", async () => {
  for (
    const [result, note] of [
      [{ success: false, error: "The text occurs twice.\n\nMore." }, "The text occurs twice."],
      [{ success: false, error: "long\noutput", status: "exit code 1" }, "exit code 1"],
      [{ success: false, error: "" }, undefined],
      [{ success: true, output: "fine" }, undefined],
    ] as const
  ) {
    const { gates, built, done } = await running(1, { text: approved("a") });
    gates.open("a", result);
    await done;
    const notes = built.events.flatMap((event) => event.event === "tool:finished" ? [event.note] : []);
    assert.deepEqual(notes, [note]);
  }
});

Deno.test("after a cancellation, no other approved call is started", async () => {
  const text = callsOf("echo", { a: "approved", b: "approved" });
  const { gates, built, done } = await running(1, { text, tools: HEADER });
  built.cycle.cancel();
  gates.open("a");
  await done;
  assert.deepEqual([built.ran, built.cycle.autopilot, built.sends()], [["a"], "idle", 0]);
  assert.equal(built.store.chat.result("b")?.status, "approved");
});

Deno.test("aborting the signal given to a run cancels everything that runs", async () => {
  const controller = new AbortController();
  const { gates, built, done } = await running(2, {
    text: approved("a", "b"),
    tools: HEADER,
    signal: controller.signal,
  });
  controller.abort();
  gates.open("a");
  gates.open("b");
  assert.equal((await done).reason, "cancelled");
  assert.equal(
    built.store.text,
    chatAnswered(
      slow("a", "b"),
      block("a", "error", `result of a\n\n${CANCELLED}`),
      block("b", "error", `result of b\n\n${CANCELLED}`),
    ),
  );
});

Deno.test("if nothing is running, cancel says so", () => {
  assert.equal(bench({ text: "@You:\nhi\n" }).cycle.cancel(), null);
});

Deno.test("cancel ends a running request and stops autopilot", async () => {
  const sent = Promise.withResolvers<void>();
  const built = bench({
    text: callsOf("echo", { a: "approved" }),
    tools: HEADER,
    send: (signal) =>
      new Promise<SendOutcome>((resolve) => {
        signal.addEventListener("abort", () => resolve({ kind: "cancelled" }));
        sent.resolve();
      }),
  });
  const done = built.cycle.advance();
  await sent.promise;
  const refused = await built.cycle.advance();
  assert.deepEqual([refused.reason, refused.problem?.code], ["failed", "busy"]);
  assert.notEqual(built.cycle.cancel(), null);
  assert.equal((await done).reason, "cancelled");
  assert.equal(built.cycle.autopilot, "idle");
});

/** A provider that answers with one call each time, up to `replies`, then with words. */
function talker(replies: number): { send: (built: () => Bench) => Promise<SendOutcome>; sent: () => number } {
  let sent = 0;
  return {
    sent: () => sent,
    send: async (built) => {
      sent++;
      const { store } = built();
      const reply = sent > replies
        ? "Done.\n"
        : `**Tool Use:** \`echo\` (\`t${sent}\`)\n\n\`\`\`json\n{}\n\`\`\`\n`;
      const end = store.chat.bytes.length;
      await store.commit([{ from: end, to: end, insert: `\n@Assistant:\n\n${reply}\n@You:\n\n` }]);
      return { kind: "completed", reply: "whole", usage: null, warnings: [] };
    },
  };
}

Deno.test("autopilot continues until a reply has no calls", async () => {
  const provider = talker(3);
  const built: Bench = bench({
    text: "@You:\nhi\n",
    tools: { ...ALIKE, auto_approve: ["echo"] },
    send: () => provider.send(() => built),
  });
  const stop = await built.cycle.advance();
  assert.deepEqual([stop.reason, provider.sent(), built.ran], ["done", 4, ["t1", "t2", "t3"]]);
  assert.equal(stop.line, built.store.chat.lineCount);
});

Deno.test("autopilot continues after at most max_turns replies and writes no placeholders after the last one", async () => {
  const provider = talker(99);
  const built: Bench = bench({
    text: "@You:\nhi\n",
    tools: { ...HEADER, auto_approve: ["echo"], autopilot: { enabled: true, max_turns: 2, max_repeats: 3 } },
    send: () => provider.send(() => built),
  });
  const stop = await built.cycle.advance();
  assert.deepEqual([stop.reason, stop.ids, built.cycle.autopilot], ["turn-limit", ["t3"], "idle"]);
  assert.deepEqual([provider.sent(), built.ran], [3, ["t1", "t2"]]);
  assert.equal(built.store.chat.result("t3"), undefined);
  assert.deepEqual(built.notices(), ["turn-limit"]);
});

Deno.test("without autopilot, the run stops after a reply with calls", async () => {
  const provider = talker(1);
  const built: Bench = bench({ text: "@You:\nhi\n", tools: OFF, send: () => provider.send(() => built) });
  const stop = await built.cycle.advance();
  assert.deepEqual([stop.reason, stop.ids, built.ran], ["stepped", ["t1"], []]);
});

Deno.test("autopilot does not loop forever if a reply's calls reuse ids of calls that have results", async () => {
  const built: Bench = bench({
    text: "@You:\nhi\n",
    tools: { ...HEADER, auto_approve: ["echo"] },
    send: async () => {
      const { store } = built;
      const end = store.chat.bytes.length;
      const reply = "**Tool Use:** `echo` (`same`)\n\n```json\n{}\n```\n";
      await store.commit([{ from: end, to: end, insert: `\n@Assistant:\n\n${reply}\n@You:\n\n` }]);
      return { kind: "completed", reply: "whole", usage: null, warnings: [] };
    },
  });
  const stop = await built.cycle.advance();
  assert.deepEqual([stop.reason, stop.problem?.code, built.sends()], ["failed", "reused-call-ids", 2]);
});

Deno.test("if a tool returns yieldToUser, the run ends after all results of the reply are written", async () => {
  const ask = {
    name: "ask",
    description: "",
    input_schema: {},
    execute: () => ({ success: true, output: "?", yieldToUser: true }),
  };
  const text = chatAnswered(
    chatWith(["a", "ask"], ["b", "echo"]),
    block("a", "approved"),
    block("b", "approved"),
  );
  const built = bench({ text, tools: HEADER, definitions: [ask] });
  const stop = await built.cycle.advance();
  assert.deepEqual([stop.reason, stop.ids, built.cycle.autopilot], ["yield", ["a"], "paused"]);
  assert.deepEqual([built.ran, built.sends()], [["a", "b"], 0]);
  // The next press of the person goes on.
  await built.cycle.advance();
  assert.equal(built.sends(), 1);
});

Deno.test("a call whose tool needs something of the person first stays approved, and runs in the next run", async () => {
  let isReady = false;
  const needs = { code: "sign-in-needed", message: "Sign in.", next: "Run: sign-in" };
  const remote = {
    name: "remote",
    description: "",
    input_schema: {},
    execute: () => isReady ? { success: true, output: "done" } : { success: false, error: "Sign in.", needs },
  };
  for (const tools of [HEADER, OFF]) {
    isReady = false;
    const text = chatAnswered(
      chatWith(["a", "remote"], ["b", "echo"]),
      block("a", "approved"),
      block("b", "approved"),
    );
    const built = bench({ text, tools, definitions: [remote] });
    const stop = await built.cycle.advance();
    assert.deepEqual([stop.reason, stop.ids, built.sends()], ["yield", ["a"], 0]);
    assert.equal(built.store.chat.result("a")?.status, "approved");
    assert.deepEqual(built.ran, ["a", "b"]);
    assert.equal(built.store.chat.result("b")?.status, null);
    // It was not started as far as the journal knows, and its approval was not withdrawn.
    assert.deepEqual([...built.journal.started().keys()], []);
    assert.notEqual(built.journal.approval("a")?.asked, true);
    isReady = true;
    await built.cycle.advance();
    assert.deepEqual(built.store.chat.result("a")?.content, "done");
  }
});

Deno.test("if another program changes the document, the run stops, the result is kept, and other calls are cancelled", async () => {
  const { gates, built, done } = await running(2, { text: approved("a", "b"), tools: HEADER });
  built.store.problem = { code: "document-changed", message: "somebody else" };
  gates.open("a");
  await gates.aborted("b");
  gates.open("b");
  const stop = await done;
  assert.deepEqual([stop.reason, stop.problem?.code], ["conflict", "document-changed"]);
  assert.equal(built.store.text, approved("a", "b"));
  assert.deepEqual(built.journal.bodies, [
    { id: "a", body: "result of a" },
    { id: "b", body: `result of b\n\n${CANCELLED}` },
  ]);
  assert.deepEqual([...built.journal.savedResults().keys()], ["a"]);
  // The next run asks instead of running them again.
  assert.deepEqual([...built.journal.started().keys()], ["a", "b"]);
  assert.equal(built.sends(), 0);
});

Deno.test("before an approved call starts, its state is checked again if another call ran meanwhile: one row per condition", async () => {
  const text = callsOf("echo", { a: "approved", b: "approved" });
  const rows: Readonly<Record<string, (text: string) => string>> = {
    "the call is pending again": (text) => text.replace(block("b", "approved"), block("b", "pending")),
    "the call is denied": (text) => text.replace(block("b", "approved"), block("b", "denied")),
    "the block of the call contains text": (text) =>
      text.replace(block("b", "approved"), block("b", "approved", "mine")),
    "the block of the call is gone": (text) => text.replace(block("b", "approved"), ""),
    "the call is gone": (text) => text.replaceAll("`b`", "`c`"),
  };
  for (const [what, change] of [["nothing", (text: string) => text] as const, ...Object.entries(rows)]) {
    const ran: string[] = [];
    const built = bench({
      text,
      tools: OFF,
      run: ({ id }) => {
        ran.push(id);
        if (id === "a") built.store.text = change(built.store.text);
        return Promise.resolve({ success: true, output: `result of ${id}` });
      },
    });
    await built.cycle.advance();
    assert.deepEqual(ran, what === "nothing" ? ["a", "b"] : ["a"], what);
  }
});

Deno.test("if a call is deleted from the document while it runs, its output is saved", async () => {
  const { gates, built, done } = await running(1, { text: approved("a"), tools: HEADER });
  built.store.text = "@You:\nsomething else\n";
  gates.open("a");
  const stop = await done;
  assert.deepEqual([stop.reason, stop.problem?.code], ["failed", "call-gone"]);
  assert.deepEqual(built.journal.bodies, [{ id: "a", body: "result of a" }]);
  assert.equal(built.store.text, "@You:\nsomething else\n");
});

Deno.test("while tools run, a second step starts at most as many calls as slots are free, and sends no request", async () => {
  const gates = new Gates();
  const built = bench({
    text: approved("a", "b", "c"),
    tools: { ...OFF, max_concurrent: 2 },
    run: gates.run,
  });
  await built.cycle.step();
  await built.cycle.step();
  assert.deepEqual(built.ran, ["a", "b"]);
  // What runs is not what an earlier run of the program left behind: its start stays journalled.
  assert.deepEqual([...built.journal.started().keys()], ["a", "b"]);
  gates.open("a");
  gates.open("b");
  await built.cycle.quiet();
  assert.equal(built.sends(), 0);
});

Deno.test("output of a running tool is reported as it arrives, but not after a cancellation", async () => {
  let put: (text: string) => void = () => {};
  const end = Promise.withResolvers<ExecutionResult>();
  const began = Promise.withResolvers<void>();
  const built = bench({
    text: approved("a"),
    tools: OFF,
    run: (_call, _signal, onOutput) => {
      put = onOutput;
      began.resolve();
      return end.promise;
    },
  });
  const done = built.cycle.advance();
  await began.promise;
  put("first");
  built.cycle.cancel();
  put("second");
  end.resolve({ success: true });
  await done;
  const output = built.events.flatMap((event) => event.event === "tool:output" ? [event.text] : []);
  assert.deepEqual(output, ["first"]);
});

Deno.test("an error in a tool runner is thrown by the run and not lost", async () => {
  const built = bench({
    text: approved("a"),
    tools: OFF,
    run: () => Promise.reject(new Error("broken runner")),
  });
  await assert.rejects(built.cycle.advance(), /broken runner/);
});

Deno.test("once flemma stopped waiting for a cancelled call, a late result of the call changes nothing", async () => {
  const { gates, built, done } = await running(1, { text: approved("a") });
  const waits = await withoutWaiting(() => assert.ok(built.cycle.cancelCall("a")));
  assert.equal(waits.length, 1);
  const finished = () => built.events.filter(({ event }) => event === "tool:finished").length;
  while (finished() === 0) await new Promise((settled) => setTimeout(settled, 0));
  const given = built.store.text;
  assert.equal(given, chatAnswered(slow("a"), block("a", "error", CANCELLED)));
  const ends = built.journal.log.length;
  gates.open("a", { success: true, output: "too late" });
  await done;
  assert.equal(finished(), 1);
  assert.deepEqual([built.store.text, built.journal.log.length], [given, ends]);
});

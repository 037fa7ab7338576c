// The send command alone: what refuses it, what it excludes, and how it is cancelled.

import assert from "node:assert/strict";
import type { SendOutcome } from "../../cycle/types.ts";
import { bench, block, chatAnswered, chatWith } from "./harness.ts";

const ASKED = "@You:\nHello?\n";

/** A request that lasts until it is answered or cancelled. */
function request() {
  const begun = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<SendOutcome>();
  const send = (signal: AbortSignal) => {
    signal.addEventListener("abort", () => answered.resolve({ kind: "cancelled" }));
    begun.resolve();
    return answered.promise;
  };
  return { send, begun: begun.promise, answer: answered.resolve };
}

Deno.test("while a request is being sent no other operation starts; afterwards the next operation may start", async () => {
  const { send, begun, answer } = request();
  const { cycle, ran } = bench({ text: ASKED, send });
  const sending = cycle.send();
  await begun;
  assert.ok(cycle.requesting);
  assert.equal((await cycle.send()).problem?.code, "busy");
  assert.equal((await cycle.advance()).problem?.code, "busy");
  answer({ kind: "completed", reply: "cut", usage: null, warnings: [] });
  assert.equal((await sending).reason, "cut");
  assert.deepEqual([cycle.requesting, ran], [false, []]);
  assert.equal((await cycle.send()).reason, "cut");
});

Deno.test("a request that a send command started is cancelled like the request of a run, alone or together with everything else", async () => {
  for (const all of [false, true]) {
    const { send, begun } = request();
    const { cycle } = bench({ text: ASKED, send });
    const sending = cycle.send();
    await begun;
    if (all) cycle.cancelAll();
    else assert.deepEqual(cycle.cancel(), { what: "request" });
    assert.equal((await sending).reason, "cancelled");
    assert.equal(cycle.cancel(), null, "nothing is left to cancel");
  }
});

Deno.test("once the program is ending, it sends no request", async () => {
  const built = bench({ text: ASKED, signal: AbortSignal.abort() });
  assert.deepEqual([(await built.cycle.send()).reason, built.sends()], ["cancelled", 0]);
});

Deno.test("the send command sends no request if there is nothing to send, a call is open, or the document is blocked: one row per document", async () => {
  const calls = chatWith(["a", "echo"]);
  const blocker = { code: "bad", type: "frontmatter", severity: "error", message: "Bad." } as const;
  const rows: readonly (readonly [string, string, string?])[] = [
    ["", "empty"],
    [calls, "unanswered"],
    [chatAnswered(calls, block("a", "approved")), "unanswered"],
    [chatAnswered(calls, block("a", "pending")), "pending"],
    [chatAnswered(calls, block("a", "approved", "mine")), "protected"],
    ["@You:\n\n", "answered"],
    [ASKED, "diagnostics", "blocked"],
  ];
  for (const [text, reason, blocked] of rows) {
    const built = bench({ text, blockers: () => blocked === undefined ? [] : [blocker] });
    assert.deepEqual([(await built.cycle.send()).reason, built.sends()], [reason, 0], reason);
    assert.equal(built.store.text, text);
  }
});

Deno.test("with --continue, if the model has the last turn, flemma adds a message that asks the model to continue", async () => {
  const built = bench({ text: `${ASKED}\n@Assistant:\nWell.\n` });
  await built.cycle.send({ goOn: true });
  assert.match(built.store.text, /Well\.\n\n@You:\nContinue\.\n/);
  built.store.problem = { code: "full", message: "No room." };
  built.store.text = `${ASKED}\n@Assistant:\nWell.\n`;
  assert.equal((await built.cycle.send({ goOn: true })).problem?.code, "full");
  assert.equal(built.sends(), 1);
});

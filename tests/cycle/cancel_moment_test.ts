// A cancel just before a call starts: nothing may start after it.

import assert from "node:assert/strict";
import type { Cycle } from "../../cycle/run/cycle.ts";
import { bench, callsOf, MemoryJournal } from "./harness.ts";

const CHAT = callsOf("slow", { a: "approved", b: "approved" });

/** A journal in which the person cancels while the start of a call is being written down. */
class CancellingJournal extends MemoryJournal {
  cycle: Cycle | null = null;

  override async recordStart(id: string, tool: string): Promise<void> {
    await super.recordStart(id, tool);
    this.cycle?.cancelAll();
  }
}

Deno.test("if everything is cancelled while the start of a call is being recorded, the call does not run and stays approved", async () => {
  const journal = new CancellingJournal();
  const built = bench({ text: CHAT, journal });
  journal.cycle = built.cycle;
  const stop = await built.cycle.advance();
  assert.deepEqual([stop.reason, built.ran], ["cancelled", []]);
  assert.equal(built.store.text, CHAT);
  assert.deepEqual([...journal.started()], []);
});

Deno.test("if everything is cancelled while the input of a manually executed call is checked, the call does not run", async () => {
  const built = bench({
    text: CHAT,
    checkInput: () => {
      built.cycle.cancelAll();
      return [];
    },
  });
  const stop = await built.cycle.executeOne("a");
  assert.deepEqual([stop.reason, built.ran, built.store.text], ["cancelled", [], CHAT]);
});

Deno.test("if everything is cancelled while one call runs, the next call does not start and stays approved", async () => {
  const text = callsOf("echo", { a: "approved", b: "approved" });
  const built = bench({
    text,
    run: (_call, _signal) => {
      built.cycle.cancelAll();
      return Promise.resolve({ success: true, output: "ran" });
    },
  });
  const stop = await built.cycle.advance();
  assert.deepEqual([stop.reason, built.ran], ["cancelled", ["a"]]);
  assert.match(built.store.text, /`b`[^`]*approved|`b` \(approved\)/);
});

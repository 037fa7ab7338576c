// Calls of an unfinished reply are recorded before they are written, and cleared when the document shows its end.

import assert from "node:assert/strict";
import { UnfinishedCalls } from "../../cycle/send/unfinished_calls.ts";
import type { CycleEvent } from "../../cycle/types.ts";

/** A memory that writes down what it is told. */
function memory() {
  const log: string[] = [];
  return {
    log,
    recordUnfinished(ids: readonly string[]) {
      log.push(`open ${ids.join()}`);
      return Promise.resolve();
    },
    recordFinished(ids: readonly string[]) {
      log.push(`done ${ids.join()}`);
      return Promise.resolve();
    },
  };
}

Deno.test("each call of a reply is recorded as unfinished once, and all are cleared when the reply ends", async () => {
  const replies = memory();
  const calls = new UnfinishedCalls({ journal: replies, emit: () => {} });
  await calls.note([]);
  await calls.note(["a"]);
  await calls.note(["a"]);
  await calls.note(["a", "b", "c"]);
  await calls.end();
  assert.deepEqual(replies.log, ["open a", "open b,c", "done a,b,c"]);
});

Deno.test("no unfinished calls are recorded for a reply without calls or for a run without a journal", async () => {
  const replies = memory();
  await new UnfinishedCalls({ journal: replies, emit: () => {} }).end();
  assert.deepEqual(replies.log, []);
  const none = new UnfinishedCalls({ emit: () => assert.fail("nothing is told") });
  await none.note(["a"]);
  await none.end();
});

Deno.test("if the journal is not writable, flemma reports it and still writes the paid reply", async () => {
  const events: CycleEvent[] = [];
  const replies = { ...memory(), recordUnfinished: () => Promise.reject(new Error("no room")) };
  await new UnfinishedCalls({ journal: replies, emit: (event) => events.push(event) }).note(["a"]);
  assert.ok(events.length === 1 && events[0]!.event === "notice");
  assert.equal(events[0].code, "state-unwritable");
  assert.match(events[0].message, /no room/);
});

import assert from "node:assert/strict";
import { ownSignal, runInTurn } from "../../batch/in_turn.ts";

const NEVER = new AbortController().signal;

Deno.test("at most N jobs run in parallel, the next starts when one ends, and the results keep their order", async () => {
  let running = 0;
  let most = 0;
  const begun: number[] = [];
  const results = await runInTurn([5, 1, 4, 2, 3], { jobs: 2, signal: NEVER }, async (item) => {
    begun.push(item);
    most = Math.max(most, ++running);
    for (let at = 0; at < item; at++) await Promise.resolve();
    running--;
    return item * 10;
  });
  assert.deepEqual([most, begun, results], [2, [5, 1, 4, 2, 3], [50, 10, 40, 20, 30]]);
});

Deno.test("there may be more parallel jobs than items, and there may be no items", async () => {
  const double = (item: number) => Promise.resolve(item * 2);
  assert.deepEqual(await runInTurn([1], { jobs: 64, signal: NEVER }, double), [2]);
  assert.deepEqual(await runInTurn([], { jobs: 2, signal: NEVER }, double), []);
});

Deno.test("after a stop no further job starts, and jobs that have started finish", async () => {
  const stop = new AbortController();
  const results = await runInTurn([1, 2, 3], { jobs: 1, signal: stop.signal }, (item) => {
    if (item === 2) stop.abort();
    return Promise.resolve(item);
  });
  assert.deepEqual(results, [1, 2, undefined]);
});

Deno.test("a document's own signal aborts with the shared one, and leaves nothing on it once it is disposed", () => {
  const shared = new AbortController();
  const ended = ownSignal(shared.signal);
  const running = ownSignal(shared.signal);
  ended[Symbol.dispose]();
  shared.abort("why");
  assert.deepEqual([ended.signal.aborted, running.signal.aborted, running.signal.reason], [
    false,
    true,
    "why",
  ]);
  assert.equal(ownSignal(shared.signal).signal.aborted, true);
});

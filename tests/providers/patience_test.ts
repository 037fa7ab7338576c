import assert from "node:assert/strict";
import { formatDuration, MOST_TRIES, Patience, systemClock } from "../../providers/http/patience.ts";
import { providerError } from "../../providers/http/errors.ts";
import { StoppedClock } from "./stopped_clock.ts";

const failing = (after: number | null) => providerError("other", "m", { retry: { after } });

Deno.test("at most six requests are made, and each wait is about twice as long as the one before", () => {
  const clock = new StoppedClock();
  const patience = new Patience(clock);
  const waits: number[] = [];
  for (let at = patience.next(failing(null)); at.wait !== null; at = patience.next(failing(null))) {
    waits.push(at.wait);
    clock.seconds += at.wait;
  }
  assert.deepEqual(waits, [2, 4, 8, 16, 32]);
  assert.equal(patience.tries, MOST_TRIES);
  assert.deepEqual(patience.next(failing(null)), { wait: null, tried: "Tried 6 times in 1 min 2 s." });
});

Deno.test("flemma waits as long as a provider requests, but never longer than ten minutes", () => {
  const clock = new StoppedClock();
  const patience = new Patience(clock);
  assert.deepEqual(patience.next(failing(45)), { wait: 45, tried: null });
  assert.deepEqual(patience.next(failing(0)), { wait: 4, tried: null });
  clock.seconds = 590;
  assert.deepEqual(patience.next(failing(11)), {
    wait: null,
    tried: "Tried 3 times in 9 min 50 s. The provider asks for a wait of 11 s.",
  });
  assert.deepEqual(patience.next(failing(10)), { wait: 10, tried: null });
  assert.deepEqual(new Patience(clock).next(failing(8000)), {
    wait: null,
    tried: "The provider asks for a wait of 2 h 13 min.",
  });
});

Deno.test("an error that is not temporary is not retried", () => {
  assert.deepEqual(new Patience(new StoppedClock()).next(providerError("other", "m")), {
    wait: null,
    tried: null,
  });
});

Deno.test("requests that failed together are not all retried at the same moment", () => {
  const waits = [0, 0.999].map((random) => {
    const clock = new StoppedClock();
    clock.chance = random;
    return new Patience(clock).next(failing(null)).wait ?? NaN;
  });
  assert.ok(waits[0]! >= 1.5 && waits[1]! <= 2.5 && waits[1]! - waits[0]! > 0.9, String(waits));
});

Deno.test("the real clock really waits, and stops immediately if the person cancels", async () => {
  assert.equal(await systemClock.wait(0, new AbortController().signal), true);
  const stopping = new AbortController();
  const waiting = systemClock.wait(3600, stopping.signal);
  stopping.abort();
  assert.equal(await waiting, false);
  assert.equal(await systemClock.wait(3600, stopping.signal), false);
});

Deno.test("durations are formatted as people write them", () => {
  const rows = [[0.2, "0 s"], [12.4, "12 s"], [60, "1 min"], [185, "3 min 5 s"], [3600, "1 h"], [
    7800,
    "2 h 10 min",
  ]] as const;
  for (const [seconds, words] of rows) {
    assert.equal(formatDuration(seconds), words);
  }
});

import assert from "node:assert/strict";
import {
  formatDuration,
  MOST_TRIES,
  Patience,
  systemClock,
  timeIn,
  WaitBudget,
} from "../../providers/http/patience.ts";
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
  assert.deepEqual(patience.next(failing(null)), {
    wait: null,
    of: null,
    tried: "Tried 6 times in 1 min 2 s.",
  });
});

Deno.test("flemma waits as long as a provider requests, but never longer than ten minutes", () => {
  const clock = new StoppedClock();
  const patience = new Patience(clock);
  assert.deepEqual(patience.next(failing(45)), { wait: 45, of: 6, tried: null });
  assert.deepEqual(patience.next(failing(0)), { wait: 4, of: 6, tried: null });
  clock.seconds = 590;
  assert.deepEqual(patience.next(failing(11)), {
    wait: null,
    of: null,
    tried: "Tried 3 times in 9 min 50 s. The provider asks for a wait of 11 s.",
  });
  assert.deepEqual(patience.next(failing(10)), { wait: 10, of: 6, tried: null });
  assert.deepEqual(new Patience(clock).next(failing(8000)), {
    wait: null,
    of: null,
    tried: "The provider asks for a wait of 2 h 13 min.",
  });
});

Deno.test("an error that is not temporary is not retried", () => {
  assert.deepEqual(new Patience(new StoppedClock()).next(providerError("other", "m")), {
    wait: null,
    of: null,
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

const limited = (after: number | null) =>
  providerError("rate_limit", "m", { retry: { after, trouble: "limited" } });

Deno.test("a wait for a limit may take longer and be repeated, up to the time that the person allows in total", () => {
  const clock = new StoppedClock();
  const budget = new WaitBudget(7200);
  const patience = new Patience(clock, { budget });
  const waits: (number | null)[] = [];
  for (const after of [3600, 3000, 600, 1]) {
    const { wait, of } = patience.next(limited(after));
    waits.push(wait);
    if (wait !== null) assert.equal(of, null);
    clock.seconds += wait ?? 0;
  }
  assert.deepEqual(waits, [3600, 3000, 600, null]);
  assert.equal(budget.left, 0);
  budget.begin();
  assert.equal(budget.left, 7200);
  assert.deepEqual(new Patience(clock, { budget }).next(limited(7201)), {
    wait: null,
    of: null,
    tried: "The provider asks for a wait of 2 h.",
  });
});

Deno.test("if the provider names no time, waits grow to five minutes and end with the allowed time", () => {
  const clock = new StoppedClock();
  const patience = new Patience(clock, { budget: new WaitBudget(1200) });
  const waits: number[] = [];
  for (let at = patience.next(limited(null)); at.wait !== null; at = patience.next(limited(null))) {
    waits.push(at.wait);
    clock.seconds += at.wait;
  }
  assert.deepEqual(waits, [2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
});

Deno.test("only waits for limits and outages use the allowed time: a broken connection gets the usual attempts", () => {
  const clock = new StoppedClock();
  const budget = new WaitBudget(36_000);
  const patience = new Patience(clock, { budget });
  for (let at = patience.next(failing(null)); at.wait !== null; at = patience.next(failing(null))) {
    assert.equal(at.of, MOST_TRIES);
  }
  assert.deepEqual([patience.tries, budget.left], [MOST_TRIES, 36_000]);
  assert.deepEqual(new Patience(clock, { budget }).next(providerError("authentication", "m")).wait, null);
});

Deno.test("a short limit never allows less than the usual attempts", () => {
  const clock = new StoppedClock();
  const patience = new Patience(clock, { budget: new WaitBudget(1) });
  let attempts = 1;
  for (let at = patience.next(limited(null)); at.wait !== null; at = patience.next(limited(null))) attempts++;
  assert.equal(attempts, MOST_TRIES);
});

Deno.test("if another model is asked afterwards, a request is made a few times and never waits long", () => {
  const patience = new Patience(new StoppedClock(), { budget: new WaitBudget(36_000) });
  const next = () => patience.next(limited(null), 3);
  assert.deepEqual([next().wait, next().of, next().wait], [2, 3, null]);
  assert.equal(
    new Patience(new StoppedClock(), { budget: new WaitBudget(36_000) }).next(limited(700), 3).wait,
    null,
  );
});

Deno.test("the end of a wait is a time in UTC, rounded up to a second", () => {
  assert.equal(timeIn(90.2, new StoppedClock()), "2026-11-28T12:01:31Z");
});

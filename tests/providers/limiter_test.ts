import assert from "node:assert/strict";
import { RequestLimiter, type RequestPlace } from "../../providers/http/limiter.ts";
import { StoppedClock } from "./stopped_clock.ts";

const NEVER = new AbortController().signal;

/** A limiter with one server, and everybody who asks it in the order in which they came in. */
function crowd(most: number | null = null, clock = new StoppedClock()) {
  const limiter = new RequestLimiter();
  const inside: RequestPlace[] = [];
  const ask = async (signal: AbortSignal = NEVER) => {
    const place = await limiter.enter("a", { most, clock, signal });
    if (place !== null) inside.push(place);
    return place;
  };
  return { limiter, clock, inside, ask };
}

/** Lets whoever may go on do so. */
async function settle(): Promise<void> {
  for (let at = 0; at < 20; at++) await Promise.resolve();
}

Deno.test("at most as many requests run in parallel as the person allows, and waiting requests start in order", async () => {
  const { inside, ask } = crowd(2);
  const asked = [1, 2, 3, 4].map(() => ask());
  await settle();
  assert.equal(inside.length, 2);
  inside[0]!.leave("answered");
  await settle();
  assert.equal(inside.length, 3);
  assert.equal(inside[2], await asked[2]);
  inside[1]!.leave("neither");
  await Promise.all(asked);
  assert.equal(inside.length, 4);
});

Deno.test("without a limit every request starts; with a limit, a slot that is released twice admits only one request", async () => {
  const { inside, ask } = crowd();
  await Promise.all(Array.from({ length: 50 }, () => ask()));
  assert.equal(inside.length, 50);
  const limited = crowd(1);
  for (let at = 0; at < 3; at++) void limited.ask();
  await settle();
  limited.inside[0]!.leave("answered");
  limited.inside[0]!.leave("answered");
  await settle();
  assert.equal(limited.inside.length, 2);
});

Deno.test("after a refusal, every request to the same server is delayed, but none to other servers", async () => {
  const { limiter, clock, inside, ask } = crowd();
  await ask();
  inside[0]!.leave("refused", 30);
  const other = await limiter.enter("b", { most: null, clock, signal: NEVER });
  assert.notEqual(other, null);
  assert.deepEqual(clock.waits, []);
  await ask();
  assert.deepEqual(clock.waits, [30]);
});

Deno.test("after a refusal the limit of parallel requests is halved, and each reply raises it by one", async () => {
  const { clock, inside, ask } = crowd();
  await Promise.all(Array.from({ length: 8 }, () => ask()));
  // All that were refused at one moment were refused for one reason.
  for (const place of inside.splice(0, 3)) place.leave("refused", 1);
  clock.seconds = 1;
  for (const place of inside.splice(0)) place.leave("neither");
  void Promise.all(Array.from({ length: 20 }, () => ask()));
  await settle();
  assert.equal(inside.length, 4);
  inside.splice(0, 1)[0]!.leave("answered");
  await settle();
  assert.equal(inside.length, 5);
});

Deno.test("one request may always run, however often the provider refuses", async () => {
  const { clock, inside, ask } = crowd();
  for (let at = 0; at < 5; at++) {
    await ask();
    inside.splice(0, 1)[0]!.leave("refused", 1);
    clock.seconds += 2;
  }
  assert.notEqual(await ask(), null);
});

Deno.test("a request that is cancelled while it waits gets no slot", async () => {
  const { inside, ask } = crowd(1);
  await ask();
  const stop = new AbortController();
  const cancelled = ask(stop.signal);
  const next = ask();
  stop.abort();
  assert.equal(await cancelled, null);
  inside[0]!.leave("answered");
  assert.notEqual(await next, null);
  assert.equal(await ask(stop.signal), null);
});

Deno.test("a request that is cancelled during a pause ends immediately", async () => {
  const { clock, inside, ask } = crowd();
  await ask();
  inside[0]!.leave("refused", 600);
  const stop = new AbortController();
  clock.onWait = () => stop.abort();
  assert.equal(await ask(stop.signal), null);
});

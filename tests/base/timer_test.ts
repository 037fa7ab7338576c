// A timer that starts no other part of the runtime.

import assert from "node:assert/strict";
import { after, afterSilence } from "../../base/system/timer.ts";
import { withClock } from "../waiting.ts";

Deno.test("a timer fires once, after timers that were due earlier", async () => {
  const order: string[] = [];
  await new Promise<void>((done) => {
    after(30, () => (order.push("late"), done()));
    after(1, () => order.push("early"));
  });
  assert.deepEqual(order, ["early", "late"]);
});

Deno.test("a cancelled timer never fires, and can be cancelled again", async () => {
  let happened = false;
  const takeBack = after(1, () => happened = true);
  takeBack();
  takeBack();
  await new Promise<void>((done) => after(20, done));
  assert.equal(happened, false);
});

Deno.test("a delay that is too long for a timer becomes the longest possible delay, and a time in the past becomes zero", async () => {
  after(2 ** 40, () => assert.fail("this is due in years"))();
  await new Promise<void>((done) => after(-5, done));
});

Deno.test("an expired timeout waits until data that arrived in time is processed, and fires once unless that data cancels it", () =>
  withClock(async (clock) => {
    let ended = 0;
    const takeBack = afterSilence(100, () => ended++);
    await clock.pass(100);
    takeBack();
    await clock.pass(1000);
    assert.equal(ended, 0);
    afterSilence(100, () => ended++)();
    afterSilence(100, () => ended++);
    await clock.pass(119);
    assert.equal(ended, 0);
    await clock.pass(1000);
    assert.equal(ended, 1);
  }));

/** What a program prints, and whether it wakes the Node layer; it has to end by itself. */
async function runOf(code: string): Promise<{ readonly stated: string; readonly wakes: boolean }> {
  const log = await Deno.makeTempFile();
  try {
    const flags = `--v8-flags=--log-function-events,--logfile=${log},--no-logfile-per-isolate`;
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", flags, `data:text/javascript,${encodeURIComponent(code)}`],
      stdout: "piped",
      stderr: "null",
    }).output();
    const wakes = (await Deno.readTextFile(log)).includes("deno_node/internal/timers");
    return { stated: new TextDecoder().decode(stdout), wakes };
  } finally {
    await Deno.remove(log);
  }
}

Deno.test("a process stays alive for a timer but not for a cancelled timer, and no Node module is loaded", async () => {
  const module = JSON.stringify(new URL("../../base/system/timer.ts", import.meta.url).href);
  const code = `after(5, () => console.log("due")); after(600000, () => {})();`;
  assert.deepEqual(await runOf(`import { after } from ${module}; ${code}`), {
    stated: "due\n",
    wakes: false,
  });
  // Where the runtime's own timer wakes nothing any more, this module has no reason.
  assert.deepEqual(await runOf("setTimeout(() => {}, 1);"), { stated: "", wakes: true });
});

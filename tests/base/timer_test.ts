// A moment from now that wakes nothing else.

import assert from "node:assert/strict";
import { after, afterSilence } from "../../base/system/timer.ts";
import { withClock } from "../waiting.ts";

Deno.test("what is put off happens once, behind what is due earlier", async () => {
  const order: string[] = [];
  await new Promise<void>((done) => {
    after(30, () => (order.push("late"), done()));
    after(1, () => order.push("early"));
  });
  assert.deepEqual(order, ["early", "late"]);
});

Deno.test("what is taken back never happens, and can be taken back again", async () => {
  let happened = false;
  const takeBack = after(1, () => happened = true);
  takeBack();
  takeBack();
  await new Promise<void>((done) => after(20, done));
  assert.equal(happened, false);
});

Deno.test("a time that no timer can wait for is the longest, and one that has passed is now", async () => {
  after(2 ** 40, () => assert.fail("this is due in years"))();
  await new Promise<void>((done) => after(-5, done));
});

Deno.test("what ends a patience can be taken back until what came in time was taken in, and happens once then", () =>
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

Deno.test("a process lives until its time, not for what was taken back, and nothing of Node is woken", async () => {
  const module = JSON.stringify(new URL("../../base/system/timer.ts", import.meta.url).href);
  const code = `after(5, () => console.log("due")); after(600000, () => {})();`;
  assert.deepEqual(await runOf(`import { after } from ${module}; ${code}`), {
    stated: "due\n",
    wakes: false,
  });
  // Where the runtime's own timer wakes nothing any more, this module has no reason.
  assert.deepEqual(await runOf("setTimeout(() => {}, 1);"), { stated: "", wakes: true });
});

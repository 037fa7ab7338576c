// What never ends is not waited for.

import assert from "node:assert/strict";
import { TimeOver, within } from "../../base/time_limit.ts";

const never = new Promise<never>(() => {});

Deno.test("what comes in time comes through, as it is", async () => {
  assert.equal(await within(60, Promise.resolve(1)), 1);
  await assert.rejects(within(60, Promise.reject(new Error("x"))), { message: "x" });
});

Deno.test("what never comes is given up when its time is over", async () => {
  await assert.rejects(within(0.001, never), TimeOver);
});

Deno.test("a person's stop ends the waiting, also one that came before it began", async () => {
  const controller = new AbortController();
  const waiting = within(60, never, controller.signal);
  controller.abort(new Error("stopped"));
  await assert.rejects(waiting, { message: "stopped" });
  await assert.rejects(within(60, never, controller.signal), { message: "stopped" });
});

Deno.test("a process ends although a file it has given up on still does not answer", () => {
  const folder = Deno.makeTempDirSync();
  try {
    const pipe = `${folder}/pipe`;
    assert.ok(new Deno.Command("mkfifo", { args: [pipe] }).outputSync().success);
    const program = `
      import { within } from ${JSON.stringify(new URL("../../base/time_limit.ts", import.meta.url).href)};
      await within(0.01, Deno.open(${JSON.stringify(pipe)})).catch((thrown) => console.log(thrown.message));
      Deno.exit(7);`;
    const { code, stdout } = new Deno.Command(Deno.execPath(), { args: ["eval", program] }).outputSync();
    assert.equal(new TextDecoder().decode(stdout), "no answer within 0.01 seconds\n");
    assert.equal(code, 7);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

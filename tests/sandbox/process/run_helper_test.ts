// Small helper programs: what is returned of them, and how they end.

import assert from "node:assert/strict";
import { runBriefly } from "../../../sandbox/process/run_helper.ts";

const OPTIONS = { cwd: "/", env: { PATH: "/usr/bin:/bin" } };
const shell = (line: string, limit: number) => runBriefly(["/bin/sh", "-c", line], OPTIONS, limit);

Deno.test("a helper program that ends in time is returned with its output, without what it left running", async () => {
  const run = await shell("echo out; echo bad >&2; sleep 600 & exit 3", 60_000);
  assert.ok(run.ok);
  const { code, stdout, stderr, timedOut } = run.value;
  assert.deepEqual([code, stdout, stderr, timedOut], [3, "out\n", "bad\n", false]);
});

Deno.test("a helper program that does not end in time is killed, with what it started", async () => {
  const run = await shell("echo out; sleep 20; echo late", 1);
  assert.ok(run.ok);
  const { signal, stdout, timedOut } = run.value;
  assert.deepEqual([signal, timedOut], ["SIGTERM", true]);
  assert.doesNotMatch(stdout, /late/);
});

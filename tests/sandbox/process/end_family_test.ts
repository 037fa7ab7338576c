// The gentle end of a command and what it started, while the sandbox around it lives on.

import assert from "node:assert/strict";
import { endGently } from "../../../sandbox/process/end_family.ts";
import { processEntry } from "../../../sandbox/process/process_table.ts";
import { spawn } from "../../../sandbox/process/spawn.ts";
import { withClock } from "../../waiting.ts";

Deno.test("a gentle end waits no longer than the commands live, and leaves the process of the sandbox around them", () =>
  withClock(async (clock) => {
    // The process around the command never asks how its child ended, so the child stays in the process table.
    const shell = "sleep 1000 & echo $!; exec sleep 1000";
    const started = spawn(["/bin/sh", "-c", shell], { cwd: "/", env: { PATH: "/usr/bin:/bin" } });
    assert.ok(started.ok);
    const { pid: leader, stdout, kill } = started.value;
    try {
      const reader = stdout.getReader();
      const child = Number(new TextDecoder().decode((await reader.read()).value));
      let isOver = false;
      const options = { mark: undefined, wrapped: true, milliseconds: 1_000_000 };
      const ending = endGently(leader, options).then(() => isOver = true);
      while (processEntry(child)?.alive === true) await clock.pass(5);
      for (let checks = 0; checks < 20 && !isOver; checks++) await clock.pass(250);
      assert.ok(isOver);
      assert.equal(processEntry(leader)?.alive, true);
      await ending;
      await reader.cancel();
    } finally {
      const killed = kill();
      while (processEntry(leader)?.alive === true) await clock.pass(5);
      await clock.pass(500);
      await killed;
    }
  }));

// Commands that a read-only policy approves, and never approves: two lists, one command per line.

import assert from "node:assert/strict";
import { evaluateCommand, inFolder, readList, testInRepository as test } from "./policy.ts";

const attacks = readList("./attacks.txt");
const harmless = readList("./harmless.txt");

Deno.test("none of at least 150 attacks is approved by a read-only policy", async () => {
  assert.ok(attacks.length >= 150, `${attacks.length} attacks`);
  await inFolder(async (folder) => {
    const approved: string[] = [];
    for (const { command, reason } of attacks) {
      const { approved: yes } = await evaluateCommand(command, { folder });
      if (yes) approved.push(`${JSON.stringify(command)}: ${reason}`);
    }
    assert.deepEqual(approved, []);
  });
});

Deno.test("all of at least 80 harmless commands are approved by the same read-only policy", async () => {
  assert.ok(harmless.length >= 80, `${harmless.length} harmless commands`);
  await inFolder(async (folder) => {
    const asked: string[] = [];
    for (const { command, reason } of harmless) {
      const { approved, why } = await evaluateCommand(command, { folder });
      if (!approved) asked.push(`${JSON.stringify(command)}: ${reason}: ${why}`);
    }
    assert.deepEqual(asked, []);
  });
});

test("each attack is refused for its own reason, never because nothing was checked", async (folder) => {
  for (const { command } of attacks) {
    const { why } = await evaluateCommand(command, { folder });
    assert.match(why ?? "", /\w/, command);
  }
});

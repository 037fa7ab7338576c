// Commands that a read-only policy approves, and never approves: two lists, one command per line.

import assert from "node:assert/strict";
import { evaluateCommand, inFolder, readList, testInRepository as test } from "./policy.ts";

const attacks = readList("./attacks.txt");
const harmless = readList("./harmless.txt");

Deno.test("a read-only policy approves none of at least 150 attacks", async () => {
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

Deno.test("the same read-only policy approves every one of at least 80 harmless commands", async () => {
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

test("each attack is refused with a reason", async (folder) => {
  for (const { command } of attacks) {
    const { why } = await evaluateCommand(command, { folder });
    assert.match(why ?? "", /\w/, command);
  }
});

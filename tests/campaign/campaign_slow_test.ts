// The short forms of the campaigns; the long ones are `deno task campaign NAME`.

import assert from "node:assert/strict";
import { inFolder } from "../tools/rules/policy.ts";
import { approvedCommands, checkApproved } from "./approved_commands.ts";
import { COMMANDS } from "./command_kill_rows.ts";
import { commandKills, undisturbed } from "./command_kills.ts";
import { filterFaults } from "./filter_faults.ts";
import { forgery } from "./forgery.ts";
import { kills } from "./kills.ts";
import { machineFaults } from "./machine_faults.ts";
import { KEPT_SEEDS, readers, readOnce } from "./reader_fuzz.ts";
import { replies } from "./replies.ts";
import { saves } from "./saves.ts";

Deno.test("no text is lost if another program saves the document at random or chosen moments", async () => {
  await saves(16, 1);
});

Deno.test("if a file is saved in the way of any editor while a reply streams, no text is lost and no reply is cut off", async () => {
  await replies(8, 1);
});

Deno.test("if runs are killed at random moments, no text is lost, no call runs twice and no files remain", async () => {
  await kills(3, 3);
});

Deno.test("if undo or fork is killed, every file has its old or its new content, and the next run completes the command", async () => {
  await commandKills(2, 0);
});

Deno.test("without a kill, every command of the campaign of killed commands changes a file", async () => {
  for (const command of COMMANDS) await undisturbed(command);
});

Deno.test("in a few hundred replies of every provider, no text becomes document structure, and each reply is read back as declared", async () => {
  await forgery(150, 1);
});

Deno.test("even if a fault occurs, a filter prints at least the complete document that it received", async () => {
  await filterFaults(4, 1);
});

Deno.test("faults of the machine damage no document", async () => {
  await machineFaults(8, 1);
});

Deno.test("random input for every reader, such as streams, settings, messages and records of the state folder, is read or refused without a crash", async () => {
  for (const [reader, seed] of KEPT_SEEDS) await readOnce(reader, seed);
  await readers(240, 1);
});

Deno.test("a few hundred random commands that rules approve start only what the rules name, and write nothing", async () => {
  const reported = await approvedCommands(400, 1);
  const [, ran = "0", started = "0"] =
    /^(\d+) of \d+ commands were approved and started (\d+)/.exec(reported) ??
      [];
  assert.ok(Number(ran) > 20 && Number(started) > 20, `hardly anything was tried: ${reported}`);
});

Deno.test("the campaign of approved commands finds a command that starts another program or leaves a file behind", () =>
  inFolder(async (folder) => {
    await assert.rejects(checkApproved("cat a; rm b", folder), /started \["rm","b"\]/);
    await assert.rejects(checkApproved("sort -o c a", folder), /it may write or run|started/);
    await assert.rejects(checkApproved("echo x > f", folder), /changed the folder/);
    await checkApproved("cat a | sort", folder);
  }));

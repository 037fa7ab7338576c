// The short form of the campaign of two writers: one round for each editor that the machine has.

import assert from "node:assert/strict";
import { writers, writerSessions } from "./writers.ts";

Deno.test("two writers to one document lose no text of each other in any editor", async () => {
  const sessions = await writerSessions();
  const reported = await writers(sessions.size, 0);
  for (const name of sessions.keys()) assert.ok(reported.includes(`${name}: 1`), reported);
});

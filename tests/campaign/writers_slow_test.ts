// The short form of the campaign of two writers: one round in each of two editors.

import assert from "node:assert/strict";
import { writers, writerSessions } from "./writers.ts";

Deno.test("two writers to one document lose no text of each other", async () => {
  const sessions = [...(await writerSessions()).keys()].slice(0, 2);
  const reported = await writers(sessions.length, 0);
  for (const name of sessions) assert.ok(reported.includes(`${name}: 1`), reported);
});

// The short form of `deno task campaign races`, as the current user.

import assert from "node:assert/strict";
import { fileRaces } from "./file_races.ts";

Deno.test("races over file names never beat the file tools, which make progress", async () => {
  assert.match(await fileRaces(8), / [1-9]/);
});

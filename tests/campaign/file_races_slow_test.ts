// The short form of `deno task campaign races`, as the current user.

import assert from "node:assert/strict";
import { fileRaces } from "./file_races.ts";

Deno.test("races over file names never make a file tool leave its folder, and the tools make progress", async () => {
  assert.match(await fileRaces(8), / [1-9]/);
});

// The short form of `deno task campaign races`, as whoever runs it.

import assert from "node:assert/strict";
import { fileRaces } from "./file_races.ts";

Deno.test("races over names win nothing against the file tools, which get on with their work", async () => {
  assert.match(await fileRaces(8), / [1-9]/);
});

// The short form of `deno task campaign races`, as whoever runs it and as an ordinary user.

import assert from "node:assert/strict";
import { isSuperuser, runDeno } from "../sandbox/ordinary_user.ts";
import { fileRaces } from "./file_races.ts";
import { inFolder } from "../folder.ts";

/** How often each is tried here. */
const TRIES = 8;

Deno.test("races over names win nothing against the file tools, which get on with their work", async () => {
  assert.match(await fileRaces(TRIES), / [1-9]/);
});

Deno.test("the same for an ordinary user", { ignore: !isSuperuser }, () =>
  inFolder(async (folder) => {
    const url = new URL("file_races.ts", import.meta.url).href;
    const words = ["run", "-A", "--no-check", "--no-lock", url, String(TRIES)];
    assert.match(await runDeno(folder, words, { ordinary: true }), / [1-9]/);
  }));

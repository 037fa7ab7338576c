// `flemma list` finds conversations again.

import assert from "node:assert/strict";
import { testWithScene as test } from "./harness.ts";

test("list shows documents of the folder, of ask and those made elsewhere, and searches for words", async (place) => {
  for (const folder of ["chats", ".flemma/chats", "other", "deep/er"]) {
    Deno.mkdirSync(place.path(folder), { recursive: true });
  }
  const asks = `${place.folder}/state/flemma/asks`;
  Deno.mkdirSync(asks, { recursive: true });
  place.arrive("a.chat", "@You:\n\nHow do caches work?\n\n@Assistant:\nSlowly, in the Sandbox.\n");
  place.arrive("chats/b.chat", "@You:\nAbout sandboxes\n");
  place.arrive(".flemma/chats/c.chat", "no message");
  place.arrive("deep/er/unknown.chat", "@You:\nsandbox caches\n");
  Deno.writeTextFileSync(`${asks}/d.chat`, "@You:\nAsked \x1b[1mbold\n");
  await place.exits(0, ["new", "other/e.chat", "--bare", "-m", "Made elsewhere"]);
  Deno.removeSync(place.path("chats/b.chat"));
  place.arrive("chats/b.chat", "@You:\nAbout sandboxes\n");
  const times = ["a.chat", "chats/b.chat", ".flemma/chats/c.chat", "other/e.chat"];
  for (const [at, name] of times.entries()) {
    Deno.utimeSync(place.path(name), new Date(), new Date(Date.UTC(2026, 0, 9 - at)));
  }
  Deno.utimeSync(`${asks}/d.chat`, new Date(), new Date(Date.UTC(2026, 0, 1)));
  const all = await place.exits(0, ["list"]);
  assert.equal(
    all.stdout,
    [
      "2026-01-09  a.chat  How do caches work?",
      "2026-01-08  chats/b.chat  About sandboxes",
      "2026-01-07  .flemma/chats/c.chat",
      "2026-01-06  other/e.chat  Made elsewhere",
      `2026-01-01  ${Deno.realPathSync(asks)}/d.chat  Asked \\x1b[1mbold`,
      "",
    ].join("\n"),
  );
  const found = await place.exits(0, ["list", "--search", "SANDBOX caches"]);
  assert.equal(found.stdout, "2026-01-09  a.chat  How do caches work?\n");
  const json = await place.exits(0, ["list", "--search", "sandboxes", "--json"]);
  assert.deepEqual(JSON.parse(json.stdout).map(({ question }: { question: string }) => question), [
    "About sandboxes",
  ]);
  const none = await place.exits(0, ["list", "--search", "nowhere"]);
  assert.deepEqual(none.stdout, "");
  assert.match(none.stderr, /No document contains these words/);
});

// What opening a session reads: the document once, under its lock, and each settings file once.

import assert from "node:assert/strict";
import { openChat } from "../../agent/open.ts";
import { OverwriteGuard } from "../../cycle/storage/disk/rescue.ts";
import { sessionOf, testInPlace as test } from "./place.ts";

const QUESTION = "@You:\nGo.\n";

/** How often each file was opened to be read while `body` ran, by path. */
async function readsDuring(body: () => Promise<void>): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const count = (opened: string | URL) => {
    // After a request to a provider, files are opened through handles.
    const path = String(opened).startsWith("/proc/self/fd/") ? Deno.readLinkSync(opened) : String(opened);
    counts.set(path, (counts.get(path) ?? 0) + 1);
  };
  const { openSync, readFile, readFileSync, readTextFile, readTextFileSync } = Deno;
  const counted =
    <Rest extends unknown[], Result>(read: (path: string | URL, ...rest: Rest) => Result) =>
    (path: string | URL, ...rest: Rest) => (count(path), read(path, ...rest));
  Object.assign(Deno, {
    openSync: counted(openSync),
    readFile: counted(readFile),
    readFileSync: counted(readFileSync),
    readTextFile: counted(readTextFile),
    readTextFileSync: counted(readTextFileSync),
  });
  try {
    await body();
  } finally {
    Object.assign(Deno, { openSync, readFile, readFileSync, readTextFile, readTextFileSync });
  }
  return counts;
}

test("opening a session reads the document and each settings file once", async (place) => {
  place.settings("model: claude-sonnet-5-5\nlock: { place: beside }\n");
  place.write("a.chat", QUESTION);
  for (const readOnly of [true, false]) {
    const reads = await readsDuring(async () => {
      await using session = sessionOf(
        await openChat(place.path("a.chat"), { environment: place.environment, readOnly }),
      );
      assert.equal(session.settings.model, "claude-sonnet-5-5");
    });
    const settings = `${place.folder}/config/flemma/config.yaml`;
    assert.deepEqual([reads.get(place.path("a.chat")), reads.get(settings)], [1, 1], String(readOnly));
  }
});

test("settings are read only once the lock is held, also after waiting for another run or behind a link", async (place) => {
  place.settings("model: claude-sonnet-5-5\n");
  place.write("a.chat", QUESTION);
  Deno.symlinkSync(place.path("a.chat"), place.path("b.chat"));
  const settings = `${place.folder}/config/flemma/config.yaml`;
  for (const [name, wait] of [["a.chat", 1], ["b.chat", 0]] as const) {
    const reads = await readsDuring(async () => {
      await using _ = sessionOf(
        await openChat(place.path(name), { environment: place.environment, wait }),
      );
    });
    assert.equal(reads.get(settings), 2, name);
  }
});

test("if an interrupted write ended inside a character, the next session completes the text when it opens the document", async (place) => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const [old, text] = [bytes(QUESTION), bytes("@You:\nGrün.\n")];
  const torn = new Uint8Array(old.length);
  torn.set(old);
  // The last byte written is the first half of the umlaut.
  torn.set(text.subarray(0, 9));
  const path = place.path("a.chat");
  const guard = await OverwriteGuard.for(path, place.environment);
  await guard.before(old, text);
  Deno.writeFileSync(path, torn);
  await using session = sessionOf(await openChat(path, { environment: place.environment }));
  assert.deepEqual(session.chat.bytes, text);
});

test("a document that is not text is refused, the error contains the name that the person gave, and no lock remains", async (place) => {
  Deno.writeFileSync(place.path("a.chat"), Uint8Array.of(0x40, 0xff, 0x0a));
  const environment = { ...place.environment, cwd: place.path("") };
  for (const readOnly of [true, false, false]) {
    const opened = await openChat("./a.chat", { environment, readOnly });
    assert.equal(opened.ok, false);
    assert.match(opened.ok ? "" : opened.problem.message, /^\.\/a\.chat: /);
    assert.equal(opened.ok ? "" : opened.problem.code, "document-not-utf8");
  }
});

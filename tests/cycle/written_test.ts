// What a write of a document leaves behind: bytes on the disk, an old text after a full disk, and no open files.

import assert from "node:assert/strict";
import { contentFromBytes } from "../../cycle/storage/disk/content.ts";
import { extendFile, replaceDocumentFile } from "../../cycle/storage/disk/write.ts";
import { type FileStore, openFile } from "../../cycle/storage/file_store.ts";
import { openJournal } from "../../cycle/storage/journal.ts";
import { MemoryStore } from "../../cycle/storage/memory_store.ts";
import { stampOf } from "../../cycle/storage/read.ts";
import { descriptorsInto, type StatePlace, testWithState as test } from "../folder.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

async function opened({ folder, environment }: StatePlace): Promise<{ path: string; store: FileStore }> {
  const path = `${folder}/a.chat`;
  await Deno.writeTextFile(path, "@You:\nhi\n");
  const found = await openFile(path, { environment, wait: 0 });
  assert.ok(found.ok);
  return { path, store: found.value };
}

const atStart = (insert: string) => [{ from: 0, to: 0, insert }];

/** Names of the files that were synced during `body`, with what each contained; null for a folder. */
async function synced(
  body: () => Promise<unknown>,
): Promise<readonly (readonly [name: string, string | null])[]> {
  const seen: (readonly [string, string | null])[] = [];
  const { sync, syncData } = Deno.FsFile.prototype;
  const look = (file: Deno.FsFile) => {
    const identity = identityOf(file.statSync());
    const found = [...Deno.readDirSync("/proc/self/fd")].map(({ name }) => `/proc/self/fd/${name}`)
      .find((path) => openAt(path) === identity);
    const path = Deno.readLinkSync(found!);
    seen.push([
      path.slice(path.lastIndexOf("/") + 1),
      file.statSync().isFile ? Deno.readTextFileSync(path) : null,
    ]);
  };
  Deno.FsFile.prototype.sync = function () {
    look(this);
    return sync.call(this);
  };
  Deno.FsFile.prototype.syncData = function () {
    look(this);
    return syncData.call(this);
  };
  try {
    await body();
  } finally {
    Object.assign(Deno.FsFile.prototype, { sync, syncData });
  }
  return seen;
}

function identityOf({ dev, ino }: Deno.FileInfo): string {
  return `${dev} ${ino}`;
}

function openAt(path: string): string | null {
  try {
    return identityOf(Deno.statSync(path));
  } catch {
    return null; // It was closed meanwhile.
  }
}

test("a document is on the disk when its write ends, whichever way it is written", async (place) => {
  const { path, store } = await opened(place);
  const replaced = await synced(() => store.commit(atStart("@System:\nBe brief.\n\n")));
  const text = await Deno.readTextFile(path);
  assert.match(replaced[0]![0], /^\.a\.chat\.[0-9a-f]{8}\.tmp$/);
  assert.deepEqual(replaced.map(([, content]) => content), [text, null], "the file before its folder");
  assert.equal(replaced[1]![0], place.folder.slice(place.folder.lastIndexOf("/") + 1));
  const end = store.chat.byteLength;
  const extended = await synced(() => store.commit([{ from: end, to: end, insert: "more\n" }]));
  assert.deepEqual(extended, [["a.chat", `${text}more\n`]]);
  store.inPlaceWhile = () => true;
  const overwritten = await synced(() => store.commit(atStart("\n")));
  assert.deepEqual(overwritten.map(([, content]) => content), [
    `${text}more\n`,
    `\n${text}more\n`,
    `\n${text}more\n`,
  ]);
  assert.equal(overwritten[2]![0], "a.chat");
  await store.close();
});

test("the start of a call is on the disk before the call runs", async ({ folder, environment }) => {
  const journal = await openJournal({ environment, path: `${folder}/a.chat` });
  assert.ok(journal.ok);
  const started = await synced(() => journal.value.recordStart("c1", "bash", "writes"));
  assert.match(started.map(([, content]) => content).join(), /"kind":"start","id":"c1"/);
});

test("if the disk is full during a write in place, the document has its old text, and no copies stay", async (place) => {
  const { path, store } = await opened(place);
  const old = await Deno.readTextFile(path);
  const { ino } = await Deno.stat(path);
  store.inPlaceWhile = () => true;
  const { writeSync } = Deno.FsFile.prototype;
  let isFull = false;
  Deno.FsFile.prototype.writeSync = function (data) {
    if (isFull || this.statSync().ino !== ino) return writeSync.call(this, data);
    isFull = true;
    writeSync.call(this, data.subarray(0, 3));
    throw new Error("disk full");
  };
  try {
    assert.equal((await store.commit(atStart("@System:\nBe brief.\n\n")))?.code, "write-failed");
  } finally {
    Deno.FsFile.prototype.writeSync = writeSync;
  }
  assert.equal(await Deno.readTextFile(path), old);
  assert.deepEqual([...Deno.readDirSync(`${place.folder}/state/flemma/overwrite`)], []);
  await store.close();
});

test("if the disk is full while text is added, the end of the document is as it was", async (place) => {
  const { path, store } = await opened(place);
  const old = await Deno.readTextFile(path);
  const { ino } = await Deno.stat(path);
  const { writeSync } = Deno.FsFile.prototype;
  let isFull = false;
  Deno.FsFile.prototype.writeSync = function (data) {
    if (isFull || this.statSync().ino !== ino) return writeSync.call(this, data);
    isFull = true;
    writeSync.call(this, data.subarray(0, 3));
    throw new Error("disk full");
  };
  const end = store.chat.byteLength;
  try {
    const problem = await store.commit([{ from: end - 1, to: end, insert: " there\n" }]);
    assert.equal(problem?.code, "write-failed");
  } finally {
    Deno.FsFile.prototype.writeSync = writeSync;
  }
  assert.equal(await Deno.readTextFile(path), old);
  await store.close();
});

test("an end that gets shorter is cut off", async ({ folder }) => {
  const path = `${folder}/a.chat`;
  await Deno.writeTextFile(path, "one\r\n");
  const known = { content: contentFromBytes(bytes("one\r\n")), stamp: stampOf(await Deno.stat(path)) };
  assert.notEqual(
    await extendFile(path, known, contentFromBytes(bytes("one\n")), { at: 3, ends: [4] }),
    null,
  );
  assert.equal(await Deno.readTextFile(path), "one\n");
});

test("a replaced file keeps its owner and group", async (place) => {
  const { path, store } = await opened(place);
  const { uid, gid } = await Deno.stat(path);
  const owners: unknown[] = [];
  const { chownSync } = Deno;
  Deno.chownSync = (to, uid, gid) => {
    owners.push([String(to).startsWith(`${place.folder}/.a.chat.`), uid, gid]);
    return chownSync(to, uid, gid);
  };
  try {
    assert.equal(await store.commit(atStart("\n")), null);
  } finally {
    Deno.chownSync = chownSync;
  }
  assert.deepEqual(owners, [[true, uid, gid]]);
  await store.close();
});

test("only the last four replaced files stay open, and none after the document is closed", async (place) => {
  const { path, store } = await opened(place);
  const replaced = () => descriptorsInto(place.folder).filter((path) => path.endsWith(" (deleted)")).length;
  using editor = await Deno.open(path, { write: true });
  const own = () => descriptorsInto(place.folder).length;
  const before = own();
  assert.equal(await store.commit(atStart("1\n")), null);
  editor.truncateSync(0);
  editor.writeSync(bytes("@You:\nhi there\n"));
  assert.equal(await store.commit(atStart("2\n")), null);
  assert.match(await Deno.readTextFile(path), /^2\n1\n@You:\nhi there\n$/);
  const withEditor = replaced();
  for (let count = 0; count < 6; count++) assert.equal(await store.commit(atStart(`${count}\n`)), null);
  assert.equal(replaced(), 1 + 4, "that of the editor and four of this run");
  assert.ok(withEditor < 5);
  await store.close();
  assert.equal(own(), before - 1, "the lock is closed too");
});

test("a file that is not replaced is closed", async ({ folder }) => {
  const path = `${folder}/a.chat`;
  await Deno.writeTextFile(path, "one\n");
  const known = { content: contentFromBytes(bytes("other\n")), stamp: stampOf(await Deno.stat(path)) };
  assert.equal(await replaceDocumentFile(path, contentFromBytes(bytes("two\n")), known), null);
  assert.deepEqual(descriptorsInto(folder), []);
});

Deno.test("a document in memory says whether it was changed: one row per change", async () => {
  const rows: Readonly<Record<string, (store: MemoryStore) => unknown>> = {
    "replaced": (store) => store.replace(bytes("@You:\nother\n")),
    "committed": (store) => store.commit(atStart("x")),
    "extended": (store) => store.extend(["x"], { replace: 0, unfinished: false, last: true }),
  };
  for (const [row, change] of Object.entries(rows)) {
    const store = new MemoryStore(bytes("@You:\nhi\n"), null);
    assert.equal(store.changed, false);
    await store.commit([]);
    assert.equal(store.changed, false, "an empty list changes nothing");
    await change(store);
    assert.equal(store.changed, true, row);
  }
});

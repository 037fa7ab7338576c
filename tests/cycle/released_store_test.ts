// A document that a run releases while it waits: who may write it meanwhile, and how the run reclaims it.

import assert from "node:assert/strict";
import { type FileStore, openFile } from "../../cycle/storage/file_store.ts";
import { OverwriteGuard } from "../../cycle/storage/disk/rescue.ts";
import { holderOf, lockBeside, lockDocument } from "../../cycle/storage/lock.ts";
import { documentKey } from "../../cycle/storage/state_files.ts";
import { descriptorsInto, type StatePlace, testWithState as test } from "../folder.ts";

const TEXT = "@You:\nhi\n";
const text = (store: FileStore) => new TextDecoder().decode(store.chat.bytes);

/** A document on disk that a run has opened. */
async function opened({ folder, environment }: StatePlace) {
  const path = `${folder}/a.chat`;
  await Deno.writeTextFile(path, TEXT);
  const codes: string[] = [];
  const store = await openFile(path, { environment, wait: 0, notify: ({ code }) => codes.push(code) });
  assert.ok(store.ok);
  const add = (insert: string) => {
    const end = store.value.chat.byteLength;
    return store.value.commit([{ from: end, to: end, insert }]);
  };
  const isFree = async () => await holderOf(path, environment) === null;
  return { path, store: store.value, codes, add, isFree };
}

test("a released document is free, and has the changes of others once it is reclaimed", async (place) => {
  const { path, store, codes, add, isFree } = await opened(place);
  assert.equal(await add("one\n"), null);
  await store.release();
  assert.ok(await isFree());
  const other = await openFile(path, { environment: place.environment, wait: 0 });
  assert.ok(other.ok);
  await other.value.commit([{ from: 0, to: 0, insert: "@System:\nBe brief.\n\n" }]);
  await other.value.close();
  assert.equal(await store.reclaim({ wait: 0 }), null);
  assert.ok(!await isFree());
  assert.equal(text(store), `@System:\nBe brief.\n\n${TEXT}one\n`);
  assert.equal(await add("two\n"), null);
  assert.ok(!await isFree(), "it is kept after a commit");
  await store.release();
  assert.ok(await isFree(), "it can be released again");
  assert.equal(await store.reclaim({ wait: 0 }), null);
  assert.ok(!await isFree());
  await store.close();
  assert.ok(await isFree());
  assert.equal(await Deno.readTextFile(path), `@System:\nBe brief.\n\n${TEXT}one\ntwo\n`);
  assert.deepEqual(codes, ["document-merged"]);
  assert.deepEqual(descriptorsInto(place.folder), []);
});

test("a commit to a released document takes the lock only for the write, and none overwrites another's change", async (place) => {
  const { path, store, add, isFree } = await opened(place);
  await store.release();
  assert.equal(await add("one\n"), null);
  assert.ok(await isFree());
  assert.equal(await Deno.readTextFile(path), `${TEXT}one\n`);
  await Deno.writeTextFile(path, `${TEXT}one\nsomebody else\n`);
  assert.equal((await add("two\n"))?.code, "document-changed");
  assert.ok(await isFree());
  assert.equal(await Deno.readTextFile(path), `${TEXT}one\nsomebody else\n`);
  await store.close();
});

test("a run that reclaims a document waits for another run, which is reported once", async (place) => {
  const { path, store, isFree } = await opened(place);
  await store.release();
  const { environment } = place;
  const other = await lockDocument(path, { environment, wait: 0 });
  assert.ok(other.ok);
  const busy: string[] = [];
  const onBusy = ({ code }: { readonly code: string }) => {
    busy.push(code);
    void other.value.release();
  };
  assert.equal((await store.reclaim({ wait: 0, onBusy }))?.code, "document-locked");
  assert.deepEqual(busy, [], "nothing waits");
  assert.equal(await store.reclaim({ wait: 600, onBusy }), null);
  assert.deepEqual(busy, ["document-locked"]);
  assert.ok(!await isFree());
  await store.close();
});

test("a run that reclaims a document reports a run that was killed meanwhile, and removes its files", async (place) => {
  const { path, store, codes } = await opened(place);
  await store.release();
  const key = await documentKey(path);
  const dead = JSON.stringify({ pid: 1, host: "h", path });
  await Deno.writeTextFile(`${place.folder}/state/flemma/locks/${key}.lock`, dead);
  const left = `${place.folder}/.a.chat.0123abcd.tmp`;
  await Deno.writeTextFile(left, "x");
  assert.equal(await store.reclaim({ wait: 0 }), null);
  assert.deepEqual(codes, ["lock-taken-over"]);
  await assert.rejects(Deno.lstat(left), Deno.errors.NotFound);
  await store.close();
});

test("a document that was removed while it was released is not created again, and its lock is free", async (place) => {
  const { path, store, isFree } = await opened(place);
  await store.release();
  await Deno.remove(path);
  assert.equal((await store.reclaim({ wait: 0 }))?.code, "document-changed");
  assert.ok(await isFree());
  await store.close();
  await assert.rejects(Deno.lstat(path), Deno.errors.NotFound);
});

test("a document that cannot be opened is free again, and so is the first of its locks if a later one is taken", async ({ folder, environment }) => {
  const path = `${folder}/a.chat`;
  await Deno.writeFile(path, Uint8Array.of(0xff, 0xfe, 0xfd));
  const refused = await openFile(path, { environment, wait: 0 });
  assert.ok(!refused.ok);
  assert.equal(await holderOf(path, environment), null);
  await Deno.writeTextFile(path, TEXT);
  using beside = await Deno.open(lockBeside(path), { create: true, read: true, write: true });
  assert.ok(await beside.tryLock(true));
  await beside.write(new TextEncoder().encode(JSON.stringify({ pid: 1, host: "other", path })));
  const locked = await lockDocument(path, { environment, wait: 0, place: "beside" });
  assert.ok(!locked.ok);
  assert.match(locked.problem.message, /process 1 on other/);
  assert.equal(await holderOf(path, environment), null);
  assert.deepEqual(descriptorsInto(folder), [lockBeside(path)]);
});

test("a run that releases a document and reclaims it right away keeps it, and so does one whose sandbox has bound it", async (place) => {
  const { store, add, isFree } = await opened(place);
  const all = await Promise.all([add("one\n"), store.release(), store.reclaim({ wait: 0 })]);
  assert.deepEqual([all[0], all[2]], [null, null]);
  assert.ok(!await isFree());
  store.inPlaceWhile = () => true;
  await store.release();
  assert.ok(!await isFree());
  await store.close();
});

test("a write that an earlier run could not complete is completed and reported when the document is opened", async ({ folder, environment }) => {
  const path = `${folder}/a.chat`;
  const guard = await OverwriteGuard.for(path, environment);
  const bytes = (text: string) => new TextEncoder().encode(text);
  await guard.before(bytes(TEXT), bytes("@You:\nhello there\n"));
  await Deno.writeTextFile(path, "@You:\nhel");
  const codes: string[] = [];
  const store = await openFile(path, { environment, wait: 0, notify: ({ code }) => codes.push(code) });
  assert.ok(store.ok);
  assert.deepEqual([text(store.value), codes], ["@You:\nhello there\n", ["write-completed"]]);
  await store.value.close();
});

test("leftovers and lock files that cannot be removed are reported, and prevent nothing", async ({ folder, environment }) => {
  const path = `${folder}/a.chat`;
  const state = `${folder}/state/flemma`;
  await Deno.writeTextFile(path, TEXT);
  await Deno.mkdir(`${state}/locks`, { recursive: true });
  await Deno.symlink("saved", `${state}/saved`);
  const lock = `${state}/locks/${await documentKey(path)}.lock`;
  await Deno.writeTextFile(lock, JSON.stringify({ pid: 1, host: "h", path }));
  const codes: string[] = [];
  const store = await openFile(path, { environment, wait: 0, notify: ({ code }) => codes.push(code) });
  assert.ok(store.ok);
  assert.deepEqual(codes, ["lock-taken-over", "leftovers"]);
  const { remove } = Deno;
  Deno.remove = (path, options) =>
    path === lock ? Promise.reject(new Deno.errors.PermissionDenied("no")) : remove(path, options);
  try {
    await store.value.close();
  } finally {
    Deno.remove = remove;
  }
  assert.deepEqual(codes.slice(2), ["lock-left"]);
  assert.equal(await holderOf(path, environment), null);
});

test("a lock that is taken over has the name of its new holder, however long the earlier one was", async ({ folder, environment }) => {
  const path = `${folder}/a.chat`;
  const lock = `${folder}/state/flemma/locks/${await documentKey(path)}.lock`;
  await Deno.mkdir(lock.slice(0, lock.lastIndexOf("/")), { recursive: true });
  await Deno.writeTextFile(lock, JSON.stringify({ pid: 1, host: "h".repeat(2000), path }));
  const taken = await lockDocument(path, { environment, wait: 0 });
  assert.ok(taken.ok);
  assert.equal((await holderOf(path, environment))?.pid, Deno.pid);
  const { remove } = Deno;
  Deno.remove = () => Promise.reject(new Deno.errors.PermissionDenied("no"));
  try {
    assert.equal((await taken.value.release())?.code, "lock-left");
  } finally {
    Deno.remove = remove;
  }
  const next = await lockDocument(path, { environment, wait: 0 });
  assert.ok(next.ok);
  assert.equal(next.value.notice, null, "the run before has ended");
  await next.value.release();
});

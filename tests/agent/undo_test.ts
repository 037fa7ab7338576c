// Changes of files that are saved and undone: what is restored, what stays, what is removed, and what is reported.

import assert from "node:assert/strict";
import { listSavedFiles, markReported, undoChanges, type UndoRequest } from "../../agent/undo/undo.ts";
import { readSavedContent, SavedFiles } from "../../agent/undo/saved_files.ts";
import type { CycleEvent } from "../../cycle/types.ts";
import { isThere } from "../../base/files.ts";
import { descriptorsInto, type StatePlace, testWithState as test } from "../folder.ts";

const text = (bytes: Uint8Array | null) => bytes === null ? null : new TextDecoder().decode(bytes);

/** A document in whose name files are changed and restored. */
function scene({ folder, environment }: StatePlace, megabytes = 1) {
  const events: CycleEvent[] = [];
  const document = `${folder}/a.chat`;
  const saved = new SavedFiles(environment, document, megabytes, (event) => events.push(event));
  let count = 0;
  /** Changes a file as a tool does; null removes nothing and writes nothing. */
  const change = async (name: string, content: string | null) => {
    const path = `${folder}/${name}`;
    const done = await saved.keep({ id: `c${++count}`, name: "write" }, { path, shownAs: name });
    if (content === null) return;
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(path, content);
    await done();
  };
  const undo = async (more: Partial<UndoRequest> = {}) =>
    (await undoChanges({ environment, document, meant: () => true, dryRun: false, ...more }))
      .map(({ change: { call }, outcome, why }) => [call, outcome, why] as const);
  const read = (name: string) => Deno.readTextFileSync(`${folder}/${name}`);
  const list = () => listSavedFiles(environment, document);
  const locks = () => [...Deno.readDirSync(`${folder}/state/flemma/locks/files`)].map(({ name }) => name);
  return { saved, change, undo, read, list, events, locks, path: (name: string) => `${folder}/${name}` };
}

test("a change is saved before it is made, complete after it, and gone if nothing changed", async (place) => {
  const { change, list, path, events } = scene(place);
  await Deno.writeTextFile(path("old.txt"), "before");
  await change("old.txt", null);
  const [begun = assert.fail()] = await list();
  assert.equal(begun.after, null);
  assert.equal(text((await readSavedContent(begun)).before), "before");
  await change("old.txt", "after");
  const [, made = assert.fail()] = await list();
  const content = await readSavedContent(made);
  assert.deepEqual([text(content.before), text(content.after)], ["before", "after"]);
  await change("old.txt", "after");
  assert.equal((await list()).length, 2);
  assert.deepEqual(events, []);
});

test("undo restores files and removes those that the tool created, with the empty folders around them", async (place) => {
  const { change, undo, read, path, list, locks } = scene(place);
  await Deno.writeTextFile(path("old.txt"), "before");
  await change("old.txt", "after");
  await change("new/deep/a.txt", "a");
  await change("new/deep/b.txt", "b");
  await change("other/kept.txt", "x");
  await Deno.writeTextFile(path("other/mine.txt"), "mine");
  const dry = await undo({ dryRun: true });
  assert.deepEqual(dry.map(([, outcome]) => outcome), Array(4).fill("put-back"));
  assert.equal(read("old.txt"), "after");
  assert.deepEqual(await undo(), [
    ["c4", "put-back", ""],
    ["c3", "put-back", ""],
    ["c2", "put-back", ""],
    ["c1", "put-back", ""],
  ]);
  assert.equal(read("old.txt"), "before");
  assert.deepEqual([isThere(path("new")), isThere(path("other/kept.txt")), read("other/mine.txt")], [
    false,
    false,
    "mine",
  ]);
  assert.deepEqual([...Deno.readDirSync(path("other"))].map(({ name }) => name), ["mine.txt"]);
  assert.deepEqual(locks(), [], "no lock stays");
  const all = await list();
  assert.deepEqual(all.map(({ undone, reported }) => [undone, reported]), Array(4).fill([true, false]));
  await markReported(all[0]!);
  assert.deepEqual((await list()).map(({ reported }) => reported), [true, false, false, false]);
  assert.deepEqual(await undo(), [], "once");
  assert.deepEqual(descriptorsInto(place.folder), []);
});

test("several changes of one file are undone together, newest first", async (place) => {
  const { change, undo, read, path } = scene(place);
  await Deno.writeTextFile(path("old.txt"), "before");
  await change("old.txt", "after");
  await change("old.txt", "later");
  assert.deepEqual(await undo(), [["c2", "put-back", ""], ["c1", "put-back", ""]]);
  assert.equal(read("old.txt"), "before");
});

test("each change that is not undone says why: one row per reason", async (place) => {
  const { change, undo, read, path } = scene(place);
  const only = (call: string) => ({ meant: (change: { readonly call: string }) => change.call === call });
  await Deno.writeTextFile(path("a.txt"), "one\n");
  await change("a.txt", "two\n");
  await change("a.txt", "three\n");
  assert.deepEqual(await undo(only("c1")), [
    ["c1", "kept", "write changed it again in c2, which must be undone first"],
  ]);
  await change("b.txt", null);
  await Deno.writeTextFile(path("b.txt"), "half");
  const [[, outcome, why] = assert.fail()] = await undo(only("c3"));
  assert.equal(outcome, "kept");
  assert.match(why, /^the run ended during the change; the old content is in /);
  await Deno.writeTextFile(path("a.txt"), "mine\n");
  const [[, changed, lines] = assert.fail()] = await undo(only("c2"));
  assert.deepEqual([changed, read("a.txt")], ["kept", "mine\n"]);
  assert.match(lines, /line/);
  await Deno.rename(path("a.txt"), path("elsewhere.txt"));
  await Deno.writeTextFile(path("elsewhere.txt"), "three\n");
  await Deno.symlink("elsewhere.txt", path("a.txt"));
  const [[, linked] = assert.fail()] = await undo(only("c2"));
  assert.deepEqual([linked, read("elsewhere.txt")], ["kept", "three\n"]);
});

test("a file that already has its earlier content counts as undone, and leftovers of a killed undo are removed", async (place) => {
  const { change, undo, path, list, locks } = scene(place);
  await change("new/a.txt", "a");
  await Deno.remove(path("new/a.txt"));
  assert.deepEqual(await undo({ dryRun: true }), [["c1", "already", ""]]);
  assert.equal((await list())[0]!.undone, false);
  assert.deepEqual(await undo(), [["c1", "already", ""]]);
  assert.equal((await list())[0]!.undone, true);
  assert.ok(!isThere(path("new")));
  assert.deepEqual(locks(), []);
});

test("a version that somebody saves during the undo is kept, whether the file would be restored or removed", async (place) => {
  const { change, undo, read, path, list, locks } = scene(place);
  await Deno.writeTextFile(path("old.txt"), "before");
  await change("old.txt", "after");
  await change("new.txt", "made");
  const between = () => {
    for (const name of ["old.txt", "new.txt"]) Deno.writeTextFileSync(path(name), `${name} of somebody`);
    return Promise.resolve();
  };
  const outcomes = await undo({ between });
  assert.deepEqual(outcomes.map(([, outcome]) => outcome), ["kept", "kept"]);
  assert.match(outcomes[0]![2], /^it could not be restored: .*changed in the meantime/);
  for (const name of ["old.txt", "new.txt"]) assert.equal(read(name), `${name} of somebody`);
  assert.deepEqual((await list()).map(({ undone }) => undone), [false, false]);
  assert.deepEqual(locks(), []);
  const names = [...Deno.readDirSync(place.folder)].map(({ name }) => name).sort();
  assert.deepEqual(names, ["new.txt", "old.txt", "state"]);
});

test("a file whose folder becomes a link before the undo has its lock stays as it is, wherever the link leads", async (place) => {
  const { change, undo, path } = scene(place);
  Deno.mkdirSync(path("in"));
  await Deno.writeTextFile(path("in/old.txt"), "before");
  await change("in/old.txt", "after");
  await change("in/new.txt", "made");
  const { open } = Deno;
  Deno.open = (name, options) => {
    if (String(name).includes("/locks/files/") && !isThere(path("elsewhere"))) {
      Deno.renameSync(path("in"), path("elsewhere"));
      Deno.symlinkSync("elsewhere", path("in"));
    }
    return open(name, options);
  };
  try {
    const why = "another folder or file is in its place now";
    assert.deepEqual(await undo(), [["c2", "kept", why], ["c1", "kept", why]]);
  } finally {
    Deno.open = open;
  }
  for (const [name, text] of [["old.txt", "after"], ["new.txt", "made"]]) {
    assert.equal(Deno.readTextFileSync(path(`elsewhere/${name}`)), text);
  }
});

test("while a file is restored, its lock names the temporary file for the next run", async (place) => {
  const { change, undo, path, locks } = scene(place);
  await Deno.writeTextFile(path("old.txt"), "before");
  await change("old.txt", "after");
  await change("new.txt", "made");
  const noted: string[] = [];
  const { openSync, remove } = Deno;
  const note = () => {
    for (const name of locks()) {
      noted.push(Deno.readTextFileSync(`${path("state/flemma/locks/files")}/${name}`));
    }
  };
  Deno.remove = (removed, options) => {
    if (/\.flemma-/.test(String(removed))) note();
    return remove(removed, options);
  };
  Deno.openSync = (path, options) => {
    if (/\.flemma-/.test(String(path))) note();
    return openSync(path, options);
  };
  try {
    await undo();
  } finally {
    Object.assign(Deno, { openSync, remove });
  }
  assert.equal(noted.length, 2, "of the file that is restored, and of the one that is removed");
  for (const each of noted) assert.match(each, new RegExp(`^${place.folder}/\\.flemma-`));
});

test("an undo that cannot be recorded is reported, and made all the same", async (place) => {
  const { change, undo, read, path } = scene(place);
  await Deno.writeTextFile(path("old.txt"), "before");
  await change("old.txt", "after");
  const codes: string[] = [];
  const { rename } = Deno;
  Deno.rename = (from, to) =>
    String(to).endsWith(".put-back") ? Promise.reject(new Error("no space")) : rename(from, to);
  try {
    assert.deepEqual(await undo({ report: ({ code }) => codes.push(code) }), [["c1", "put-back", ""]]);
  } finally {
    Deno.rename = rename;
  }
  assert.deepEqual([read("old.txt"), codes], ["before", ["state-unwritable"]]);
});

test("a change that cannot be saved is reported once, and a large file too", async (place) => {
  const { change, events, path, list } = scene(place, 0.001);
  await Deno.writeTextFile(path("large.txt"), "x".repeat(2000));
  await change("large.txt", "y");
  assert.deepEqual(events.map((event) => "message" in event && event.message), [
    "large.txt is too large to be saved for flemma undo: undo.keep is 0.001 MB.",
  ]);
  const other = scene(place);
  await Deno.remove(path("state/flemma/undo"), { recursive: true }).catch(() => {});
  await Deno.mkdir(path("state/flemma"), { recursive: true });
  await Deno.writeTextFile(path("state/flemma/undo"), "");
  await other.change("a.txt", "a");
  await other.change("b.txt", "b");
  assert.deepEqual(other.events.map((event) => "code" in event && event.code), ["state-unwritable"]);
  assert.deepEqual(await list(), []);
});

test("a change that is saved only partly is reported when it is complete", async (place) => {
  const { saved, events, path } = scene(place);
  const done = await saved.keep({ id: "c1", name: "write" }, { path: path("a.txt"), shownAs: "a.txt" });
  await Deno.writeTextFile(path("a.txt"), "a");
  await Deno.remove(path("state/flemma/undo"), { recursive: true });
  await Deno.writeTextFile(path("state/flemma/undo"), "");
  await done();
  assert.match(
    String(events.map((event) => "message" in event && event.message)),
    /^flemma undo cannot restore a.txt/,
  );
});

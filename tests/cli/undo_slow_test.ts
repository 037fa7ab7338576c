// `flemma undo` restores files changed by tools: what is saved, what is restored, and what is left alone.

import assert from "node:assert/strict";
import { SavedFiles } from "../../agent/undo/saved_files.ts";
import { listSavedFiles, undoChanges } from "../../agent/undo/undo.ts";
import { environmentAt } from "../../base/environment.ts";
import { type ScriptedReply, startReplay } from "../../providers/replay/server.ts";
import { lockForWriting, temporaryIn } from "../../tools/builtin/write_lock.ts";
import { type Finished, type Scene, testWithScene as test } from "./harness.ts";

interface Made {
  readonly name: "write" | "edit" | "bash";
  readonly input: Record<string, unknown>;
}

const write = (path: string, content: string): Made => ({
  name: "write",
  input: { label: "x", path, content },
});
const edit = (path: string, oldText: string, newText: string): Made => ({
  name: "edit",
  input: { label: "x", path, oldText, newText },
});

/** Lets a model make these calls one after the other, as call_1, call_2 and so on, and say so. */
async function made(place: Scene, calls: readonly Made[], document = "a.chat"): Promise<Finished> {
  const replies: ScriptedReply[] = calls.map(({ name, input }, at) => ({
    reply: [{ tool_use: { id: `call_${at + 1}`, name, input } }],
  }));
  await using replay = await startReplay({ replies: [...replies, { reply: [{ text: "Done." }] }] });
  place.write(document, "@You:\nDo it.\n");
  const env = { ANTHROPIC_API_KEY: "test-key", FLEMMA_ANTHROPIC_BASE_URL: replay.url };
  const finished = await place.run(["advance", document, "--approve", "write,edit,bash"], { env });
  assert.deepEqual(replay.problems, [], finished.stderr);
  assert.equal(finished.code, 0, finished.stderr);
  return finished;
}

const undo = (place: Scene, ...args: string[]) => place.run(["undo", "a.chat", ...args]);

test("undo reverts all changes, newest first, and adds a note to the document, which otherwise stays the same", async (place) => {
  place.write("old.txt", "one\ntwo\nthree\n");
  Deno.chmodSync(place.path("old.txt"), 0o640);
  await made(place, [
    edit("old.txt", "two", "2"),
    edit("old.txt", "three", "3"),
    write("deep/er/new.txt", "new\n"),
    { name: "bash", input: { label: "x", command: "echo bash > by-bash.txt", timeout: null } },
  ]);
  assert.equal(place.read("old.txt"), "one\n2\n3\n");
  const before = place.read("a.chat");

  const dry = await undo(place, "--dry-run");
  assert.equal(dry.code, 0, dry.stderr);
  assert.match(dry.stderr, /^Would restore deep\/er\/new\.txt \(write, call_3\)\.\nWould restore old\.txt/);
  const listed = await undo(place, "--list");
  assert.match(
    listed.stdout,
    /write {2}deep\/er\/new\.txt {2}call_3 {2}can be restored\n.*call_2.*\n.*call_1/,
  );
  assert.match(listed.stderr, /File changes by commands are not saved: call_4/);
  assert.equal(place.read("old.txt"), "one\n2\n3\n");
  assert.equal(place.read("a.chat"), before);

  const done = await undo(place);
  assert.equal(done.code, 0, done.stderr);
  assert.deepEqual(done.stderr.split("\n").slice(0, 3), [
    "Restored deep/er/new.txt (write, call_3).",
    "Restored old.txt (edit, call_2).",
    "Restored old.txt (edit, call_1).",
  ]);
  assert.equal(place.read("old.txt"), "one\ntwo\nthree\n");
  assert.equal(Deno.statSync(place.path("old.txt")).mode! & 0o777, 0o640);
  assert.equal(place.exists("deep"), false);
  assert.equal(place.read("by-bash.txt"), "bash\n");
  const line = "I undid these file changes: deep/er/new.txt in call_3 (write), old.txt in call_2 (edit), " +
    "old.txt in call_1 (edit).";
  assert.equal(place.read("a.chat"), `${before.replace(/\n\n$/, "\n")}${line}\n\n`);

  const again = await undo(place);
  assert.equal(again.code, 0);
  assert.match(again.stderr, /There are no saved file changes to undo/);
  assert.match((await undo(place, "--list")).stdout, /call_1 {2}restored/);
});

test("undo does not change a file that another program has changed since, and reports the changed lines", async (place) => {
  place.write("a.txt", "1\n2\n3\n4\n");
  place.write("b.txt", "b\n");
  await made(place, [write("gone.txt", "x\n"), edit("b.txt", "b", "B"), edit("a.txt", "2", "two")]);
  place.write("a.txt", "1\ntwo\n3\nfour\nfive\n");
  Deno.removeSync(place.path("gone.txt"));
  const dry = await undo(place, "--dry-run");
  assert.equal(dry.code, 1);
  const done = await undo(place);
  assert.equal(done.code, 1);
  assert.deepEqual(done.stderr.trimEnd().split("\n"), [
    "flemma: Not restored: a.txt (edit, call_3): changed since: lines 4-5.",
    "Restored b.txt (edit, call_2).",
    "gone.txt (write, call_1) is already restored.",
  ]);
  assert.equal(place.read("a.txt"), "1\ntwo\n3\nfour\nfive\n");
  assert.equal(place.read("b.txt"), "b\n");
  assert.match(
    place.read("a.chat"),
    /I undid these file changes: b\.txt in call_2 \(edit\), gone\.txt in call_1 \(write\)\.\n/,
  );
  // Once the file is again what the tool left, it comes back.
  place.write("a.txt", "1\ntwo\n3\n4\n");
  assert.equal((await undo(place)).code, 0);
  assert.equal(place.read("a.txt"), "1\n2\n3\n4\n");
});

test("undo accepts calls, id prefixes and paths, and reverts a change only after the later changes of the same file", async (place) => {
  place.write("a.txt", "1\n");
  place.write("b.txt", "1\n");
  await made(place, [edit("a.txt", "1", "2"), edit("a.txt", "2", "3"), edit("b.txt", "1", "2")]);
  const covered = await undo(place, "call_1");
  assert.equal(covered.code, 1);
  assert.match(
    covered.stderr,
    /Not restored: a\.txt .*: edit changed it again in call_2, which must be undone/,
  );
  const rows: readonly (readonly [target: string, code: number, err: RegExp])[] = [
    ["call_", 2, /Several ids start with call_: call_1, call_2, call_3/],
    ["call_9", 1, /No change is saved for a call or file named call_9/],
    ["c.txt", 1, /No change is saved for a call or file named c\.txt/],
  ];
  for (const [target, code, err] of rows) {
    const found = await undo(place, target);
    assert.equal(found.code, code, target);
    assert.match(found.stderr, err);
  }
  assert.equal((await undo(place, "b.txt")).code, 0);
  assert.deepEqual([place.read("a.txt"), place.read("b.txt")], ["3\n", "1\n"]);
  assert.equal((await undo(place, "call_2")).code, 0);
  assert.equal(place.read("a.txt"), "2\n");
  assert.equal((await undo(place, place.path("a.txt"))).code, 0);
  assert.equal(place.read("a.txt"), "1\n");
});

test("undo restores exact bytes: empty files, NUL, CR LF, no final line break, invalid UTF-8", async (place) => {
  const contents = {
    "empty.txt": new Uint8Array(),
    "crlf.txt": new TextEncoder().encode("a\r\nb"),
    "bytes.bin": new Uint8Array([0, 1, 2, 255, 254, 10, 0]),
  };
  for (const [name, bytes] of Object.entries(contents)) place.write(name, bytes);
  await made(place, Object.keys(contents).map((name) => write(name, "new\n")));
  assert.equal((await undo(place)).code, 0);
  for (const [name, bytes] of Object.entries(contents)) {
    assert.deepEqual(Deno.readFileSync(place.path(name)), bytes, name);
  }
});

test("undo does not change a file that belongs to another document, became a link, or is in a replaced folder", async (place) => {
  Deno.mkdirSync(place.path("folder"));
  place.write("folder/a.txt", "1\n");
  place.write("b.txt", "1\n");
  await made(place, [edit("folder/a.txt", "1", "2"), edit("b.txt", "1", "2")]);
  Deno.renameSync(place.path("folder"), place.path("moved"));
  Deno.mkdirSync(place.path("elsewhere"));
  place.write("elsewhere/a.txt", "2\n");
  Deno.symlinkSync("elsewhere", place.path("folder"));
  Deno.renameSync(place.path("b.txt"), place.path("c.txt"));
  Deno.symlinkSync("c.txt", place.path("b.txt"));
  assert.equal((await undo(place)).code, 1);
  assert.deepEqual([place.read("elsewhere/a.txt"), place.read("moved/a.txt"), place.read("c.txt")], [
    "2\n",
    "2\n",
    "2\n",
  ]);
  place.write("other.chat", "@You:\nHello\n");
  const other = await place.run(["undo", "other.chat"]);
  assert.match(other.stderr, /no saved file changes to undo/);
});

test("undo never loses a file saved between its check and its write", async (place) => {
  place.write("a.txt", "1\n");
  await made(place, [edit("a.txt", "1", "2"), write("new.txt", "new\n")]);
  const environment = { ...environmentAt(place.path("")), home: place.env.HOME!, variables: place.env };
  const document = place.path("a.chat");
  const saved = ["mine, new\n", "mine, a\n"];
  const outcomes = await undoChanges({
    environment,
    document,
    meant: () => true,
    dryRun: false,
    between: () => {
      place.write(saved.length === 2 ? "new.txt" : "a.txt", saved.shift()!);
      return Promise.resolve();
    },
  });
  assert.deepEqual(outcomes.map(({ outcome }) => outcome), ["kept", "kept"]);
  assert.deepEqual([place.read("new.txt"), place.read("a.txt")], ["mine, new\n", "mine, a\n"]);
  assert.ok((await listSavedFiles(environment, document)).every(({ undone }) => !undone));
});

test("undo checks each file again under its lock, and restores none that changed since the plan", async (place) => {
  const environment = { ...environmentAt(place.path("")), home: place.env.HOME!, variables: place.env };
  const rows = [
    ["saved", () => place.write("saved/a.txt", "mine\n"), /^changed since: line 1$/, "mine\n"],
    [
      "moved",
      () => {
        Deno.renameSync(place.path("moved"), place.path("away"));
        Deno.mkdirSync(place.path("other"));
        place.write("other/a.txt", "2\n");
        Deno.symlinkSync("other", place.path("moved"));
      },
      /^another folder or file is in its place now$/,
      "2\n",
    ],
  ] as const;
  for (const [folder, change, why, text] of rows) {
    Deno.mkdirSync(place.path(folder));
    place.write(`${folder}/a.txt`, "1\n");
    await made(place, [edit(`${folder}/a.txt`, "1", "2"), write(`${folder}.txt`, "new\n")]);
    let isFirst = true;
    // The newer change is undone first.
    const [newer, older] = await undoChanges({
      environment,
      document: place.path("a.chat"),
      meant: ({ path }) => path.includes(`/${folder}`),
      dryRun: false,
      between: () => {
        if (isFirst) change();
        isFirst = false;
        return Promise.resolve();
      },
    });
    assert.deepEqual([newer?.outcome, older?.outcome], ["put-back", "kept"]);
    assert.match(older?.why ?? "", why);
    assert.equal(place.read(`${folder}/a.txt`), text);
  }
});

test("the oldest saved version is removed first when space runs out, and a file too large to save is reported once", async (place) => {
  const environment = { ...environmentAt(place.path("")), home: place.env.HOME!, variables: place.env };
  const reported: string[] = [];
  const emit = (event: { readonly event: string; readonly message?: string }) =>
    void reported.push(event.message ?? "");
  const bytes = (length: number) => new Uint8Array(length).fill(120);
  const keep = async (document: string, path: string, length: number, megabytes = 0.001) => {
    const kept = new SavedFiles(environment, place.path(document), megabytes, emit);
    const file = { path: place.path(path), shownAs: path };
    const changed = await kept.keep({ id: path, name: "write" }, file);
    Deno.writeFileSync(file.path, bytes(length));
    await changed();
    return kept;
  };
  // Heads count too, so two of these fit and three do not.
  await keep("a.chat", "1", 250);
  await keep("b.chat", "2", 250);
  await keep("a.chat", "3", 250);
  const retained = async (document: string) =>
    (await listSavedFiles(environment, place.path(document))).map(({ call }) => call);
  assert.deepEqual([await retained("a.chat"), await retained("b.chat")], [["3"], ["2"]]);
  Deno.writeFileSync(place.path("4"), bytes(2000));
  const full = await keep("a.chat", "4", 2000);
  await full.keep({ id: "4", name: "write" }, { path: place.path("4"), shownAs: "4" });
  assert.deepEqual(reported, ["4 is too large to be saved for flemma undo: undo.keep is 0.001 MB."]);
  await keep("c.chat", "6", 1, 0);
  assert.deepEqual(await retained("c.chat"), []);
  assert.equal(reported.length, 1);
  // What cannot be kept is told, and the change goes on.
  Deno.chmodSync(place.env.XDG_STATE_HOME!, 0o700);
  Deno.removeSync(`${place.env.XDG_STATE_HOME}/flemma/undo`, { recursive: true });
  Deno.writeTextFileSync(`${place.env.XDG_STATE_HOME}/flemma/undo`, "in the way");
  await keep("a.chat", "7", 1);
  assert.match(reported.at(-1)!, /flemma undo cannot restore 7, because its content was not saved/);
});

test("files saved by a killed run are reported with their location, and no saved file remains for a change that never happened", async (place) => {
  const environment = { ...environmentAt(place.path("")), home: place.env.HOME!, variables: place.env };
  const kept = new SavedFiles(environment, place.path("a.chat"), 1, () => {});
  place.write("a.txt", "before\n");
  place.write("a.chat", "@You:\nHello\n");
  const file = { path: place.path("a.txt"), shownAs: "a.txt" };
  const never = await kept.keep({ id: "call_1", name: "edit" }, file);
  await never();
  assert.deepEqual(await listSavedFiles(environment, place.path("a.chat")), []);
  // The run ends here: nobody says that the change is over.
  await kept.keep({ id: "call_2", name: "edit" }, file);
  place.write("a.txt", "after\n");
  const { code, stderr } = await undo(place);
  assert.equal(code, 1);
  const [, where = ""] = /the run ended during the change; the old content is in (\S+), /.exec(stderr) ?? [];
  assert.match(Deno.readTextFileSync(where), /\nbefore\n$/);
  place.write("a.txt", "before\n");
  assert.equal((await undo(place)).code, 0);
});

test("with undo.keep: 0 nothing is saved for undo, and a document may not set undo.keep", async (place) => {
  place.settings("undo: { keep: 0 }\n");
  await made(place, [write("e.txt", "e\n")]);
  assert.match((await undo(place, "--list")).stderr, /No file changes are saved/);
  place.write("b.chat", "```lua\nflemma.opt.undo.keep = 0\n```\n@You:\nHello\n");
  assert.match((await place.run(["check", "b.chat"])).stdout, /warning config_ignored_value.*undo\.keep/);
});

test("a failed call saves no file for undo, and undo refuses a locked document", async (place) => {
  place.write("a.txt", "1\n");
  await made(place, [edit("a.txt", "absent", "2"), edit("a.txt", "1", "1")]);
  assert.match((await undo(place)).stderr, /no saved file changes to undo/);
  assert.match((await undo(place, "nope")).stderr, /List the saved changes: flemma undo --list \S+\.chat$/m);
  const refused = await place.exits(2, ["undo", "-"], { stdin: "@You:\nHello\n" });
  assert.match(refused.stderr, /flemma undo FILE/);
  await place.exits(1, ["undo", "gone.chat"]);
  await place.exits(2, ["undo"]);
});

test("files that a killed undo restored without reporting are reported once by the next undo", async (place) => {
  place.write("a.txt", "1\n");
  await made(place, [edit("a.txt", "1", "2"), write("deep/b.txt", "b\n"), edit("a.txt", "2", "3")]);
  const document = Deno.realPathSync(place.path("a.chat"));
  const environment = { ...environmentAt(place.path("")), home: place.env.HOME!, variables: place.env };
  // It was killed behind its second change: nothing was written into the document.
  let changes = 0;
  await assert.rejects(
    async () => {
      const outcomes = await undoChanges({
        environment,
        document,
        meant: () => true,
        dryRun: false,
        between: () => (++changes > 1 ? Promise.reject(new Error("killed")) : Promise.resolve()),
      });
      if (outcomes.some(({ outcome }) => outcome === "kept")) throw new Error("killed");
    },
  );
  const done = await undo(place);
  assert.equal(done.code, 0, done.stderr);
  assert.deepEqual([place.read("a.txt"), place.exists("deep")], ["1\n", false]);
  const line = /^I undid these file changes: (.+)\.$/gm;
  const reported = [...place.read("a.chat").matchAll(line)].map(([, names]) => names);
  assert.deepEqual(reported, [
    "a.txt in call_3 (edit), deep/b.txt in call_2 (write), a.txt in call_1 (edit)",
  ]);
  assert.equal((await undo(place)).code, 0);
  assert.equal([...place.read("a.chat").matchAll(line)].length, 1);
});

test("if undo is killed while it removes a file, the next undo removes the remaining files and folders", async (place) => {
  await made(place, [write("deep/er/a.txt", "a\n")]);
  const path = Deno.realPathSync(place.path("deep/er/a.txt"));
  const environment = { ...environmentAt(place.path("")), home: place.env.HOME!, variables: place.env };
  const lock = await lockForWriting(path, environment, new AbortController().signal);
  const aside = temporaryIn(place.path("deep/er"));
  Deno.renameSync(path, aside);
  lock.note(aside);
  // Its holder dies: the lock is free, and its file stays.
  const locks = `${place.folder}/state/flemma/locks/files`;
  const [{ name }] = [...Deno.readDirSync(locks)] as [Deno.DirEntry];
  const noted = Deno.readTextFileSync(`${locks}/${name}`);
  lock.release();
  Deno.writeTextFileSync(`${locks}/${name}`, noted);
  const done = await undo(place);
  assert.equal(done.code, 0, done.stderr);
  assert.equal(place.exists("deep"), false);
});

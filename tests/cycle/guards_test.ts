// What the storage of a document accepts and refuses, one row per condition, and races with changes in between.

import assert from "node:assert/strict";
import type { Environment } from "../../base/environment.ts";
import { parentOf } from "../../base/paths.ts";
import { readAll } from "../../base/system/regular_file.ts";
import { openJournal } from "../../cycle/storage/journal.ts";
import { holderOf, lockBeside, lockDocument } from "../../cycle/storage/lock.ts";
import { mergeDocuments, mergeFrom, sameAuthority, withoutWithdrawn } from "../../cycle/storage/merge.ts";
import { messagesKey } from "../../commands/io/saved_messages.ts";
import { openSeenFiles } from "../../cycle/storage/seen_files.ts";
import { documentKey } from "../../cycle/storage/state_files.ts";
import { parse } from "../../parser/mod.ts";
import { descriptorsInto, testWithState as test } from "../folder.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const chat = (text: string) => parse(bytes(text));
const text = (merged: Uint8Array | null) => merged === null ? null : new TextDecoder().decode(merged);

const BASE = [
  "```json",
  "{}",
  "```",
  "@Assistant:",
  "**Tool Use:** `bash` (`c1`)",
  "",
  "```json",
  '{"command": "true"}',
  "```",
  "",
  "@You:",
  "**Tool Result:** `c1`",
  "",
  "```flemma:tool status=pending",
  "```",
  "",
].join("\n");

Deno.test("if another program saves, an open call is decided again only if the save changed frontmatter, a status, a result or this call", () => {
  const rows: readonly (readonly [what: string, from: string, to: string, same: boolean])[] = [
    ["a word of prose", "@You:\n", "@You:\nWell.\n", true],
    ["the content of the frontmatter", "{}\n```\n@", '{"a":1}\n```\n@', false],
    ["the language of the frontmatter", "```json\n{}\n", "```yaml\n{}\n", false],
    ["the existence of frontmatter", "```json\n{}\n```\n@Ass", "@Ass", false],
    ["a status", "status=pending", "status=approved", false],
    ["the id of a result", "Result:** `c1`", "Result:** `c2`", false],
    ["one result more", "@You:\n", "@You:\n**Tool Result:** `c9`\n\n```\nx\n```\n", false],
    ["the input of the call", '"true"', '"false"', false],
    ["the name of the call", "`bash`", "`read`", false],
    ["the id of the call", "(`c1`)", "(`c3`)", false],
  ];
  for (const [what, from, to, same] of rows) {
    assert.ok(BASE.includes(from), what);
    assert.equal(sameAuthority(chat(BASE), chat(BASE.replace(from, to)), ["c1"]), same, what);
  }
  const other = BASE.replace('"true"', '"false"');
  assert.equal(
    sameAuthority(chat(BASE), chat(other), []),
    true,
    "a call that is not answered now may be edited",
  );
});

Deno.test("flemma refuses to merge a change of a line that flemma changed, a change of a neighboring line, and a file that is not text", () => {
  const base = "@You:\none\ntwo\nthree\nfour\nfive\n";
  const merge = (ours: string, theirs: string) =>
    text(mergeDocuments(bytes(base), bytes(ours), bytes(theirs)));
  const ours = base.replace("three", "THREE");
  assert.equal(merge(ours, base.replace("one", "ONE")), ours.replace("one", "ONE"));
  assert.equal(merge(ours, base.replace("five", "FIVE")), ours.replace("five", "FIVE"));
  for (const line of ["two", "three", "four"]) {
    assert.equal(merge(ours, base.replace(line, "theirs")), null, line);
  }
  assert.equal(merge(ours, base.replace("two\n", "two\ninserted\n")), null, "inserted next to ours");
  assert.equal(merge(ours, "@You:\n\0\n"), null, "no text");
});

Deno.test("if another program changed the document meanwhile, flemma inserts the results of calls into the changed text", () => {
  const two = BASE.replace(
    "@You:\n",
    "**Tool Use:** `bash` (`c2`)\n\n```json\n{}\n```\n\n@You:\n",
  ) + "\n**Tool Result:** `c2`\n\n```flemma:tool status=pending\n```\n";
  const first = "`c1`\n\n```flemma:tool status=pending\n```";
  const done = two.replace(first, "`c1`\n\n```\ndone\n```");
  const rows: readonly (readonly [what: string, change: (text: string) => string, kept: RegExp | null])[] = [
    ["a blank line in its block", (text) => text.replace("`c1`\n\n", "`c1`\n\n\n"), /./],
    ["its own status", (text) => text.replace(first, first.replace("pending", "rejected")), /./],
    ["its block removed", (text) => text.replace(`**Tool Result:** ${first}\n\n`, ""), /./],
    ["all blocks removed", (text) => text.slice(0, text.indexOf("@You:")), /./],
    [
      "another call approved",
      (text) => text.replace(/pending(?![^]*pending)/, "approved"),
      /status=approved/,
    ],
    [
      "another call rejected",
      (text) => text.replace(/pending(?![^]*pending)/, "rejected"),
      /status=rejected/,
    ],
    [
      "another call edited",
      (text) => text.replace("`c2`)\n\n```json\n{}", '`c2`)\n\n```json\n{"a":1}'),
      /"a":1/,
    ],
    [
      "another result written",
      (text) => text.replace(/flemma:tool status=pending\n```\n$/, "\nmine\n```\n"),
      /mine/,
    ],
    ["the frontmatter", (text) => text.replace("{}\n```\n@", '{"x":1}\n```\n@'), /"x":1/],
    ["an open fence above it", (text) => text.replace("@You:\n", "@You:\n```\n\n"), /./],
    ["CR LF lines", (text) => text.replaceAll("\n", "\r\n"), /\r\n/],
    ["text in its block", (text) => text.replace(first, first.replace(/\n```$/, "\nmine\n```")), null],
    ["the input of its call", (text) => text.replace('"true"', '"false"'), null],
    ["its call removed", (text) => text.replace("(`c1`)", "(`c9`)"), null],
  ];
  for (const [what, change, kept] of rows) {
    const theirs = change(two);
    assert.notEqual(theirs, two, what);
    const merged = mergeDocuments(bytes(two), bytes(done), bytes(theirs));
    if (kept === null) {
      assert.ok(merged === null, what);
      continue;
    }
    const result = parse(merged!).result("c1");
    assert.deepEqual([result?.status, result?.content], [null, "done"], what);
    assert.match(text(merged)!, kept, what);
  }
});

Deno.test("our other changes are not carried along with a result into lines that another writer changed", () => {
  const done = BASE.replace("```flemma:tool status=pending\n```", "```\ndone\n```");
  const theirs = BASE.replace("```flemma:tool status=pending\n```", "```flemma:tool status=approved\n```");
  assert.ok(mergeDocuments(bytes(BASE), bytes(done), bytes(theirs)) !== null);
  assert.equal(mergeDocuments(bytes(BASE), bytes(`${done}more\n`), bytes(theirs)), null);
});

Deno.test("an approval that a later save lacks is withdrawn, and no other", () => {
  const merged = chat(BASE.replace("pending", "approved"));
  const rows: readonly (readonly [theirs: string, ids: readonly string[], status: string])[] = [
    [BASE, ["c1"], "pending"],
    [BASE.replace("pending", "rejected"), ["c1"], "rejected"],
    [BASE.slice(0, BASE.indexOf("@You:")), ["c1"], "pending"],
    [BASE.replace("pending", "approved"), ["c1"], "approved"],
    [BASE, [], "approved"],
    [BASE, ["c2"], "approved"],
  ];
  for (const [theirs, ids, status] of rows) {
    assert.equal(
      withoutWithdrawn(merged, chat(theirs), ids).result("c1")?.status,
      status,
      `${ids} ${status}`,
    );
  }
  const done = chat(BASE.replace("```flemma:tool status=pending\n```", "```\ndone\n```"));
  assert.equal(withoutWithdrawn(done, chat(BASE), ["c1"]), done);
});

Deno.test("to merge another program's text, flemma uses an earlier text of this run as the common base: the closest one that works", () => {
  const old = "@You:\na\nb\nc\nd\n";
  const newer = "@You:\na\nb\nc\nD\n";
  const ours = "@You:\na\nb\nc\nD2\n";
  assert.equal(
    text(mergeFrom([bytes(newer), bytes(old)], bytes(ours), bytes(old.replace("a", "A")))),
    "@You:\nA\nb\nc\nD2\n",
  );
  assert.equal(mergeFrom([bytes(newer)], bytes(ours), bytes("@You:\na\nb\nc\ntheirs\n")), null);
  assert.equal(mergeFrom([], bytes(ours), bytes(old)), null);
});

test("if a lock file is replaced between opening and locking, the run does not hold the lock", async ({ folder, environment }) => {
  const lockPath = `${folder}/state/flemma/locks/${await documentKey(`${folder}/a`)}.lock`;
  const original = Deno.FsFile.prototype.tryLock;
  let looks = 0;
  Deno.FsFile.prototype.tryLock = async function (exclusive) {
    // Another run ends between the two: it removes the file that we have opened.
    if (looks++ === 0) await Deno.remove(lockPath);
    return await original.call(this, exclusive);
  };
  let retained;
  try {
    retained = await lockDocument(`${folder}/a`, { environment, wait: 0 });
  } finally {
    Deno.FsFile.prototype.tryLock = original;
  }
  assert.ok(retained.ok);
  assert.equal(looks, 2, "it looked again");
  const second = await lockDocument(`${folder}/a`, { environment, wait: 0 });
  assert.ok(!second.ok && second.problem.code === "document-locked", "nobody else gets it");
  await retained.value.release();
  assert.deepEqual(descriptorsInto(folder), []);
});

test("if somebody removed a run's lock file, that run does not remove the new one of another run", async ({ folder, environment }) => {
  const path = `${folder}/a`;
  const first = await lockDocument(path, { environment, wait: 0 });
  assert.ok(first.ok);
  await Deno.remove(`${folder}/state/flemma/locks/${await documentKey(path)}.lock`);
  const second = await lockDocument(path, { environment, wait: 0 });
  assert.ok(second.ok);
  assert.equal(await first.value.release(), null);
  const third = await lockDocument(path, { environment, wait: 0 });
  assert.ok(!third.ok && third.problem.code === "document-locked");
  assert.equal((await holderOf(path, environment))?.pid, Deno.pid);
  await second.value.release();
  assert.equal(await holderOf(path, environment), null);
});

test("a dead run is from another machine unless a lock in this state folder also names it", async ({ folder, environment }) => {
  const path = `${folder}/a`;
  const run = { pid: 7, host: "one", boot: "b", since: "2026-01-01T00:00:00.000Z", path: "/mnt/a" };
  const here = `${folder}/state/flemma/locks/${await documentKey(path)}.lock`;
  await Deno.mkdir(parentOf(here), { recursive: true });
  const rows: readonly [string, typeof run | null, typeof run | null, boolean][] = [
    ["nobody died", null, null, false],
    ["only this state folder names it", null, run, false],
    ["both name it, the folder at another path", run, { ...run, path }, false],
    ["only the lock next to it names it", run, null, true],
    ["another process", run, { ...run, pid: 8 }, true],
    ["another machine", run, { ...run, host: "two" }, true],
    ["another boot of the machine", run, { ...run, boot: "c" }, true],
    ["another time", run, { ...run, since: "2026-01-01T00:00:00.001Z" }, true],
  ];
  for (const [name, beside, state, expected] of rows) {
    for (const [file, holder] of [[lockBeside(path), beside], [here, state]] as const) {
      if (holder !== null) Deno.writeTextFileSync(file, JSON.stringify(holder));
    }
    const lock = await lockDocument(path, { environment, wait: 0, place: "beside" });
    assert.ok(lock.ok);
    assert.equal(lock.value.leftElsewhere, expected, name);
    assert.equal(lock.value.notice !== null, beside !== null || state !== null, name);
    await lock.value.release();
  }
});

test("a free lock file identifies a dead run only if it contains a complete record of the holder", async ({ folder, environment }) => {
  const locks = `${folder}/state/flemma/locks`;
  await Deno.mkdir(locks, { recursive: true });
  const rows: readonly (readonly [left: string, reported: boolean])[] = [
    ['{"pid":4242,"host":"elsewhere","path":"/a"}', true],
    ['{"pid":4242,"host":"elsewhere"', false],
    ['{"pid":"4242","host":"elsewhere"}', false],
    ['{"host":"elsewhere"}', false],
    ['{"pid":4242}', false],
    ['{"pid":4242,"host":7}', false],
    ["null", false],
    ['"4242"', false],
    ["", false],
  ];
  for (const [left, reported] of rows) {
    await Deno.writeTextFile(`${locks}/${await documentKey(`${folder}/a`)}.lock`, left);
    const lock = await lockDocument(`${folder}/a`, { environment, wait: 0 });
    assert.ok(lock.ok);
    assert.equal(lock.value.notice !== null, reported, left);
    await lock.value.release();
  }
});

test("two names of one file share one lock, and a different file has a different lock", async ({ folder, environment }) => {
  await Deno.writeTextFile(`${folder}/a`, "");
  await Deno.link(`${folder}/a`, `${folder}/b`);
  await Deno.writeTextFile(`${folder}/c`, "");
  const retained = await lockDocument(`${folder}/a`, { environment, wait: 0 });
  assert.ok(retained.ok);
  const linked = await lockDocument(`${folder}/b`, { environment, wait: 0 });
  assert.ok(!linked.ok && linked.problem.code === "document-locked");
  assert.equal((await holderOf(`${folder}/b`, environment))?.pid, Deno.pid);
  // Having failed at the second lock, it holds the first one no longer.
  await retained.value.release();
  const free = await lockDocument(`${folder}/b`, { environment, wait: 0 });
  assert.ok(free.ok);
  const other = await lockDocument(`${folder}/c`, { environment, wait: 0 });
  assert.ok(other.ok);
  await free.value.release();
  await other.value.release();
});

/** The journal of a document after these lines stood in it. */
async function journalOf(environment: Environment, path: string, lines: readonly unknown[]) {
  const folder = `${environment.variables.XDG_STATE_HOME}/flemma/journal`;
  await Deno.mkdir(folder, { recursive: true });
  const file = `${folder}/${await documentKey(path)}.jsonl`;
  const whole = lines.map((line) => typeof line === "string" ? line : JSON.stringify(line));
  await Deno.writeTextFile(file, whole.map((line) => `${line}\n`).join(""));
  const opened = await openJournal({ environment, path });
  assert.ok(opened.ok);
  return { journal: opened.value, file };
}

test("a journal line is used only if each of its fields is valid", async ({ folder, environment }) => {
  const read = async (line: unknown) => (await journalOf(environment, `${folder}/a`, [line])).journal;
  const approval = { kind: "approval", id: "c", by: "person", hash: "h" };
  assert.deepEqual((await read(approval)).approval("c"), { by: "person", hash: "h" });
  assert.equal((await read({ ...approval, by: "policy" })).approval("c")?.by, "policy");
  for (
    const wrong of [{ by: "model" }, { by: undefined }, { hash: 7 }, { hash: undefined }, { id: 7 }, {
      kind: "x",
    }]
  ) {
    assert.equal((await read({ ...approval, ...wrong })).approval("c"), null, JSON.stringify(wrong));
  }
  const start = { kind: "start", id: "c", tool: "bash" };
  assert.equal((await read(start)).started().size, 1);
  for (const wrong of [{ tool: 7 }, { tool: undefined }, { id: null }]) {
    assert.equal((await read({ ...start, ...wrong })).started().size, 0, JSON.stringify(wrong));
  }
  for (
    const [effects, expected] of [
      [undefined, undefined],
      ["none", "none"],
      ["reads", "reads"],
      ["writes", "writes"],
      ["harmless", "writes"],
      [7, "writes"],
    ]
  ) {
    const found = (await read({ ...start, effects })).started().get("c");
    assert.equal(found?.effects, expected, JSON.stringify(effects));
  }
  const file = { kind: "file", path: "/f", hash: "h" };
  assert.equal((await read(file)).fileHash("/f"), "h");
  for (const wrong of [{ hash: 7 }, { path: 7 }]) {
    assert.equal((await read({ ...file, ...wrong })).fileHash("/f"), null);
  }
  const day = { kind: "day", day: "2026-11-28" };
  assert.equal((await read(day)).promptDay(), "2026-11-28");
  for (const wrong of [{ day: 7 }, { day: "soon" }, { day: "2026-11-28\n## Rules" }]) {
    assert.equal((await read({ ...day, ...wrong })).promptDay(), null, JSON.stringify(wrong));
  }
  const kept = { kind: "result", id: "c", path: "/r" };
  assert.equal((await read(kept)).savedResults().get("c"), "/r");
  assert.equal((await read({ ...kept, path: 7 })).savedResults().size, 0);
  const unfinished = { kind: "unfinished", ids: ["c"] };
  assert.equal((await read(unfinished)).unfinished().size, 1);
  for (const wrong of [{ ids: "c" }, { ids: ["c", 7] }]) {
    assert.equal((await read({ ...unfinished, ...wrong })).unfinished().size, 0);
  }
  for (const odd of ["null", "7", '"text"', "{", "[]"]) {
    const journal = (await journalOf(environment, `${folder}/a`, [odd, start])).journal;
    assert.equal(journal.started().size, 1, `${odd} costs itself alone`);
  }
});

test("compacting a journal drops no entry that still matters to this or another run", async ({ folder, environment }) => {
  const path = `${folder}/a`;
  const noise = Array.from(
    { length: 12_000 },
    () => [{ kind: "start", id: "x", tool: "bash" }, { kind: "end", id: "x" }],
  );
  const { journal, file } = await journalOf(environment, path, [
    { kind: "approval", id: "old", by: "policy", hash: "1", source: "s" },
    { kind: "approval", id: "old", by: "person", hash: "2" },
    { kind: "start", id: "open", tool: "ls", effects: "reads" },
    { kind: "result", id: "kept", path: "/r" },
    { kind: "result", id: "done", path: "/d" },
    { kind: "end", id: "done" },
    { kind: "file", path: "/f", hash: "f1" },
    { kind: "file", path: "/f", hash: "f2" },
    { kind: "day", day: "2026-11-27" },
    { kind: "day", day: "2026-11-28" },
    { kind: "unfinished", ids: ["u1", "u2", "u3"] },
    { kind: "finished", ids: ["u1"] },
    { kind: "approval", id: "u2", by: "person", hash: "3" },
    ...noise.flat(),
  ]);
  await Deno.writeTextFile(file, `${JSON.stringify({ kind: "start", id: "others", tool: "read" })}\n`, {
    append: true,
  });
  const before = (await Deno.stat(file)).size;
  await journal.recordApprovals(new Map([["mine", { by: "person", hash: "4" }]]));
  assert.ok((await Deno.stat(file)).size < before / 10);
  const again = await openJournal({ environment, path });
  assert.ok(again.ok);
  const read = again.value;
  assert.deepEqual(read.approval("old"), { by: "person", hash: "2" });
  assert.equal(read.approval("mine")?.hash, "4");
  assert.deepEqual([...read.started().keys()].sort(), ["open", "others"]);
  assert.deepEqual([read.started().get("open")?.tool, read.started().get("open")?.effects], ["ls", "reads"]);
  assert.deepEqual([...read.savedResults()], [["kept", "/r"]]);
  assert.equal(read.fileHash("/f"), "f2");
  assert.equal(read.promptDay(), "2026-11-27", "the first one stays");
  assert.deepEqual([...read.unfinished()], ["u3"]);
});

const SEEN = { hash: "h", size: 1, mtime: 2 };

test("records of seen files are validated entry by entry, and an incomplete record file is treated as empty", async ({ folder, environment }) => {
  const path = `${folder}/a`;
  const file = `${folder}/state/flemma/seen/${await documentKey(path)}.json`;
  await Deno.mkdir(`${folder}/state/flemma/seen`, { recursive: true });
  const paths = async (text: string) => {
    await Deno.writeTextFile(file, text);
    return (await openSeenFiles(environment, path)).paths;
  };
  const entry = (key: unknown, seen: unknown) => JSON.stringify([["/good", SEEN], [key, seen]]);
  assert.deepEqual(await paths(entry("/too", SEEN)), ["/good", "/too"]);
  const wrong: readonly (readonly [unknown, unknown])[] = [
    [7, SEEN],
    ["/bad", null],
    ["/bad", "text"],
    ["/bad", { ...SEEN, hash: 7 }],
    ["/bad", { ...SEEN, size: "1" }],
    ["/bad", { ...SEEN, mtime: undefined }],
  ];
  for (const [key, seen] of wrong) {
    assert.deepEqual(await paths(entry(key, seen)), ["/good"], JSON.stringify(seen));
  }
  for (const torn of ["", "[", "{}", "null", '"text"', '[["/x"']) {
    assert.deepEqual(await paths(torn), [], torn);
  }
  await Deno.remove(file);
  assert.deepEqual((await openSeenFiles(environment, path)).paths, [], "nothing was seen yet");
  await Deno.mkdir(file);
  await assert.rejects(openSeenFiles(environment, path), "what cannot be read is no empty memory");
});

test("the thousand most recently seen files are remembered across runs, but an unsaved document stores none", async ({ folder, environment }) => {
  const seen = await openSeenFiles(environment, `${folder}/a`);
  await seen.record([]);
  assert.throws(() => Deno.statSync(`${folder}/state`), Deno.errors.NotFound, "nothing seen, nothing stored");
  await seen.record(Array.from({ length: 1000 }, (_, index) => [`/f${index}`, SEEN] as const));
  await seen.record([["/f0", { ...SEEN, hash: "new" }], ["/one more", SEEN]]);
  const again = await openSeenFiles(environment, `${folder}/a`);
  assert.equal(again.paths.length, 1000);
  assert.equal(again.get("/f0")?.hash, "new", "seen again, it is one of the last");
  assert.equal(again.get("/f1"), null);
  assert.deepEqual(again.paths.slice(-2), ["/f0", "/one more"]);
  const unsaved = await openSeenFiles(environment, null);
  await unsaved.record([["/x", SEEN]]);
  assert.deepEqual(unsaved.get("/x"), SEEN);
  assert.equal([...Deno.readDirSync(`${folder}/state/flemma/seen`)].length, 1);
});

Deno.test("a run's messages are saved under the document's path, else under its first turn, else under a common key", async () => {
  const key = (text: string, path: string | null = null) => messagesKey(chat(text), path);
  assert.equal(await key("@You:\nhi\n", "/a"), await key("@You:\nother\n", "/a"));
  assert.notEqual(await key("@You:\nhi\n", "/a"), await key("@You:\nhi\n", "/b"));
  assert.equal(await key("@You:\nhi\n\n@Assistant:\none\n"), await key("@You:\nhi\n\n@Assistant:\ntwo\n"));
  assert.notEqual(await key("@You:\nhi\n"), await key("@You:\nho\n"));
  assert.equal(await key("no message\n"), "none");
});

Deno.test("if a file is larger than its reported size, flemma reads it to its end", async () => {
  const path = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(path, "ten bytes.");
    using file = await Deno.open(path);
    assert.equal(new TextDecoder().decode(await readAll(file, 3)), "ten bytes.");
  } finally {
    await Deno.remove(path);
  }
});

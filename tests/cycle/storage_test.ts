import { contentFromBytes } from "../../cycle/storage/disk/content.ts";
import assert from "node:assert/strict";
import type { Environment } from "../../base/environment.ts";
import { openJournal } from "../../cycle/storage/journal.ts";
import { holderOf, lockDocument } from "../../cycle/storage/lock.ts";
import { listSavedTexts, SavedText } from "../../cycle/storage/saved_text.ts";
import { keepMessages, lastMessages } from "../../commands/io/saved_messages.ts";
import { runtimeFolder } from "../../base/folders.ts";
import { documentKey, stateFolder } from "../../cycle/storage/state_files.ts";
import { ownProtectedPaths } from "../../agent/sandbox.ts";
import { ownership, readDocument, stampOf, unwritableProblem } from "../../cycle/storage/read.ts";
import { isTorn, OverwriteGuard, saveAside } from "../../cycle/storage/disk/rescue.ts";
import {
  extendFile,
  type KnownFile,
  overwriteFile,
  replaceDocumentFile,
  type WriteOptions,
} from "../../cycle/storage/disk/write.ts";
import { testWithState as test, withCopyOf } from "../folder.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const knownOf = (path: string): KnownFile => ({
  content: contentFromBytes(Deno.readFileSync(path)),
  stamp: stampOf(Deno.statSync(path)),
});

Deno.test("state is stored below XDG_STATE_HOME unless the value of the variable is a relative path", () => {
  const environment = (variables: Record<string, string>): Environment => ({
    cwd: "/w",
    home: "/h",
    variables,
  });
  assert.equal(stateFolder(environment({ XDG_STATE_HOME: "/s" })), "/s/flemma");
  assert.equal(stateFolder(environment({ XDG_STATE_HOME: "s" })), "/h/.local/state/flemma");
  assert.equal(runtimeFolder(environment({ XDG_RUNTIME_DIR: "/run/user/1" })), "/run/user/1/flemma");
  assert.equal(runtimeFolder(environment({})), "/h/.local/state/flemma");
  const paths = ownProtectedPaths({
    environment: environment({ XDG_STATE_HOME: "/s" }),
    documents: ["/d/a.chat", "/l/b.chat"],
    configFiles: ["/c.yaml"],
  });
  assert.deepEqual(paths, ["/d/a.chat", "/l/b.chat", "/c.yaml", "/s/flemma"]);
});

test("if a document cannot be read, the message names the file and the reason", async ({ folder, environment }) => {
  const refusal = async (name: string) => {
    const outcome = await readDocument(name, environment);
    assert.ok(!outcome.ok, `${name} was read`);
    assert.ok(outcome.problem.message.includes(name), outcome.problem.message);
    assert.ok(!outcome.problem.message.includes("\n"));
    return outcome.problem.code;
  };
  await Deno.mkdir(`${folder}/folder`);
  await Deno.writeFile(`${folder}/nul`, new Uint8Array([64, 0, 10]));
  await Deno.writeFile(`${folder}/latin1`, new Uint8Array([0xe4, 10]));
  await Deno.writeTextFile(`${folder}/half`, "");
  await Deno.truncate(`${folder}/half`, 2 ** 29 - 23);
  await Deno.symlink("nowhere", `${folder}/dangling`);
  assert.equal(await refusal("missing"), "document-missing");
  assert.equal(await refusal("dangling"), "document-missing");
  assert.equal(await refusal("nul/below"), "document-missing");
  assert.equal(await refusal("folder"), "document-is-folder");
  assert.equal(await refusal("nul"), "document-binary");
  assert.equal(await refusal("latin1"), "document-not-utf8");
  assert.equal(await refusal("half"), "document-too-large");
  assert.equal(await refusal("/dev/null"), "document-not-a-file");
});

Deno.test("if a document is not writable, flemma reports this with advice for the specific reason", () => {
  const thrown = (code: string) => Object.assign(new Error(`refused (${code})`), { code });
  const mine = { own: true, writable: false };
  const rows: readonly (readonly [unknown, typeof mine, says: RegExp, next: RegExp])[] = [
    [thrown("EACCES"), mine, /: permission denied/, /^Make it writable \(chmod u\+w 'a b\.chat'\), or use/],
    [thrown("EACCES"), { ...mine, own: false }, /: permission denied/, /^It belongs to another user/],
    [
      thrown("EACCES"),
      { ...mine, writable: true },
      /: permission denied/,
      /^Its permissions let you write/,
    ],
    [
      thrown("EPERM"),
      mine,
      /forbids changes/,
      Deno.build.os === "linux" ? /chattr -i 'a b\.chat'/ : /chflags nouchg 'a b\.chat'/,
    ],
    [thrown("EROFS"), mine, /read-only file system/, /^Copy it to a writable folder/],
    [thrown("EIO"), mine, /: refused \(EIO\)\./, /^Copy it/],
    ["a word", mine, /: a word\./, /^Copy it/],
  ];
  for (const [reason, owned, says, next] of rows) {
    const problem = unwritableProblem("a b.chat", reason, owned);
    assert.equal(problem.code, "document-unwritable");
    assert.match(problem.message, says);
    assert.match(problem.next ?? "", next);
    assert.match(problem.next ?? "", /flemma advance < 'a b\.chat'$/);
    assert.equal(
      /chmod/.test(problem.next ?? ""),
      owned === mine && reason instanceof Error && "code" in reason && reason.code === "EACCES",
    );
  }
});

test("the owner and the permissions of a file decide whether its owner could make it writable", async ({ folder }) => {
  const path = `${folder}/a.chat`;
  await Deno.writeTextFile(path, "");
  for (const [mode, writable] of [[0o644, true], [0o200, true], [0o444, false], [0o577, false]] as const) {
    await Deno.chmod(path, mode);
    assert.deepEqual(await ownership(path), { own: true, writable }, mode.toString(8));
  }
  // Somebody else's: the superuser gives its own away, anybody else looks at one of the superuser's.
  if (Deno.uid() === 0) await Deno.chown(path, 4242, null);
  assert.equal((await ownership(Deno.uid() === 0 ? path : "/")).own, false);
});

test("if a run has locked a file but not yet written its name, flemma waits a moment and can then report the holder", async ({ folder, environment }) => {
  const locks = `${folder}/state/flemma/locks`;
  await Deno.mkdir(locks, { recursive: true });
  const path = `${locks}/${await documentKey(`${folder}/a`)}.lock`;
  using retained = await Deno.open(path, { create: true, read: true, write: true });
  await retained.lock(true);
  const open = Deno.open;
  let looks = 0;
  Deno.open = (file, options) => {
    if (String(file) === path && ++looks === 2) {
      Deno.writeTextFileSync(path, JSON.stringify({ pid: 4242, host: "elsewhere", path: `${folder}/a` }));
    }
    return open(file, options);
  };
  try {
    const refused = await lockDocument(`${folder}/a`, { environment, wait: 0 });
    assert.ok(!refused.ok);
    assert.match(refused.problem.message, /is in use by process 4242 on elsewhere/);
    assert.equal(looks, 2, "a named holder is reported immediately");
  } finally {
    Deno.open = open;
  }
});

test("checking the lock of a dead run blocks no other run, and is not mistaken for the dead run", async ({ folder, environment }) => {
  const locks = `${folder}/state/flemma/locks`;
  await Deno.mkdir(locks, { recursive: true });
  const path = `${locks}/${await documentKey(`${folder}/a`)}.lock`;
  Deno.writeTextFileSync(path, JSON.stringify({ pid: 4242, host: "elsewhere", path: `${folder}/a` }));
  const looking = await Deno.open(path, { read: true, write: true });
  await looking.lock(false);
  assert.equal(await holderOf(`${folder}/a`, environment), null);
  const { tryLock } = Deno.FsFile.prototype;
  Deno.FsFile.prototype.tryLock = async function (exclusive) {
    const taken = await tryLock.call(this, exclusive);
    // The look is over once it was in the way.
    if (exclusive === true && !taken) looking.close();
    return taken;
  };
  try {
    const lock = await lockDocument(`${folder}/a`, { environment, wait: 0 });
    assert.ok(lock.ok, JSON.stringify(lock));
    assert.match(lock.value.notice!.message, /4242 on elsewhere/);
    await lock.value.release();
  } finally {
    Deno.FsFile.prototype.tryLock = tryLock;
  }
});

test("a lock excludes a second run, names the run that holds it, and is free again after its release", async ({ folder, environment }) => {
  const first = await lockDocument(`${folder}/a`, { environment, wait: 0 });
  assert.ok(first.ok);
  assert.equal(first.value.notice, null);
  const second = await lockDocument(`${folder}/a`, { environment, wait: 0 });
  assert.ok(!second.ok);
  assert.equal(second.problem.code, "document-locked");
  assert.match(second.problem.message, new RegExp(`process ${Deno.pid} on ${Deno.hostname()}`));
  const other = await lockDocument(`${folder}/b`, { environment, wait: 0 });
  assert.ok(other.ok, "another document has another lock");
  const waiting = lockDocument(`${folder}/a`, { environment, wait: 60 });
  await first.value.release();
  const third = await waiting;
  assert.ok(third.ok);
  await third.value.release();
  await other.value.release();
  assert.deepEqual([...Deno.readDirSync(`${folder}/state/flemma/locks`)], []);
});

test("a wait for a lock ends when it is canceled", async ({ folder, environment }) => {
  const first = await lockDocument(`${folder}/a`, { environment, wait: 0 });
  assert.ok(first.ok);
  const second = await lockDocument(`${folder}/a`, { environment, wait: 20, signal: AbortSignal.abort() });
  assert.equal(second.ok ? "" : second.problem.code, "cancelled");
  await first.value.release();
});

test("a lock that the runtime refuses is named by its cause", async ({ folder, environment }) => {
  const { open } = Deno;
  const rows = [
    [
      new Deno.errors.NotSupported("no locks here"),
      "runtime-unsupported",
      /cannot be locked: no locks here\./,
    ],
    [
      new Deno.errors.NotCapable('Requires write access to "/x", run again with the --allow-write flag'),
      "permission-lacking",
      /Missing permission --allow-write: flemma requires write access/,
    ],
    [new Error("no room"), "state-unwritable", /Cannot create the lock .*: no room\./],
  ] as const;
  for (const [thrown, code, message] of rows) {
    Deno.open = () => Promise.reject(thrown);
    try {
      const lock = await lockDocument(`${folder}/a`, { environment, wait: 0 });
      assert.equal(lock.ok ? "" : lock.problem.code, code);
      assert.match(lock.ok ? "" : lock.problem.message, message);
    } finally {
      Deno.open = open;
    }
  }
});

test("if many runs wait for one lock, they get it one after the other", async ({ folder, environment }) => {
  let inside = 0;
  let most = 0;
  await Promise.all(Array.from({ length: 8 }, async () => {
    const lock = await lockDocument(`${folder}/a`, { environment, wait: 60 });
    assert.ok(lock.ok);
    most = Math.max(most, ++inside);
    await new Promise((done) => setTimeout(done, 0));
    inside--;
    await lock.value.release();
  }));
  assert.equal(most, 1);
});

test("if the holder of a lock is gone, flemma takes the lock over, with a notice that names the holder", async ({ folder, environment }) => {
  const locks = `${folder}/state/flemma/locks`;
  await Deno.mkdir(locks, { recursive: true });
  const left = JSON.stringify({ pid: 4242, host: "elsewhere", path: `${folder}/a` });
  await Deno.writeTextFile(`${locks}/${await documentKey(`${folder}/a`)}.lock`, left);
  const lock = await lockDocument(`${folder}/a`, { environment, wait: 0 });
  assert.ok(lock.ok);
  assert.equal(lock.value.notice?.code, "lock-taken-over");
  assert.match(lock.value.notice!.message, /4242 on elsewhere/);
  await lock.value.release();
});

test("replacing a file keeps its mode, returns the old file, and leaves no other file next to it", async ({ folder }) => {
  const path = `${folder}/a.chat`;
  for (const mode of [0o600, 0o755, 0o444]) {
    await Deno.writeTextFile(path, "old");
    await Deno.chmod(path, mode);
    const known = knownOf(path);
    const replaced = await replaceDocumentFile(path, contentFromBytes(bytes("new text")), known);
    assert.equal(replaced?.stamp.size, 8);
    assert.equal(replaced!.old.statSync().ino, known.stamp.ino);
    replaced!.old.close();
    assert.equal(await Deno.readTextFile(path), "new text");
    assert.equal((await Deno.stat(path)).mode! & 0o777, mode);
    assert.notEqual((await Deno.stat(path)).ino, known.stamp.ino);
    assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["a.chat"]);
    await Deno.remove(path);
  }
});

/** The three ways to change a file, each from "one\n" to "one\ntwo\n". */
const WAYS: Readonly<
  Record<string, (path: string, known: KnownFile, options: WriteOptions) => Promise<unknown>>
> = {
  "replaced": async (path, known, options) => {
    const replaced = await replaceDocumentFile(path, contentFromBytes(bytes("one\ntwo\n")), known, options);
    replaced?.old.close();
    return replaced;
  },
  "overwritten": (path, known, options) => overwriteFile(path, known, bytes("one\ntwo\n"), options),
  "extended": (path, known, options) =>
    extendFile(path, known, contentFromBytes(bytes("one\ntwo\n")), { at: 4, ends: [8] }, options),
};

/** What somebody else may do between our look and our act. */
const MEANWHILE: Readonly<Record<string, (path: string) => void>> = {
  "of other text with the same length": (path) => Deno.writeTextFileSync(path, "two\n"),
  "longer": (path) => Deno.writeTextFileSync(path, "one\nmore\n"),
  "empty, as an editor leaves it before writing": (path) => Deno.writeTextFileSync(path, ""),
  "another file with the same text and more": (path) => {
    Deno.writeTextFileSync(`${path}~`, "one\nnew\n");
    Deno.renameSync(`${path}~`, path);
  },
  "another file with the same text": (path) => {
    Deno.writeTextFileSync(`${path}~`, "one\n");
    Deno.renameSync(`${path}~`, path);
  },
};

for (const [way, write] of Object.entries(WAYS)) {
  for (const [what, change] of Object.entries(MEANWHILE)) {
    test(`if a file becomes ${what} between check and write, it is not ${way}`, async ({ folder }) => {
      const path = `${folder}/a.chat`;
      await Deno.writeTextFile(path, "one\n");
      let theirs = "";
      const between = () => {
        if (theirs === "") change(path);
        theirs = Deno.readTextFileSync(path) || "(empty)";
        return Promise.resolve();
      };
      assert.equal(await write(path, knownOf(path), { between }), null);
      assert.equal(await Deno.readTextFile(path) || "(empty)", theirs);
      assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["a.chat"]);
    });
  }

  test(`a file that nobody changed is ${way}`, async ({ folder }) => {
    const path = `${folder}/a.chat`;
    await Deno.writeTextFile(path, "one\n");
    assert.notEqual(await write(path, knownOf(path), {}), null);
    assert.equal(await Deno.readTextFile(path), "one\ntwo\n");
  });
}

for (const way of ["overwritten", "extended"]) {
  test(`a write by another program right after a file was ${way} is noticed`, async ({ folder }) => {
    const path = `${folder}/a.chat`;
    await Deno.writeTextFile(path, "one\n");
    let calls = 0;
    const between = () => {
      if (++calls === 2) Deno.writeTextFileSync(path, "theirs, written over ours\n");
      return Promise.resolve();
    };
    assert.equal(await WAYS[way]!(path, knownOf(path), { between }), null);
    assert.equal(calls, 2);
    assert.equal(await Deno.readTextFile(path), "theirs, written over ours\n");
  });
}

test("a rename that was cancelled is not performed", async ({ folder }) => {
  const path = `${folder}/a.chat`;
  await Deno.writeTextFile(path, "one\n");
  assert.equal(
    await replaceDocumentFile(path, contentFromBytes(bytes("two\n")), knownOf(path), {
      mayReplace: () => false,
    }),
    null,
  );
  assert.equal(await Deno.readTextFile(path), "one\n");
  assert.equal([...Deno.readDirSync(folder)].length, 1);
});

test("a text whose overwriting was interrupted anywhere is recognized as incomplete and completed", async ({ folder, environment }) => {
  const path = `${folder}/a.chat`;
  const pairs = [["@You:\nold tail\n", "@You:\nnew, longer tail\n"], ["a longer old text", "short"], [
    "ab",
    "abc",
  ]];
  for (const [old, text] of pairs.map(([a, b]) => [bytes(a!), bytes(b!)] as const)) {
    for (let cut = 1; cut < text.length; cut++) {
      const torn = new Uint8Array(Math.max(cut, old.length));
      torn.set(old);
      torn.set(text.subarray(0, cut));
      assert.ok(isTorn(torn, old, text));
      await Deno.writeFile(path, torn);
      const guard = await OverwriteGuard.for(path, environment);
      await guard.before(old, text);
      await guard.recover(path, torn);
      const after = await Deno.readFile(path);
      const same = (a: Uint8Array, b: Uint8Array) =>
        a.length === b.length && a.every((byte, at) => byte === b[at]);
      assert.ok(same(after, text) || (same(torn, old) && same(after, old)));
      assert.equal(await guard.recover(path, after), null, "done once");
      assert.deepEqual([...Deno.readDirSync(`${folder}/state/flemma/overwrite`)], []);
    }
  }
});

test("a document that was changed after an interrupted write stays as it is, and the intended text is saved", async ({ folder, environment }) => {
  const path = `${folder}/a.chat`;
  await Deno.writeTextFile(path, "edited since");
  const guard = await OverwriteGuard.for(path, environment);
  await guard.before(bytes("old"), bytes("wanted"));
  const notice = await guard.recover(path, bytes("edited since"));
  assert.equal(notice?.code, "write-not-completed");
  assert.equal(await Deno.readTextFile(path), "edited since");
  const kept = /is in (\S+)\.$/.exec(notice!.message)![1]!;
  assert.equal(await Deno.readTextFile(kept), "wanted");
  const names = [...Deno.readDirSync(`${folder}/state/flemma/overwrite`)].map(({ name }) => name);
  assert.deepEqual(names, [kept.slice(kept.lastIndexOf("/") + 1)]);
});

test("copies that a killed run left do not prevent the copies of the next write", async ({ folder, environment }) => {
  const path = `${folder}/a.chat`;
  const copies = `${folder}/state/flemma/overwrite`;
  await Deno.mkdir(copies, { recursive: true });
  for (const end of ["old", "new", "new.tmp"]) {
    await Deno.writeTextFile(`${copies}/${await documentKey(path)}.${end}`, "left");
  }
  const guard = await OverwriteGuard.for(path, environment);
  await guard.before(bytes("one"), bytes("two"));
  const texts = [...Deno.readDirSync(copies)].map(({ name }) => Deno.readTextFileSync(`${copies}/${name}`));
  assert.deepEqual(texts.sort(), ["one", "two"]);
});

test("a text that can be saved nowhere is reported with the reason", async ({ folder, environment }) => {
  await Deno.mkdir(`${folder}/state/flemma`, { recursive: true });
  await Deno.writeTextFile(`${folder}/state/flemma/saved`, "");
  const saved = await saveAside(`${folder}/gone/a.chat`, bytes("x"), environment, null);
  assert.match("error" in saved ? saved.error : "", /exists/i);
});

test("overwriting can make a file shorter or longer and keeps its inode", async ({ folder }) => {
  const path = `${folder}/a.chat`;
  await Deno.writeTextFile(path, "one two three");
  const { ino } = await Deno.stat(path);
  await overwriteFile(path, knownOf(path), bytes("one"));
  assert.equal(await Deno.readTextFile(path), "one");
  await overwriteFile(path, knownOf(path), bytes("one and more"));
  assert.equal(await Deno.readTextFile(path), "one and more");
  assert.equal((await Deno.stat(path)).ino, ino);
});

test("a journal remembers approvals and unfinished starts across runs, even after an incomplete line", async ({ folder, environment }) => {
  const open = async () => {
    const outcome = await openJournal({ environment, path: `${folder}/a.chat` });
    assert.ok(outcome.ok);
    return outcome.value;
  };
  const journal = await open();
  await journal.recordApprovals(new Map([["c1", { by: "person", hash: "h" }]]));
  await journal.recordApprovals(new Map([["c2", { by: "policy", hash: "i", source: "config" }]]));
  await journal.recordStart("c1", "bash");
  await journal.recordStart("c2", "read");
  await journal.recordEnd("c2");
  const [entry] = [...Deno.readDirSync(`${folder}/state/flemma/journal`)];
  const file = `${folder}/state/flemma/journal/${entry!.name}`;
  await Deno.writeTextFile(file, '{"kind":"end","id":"c', { append: true });
  const second = await open();
  assert.deepEqual([...second.started()].map(([id, { tool }]) => [id, tool]), [["c1", "bash"]]);
  assert.deepEqual(second.approval("c1"), { by: "person", hash: "h" });
  assert.deepEqual(second.approval("c2"), { by: "policy", hash: "i", source: "config" });
  assert.equal(second.approval("c3"), null);
  await second.recordReported("c1");
  await second.recordReported("c2");
  const reported = [...(await open()).started()].map(([id, { tool, reported }]) => [id, tool, reported]);
  assert.deepEqual(reported, [["c1", "bash", true]], "what has not started is not reported");
  await second.recordEnd("c1");
  assert.deepEqual([...(await open()).started()], [], "the entry after the torn line counts");
});

test("calls of a reply are unfinished until the reply ends or a person approves them, also in long journals", async ({ folder, environment }) => {
  const path = `${folder}/a.chat`;
  const open = async () => {
    const outcome = await openJournal({ environment, path });
    assert.ok(outcome.ok);
    return outcome.value;
  };
  const left = async () => [...(await open()).unfinished()];
  const journal = await open();
  await journal.recordUnfinished(["a", "b"]);
  await journal.recordUnfinished(["c", "d", "e"]);
  assert.deepEqual(await left(), ["a", "b", "c", "d", "e"]);
  await journal.recordFinished(["a"]);
  await journal.recordApprovals(new Map([["b", { by: "policy", hash: "h", source: "config" }]]));
  await journal.recordApprovals(new Map([["c", { by: "person", hash: "h", asked: true }]]));
  await journal.recordApprovals(new Map([["d", { by: "person", hash: "h" }]]));
  assert.deepEqual([[...journal.unfinished()], await left()], [["b", "c", "e"], ["b", "c", "e"]]);
  const file = `${folder}/state/flemma/journal/${await documentKey(path)}.jsonl`;
  const wrong = [{ kind: "unfinished" }, { kind: "unfinished", ids: "x" }, { kind: "unfinished", ids: [1] }];
  await Deno.writeTextFile(file, wrong.map((entry) => JSON.stringify(entry) + "\n").join(""), {
    append: true,
  });
  const noise = JSON.stringify({ kind: "end", id: "x" }) + "\n";
  await Deno.writeTextFile(file, noise.repeat(20_000), { append: true });
  await (await open()).recordEnd("y");
  assert.ok((await Deno.stat(file)).size < 10_000);
  assert.deepEqual(await left(), ["b", "c", "e"]);
});

test("only a run that writes reduces a long journal to the entries that still matter; a reader does not", async ({ folder, environment }) => {
  const path = `${folder}/a.chat`;
  const file = `${folder}/state/flemma/journal/${await documentKey(path)}.jsonl`;
  await Deno.mkdir(`${folder}/state/flemma/journal`, { recursive: true });
  const line = (entry: unknown) => JSON.stringify(entry) + "\n";
  const noise = line({ kind: "start", id: "x", tool: "bash", time: "" }) + line({ kind: "end", id: "x" });
  const open = line({ kind: "start", id: "y", tool: "bash", time: "" });
  await Deno.writeTextFile(file, open + noise.repeat(4000));
  const outcome = await openJournal({ environment, path });
  assert.ok(outcome.ok);
  assert.deepEqual([...outcome.value.started()].map(([id, { tool }]) => [id, tool]), [["y", "bash"]]);
  assert.equal((await Deno.stat(file)).size, open.length + 4000 * noise.length);
  // What another process recorded since it was opened stays.
  const other = line({ kind: "start", id: "z", tool: "bash", time: "" });
  await Deno.writeTextFile(file, other, { append: true });
  await outcome.value.recordEnd("w");
  const news = line({ kind: "counted" }) + line({ kind: "end", id: "w" });
  assert.equal(await Deno.readTextFile(file), open + other + news);
});

test("saved text is found under the reported path, whatever characters the id contains", async ({ folder, environment }) => {
  for (const path of [`${folder}/a.chat`, null]) {
    const outcome = await openJournal({ environment, path });
    assert.ok(outcome.ok);
    const kept = await outcome.value.keepBody("../../x`y", "body\n");
    assert.ok(kept.startsWith(`${folder}/state/flemma/bodies/`), kept);
    assert.ok(!kept.includes(".."));
    assert.equal(await Deno.readTextFile(kept), "body\n");
  }
});

Deno.test("if the state folder cannot be created, the message names the variable that changes its location", async () => {
  const environment = { cwd: "/", home: "/", variables: { XDG_STATE_HOME: "/dev/null" } };
  const journal = await openJournal({ environment, path: "/a.chat" });
  // There is nothing to read in it; what is to be kept there is another matter.
  assert.ok(journal.ok);
  await assert.rejects(journal.value.recordStart("c1", "bash"));
  const lock = await lockDocument("/a.chat", { environment, wait: 0 });
  assert.ok(!lock.ok);
  assert.equal(lock.problem.code, "state-unwritable");
  assert.match(lock.problem.next!, /XDG_STATE_HOME/);
});

test("flemma keeps the messages of each document's last run and of the last run overall", async ({ folder, environment }) => {
  assert.equal(await lastMessages(environment, null), null);
  keepMessages(environment, "a", ["one", "two"]);
  keepMessages(environment, "a", ["three"]);
  assert.equal(await lastMessages(environment, "a"), "three\n");
  assert.equal(await lastMessages(environment, "b"), null);
  keepMessages(environment, "b", ["four"]);
  const messages = `${folder}/state/flemma/messages`;
  await Deno.utime(`${messages}/a.txt`, 1, 1);
  assert.equal(await lastMessages(environment, "a"), "three\n");
  assert.equal(await lastMessages(environment, null), "four\n");
});

test("flemma keeps messages for the fifty documents that were used last", async ({ folder, environment }) => {
  for (let count = 0; count < 52; count++) {
    keepMessages(environment, `k${count}`, ["x"]);
    await Deno.utime(`${folder}/state/flemma/messages/k${count}.txt`, count + 1, count + 1);
  }
  assert.equal(await lastMessages(environment, "k0"), null);
  assert.equal(await lastMessages(environment, "k51"), "x\n");
  assert.equal([...Deno.readDirSync(`${folder}/state/flemma/messages`)].length, 50);
});

test("a filter's output is saved until it is delivered, and only the most recent outputs are kept", ({ environment }) => {
  const faults: unknown[] = [];
  const make = () => new SavedText(environment, (problem) => faults.push(problem));
  const unchanged = make();
  assert.equal(unchanged.close(false), null);
  const run = make();
  for (const text of ["@You:\nHi\n", "@You:\nHi\n\n@Assistant:\nHello", "@You:\nH\n"]) {
    run.update(new TextEncoder().encode(text));
    const [retained] = listSavedTexts(environment);
    assert.equal(Deno.readTextFileSync(retained!.path), text);
    assert.equal(retained!.running, true);
  }
  assert.equal(run.close(true), null);
  // As a text that its run removes after the folder was listed.
  const gone = `${stateFolder(environment)}/recover/gone.chat`;
  Deno.symlinkSync("nowhere", gone);
  assert.deepEqual(listSavedTexts(environment), []);
  Deno.removeSync(gone);
  for (let count = 0; count < 22; count++) {
    const lost = make();
    lost.update(new TextEncoder().encode(`${count}`));
    const id = lost.close(false);
    const found = listSavedTexts(environment).find((kept) => kept.id === id);
    Deno.utimeSync(found!.path, count + 1, count + 1);
  }
  const kept = listSavedTexts(environment);
  assert.equal(kept.length, 20);
  assert.ok(kept.every(({ running }) => !running));
  assert.equal(Deno.readTextFileSync(kept[0]!.path), "21");
  assert.deepEqual(faults, []);
  return Promise.resolve();
});

test("a saved text is not reported as still being written, even if a process being started has its file too", async ({ environment }) => {
  const saved = new SavedText(environment, () => assert.fail());
  saved.update(new TextEncoder().encode("x"));
  const [{ path } = assert.fail()] = listSavedTexts(environment);
  await withCopyOf(path, () => {
    saved.close(false);
    assert.deepEqual(listSavedTexts(environment).map(({ running }) => running), [false]);
  });
});

test("a saved text is reported as still being written, even if its file was being checked when its run began", async ({ environment }) => {
  const open = Deno.openSync;
  const end = new AbortController();
  let checking: Deno.ChildProcess | undefined;
  Deno.openSync = (path, options) => {
    const file = open(path, options);
    if (options?.createNew !== true) return file;
    checking = new Deno.Command("flock", {
      args: ["-s", "-F", String(path), "tail", "-f", "/dev/null"],
      signal: end.signal,
    }).spawn();
    while (file.tryLockSync(true)) file.unlockSync();
    // The other process has the lock, and ends while this one waits for it.
    file.lockSync = (exclusive) => {
      end.abort();
      Deno.FsFile.prototype.lockSync.call(file, exclusive);
    };
    return file;
  };
  try {
    const saved = new SavedText(environment, (problem) => assert.fail(problem.message));
    saved.update(new TextEncoder().encode("x"));
    assert.deepEqual(listSavedTexts(environment).map(({ running }) => running), [true]);
    saved.close(true);
  } finally {
    Deno.openSync = open;
    end.abort();
    await checking?.status;
  }
});

test("if the state folder is not writable, a filter reports it once and continues", async ({ folder, environment }) => {
  await Deno.writeTextFile(`${folder}/state`, "in the way");
  const faults: string[] = [];
  const run = new SavedText(environment, ({ code }) => faults.push(code));
  run.update(new Uint8Array([1]));
  run.update(new Uint8Array([1, 2]));
  assert.equal(run.close(false), null);
  assert.deepEqual(faults, ["state-unwritable"]);
});

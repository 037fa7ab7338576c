import assert from "node:assert/strict";
import fc from "fast-check";
import type { Environment } from "../../base/environment.ts";
import type { Problem } from "../../base/problem.ts";
import { type FileStore, openFile } from "../../cycle/storage/file_store.ts";
import { difference } from "../../cycle/storage/lines.ts";
import { documentKey } from "../../cycle/storage/state_files.ts";
import { mergeDocuments } from "../../cycle/storage/merge.ts";
import type { Chat, Edit } from "../../parser/mod.ts";
import { testsWith } from "../tests_with.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (data: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(data);

const DOCUMENT = `@System:
Be brief.

@You:
Run it.

@Assistant:
I will.

**Tool Use:** \`bash\` (\`c1\`)

\`\`\`json
{"command":"true","timeout":null}
\`\`\`

@You:

**Tool Result:** \`c1\`

\`\`\`flemma:tool status=approved
\`\`\`

And then?
`;

const DONE = DOCUMENT.replace("```flemma:tool status=approved\n```", "```\ndone\n```");

interface Place {
  readonly folder: string;
  readonly path: string;
  readonly environment: Environment;
  readonly notices: Problem[];
  open(): Promise<FileStore>;
  read(): string;
  /** Names beside the document, the state folder left out. */
  beside(): string[];
}

async function withDocument(body: (place: Place) => Promise<void>, content = DOCUMENT): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "flemma-store-" }));
  const environment = { cwd: folder, home: folder, variables: { XDG_STATE_HOME: `${folder}/state` } };
  const path = `${folder}/a.chat`;
  const notices: Problem[] = [];
  const stores: FileStore[] = [];
  await Deno.writeTextFile(path, content);
  try {
    await body({
      folder,
      path,
      environment,
      notices,
      async open() {
        const opened = await openFile("a.chat", {
          environment,
          wait: 0,
          notify: (notice) => notices.push(notice),
        });
        assert.ok(opened.ok, JSON.stringify(opened));
        stores.push(opened.value);
        return opened.value;
      },
      read: () => text(Deno.readFileSync(path)),
      beside: () =>
        [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => name !== "state").sort(),
    });
  } finally {
    for (const store of stores) await store.close();
    await Deno.remove(folder, { recursive: true });
  }
}

const test = testsWith(withDocument);

/** The edit that replaces the one occurrence of `old`. */
function replacing(chat: Chat, old: string, insert: string): Edit[] {
  const whole = text(chat.bytes);
  const at = whole.indexOf(old);
  assert.ok(at >= 0 && whole.indexOf(old, at + 1) < 0, `${old} is not there exactly once`);
  const from = bytes(whole.slice(0, at)).length;
  return [{ from, to: from + bytes(old).length, insert }];
}

const result = (chat: Chat) => replacing(chat, "```flemma:tool status=approved\n```", "```\ndone\n```");

test("after a commit, the file and the store contain the same document", async ({ open, read, beside }) => {
  const store = await open();
  assert.equal(await store.commit(result(store.chat)), null);
  assert.equal(read(), DONE);
  assert.equal(text(store.chat.bytes), DONE);
  assert.ok(store.saved);
  assert.deepEqual(beside(), ["a.chat"]);
});

test("a document that another program has emptied to save it is opened with the text that it saves", async ({ open, path, read }) => {
  Deno.truncateSync(path);
  const { ino } = Deno.statSync(path);
  const { readSync } = Deno.FsFile.prototype;
  Deno.FsFile.prototype.readSync = function (part) {
    const count = readSync.call(this, part);
    if (count === null && this.statSync().ino === ino) Deno.writeTextFileSync(path, DOCUMENT);
    return count;
  };
  const store = await open().finally(() => Object.assign(Deno.FsFile.prototype, { readSync }));
  assert.equal(text(store.chat.bytes), DOCUMENT);
  assert.equal(await store.commit(result(store.chat)), null);
  assert.equal(read(), DONE);
});

test("overlapping commits are all written, in the order in which they were requested", async ({ open, read }) => {
  const store = await open();
  const all = [];
  for (let count = 0; count < 20; count++) {
    const end = store.chat.bytes.length;
    all.push(store.commit([{ from: end, to: end, insert: `${count}\n` }]));
  }
  assert.ok((await Promise.all(all)).every((problem) => problem === null));
  assert.equal(read(), DOCUMENT + Array.from({ length: 20 }, (_, count) => `${count}\n`).join(""));
});

test("text at the end is appended to the same inode; any other edit replaces the file by a new one", async ({ open, path, read }) => {
  const store = await open();
  const { ino } = await Deno.stat(path);
  const end = store.chat.bytes.length;
  await store.commit([{ from: end, to: end, insert: "more\n" }]);
  assert.equal((await Deno.stat(path)).ino, ino);
  await store.commit(result(store.chat));
  assert.notEqual((await Deno.stat(path)).ino, ino);
  assert.equal(read(), DONE + "more\n");
});

for (const eol of ["\n", "\r\n"]) {
  test(`a piece that replaces the final ${JSON.stringify(eol)} is appended too, and only this line end is removed`, async ({ open, path, read }) => {
    await Deno.writeTextFile(path, `@You:${eol}one${eol}two${eol}`);
    const store = await open();
    const { ino } = await Deno.stat(path);
    const from = (length: number) => ({
      from: store.chat.bytes.length - length,
      to: store.chat.bytes.length,
    });
    await store.commit([{ ...from(eol.length), insert: ` and${eol}three${eol}` }]);
    assert.equal((await Deno.stat(path)).ino, ino);
    // A character of the text gives way: that is another text.
    await store.commit([{ ...from(eol.length + 1), insert: `E and four${eol}` }]);
    assert.notEqual((await Deno.stat(path)).ino, ino);
    assert.equal(read(), `@You:${eol}one${eol}two and${eol}threE and four${eol}`);
  });
}

test("if the document's path is a symbolic link, flemma writes to the target and keeps the link", async ({ folder, path, read, environment }) => {
  await Deno.mkdir(`${folder}/far`);
  await Deno.rename(path, `${folder}/far/real.chat`);
  await Deno.symlink("far/real.chat", path);
  const opened = await openFile("a.chat", { environment, wait: 0 });
  assert.ok(opened.ok);
  assert.equal(opened.value.path, `${folder}/far/real.chat`);
  await opened.value.commit(result(opened.value.chat));
  await opened.value.close();
  assert.ok((await Deno.lstat(path)).isSymlink);
  assert.equal(read(), DONE);
  assert.deepEqual([...Deno.readDirSync(`${folder}/far`)].map(({ name }) => name), ["real.chat"]);
});

test("a hard-linked file keeps both names and its mode when flemma writes to it", async ({ folder, path, open }) => {
  await Deno.chmod(path, 0o600);
  await Deno.link(path, `${folder}/other.chat`);
  const store = await open();
  await store.commit(result(store.chat));
  assert.equal(await Deno.readTextFile(`${folder}/other.chat`), DONE);
  assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
  assert.deepEqual(
    [...Deno.readDirSync(`${folder}/state/flemma/overwrite`)],
    [],
    "the guard copies are gone",
  );
});

test("if another program has the file open, flemma overwrites it in place", async ({ path, open, read }) => {
  const store = await open();
  const { ino } = await Deno.stat(path);
  store.inPlaceWhile = () => true;
  await store.commit(result(store.chat));
  assert.equal((await Deno.stat(path)).ino, ino);
  store.inPlaceWhile = () => false;
  await store.commit(replacing(store.chat, "done", "all done"));
  assert.notEqual((await Deno.stat(path)).ino, ino);
  assert.equal(read(), DONE.replace("done", "all done"));
});

test("a document is overwritten in place although the state folder takes no copy of it, which is reported", async ({ open, path, read, folder, notices, beside }) => {
  const store = await open();
  store.inPlaceWhile = () => true;
  await Deno.mkdir(`${folder}/state/flemma`, { recursive: true });
  await Deno.writeTextFile(`${folder}/state/flemma/overwrite`, "");
  const { ino } = await Deno.stat(path);
  assert.equal(await store.commit(result(store.chat)), null);
  assert.equal((await Deno.stat(path)).ino, ino);
  assert.equal(read(), DONE);
  assert.deepEqual(beside(), ["a.chat"]);
  assert.deepEqual(notices.map(({ code }) => code), ["state-unwritable"]);
  assert.ok(notices[0]!.message.includes(`${folder}/state/flemma`), notices[0]!.message);
});

test("opening a document a second time fails and names the run that holds it, but reading needs no lock", async ({ open, environment }) => {
  await open();
  const second = await openFile("a.chat", { environment, wait: 0 });
  assert.ok(!second.ok);
  assert.equal(second.problem.code, "document-locked");
  assert.match(second.problem.message, new RegExp(`process ${Deno.pid} `));
  assert.ok((await openFile("a.chat", { environment, wait: 0, readOnly: true })).ok);
});

test("if another program changes unrelated lines, flemma merges the change with its own", async ({ open, path, read, notices }) => {
  const store = await open();
  await Deno.writeTextFile(path, DOCUMENT.replace("Be brief.", "Be kind.").replace("And then?", "And now?"));
  assert.equal(await store.commit(result(store.chat)), null);
  assert.equal(read(), DONE.replace("Be brief.", "Be kind.").replace("And then?", "And now?"));
  assert.equal(text(store.chat.bytes), read());
  assert.deepEqual(notices.map(({ code }) => code), ["document-merged"]);
});

test("a change by another program right after flemma's own write is noticed, even if the length stays the same", async ({ open, path, read }) => {
  const store = await open();
  await store.commit(result(store.chat));
  await Deno.writeTextFile(path, read().replace("Be brief.", "Be quick."));
  await store.commit(replacing(store.chat, "done", "over"));
  assert.equal(read(), DONE.replace("done", "over").replace("Be brief.", "Be quick."));
});

const HARMFUL: readonly (readonly [string, (document: string) => string])[] = [
  ["the block itself", (document) => document.replace("\n```\n\nAnd", "\ntheir text\n```\n\nAnd")],
  ["the call of the block", (document) => document.replace('"true"', '"false"')],
  ["bytes that are not text", () => "\0"],
];
for (const [name, change] of HARMFUL) {
  test(`if another program's change affects the run, the run stops, and its text is saved next to the changed file: ${name}`, async ({ open, path, read, beside }) => {
    const store = await open();
    const theirs = change(DOCUMENT);
    assert.notEqual(theirs, DOCUMENT);
    await Deno.writeTextFile(path, theirs);
    const problem = await store.commit(result(store.chat));
    assert.equal(problem?.code, "document-changed");
    assert.equal(read(), theirs);
    const [, aside] = beside();
    assert.match(aside!, /^a\.chat\.flemma-\d{8}T\d{9}Z-[0-9a-f]{4}$/);
    assert.match(problem!.message, new RegExp(aside!.replaceAll(".", "\\.")));
    assert.equal(await Deno.readTextFile(`${path.slice(0, -6)}${aside}`), DONE);
  });
}

test("results that arrive after a conflict are also saved, all in one file", async ({ open, path, folder, read, beside }) => {
  const store = await open();
  await Deno.writeTextFile(path, "theirs\n");
  assert.equal((await store.commit(result(store.chat)))?.code, "document-changed");
  assert.equal((await store.commit(replacing(store.chat, "done", "late")))?.code, "document-changed");
  assert.equal(read(), "theirs\n");
  assert.equal(beside().length, 2);
  assert.equal(await Deno.readTextFile(`${folder}/${beside()[1]}`), DONE.replace("done", "late"));
});

test("if the document is deleted, flemma does not create it again and saves its text elsewhere", async ({ open, path, folder, beside }) => {
  const store = await open();
  await Deno.remove(path);
  const problem = await store.commit(result(store.chat));
  assert.equal(problem?.code, "document-changed");
  assert.match(problem!.message, /Another program removed or moved \S+\. The text of this run is in /);
  assert.equal(beside().length, 1);
  assert.equal(await Deno.readTextFile(`${folder}/${beside()[0]}`), DONE);
});

test("if the document's folder is gone, flemma saves its text in the state folder", async ({ folder, environment }) => {
  await Deno.mkdir(`${folder}/inner`);
  await Deno.writeTextFile(`${folder}/inner/b.chat`, DOCUMENT);
  const opened = await openFile("inner/b.chat", { environment, wait: 0 });
  assert.ok(opened.ok);
  await Deno.remove(`${folder}/inner`, { recursive: true });
  const problem = await opened.value.commit(result(opened.value.chat));
  await opened.value.close();
  const saved = /The text of this run is in (\S+)\.$/.exec(problem!.message)![1]!;
  assert.ok(saved.startsWith(`${folder}/state/flemma/saved/`), saved);
  assert.equal(await Deno.readTextFile(saved), DONE);
});

const SETTLED: readonly (readonly [string, (path: string, theirs: string) => void])[] = [
  ["written over", (path, theirs) => Deno.writeTextFileSync(path, theirs)],
  ["replaced by a rename", (path, theirs) => {
    Deno.writeTextFileSync(`${path}.theirs`, theirs);
    Deno.renameSync(`${path}.theirs`, path);
  }],
  ["renamed to a backup and rewritten", (path, theirs) => {
    Deno.renameSync(path, `${path}~`);
    setTimeout(() => Deno.writeTextFileSync(path, theirs), 30);
  }],
  ["emptied first and written later", (path, theirs) => {
    Deno.truncateSync(path, 0);
    setTimeout(() => Deno.writeTextFileSync(path, theirs), 60);
  }],
];
for (const [how, save] of SETTLED) {
  for (const inPlace of [false, true]) {
    const way = inPlace ? "in place" : "by a rename";
    test(`a save by another program (${how}) during our write ${way} is merged with ours`, async ({ path, read, environment }) => {
      const theirs = DOCUMENT.replace("Be brief.", "Be kind.").replace("And then?", "And now?");
      let calls = 0;
      const between = () => {
        if (++calls === 1) save(path, theirs);
        return Promise.resolve();
      };
      const opened = await openFile("a.chat", { environment, wait: 0, between });
      assert.ok(opened.ok);
      opened.value.inPlaceWhile = () => inPlace;
      assert.equal(await opened.value.commit(result(opened.value.chat)), null);
      await opened.value.close();
      assert.equal(read(), DONE.replace("Be brief.", "Be kind.").replace("And then?", "And now?"));
      assert.ok(calls > 1);
    });
  }
}

for (let steps = 0; steps < 6; steps++) {
  test(`a save by rename that flemma sees between its two steps (${steps}) is kept, also if the write in place fails`, async ({ path, read, environment }) => {
    const theirs = DOCUMENT.replace("Be brief.", "Be kind.");
    let calls = 0;
    const between = () => {
      if (++calls > 1) return Promise.resolve();
      Deno.renameSync(path, `${path}~`);
      let written = Promise.resolve();
      for (let step = 0; step < steps; step++) written = written.then(() => {});
      written.then(() => Deno.writeTextFileSync(path, theirs));
      return Promise.resolve();
    };
    const opened = await openFile("a.chat", { environment, wait: 0, between });
    assert.ok(opened.ok);
    opened.value.inPlaceWhile = () => true;
    assert.equal(await opened.value.commit(result(opened.value.chat)), null);
    await opened.value.close();
    assert.equal(read(), DONE.replace("Be brief.", "Be kind."));
  });
}

test("if another program saves into the old file right after flemma replaced it by a rename, flemma finds and keeps that text", async ({ open, path, read }) => {
  const store = await open();
  // An editor that opened the file before our rename and writes after it.
  using editor = await Deno.open(path, { write: true });
  assert.equal(await store.commit(result(store.chat)), null);
  editor.truncateSync(0);
  editor.writeSync(bytes(DOCUMENT.replace("Be brief.", "Be kind.")));
  await store.close();
  assert.equal(read(), DONE.replace("Be brief.", "Be kind."));
});

test("if an editor saves an old buffer after a result was written, both its edits and the result are kept", async ({ open, path, read }) => {
  const store = await open();
  assert.equal(await store.commit(result(store.chat)), null);
  await Deno.writeTextFile(path, DOCUMENT.replace("Be brief.", "Be kind."));
  const end = store.chat.byteLength;
  assert.equal(await store.commit([{ from: end, to: end, insert: "\nmore\n" }]), null);
  assert.equal(read(), DONE.replace("Be brief.", "Be kind.") + "\nmore\n");
});

test("a reply streams on while another program saves the file, and the file always ends with a line break", async ({ open, path, read }) => {
  const store = await open();
  const add = async (text: string, replace: number, last = false) => {
    const unfinished = !text.endsWith("\n");
    const growth = { replace, unfinished, last };
    assert.equal(await store.extend([unfinished ? `${text}\n` : text], growth), null);
  };
  await add("\n@Assistant:\nOne", 0);
  assert.equal(read(), `${DOCUMENT}\n@Assistant:\nOne\n`);
  Deno.writeTextFileSync(path, `${read()}\n@You:\nNext?`);
  await add(" and two.\nThr", 1);
  assert.equal(read(), `${DOCUMENT}\n@Assistant:\nOne and two.\nThr\n\n@You:\nNext?`);
  assert.equal(text(store.behind), "\n@You:\nNext?");
  // A stale buffer: neither the reply nor the question below it was there yet.
  Deno.writeTextFileSync(path, DOCUMENT.replace("And then?", "And now?").trimEnd());
  await add("ee.\n", 1, true);
  assert.equal(read(), `${DOCUMENT.replace("And then?", "And now?")}\n@Assistant:\nOne and two.\nThree.\n`);
  await store.close();
});

test("a question saved in the moment in which a reply completes leaves no empty prompt above it", async ({ open, path, read }) => {
  const store = await open();
  const grow = (text: string, last: boolean) => store.extend([text], { replace: 0, unfinished: false, last });
  assert.equal(await grow("\n@Assistant:\nOne.\n", false), null);
  // In the buffer that is saved, the reply was not there yet.
  Deno.writeTextFileSync(path, `${DOCUMENT}\n@You:\nNext?\n`);
  assert.equal(await grow("\n@You:\n\n", true), null);
  assert.equal(read(), `${DOCUMENT}\n@Assistant:\nOne.\n\n@You:\nNext?\n`);
  // The same buffer once more.
  const kind = DOCUMENT.replace("Be brief.", "Be kind.");
  Deno.writeTextFileSync(path, `${kind}\n@You:\nNext?\n`);
  assert.equal(await store.refresh(), null);
  assert.equal(await store.commit([{ from: 0, to: 0, insert: "\n" }]), null);
  assert.equal(read(), `\n${kind}\n@Assistant:\nOne.\n\n@You:\nNext?\n`);
  await store.close();
});

test("a run knows every text that an editor may still have: one row per moment of that text", async ({ open, path, read, environment }) => {
  const kind = (text: string) => text.replace("Be brief.", "Be kind.");
  const now = (text: string) => text.replace("Run it.", "Run it now.");
  const add = async (store: FileStore, insert: string) => {
    const end = store.chat.byteLength;
    assert.equal(await store.commit([{ from: end, to: end, insert }]), null);
  };
  const reply = (store: FileStore, text: string) =>
    store.extend([text], { replace: 0, unfinished: false, last: true });
  // Before another program's change.
  const first = await open();
  Deno.writeTextFileSync(path, kind(DOCUMENT));
  assert.equal(await first.commit(result(first.chat)), null);
  Deno.writeTextFileSync(path, now(DOCUMENT));
  await add(first, "x\n");
  assert.equal(read(), `${now(kind(DONE))}x\n`);
  await first.close();
  // Before two replies.
  Deno.writeTextFileSync(path, DOCUMENT);
  const second = await open();
  assert.equal(await reply(second, "\n@Assistant:\nOne.\n\n@You:\nGo on.\n"), null);
  assert.equal(await reply(second, "\n@Assistant:\nTwo.\n"), null);
  Deno.writeTextFileSync(path, kind(DOCUMENT));
  assert.equal(await second.commit(result(second.chat)), null);
  assert.equal(read(), `${kind(DONE)}\n@Assistant:\nOne.\n\n@You:\nGo on.\n\n@Assistant:\nTwo.\n`);
  await second.close();
  // Our text, which another program read and replaced before the write was over.
  Deno.writeTextFileSync(path, DOCUMENT);
  let calls = 0;
  const between = () => {
    if (++calls === 2) Deno.writeTextFileSync(path, `${DOCUMENT}ours and theirs\n`);
    return Promise.resolve();
  };
  const third = await openFile("a.chat", { environment, wait: 0, between });
  assert.ok(third.ok);
  await add(third.value, "ours\n");
  assert.equal(read(), `${DOCUMENT}ours and theirs\n`);
  await third.value.close();
});

test("another program's text is checked before it is merged, and edits made during the check are kept", async ({ open, path, read }) => {
  const store = await open();
  const checked: (readonly [string, string])[] = [];
  let during: Promise<unknown> = Promise.resolve();
  store.checkForeign = (foreign) => {
    checked.push([text(foreign.text), text(store.chat.bytes)]);
    during = store.commit(result(store.chat));
    return Promise.resolve();
  };
  const theirs = DOCUMENT.replace("Be brief.", "Be kind.");
  Deno.writeTextFileSync(path, theirs);
  assert.equal(await store.refresh(), null);
  assert.equal(await during, null);
  assert.deepEqual(checked, [[theirs, DOCUMENT]]);
  assert.equal(read(), DONE.replace("Be brief.", "Be kind."));
});

/** More than is compared byte by byte before each write. */
const LARGE = `${"A line of an old answer that nobody reads again.\n".repeat(100_000)}\n${DOCUMENT}`;

Deno.test("no byte is lost if a result is written and another program saves while a reply streams into a large document", () =>
  withDocument(async ({ open, path, read }) => {
    const store = await open();
    const more = (text: string, last = false) =>
      store.extend([text], { replace: 0, unfinished: false, last });
    const done = LARGE.replace("```flemma:tool status=approved\n```", "```\ndone\n```");
    assert.equal(await more("\n@Assistant:\nOne\n"), null);
    // The end is written while the change before it waits for its turn.
    const grown = more("Two\n");
    const answered = store.commit(result(store.chat));
    assert.deepEqual(await Promise.all([grown, answered, more("Three\n")]), [null, null, null]);
    assert.equal(read(), `${done}\n@Assistant:\nOne\nTwo\nThree\n`);
    const theirs = (text: string) => text.replace("A line of an old answer", "The line of an old answer");
    Deno.writeTextFileSync(path, theirs(read()));
    assert.equal(await more("Four\n", true), null);
    assert.equal(read(), `${theirs(done)}\n@Assistant:\nOne\nTwo\nThree\nFour\n`);
    // Much at once goes through a new file, in which the old one is found by what the system says of it.
    const much = "More of it.\n".repeat(3000);
    assert.equal(await more(`\n@You:\n${much}`, true), null);
    Deno.writeTextFileSync(path, read().replace("And then?", "And now?"));
    await store.close();
    assert.equal(
      read(),
      `${
        theirs(done).replace("And then?", "And now?")
      }\n@Assistant:\nOne\nTwo\nThree\nFour\n\n@You:\n${much}`,
    );
  }, LARGE));

test("a fast reply is appended in steps, and text that must appear at once is written by replacing the file", async ({ open, path, read }) => {
  const store = await open();
  const { ino } = await Deno.stat(path);
  const growth = { replace: 0, unfinished: true, last: false };
  const pieces = Array.from({ length: 40 }, (_, at) => `Line ${at} of a reply – ${"word ".repeat(300)}\n`);
  assert.equal(await store.extend(["\n@Assistant:\n", ...pieces, "half\n"], growth), null);
  assert.equal((await Deno.stat(path)).ino, ino);
  assert.equal(
    await store.extend([" of it\n", ...pieces], { ...growth, replace: 1, unfinished: false }),
    null,
  );
  assert.equal((await Deno.stat(path)).ino, ino);
  const written = `${DOCUMENT}\n@Assistant:\n${pieces.join("")}half of it\n${pieces.join("")}`;
  assert.equal(read(), written);
  assert.equal(text(store.chat.bytes), written);
  const call = `${"one large call ".repeat(2000)}\n`;
  assert.equal(await store.extend([call], { ...growth, unfinished: false, last: true }), null);
  assert.notEqual((await Deno.stat(path)).ino, ino);
  assert.equal(read(), written + call);
});

test("a long block that is written in parts appears in the file only when it is complete", async ({ open, path, read }) => {
  const store = await open();
  const { ino } = await Deno.stat(path);
  const parts = Array.from({ length: 2000 }, (_, at) => `part ${at} of a block\n`);
  const seen = new Set<string>();
  function* taken(): Generator<string> {
    for (const part of parts) {
      seen.add(read());
      yield part;
    }
  }
  const growth = { replace: 0, unfinished: false, last: true };
  assert.equal(await store.extend(["\n@Assistant:\n", taken()], growth), null);
  assert.equal(read(), `${DOCUMENT}\n@Assistant:\n${parts.join("")}`);
  assert.deepEqual([...seen], [DOCUMENT]);
  assert.notEqual((await Deno.stat(path)).ino, ino);
});

test("if the file becomes binary during a reply, the reply stops, the file stays, and the whole reply is saved next to it", async ({ open, path, read, beside }) => {
  const store = await open();
  const growth = { replace: 0, unfinished: false, last: false };
  assert.equal(await store.extend(["\n@Assistant:\nOne.\n"], growth), null);
  Deno.writeTextFileSync(path, "\0");
  const problem = await store.extend(["Two.\n"], growth);
  assert.equal(problem?.code, "document-changed");
  assert.equal((await store.extend(["Three.\n"], { ...growth, last: true }))?.code, "document-changed");
  assert.equal(read(), "\0");
  const aside = beside().find((name) => name.startsWith("a.chat.flemma-"))!;
  assert.equal(
    await Deno.readTextFile(`${path.slice(0, -6)}${aside}`),
    `${DOCUMENT}\n@Assistant:\nOne.\nTwo.\nThree.\n`,
  );
});

test("if an editor later saves a buffer from the middle of a reply, the reply is not cut off", async ({ open, path, read }) => {
  const store = await open();
  await store.extend(["\n@Assistant:\nOne\n"], { replace: 0, unfinished: false, last: false });
  const middle = read();
  await store.extend(["Two\nThree\nFour\n"], { replace: 0, unfinished: false, last: true });
  Deno.writeTextFileSync(path, middle.replace("Be brief.", "Be kind."));
  assert.equal(await store.commit(result(store.chat)), null);
  assert.equal(
    read(),
    `${DONE.replace("Be brief.", "Be kind.")}\n@Assistant:\nOne\nTwo\nThree\nFour\n`,
  );
});

test("if another program changes settings while a reply streams, the run stops once the reply is complete", async ({ open, path, read }) => {
  const store = await open();
  const growth = { replace: 0, unfinished: false, last: false };
  assert.equal(await store.extend(["\n@Assistant:\nOne\n"], growth), null);
  const first = "```json\n{}\n```\n\n";
  Deno.writeTextFileSync(path, first + read());
  assert.equal(await store.extend(["Two\n"], growth), null);
  const problem = await store.extend(["Three\n"], { ...growth, last: true });
  assert.equal(problem?.code, "document-changed");
  assert.equal(read(), `${first}${DOCUMENT}\n@Assistant:\nOne\nTwo\nThree\n`);
});

test("a document whose name has the maximum length can be written, and its text can be saved next to it", async ({ folder, environment }) => {
  for (const name of [`${"😀".repeat(62)}.chat`, `${"n".repeat(250)}.chat`, `${"ä".repeat(125)}.chat`]) {
    await Deno.writeTextFile(`${folder}/${name}`, DOCUMENT);
    const opened = await openFile(name, { environment, wait: 0 });
    assert.ok(opened.ok);
    assert.equal(await opened.value.commit(result(opened.value.chat)), null);
    await Deno.writeTextFile(`${folder}/${name}`, "theirs\n");
    const end = opened.value.chat.byteLength;
    const problem = await opened.value.commit([{ from: end, to: end, insert: "x\n" }]);
    await opened.value.close();
    const aside = /the text of this run is in (\S+)\.$/.exec(problem!.message)![1]!;
    assert.equal(await Deno.readTextFile(aside), `${DONE}x\n`);
    assert.ok(aside.startsWith(`${folder}/${name.slice(0, 20)}`), aside);
  }
});

test("the next run removes the temporary files of a killed run and no other files", async ({ open, folder, beside }) => {
  const key = await documentKey(`${folder}/a.chat`);
  const state = `${folder}/state/flemma`;
  for (const name of ["locks", "journal", "overwrite", "saved"]) {
    await Deno.mkdir(`${state}/${name}`, { recursive: true });
  }
  const left = [
    `${folder}/.a.chat.0123abcd.tmp`,
    `${folder}/a.chat.flemma-20260101T000000000Z-abcd.0123abcd.tmp`,
    `${state}/journal/${key}.jsonl.0123abcd.tmp`,
    `${state}/saved/a.chat.flemma-20260101T000000000Z-abcd.0123abcd.tmp`,
  ];
  const kept = [".a.chat.tmp", ".b.chat.0123abcd.tmp", "a.chat.0123abcd.tmp.txt", "a.chat.flemma-x"];
  for (const path of [...left, ...kept.map((name) => `${folder}/${name}`)]) {
    await Deno.writeTextFile(path, "x");
  }
  const first = await open();
  await first.close();
  assert.equal(beside().length, 1 + 2 + kept.length, "a run that ended in order left nothing to tidy up");
  await Deno.writeTextFile(`${state}/locks/${key}.lock`, JSON.stringify({ pid: 1, host: "h", path: "p" }));
  await open();
  assert.deepEqual(beside(), [...kept, "a.chat"].sort());
  for (const name of ["journal", "saved"]) assert.deepEqual([...Deno.readDirSync(`${state}/${name}`)], []);
});

Deno.test("a document with CR LF lines and a BOM keeps both", () => {
  const windows = "\ufeff" + DOCUMENT.replaceAll("\n", "\r\n");
  return withDocument(async ({ open, read }) => {
    const store = await open();
    const end = store.chat.bytes.length;
    await store.commit([{ from: end, to: end, insert: "x\r\n" }]);
    await store.commit(replacing(store.chat, "Be brief.", "Be long."));
    assert.equal(read(), windows.replace("Be brief.", "Be long.") + "x\r\n");
  }, windows);
});

Deno.test("applying the difference between two texts to the first text gives the second", () => {
  const lines = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 20 });
  fc.assert(
    fc.property(lines, lines, (a, b) => {
      const hunks = difference(a, b);
      assert.ok(hunks !== null);
      const applied: string[] = [...a];
      for (const { from, to, lines } of [...hunks].reverse()) applied.splice(from, to - from, ...lines);
      assert.deepEqual(applied, b);
      hunks.forEach((hunk, at) =>
        assert.ok(at === 0 || hunk.from > hunks[at - 1]!.to, "an equal line is in between")
      );
    }),
    { seed: 5, numRuns: 2000 },
  );
});

Deno.test("a merge contains every line that either side added, in whichever order the two sides are given", () => {
  const base = Array.from({ length: 12 }, (_, line) => `line ${line}\n`);
  const at = fc.integer({ min: 0, max: 11 });
  fc.assert(
    fc.property(at, at, (mine, other) => {
      const change = (line: number, word: string) => base.with(line, `${word}\n`).join("");
      const one = bytes("@You:\n" + change(mine, "mine"));
      const two = bytes("@You:\n" + change(other, "theirs"));
      const start = bytes("@You:\n" + base.join(""));
      const merged = mergeDocuments(start, one, two);
      assert.deepEqual(merged, mergeDocuments(start, two, one));
      assert.equal(merged === null, Math.abs(mine - other) <= 1);
      if (merged !== null) {
        assert.equal(text(merged), "@You:\n" + base.with(mine, "mine\n").with(other, "theirs\n").join(""));
      }
    }),
    { seed: 6 },
  );
});

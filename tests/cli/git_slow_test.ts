// Conversations in a real git repository: set up, diffed, merged and reset.

import assert from "node:assert/strict";
import { callsDocument, type Scene, withScene } from "./harness.ts";
import { writeProgram } from "../folder.ts";

const BASE = "@System:\nBe brief.\n\n@You:\nHello?\n\n@Assistant:\nHello.\n\n";
const asked = (name: string) => `@You:\nAbout ${name}?\n\n@Assistant:\nThis is ${name}.\n\n`;

/** A repository with the program on the path, and git as one calls it. */
async function withRepository(
  body: (place: Scene, git: (...args: string[]) => Promise<{ code: number; text: string }>) => Promise<void>,
): Promise<void> {
  await withScene(async (place) => {
    Deno.mkdirSync(`${place.folder}/bin`);
    const words = place.program.map((word) => `'${word}'`).join(" ");
    writeProgram(`${place.folder}/bin/flemma`, `#!/bin/sh\nexec ${words} "$@"\n`);
    const env = {
      PATH: `${place.folder}/bin:${place.env.PATH}`,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_AUTHOR_NAME: "a",
      GIT_AUTHOR_EMAIL: "a@example.org",
      GIT_COMMITTER_NAME: "a",
      GIT_COMMITTER_EMAIL: "a@example.org",
    };
    const git = async (...args: string[]) => {
      const { code, stdout, stderr } = await place.spawn(["git", ...args], { env }).finished;
      return { code, text: stdout + stderr };
    };
    await git("init", "-q", "-b", "main");
    await body(place, git);
  });
}

Deno.test("after git setup, git diff names the message, call or result of each change, and undoing the setup restores everything", () =>
  withRepository(async (place, git) => {
    place.write(".gitattributes", "*.png binary\n");
    const shown = await place.run(["git", "setup"]);
    assert.equal(shown.code, 0, shown.stderr);
    assert.match(shown.stdout, /^\*\.chat diff=flemma merge=flemma$/m);
    assert.match(shown.stderr, /Nothing was changed\./);
    assert.equal(place.read(".gitattributes"), "*.png binary\n");
    const before = place.read(".git/config");
    for (let twice = 0; twice < 2; twice++) {
      assert.equal((await place.run(["git", "setup", "--write"])).code, 0);
    }
    assert.equal(place.read(".gitattributes"), "*.png binary\n*.chat diff=flemma merge=flemma\n");
    const calls = callsDocument([{ id: "c1", command: "make test", status: "pending" }]);
    place.write("a.chat", calls);
    await git("add", ".");
    await git("commit", "-q", "-m", "one");
    place.write("a.chat", calls.replace("make test", "make check"));
    const { text } = await git("diff");
    assert.match((await git("diff", "-U0")).text, /^@@ .* @@ Call of bash \(c1\)$/m);
    assert.match(text, /^-command: make test$/m);
    assert.match(text, /^\+command: make check$/m);
    await git("commit", "-q", "-a", "-m", "two");
    assert.match((await git("log", "-p", "-1")).text, /^\+command: make check$/m);
    const undone = await place.run(["git", "setup", "--undo"]);
    assert.equal(undone.code, 0, undone.stderr);
    assert.equal(place.read(".gitattributes"), "*.png binary\n");
    assert.equal(place.read(".git/config").trim(), before.trim());
  }));

Deno.test("git still shows diffs if a text is not a conversation or flemma is not installed", () =>
  withRepository(async (place, git) => {
    await place.run(["git", "setup", "--write"]);
    const bytes = Uint8Array.from("@You:\ncaf\xe9\n", (each) => each.charCodeAt(0));
    Deno.writeFileSync(place.path("bad name.chat"), bytes);
    place.write("other.txt", "one\n");
    await git("add", ".");
    await git("commit", "-q", "-m", "one");
    place.write("other.txt", "two\n");
    Deno.writeFileSync(place.path("bad name.chat"), Uint8Array.from([...bytes, 0x78, 0x0a]));
    const shown = await git("diff");
    assert.equal(shown.code, 0, shown.text);
    assert.match(shown.text, /^\+x$/m);
    assert.match(shown.text, /^\+two$/m);
    Deno.removeSync(`${place.folder}/bin/flemma`);
    const log = await git("log", "-p");
    assert.equal(log.code, 0, log.text);
    assert.match(log.text, /^\+one$/m);
  }));

Deno.test("git merges line by line and marks conflicts if a conversation is unreadable or flemma is not installed", () =>
  withRepository(async (place, git) => {
    await place.run(["git", "setup", "--write"]);
    const write = (text: string) =>
      Deno.writeFileSync(place.path("a.chat"), Uint8Array.from(text, (each) => each.charCodeAt(0)));
    for (const [round, text] of [["bad", "@You:\ncaf\xe9\n"], ["gone", "@You:\nHello\n"]] as const) {
      if (round === "gone") Deno.removeSync(`${place.folder}/bin/flemma`);
      write(text);
      await git("add", ".");
      await git("commit", "-q", "-m", "base");
      await git("checkout", "-q", "-b", round);
      write(`${text}theirs\n`);
      await git("commit", "-q", "-a", "-m", "theirs");
      await git("checkout", "-q", "main");
      write(`${text}ours\n`);
      await git("commit", "-q", "-a", "-m", "ours");
      const merged = await git("merge", round);
      assert.equal(merged.code, 1, merged.text);
      const found = Array.from(Deno.readFileSync(place.path("a.chat")), (each) => String.fromCharCode(each))
        .join("");
      assert.match(found, /^<{7}.*\nours\n={7}\ntheirs\n>{7}.*$/m);
      assert.ok(found.startsWith(text));
      await git("merge", "--abort");
    }
  }));

Deno.test("git shows and merges conversations with any file name, and reads no file name as an option or a command", () =>
  withRepository(async (place, git) => {
    await place.run(["git", "setup", "--write"]);
    const names = [
      "--help.chat",
      "-x.chat",
      "--json.chat",
      'it\'s a; touch ran; $(touch ran) `touch ran` "x".chat',
      "a\nb.chat",
      "*.chat",
    ];
    const all = (text: string) => names.forEach((name) => place.write(name, text));
    all(`${BASE}@You:\n`);
    await git("add", ".");
    await git("commit", "-q", "-m", "base");
    all(`${BASE}${asked("b")}@You:\n`);
    for (const diff of [await git("diff"), (await git("stash"), await git("stash", "show", "-p"))]) {
      assert.equal(diff.code, 0, diff.text);
      assert.equal(diff.text.match(/^\+This is b\.$/gm)?.length, names.length, diff.text);
    }
    await git("stash", "drop", "-q");
    for (const round of ["flemma", "gone"]) {
      if (round === "gone") Deno.removeSync(`${place.folder}/bin/flemma`);
      await git("checkout", "-q", "-b", round, "main");
      all(`${BASE}${asked("b")}@You:\n`);
      await git("commit", "-q", "-a", "-m", "b");
      await git("checkout", "-q", "-b", `${round}-other`, "main");
      all(`${BASE}${asked("a")}@You:\n`);
      await git("commit", "-q", "-a", "-m", "a");
      const merge = await git("merge", round, "-m", "both");
      assert.equal(merge.code, round === "gone" ? 1 : 0, merge.text);
      for (const name of names) {
        const merged = place.read(name);
        for (const side of ["a", "b"]) assert.ok(merged.includes(`This is ${side}.`), `${name}: ${merged}`);
        assert.equal(/^<{7}/m.test(merged), round === "gone", merged);
      }
      await git("reset", "-q", "--hard");
    }
    assert.ok(!place.exists("ran"));
  }));

Deno.test("git setup keeps existing attributes and their line ends, and does not write through a symbolic link", () =>
  withRepository(async (place) => {
    const there = Uint8Array.from("caf\xe9.txt text\r\n*.png binary\r\n", (each) => each.charCodeAt(0));
    const file = place.path(".gitattributes");
    Deno.writeFileSync(file, there);
    for (let twice = 0; twice < 2; twice++) {
      assert.equal((await place.run(["git", "setup", "--write"])).code, 0);
    }
    const added = new TextEncoder().encode("*.chat diff=flemma merge=flemma\r\n");
    assert.deepEqual(Deno.readFileSync(file), Uint8Array.from([...there, ...added]));
    assert.equal((await place.run(["git", "setup", "--undo"])).code, 0);
    assert.deepEqual(Deno.readFileSync(file), there);
    Deno.removeSync(file);
    place.write("elsewhere", "mine\n");
    Deno.symlinkSync("elsewhere", file);
    const refused = await place.run(["git", "setup", "--write"]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /is a symbolic link, and git does not read attributes through one/);
    assert.equal(place.read("elsewhere"), "mine\n");
  }));

Deno.test("git merges two branches of a conversation, also after a rename and in both directions", () =>
  withRepository(async (place, git) => {
    await place.run(["git", "setup", "--write"]);
    place.write("a.chat", `${BASE}@You:\n`);
    await git("add", ".");
    await git("commit", "-q", "-m", "base");
    await git("checkout", "-q", "-b", "other");
    place.write("a.chat", `${BASE}${asked("b")}@You:\n`);
    await git("commit", "-q", "-a", "-m", "b");
    await git("checkout", "-q", "main");
    await git("mv", "a.chat", "c.chat");
    place.write("c.chat", `${BASE}${asked("a")}@You:\n`);
    await git("commit", "-q", "-a", "-m", "a");
    const merge = await git("merge", "-q", "other", "-m", "both");
    assert.equal(merge.code, 0, merge.text);
    assert.equal(place.read("c.chat"), `${BASE}${asked("a")}${asked("b")}@You:\n`);
    // The other branch merges what was there before: then both have both, and git makes a base of its own.
    await git("checkout", "-q", "other");
    const crossed = await git("merge", "-q", "main~1", "-m", "both too");
    assert.equal(crossed.code, 0, crossed.text);
    assert.equal(place.read("c.chat"), `${BASE}${asked("b")}${asked("a")}@You:\n`);
    const last = await git("merge", "main", "-m", "again");
    const text = place.read("c.chat");
    for (const name of ["a", "b"]) assert.ok(text.includes(`This is ${name}.`), `${last.text}\n${text}`);
    const check = await place.run(["check", "c.chat"]);
    assert.equal(check.code, last.code === 0 ? 0 : 4, check.stdout);
  }));

Deno.test("git and flemma check report a merge conflict, and flemma neither runs nor sends anything of the document", () =>
  withRepository(async (place, git) => {
    await place.run(["git", "setup", "--write"]);
    const pending = callsDocument([{ id: "c1", command: "echo ran > made", status: "pending" }]);
    place.write("a.chat", pending);
    await git("add", ".");
    await git("commit", "-q", "-m", "base");
    await git("checkout", "-q", "-b", "other");
    place.write("a.chat", pending.replace("echo ran", "echo run"));
    await git("commit", "-q", "-a", "-m", "another command");
    await git("checkout", "-q", "main");
    place.write("a.chat", pending.replace("status=pending", "status=approved"));
    await git("commit", "-q", "-a", "-m", "yes");
    const merge = await git("merge", "other");
    assert.equal(merge.code, 1);
    assert.match(merge.text, /Both sides changed the same messages/);
    assert.match((await git("status", "--short")).text, /^UU a\.chat$/m);
    const check = await place.run(["check", "a.chat"]);
    assert.equal(check.code, 4);
    assert.match(check.stdout, /error conflict_marks A merge left both versions here/);
    const conflicted = place.read("a.chat");
    for (const words of [["advance", "--no-sandbox"], ["send"]]) {
      const run = await place.run([...words, "a.chat"]);
      assert.equal(run.code, 4, run.stderr);
      assert.match(run.stderr, /A merge left both versions/);
    }
    assert.equal(place.read("a.chat"), conflicted);
    assert.ok(!place.exists("made"));
  }));

Deno.test("git setup reports contradicting options, a missing file and a folder outside any repository", () =>
  withScene(async (place) => {
    const outside = await place.run(["git", "setup"], { env: { GIT_CEILING_DIRECTORIES: place.folder } });
    assert.equal(outside.code, 1);
    assert.match(outside.stderr, /not a git repository[^]*--global/);
    const both = await place.run(["git", "setup", "--write", "--undo"]);
    assert.equal(both.code, 2);
    const all = await place.run(["git", "setup", "--global", "--write"]);
    assert.equal(all.code, 0, all.stderr);
    assert.match(Deno.readTextFileSync(`${place.folder}/config/git/attributes`), /^\*\.chat diff=flemma/m);
    const none = await place.run(["git", "merge-driver", "a", "b", "c"]);
    assert.equal(none.code, 129, "git takes a lower code for a merge with conflicts");
    assert.match(none.stderr, /a cannot be read as a conversation/);
  }));

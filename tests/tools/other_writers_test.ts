// Somebody else works on the same files: no save is lost, and a model does not overwrite what it never read.

import assert from "node:assert/strict";
import { runUninterrupted } from "../../tools/files/on_disk.ts";
import { replaceFile, takeSnapshot } from "../../tools/files/replace.ts";
import { catchUp, findUnchanged } from "../../tools/builtin/seen_files.ts";
import { sha256 } from "../../base/hash.ts";
import { type Scene, testInScene as test } from "./scene.ts";
import { withClock } from "../waiting.ts";
import { seenInMemory } from "./seen_memory.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

const MEANWHILE: Readonly<Record<string, (path: string) => void>> = {
  "overwritten with the same length": (path) => Deno.writeTextFileSync(path, "two\n"),
  "made longer": (path) => Deno.writeTextFileSync(path, "one\nmore\n"),
  "emptied": (path) => Deno.truncateSync(path, 0),
  "replaced by another file with the same text": (path) => {
    Deno.writeTextFileSync(`${path}~`, "one\n");
    Deno.renameSync(`${path}~`, path);
  },
  "removed": (path) => Deno.removeSync(path),
};
for (const [what, change] of Object.entries(MEANWHILE)) {
  for (const way of ["by a rename", "in place"]) {
    test(`if a file is ${what} between check and write, the tool does not write it ${way}`, async (place) => {
      const path = place.path("f");
      await Deno.writeTextFile(path, "one\n");
      let after = "";
      const between = () => {
        if (after !== "") return;
        change(path);
        after = textOf(path);
      };
      const options = { shownAs: "f", temporary: way === "by a rename" ? ".flemma-test" : null, between };
      const since = await takeSnapshot(path, "f");
      await assert.rejects(
        replaceFile(path, bytes("ours\n"), { ...options, since }),
        /changed while the tool was working on it|No such file/,
      );
      assert.equal(textOf(path), after);
      assert.deepEqual(leftovers(place), []);
    });
  }
}

test("if another program creates the file meanwhile, the tool does not overwrite it", async (place) => {
  const path = place.path("f");
  const between = () => {
    Deno.writeTextFileSync(path, "theirs\n");
  };
  const options = { shownAs: "f", temporary: ".flemma-test", since: null, between };
  await assert.rejects(
    replaceFile(path, bytes("ours\n"), options),
    /changed while the tool was working on it/,
  );
  assert.equal(textOf(path), "theirs\n");
  assert.deepEqual(leftovers(place), []);
});

for (const ours of ["ours\n", "ours, which is longer\n"]) {
  test(`if another program saves into the file that was just replaced by ${ours.length} bytes, its text is restored, and the model gets a message`, async (place) => {
    const path = place.path("f");
    await Deno.writeTextFile(path, "one\n");
    using editor = await Deno.open(path, { write: true });
    let calls = 0;
    const between = () => {
      if (++calls === 2) editor.writeSync(bytes("their save\n"));
    };
    const since = await takeSnapshot(path, "f");
    const options = { shownAs: "f", temporary: ".flemma-test", since, between };
    await assert.rejects(
      replaceFile(path, bytes(ours), options),
      /changed while the tool was working on it/,
    );
    assert.equal(textOf(path), "their save\n");
  });
}

test("the signal of a call that ended in time does not abort later", () =>
  withClock(async (clock) => {
    const call = { timeout: 7, signal: new AbortController().signal };
    const signal = await runUninterrupted(call, (signal) => Promise.resolve(signal));
    await clock.pass(8000);
    assert.equal(signal.aborted, false);
    const late = runUninterrupted(call, (signal) =>
      new Promise<string>((done) => signal.addEventListener("abort", () => done("aborted"))));
    await clock.pass(8000);
    assert.equal(await late, "aborted");
  }));

/** Runs code in a process of its own that has the scene of this folder. */
function elsewhere(place: Scene, code: string, wrapper: readonly string[] = []) {
  const scene = new URL("./scene.ts", import.meta.url).href;
  const [program = "", ...args] = [
    ...wrapper,
    Deno.execPath(),
    "eval",
    "--quiet",
    `const { Scene } = await import(${JSON.stringify(scene)});
    const place = new Scene(${JSON.stringify(place.folder)});
    ${code}`,
  ];
  return new Deno.Command(program, { args, stdin: "null" }).output();
}

test("if several runs edit one file in parallel, all edits take effect, and each run reports its own change", async (place) => {
  await Deno.writeTextFile(place.path("f"), "start\n");
  const code = (run: number) =>
    `for (let count = 0; count < 6; count++) {
      const path = "f";
      const line = "run ${run} edit " + count;
      console.log(await place.output("edit", { path, oldText: "start\\n", newText: "start\\n" + line + "\\n" }));
    }`;
  const ended = await Promise.all([1, 2, 3].map((run) => elsewhere(place, code(run))));
  for (const { code, stderr } of ended) assert.equal(code, 0, new TextDecoder().decode(stderr));
  const lines = textOf(place.path("f")).trimEnd().split("\n");
  const wanted = [1, 2, 3].flatMap((run) => [0, 1, 2, 3, 4, 5].map((count) => `run ${run} edit ${count}`));
  assert.deepEqual(lines.slice(1).sort(), wanted.sort());
  assert.deepEqual(leftovers(place), []);
});

test("the next run that writes removes the temporary file of a killed run", async (place) => {
  await Deno.writeTextFile(place.path("f"), "one\n");
  const locks = place.path("home/.local/state/flemma/locks/files");
  await Deno.mkdir(locks, { recursive: true });
  const left = place.path(`.flemma-${crypto.randomUUID()}`);
  const notOurs = place.path("notes.txt");
  for (const path of [left, notOurs]) await Deno.writeTextFile(path, "x");
  await Deno.writeTextFile(`${locks}/${(await sha256("/elsewhere")).slice(0, 32)}`, left);
  await Deno.writeTextFile(`${locks}/${(await sha256("/other")).slice(0, 32)}`, notOurs);
  await place.output("write", { path: "f", content: "two\n" });
  assert.deepEqual(leftovers(place), []);
  assert.equal(textOf(notOurs), "x", "only names that this program gives are removed");
  assert.deepEqual([...Deno.readDirSync(locks)], []);
});

test("if another run holds a file's lock, the call waits for it until the call is stopped", async (place) => {
  const locks = place.path("home/.local/state/flemma/locks/files");
  await Deno.mkdir(locks, { recursive: true });
  const path = `${locks}/${(await sha256(place.path("f"))).slice(0, 32)}`;
  using holder = await Deno.open(path, { create: true, write: true });
  assert.ok(await holder.tryLock(true));
  const stop = new AbortController();
  const waiting = place.run("write", { path: "f", content: "x" }, { signal: stop.signal });
  stop.abort();
  assert.equal((await waiting).success, false);
  assert.throws(() => Deno.statSync(place.path("f")), Deno.errors.NotFound);
});

test("a file that is its own mount point is written in place", async (place) => {
  const path = place.path("f");
  await Deno.writeTextFile(path, "one\n");
  const wrapper = ["bwrap", "--dev-bind", "/", "/", "--bind", path, path];
  const code = `console.log(await place.output("write", { path: "f", content: "two\\n" }));
      console.log(await place.output("edit", { path: "f", oldText: "two", newText: "three" }));`;
  const { code: exit, stderr } = await elsewhere(place, code, wrapper);
  assert.equal(exit, 0, new TextDecoder().decode(stderr));
  assert.equal(textOf(path), "three\n");
  assert.deepEqual(leftovers(place), []);
});

test("a file that a person changed since it was read is not overwritten", async (place) => {
  const seen = seenInMemory();
  await Deno.writeTextFile(place.path("f"), "one\ntwo\n");
  const read = await place.output("read", { path: "f" }, { seen });
  assert.equal(read, await place.output("read", { path: "f" }), "what is remembered changes nothing");
  await Deno.writeTextFile(place.path("f"), "one\nTWO\n");
  const error = await place.error("write", { path: "f", content: "all new\n" }, { seen });
  assert.match(
    error,
    /f changed after it was read in this conversation, so it was not written\. Read it again first\./,
  );
  assert.equal(textOf(place.path("f")), "one\nTWO\n");
  const edited = await place.output("edit", { path: "f", oldText: "one", newText: "uno" }, { seen });
  assert.match(edited, /^Edited f\. The file had changed since it was last read in this conversation\.$/);
  assert.equal(textOf(place.path("f")), "uno\nTWO\n");
  // The edit was the last look: it is known again, and writing is free.
  await place.output("write", { path: "f", content: "all new\n" }, { seen });
  assert.equal(
    await place.output("edit", { path: "f", oldText: "all", newText: "no" }, { seen }),
    "Edited f.",
  );
});

test("if a person's save is in progress, an edit waits for its second half, and both changes are in the file", async (place) => {
  const seen = seenInMemory();
  await Deno.writeTextFile(place.path("f"), "one\ntwo\nthree\n");
  await place.output("read", { path: "f" }, { seen });
  const editor = await Deno.open(place.path("f"), { write: true, truncate: true });
  await editor.write(bytes("one\n"));
  const edited = place.output("edit", { path: "f", oldText: "one", newText: "uno" }, { seen });
  // The second half comes after an edit that does not wait, and early for one that does.
  await Promise.race([edited, new Promise((done) => setTimeout(done, 20))]);
  await editor.write(bytes("TWO\nthree\n"));
  editor.close();
  assert.match(await edited, /The file had changed since it was last read/);
  assert.equal(textOf(place.path("f")), "uno\nTWO\nthree\n");
});

test("write replaces a file that was never read in this document, was deleted meanwhile, or only got a new time", async (place) => {
  const seen = seenInMemory();
  await Deno.writeTextFile(place.path("f"), "one\n");
  await place.output("write", { path: "f", content: "two\n" }, { seen });
  await Deno.remove(place.path("f"));
  await place.output("write", { path: "f", content: "three\n" }, { seen });
  await Deno.utime(place.path("f"), 1, 1);
  await place.output("write", { path: "f", content: "four\n" }, { seen });
  assert.equal(textOf(place.path("f")), "four\n");
});

test("write accepts changes made by the document's own commands, but not a change that a person made before them", async (place) => {
  const seen = seenInMemory();
  for (const name of ["a", "b", "c"]) await Deno.writeTextFile(place.path(name), `${name}\n`);
  for (const name of ["a", "b", "c"]) await place.output("read", { path: name }, { seen });
  await Deno.writeTextFile(place.path("b"), "a person's\n");
  const before = await findUnchanged(seen);
  await Deno.writeTextFile(place.path("a"), "a command's\n");
  assert.deepEqual(await catchUp(seen, before), [place.path("a")]);
  await place.output("write", { path: "a", content: "x" }, { seen });
  assert.match(
    await place.error("write", { path: "b", content: "x" }, { seen }),
    /changed after it was read/,
  );
  await place.output("write", { path: "c", content: "x" }, { seen });
});

function textOf(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "(none)";
  }
}

function leftovers(place: Scene): string[] {
  return [...Deno.readDirSync(place.folder)].map(({ name }) => name).filter((name) =>
    name.startsWith(".flemma")
  );
}

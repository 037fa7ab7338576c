// Search in files: texts that every match contains, very long lines, and a search whose time is over.

import assert from "node:assert/strict";
import { isThere, removeIfThere } from "../../base/files.ts";
import { OWN_ACCESS } from "../../base/disk/folder_access.ts";
import { narrowFiles, requiredText } from "../../tools/files/search/narrowed.ts";
import { readLinePattern } from "../../tools/files/search/line_pattern.ts";
import { searchFiles } from "../../tools/files/search/search.ts";
import { searchLines } from "../../tools/files/search/search_lines.ts";
import { descriptorsInto, inFolder, writeProgram } from "../folder.ts";

const NEVER = new AbortController().signal;
const DISK = { ...OWN_ACCESS, isReadable: () => true, rg: null };

Deno.test("a required text never joins what an expression separates: one row per separator", () => {
  const separators = [
    "[x]",
    "(x)",
    ".",
    "^",
    "$",
    "\\d",
    "\\b",
    "x?",
    "x*",
    "x{2}",
    "é",
    "\t",
    "[^]x]",
    "[[:alpha:]]",
  ];
  for (const separator of separators) {
    assert.equal(requiredText(`abc${separator}defg`), "defg", separator);
    assert.equal(requiredText(`abcd${separator}efg`), "abcd", separator);
  }
  // A class that does not end as it seems to.
  assert.equal(requiredText("[\\]abcd]efg"), "efg");
  assert.equal(requiredText("[]abcd]efg"), "efg");
  assert.equal(requiredText("[^]abcd]efg"), "efg");
  assert.equal(requiredText("a{1000}b"), null, "a count is no text");
});

/** Lines that match in a file with this text, by their number and length. */
async function found(folder: string, text: string, pattern: string) {
  await Deno.writeTextFile(`${folder}/a`, text);
  const request = { start: `${folder}/a`, excluded: [], limit: 10, seconds: 600, pattern, glob: null };
  const answer = await searchFiles(request, DISK, NEVER);
  assert.ok("lines" in answer);
  assert.equal(answer.timedOut, false);
  assert.deepEqual(descriptorsInto(folder), []);
  return answer.lines.map(({ line }) => line);
}

Deno.test("of a very long line, the first mebibyte is searched, wherever the line begins", () =>
  inFolder(async (folder) => {
    const long = 1024 * 1024;
    for (const before of ["", "short\n", `${"y".repeat(300_000)}\n`]) {
      const first = before === "" ? 1 : 2;
      const line = (at: number) => `${"x".repeat(at)}needle${"x".repeat(3 * long)}`;
      const inside = `${before}${line(long - 6)}\nneedle\n`;
      assert.deepEqual(await found(folder, inside, "needle"), [first, first + 1], `${before.length}`);
      const behind = `${before}${line(long - 5)}\nneedle\n`;
      assert.deepEqual(await found(folder, behind, "needle"), [first + 1], `${before.length}`);
    }
    // The file is read in pieces of 256 KiB. Behind the searched part, no beginning of a piece counts.
    for (const offset of [1.25 * long, 1.5 * long]) {
      const text = `short\n${"x".repeat(offset - 6)}needle${"x".repeat(long)}\nneedle\n`;
      assert.deepEqual(await found(folder, text, "needle"), [3], `${offset}`);
    }
  }));

Deno.test("a search whose time is over while rg runs says so, and one that is cancelled then ends with the reason", () =>
  inFolder(async (folder) => {
    const rg = `${folder}/rg`;
    writeProgram(rg, '#!/bin/sh\necho >>"$0.begun"\nexec sleep 1000\n');
    await Deno.mkdir(`${folder}/tree`);
    for (let count = 0; count < 201; count++) await Deno.writeTextFile(`${folder}/tree/${count}`, "needle");
    const request = { start: `${folder}/tree`, excluded: [], limit: 1000, pattern: "needle", glob: null };
    const timed = await searchFiles({ ...request, seconds: 1 }, { ...DISK, rg }, NEVER);
    assert.ok("lines" in timed);
    assert.equal(timed.timedOut, true);
    await removeIfThere(`${rg}.begun`);
    const stop = new AbortController();
    const stopped = searchFiles({ ...request, seconds: 1000 }, { ...DISK, rg }, stop.signal);
    const outcome = assert.rejects(stopped, /by the person/);
    while (!isThere(`${rg}.begun`)) await new Promise((done) => setTimeout(done, 10));
    stop.abort(new Error("by the person"));
    await outcome;
  }));

Deno.test("a search that was cancelled before rg starts ends with the reason", () =>
  inFolder(async (folder) => {
    const files = [{ path: "a", folder, name: "a" }];
    for (const rg of ["/nowhere", "/bin/true"]) {
      const stopped = AbortSignal.abort(new Error("by the person"));
      await assert.rejects(narrowFiles("needle", files, rg, stopped), /by the person/, rg);
    }
  }));

Deno.test("a search that ends in time leaves no timer for its limit", () =>
  inFolder(async (folder) => {
    const rg = `${folder}/rg`;
    writeProgram(rg, "#!/bin/sh\nexit 1\n");
    await Deno.mkdir(`${folder}/tree`);
    for (let count = 0; count < 201; count++) await Deno.writeTextFile(`${folder}/tree/${count}`, "needle");
    const { setTimeout, clearTimeout } = globalThis;
    const [begun, left] = [new Set<unknown>(), new Set<unknown>()];
    globalThis.setTimeout = ((act: () => void, milliseconds = 0) => {
      const timer = setTimeout(act, milliseconds);
      if (milliseconds > 60_000) { for (const each of [begun, left]) each.add(timer); }
      return timer;
    }) as typeof setTimeout;
    globalThis.clearTimeout = (timer) => {
      left.delete(timer);
      clearTimeout(timer);
    };
    const request = { start: `${folder}/tree`, excluded: [], limit: 1000, seconds: 600, glob: null };
    try {
      await searchFiles({ ...request, pattern: "needle" }, { ...DISK, rg }, NEVER);
    } finally {
      Object.assign(globalThis, { setTimeout, clearTimeout });
    }
    assert.ok(begun.size > 0);
    assert.equal(left.size, 0);
  }));

Deno.test("many long paths are given to rg in several command lines", () =>
  inFolder(async (folder) => {
    const rg = `${folder}/rg`;
    writeProgram(rg, '#!/bin/sh\nprintf x >>"$0.runs"\nexit 1\n');
    const files = Array.from({ length: 900 }, (_, at) => {
      const name = `${at}${"n".repeat(200)}`;
      return { path: name, folder, name };
    });
    assert.deepEqual(await narrowFiles("needle", files, rg, NEVER), []);
    const runs = await Deno.readTextFile(`${rg}.runs`);
    assert.ok(runs.length > 1 && runs.length < 20, runs);
  }));

Deno.test("a search that is cancelled or whose time is over ends also without rg, and in the middle of a file", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/a`, "needle\n");
    const request = { start: folder, excluded: [], limit: 10, seconds: 600, pattern: "needle", glob: null };
    const stopped = AbortSignal.abort(new Error("by the person"));
    await assert.rejects(searchFiles(request, DISK, stopped), /by the person/);
    const pattern = await readLinePattern("needle");
    assert.ok(pattern.ok);
    using file = await Deno.open(`${folder}/a`);
    const over = () => Promise.reject(new Error("over"));
    await assert.rejects(searchLines(file, pattern.value, 10, over), /over/);
  }));

Deno.test("of thousands of files, each is searched once", () =>
  inFolder(async (folder) => {
    const count = 200 + 4000 + 2;
    for (let at = 0; at < count; at++) Deno.writeTextFileSync(`${folder}/${at}`, "needle");
    const request = {
      start: folder,
      excluded: [],
      limit: 10_000,
      seconds: 600,
      pattern: "needle",
      glob: null,
    };
    const answer = await searchFiles(request, { ...DISK, rg: "/nowhere" }, NEVER);
    assert.ok("lines" in answer);
    assert.equal(answer.lines.length, count);
  }));

// The program's own temporary files: invisible to ls, find and grep, and gone before a command could see them.

import assert from "node:assert/strict";
import { stateFolder } from "../../base/folders.ts";
import { isOwnTemporary } from "../../base/files.ts";
import { type Scene, testInScene as test } from "./scene.ts";

const OWN = [
  ".flemma-01234567-89ab-cdef-0123-456789abcdef",
  ".talk.chat.0123abcd.tmp",
  "config.yaml.0123abcd.tmp",
];
const OTHERS = [
  ".flemma-notes",
  ".flemma-01234567-89ab-cdef-0123-456789abcdeX",
  ".flemma-01234567-89ab-cdef-0123-456789abcdef.txt",
  ".other.0123abcd.tmp",
  "other.0123abcd.tmp",
  ".talk.chat.0123abc.tmp",
  ".talk.chat.0123ABCD.tmp",
  ".talk.chat.tmp",
  "talk.chat.tmp",
];

function planted(place: Scene): string[] {
  Deno.writeTextFileSync(place.path("config.yaml"), "needle\n");
  for (const name of [...OWN, ...OTHERS]) Deno.writeTextFileSync(place.path(name), "needle\n");
  return OTHERS.toSorted();
}

test("ls does not show temporary files of flemma, and shows every other file", async (place) => {
  const others = planted(place);
  const lines = (await place.output("ls", { label: "l", path: "." })).split("\n");
  assert.deepEqual(lines.filter((line) => OWN.includes(line)), []);
  assert.deepEqual(lines.filter((line) => OTHERS.includes(line)).toSorted(), others);
});

test("find and grep do not show temporary files of flemma, and show every other file", async (place) => {
  const others = planted(place);
  for (const pattern of [".*", "*"]) {
    const wanted = others.filter((name) => name.startsWith(".") === (pattern === ".*"));
    const found = (await place.output("find", { label: "l", pattern, path: "." })).split("\n");
    assert.deepEqual(found.filter((path) => [...OWN, ...OTHERS].includes(path)).toSorted(), wanted);
    const lines = await place.output("grep", { label: "l", pattern: "needle", path: ".", glob: pattern });
    const named = lines.split("\n").map((line) => line.split(":")[0]!);
    assert.deepEqual(named.filter((path) => [...OWN, ...OTHERS].includes(path)).toSorted(), wanted);
  }
});

test("a folder with the name of a temporary file is shown", async (place) => {
  for (const name of OWN) Deno.mkdirSync(place.path(name));
  Deno.writeTextFileSync(place.path("config.yaml"), "");
  const lines = (await place.output("ls", { label: "l", path: "." })).split("\n");
  assert.deepEqual(OWN.filter((name) => !lines.includes(`${name}/`)), []);
});

Deno.test("a temporary name counts only next to the file that it belongs to", () => {
  assert.ok(isOwnTemporary(".a.chat.01234567.tmp", new Set(["a.chat"])));
  assert.ok(isOwnTemporary("a.01234567.tmp", new Set(["a"])));
  assert.ok(isOwnTemporary(".a.01234567.tmp", new Set([".a"])));
  assert.ok(!isOwnTemporary(".a.chat.01234567.tmp", new Set(["b.chat"])));
  assert.ok(!isOwnTemporary("01234567.tmp", new Set([""])));
});

/** Plants the temporary file of a write, and the lock that records it. */
function leftBehind(place: Scene): { temporary: string; lock: string } {
  const temporary = place.path(OWN[0]!);
  Deno.writeTextFileSync(temporary, "half\n");
  const folder = `${stateFolder({ cwd: place.folder, home: place.path("home"), variables: {} })}/locks/files`;
  Deno.mkdirSync(folder, { recursive: true });
  const lock = `${folder}/0123456789abcdef0123456789abcdef`;
  Deno.writeTextFileSync(lock, temporary);
  return { temporary, lock };
}

test("a command does not see the temporary file of a killed run", async (place) => {
  leftBehind(place);
  assert.equal(await place.output("bash", { label: "l", command: "ls -A | grep -c flemma-; true" }), "0");
});

test("the temporary file of a run that still writes stays", async (place) => {
  const { temporary, lock } = leftBehind(place);
  using held = Deno.openSync(lock, { read: true, write: true });
  assert.ok(held.tryLockSync(true));
  // Another process holds the lock; in this one, a second descriptor of the file conflicts as well.
  await place.output("bash", { label: "l", command: "true" });
  assert.equal(Deno.readTextFileSync(temporary), "half\n");
});

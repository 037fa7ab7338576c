import assert from "node:assert/strict";
import { readEntryContent, settledStamp } from "../../../sandbox/paths/stamp.ts";
import { plant } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

/** Calls `ask` as if some milliseconds had gone by. */
function later<T>(milliseconds: number, ask: () => T): T {
  const now = Date.now;
  Date.now = () => now() + milliseconds;
  try {
    return ask();
  } finally {
    Date.now = now;
  }
}

test("a file gets a stamp once its next change is certain to change its time; from then on, each change is detected", (root) => {
  plant(root, "a");
  assert.equal(settledStamp(`${root}/a`), null, "too young");
  assert.equal(settledStamp(`${root}/none`), null);
  const settled = () => later(60_000, () => settledStamp(`${root}/a`));
  const first = settled();
  assert.notEqual(first, null);
  assert.equal(settled(), first);
  const rows = [
    () => Deno.writeTextFileSync(`${root}/a`, "longer than before, by far\n"),
    () => Deno.chmodSync(`${root}/a`, 0o600),
    () => Deno.utimeSync(`${root}/a`, 1, 1),
    () => {
      Deno.copyFileSync(`${root}/a`, `${root}/b`);
      Deno.renameSync(`${root}/b`, `${root}/a`);
    },
  ];
  for (const change of rows) {
    const before = settled();
    change();
    assert.notEqual(settled(), before, String(change));
  }
});

test("a path's content is recorded by kind: bytes and mode, names, a link's target, or the status of a file that is too large", (root) => {
  plant(root, "a", "folder/z", "folder/b", "link -> a");
  const one = readEntryContent(`${root}/a`);
  Deno.utimeSync(`${root}/a`, 1, 1);
  assert.equal(readEntryContent(`${root}/a`), one, "a new time alone does not count as a change");
  Deno.chmodSync(`${root}/a`, 0o755);
  assert.notEqual(readEntryContent(`${root}/a`), one);
  assert.equal(readEntryContent(`${root}/folder`), "folder b/z");
  assert.equal(readEntryContent(`${root}/link`), "link a");
  assert.equal(readEntryContent(`${root}/none`), null);
  Deno.writeTextFileSync(`${root}/large`, "x".repeat(64 * 1024));
  assert.match(readEntryContent(`${root}/large`) ?? "", /x{100}/);
  Deno.writeTextFileSync(`${root}/large`, "x".repeat(64 * 1024 + 1));
  const large = readEntryContent(`${root}/large`) ?? "";
  assert.doesNotMatch(large, /x/);
  Deno.utimeSync(`${root}/large`, 1, 1);
  assert.notEqual(readEntryContent(`${root}/large`), large);
});

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

test("a file has a stamp once its time can be trusted to differ at the next change, and then each change shows", (root) => {
  plant(root, "a");
  assert.equal(settledStamp(`${root}/a`), null, "too young");
  assert.equal(settledStamp(`${root}/none`), null);
  const settled = () => later(60_000, () => settledStamp(`${root}/a`));
  const first = settled();
  assert.notEqual(first, null);
  assert.equal(settled(), first);
  for (
    const change of [
      () => Deno.writeTextFileSync(`${root}/a`, "longer than before, by far\n"),
      () => Deno.chmodSync(`${root}/a`, 0o600),
      () => Deno.utimeSync(`${root}/a`, 1, 1),
      () => {
        Deno.copyFileSync(`${root}/a`, `${root}/b`);
        Deno.renameSync(`${root}/b`, `${root}/a`);
      },
    ]
  ) {
    const before = settled();
    change();
    assert.notEqual(settled(), before, String(change));
  }
});

test("what stands at a path is told by its kind: bytes and mode, names, a target, and the status of what is too large", (root) => {
  plant(root, "a", "folder/z", "folder/b", "link -> a");
  const one = contentOf(`${root}/a`);
  Deno.utimeSync(`${root}/a`, 1, 1);
  assert.equal(contentOf(`${root}/a`), one, "the time alone is no change");
  Deno.chmodSync(`${root}/a`, 0o755);
  assert.notEqual(contentOf(`${root}/a`), one);
  assert.equal(contentOf(`${root}/folder`), "folder b/z");
  assert.equal(contentOf(`${root}/link`), "link a");
  assert.equal(contentOf(`${root}/none`), null);
  Deno.writeTextFileSync(`${root}/large`, "x".repeat(64 * 1024));
  assert.match(contentOf(`${root}/large`) ?? "", /x{100}/);
  Deno.writeTextFileSync(`${root}/large`, "x".repeat(64 * 1024 + 1));
  const large = contentOf(`${root}/large`) ?? "";
  assert.doesNotMatch(large, /x/);
  Deno.utimeSync(`${root}/large`, 1, 1);
  assert.notEqual(contentOf(`${root}/large`), large);
});

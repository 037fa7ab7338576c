// Whether a look at the file system notices that it would look different now.

import assert from "node:assert/strict";
import { FsSnapshot } from "../../../sandbox/paths/fs_snapshot.ts";
import { realPath } from "../../../sandbox/paths/real_path.ts";
import { inFolder, plant } from "../fixture.ts";

/** Looks, lets `change` happen, and answers whether the look still holds. */
function holdsAfter(look: (snapshot: FsSnapshot) => void, change: () => void): boolean {
  const snapshot = new FsSnapshot();
  look(snapshot);
  const sealed = snapshot.seal();
  assert.ok(sealed.holds(), "it holds while nothing happens");
  change();
  return sealed.holds();
}

const CHANGES: Readonly<Record<string, [names: string[], change: (root: string) => void, holds: boolean]>> = {
  "something that was missing appears": [["w/"], (root) => plant(root, "w/asked"), false],
  "something that was there goes": [["w/asked"], (root) => Deno.removeSync(`${root}/w/asked`), false],
  "a file becomes a link": [["w/asked", "other"], (root) => {
    Deno.removeSync(`${root}/w/asked`);
    Deno.symlinkSync("../other", `${root}/w/asked`);
  }, false],
  "a link leads elsewhere": [["w/asked -> a", "a", "b"], (root) => {
    Deno.removeSync(`${root}/w/asked`);
    Deno.symlinkSync("b", `${root}/w/asked`);
  }, false],
  "the folder around is moved away": [
    ["w/asked"],
    (root) => Deno.renameSync(`${root}/w`, `${root}/v`),
    false,
  ],
  "another file appears beside it": [["w/asked"], (root) => plant(root, "w/other"), true],
  "the content of a file changes": [
    ["w/asked"],
    (root) => Deno.writeTextFileSync(`${root}/w/asked`, "x"),
    true,
  ],
};

for (const [name, [planted, change, holds]] of Object.entries(CHANGES)) {
  Deno.test(`a look ${holds ? "still holds" : "no longer holds"} when ${name}`, () =>
    inFolder((root) => {
      plant(root, ...planted);
      const answer = holdsAfter((snapshot) => snapshot.lstat(`${root}/w/asked`), () => change(root));
      assert.equal(answer, holds);
    }));
}

Deno.test("names that were asked for by their beginning are noticed when they appear or go", () =>
  inFolder((root) => {
    plant(root, "w/sock-1", "w/other");
    const look = (snapshot: FsSnapshot) => assert.deepEqual(snapshot.names(`${root}/w`, "sock-"), ["sock-1"]);
    assert.ok(holdsAfter(look, () => plant(root, "w/more")));
    assert.ok(!holdsAfter(look, () => plant(root, "w/sock-2")));
  }));

Deno.test("a file that was read is read again when it may have changed", () =>
  inFolder((root) => {
    plant(root, "f");
    const snapshot = new FsSnapshot();
    assert.equal(snapshot.read(`${root}/f`, 100), "text of f\n");
    assert.equal(snapshot.read(`${root}/f`, 3), null);
    // It was written a moment ago, so its times could stay the same at the next change.
    assert.ok(!snapshot.seal().holds());
  }));

Deno.test("many misses in one folder, and what lies in a missing one, are told as they are", () =>
  inFolder((root) => {
    plant(root, "w/here");
    const snapshot = new FsSnapshot();
    for (const name of ["a", "b", "c", "d/e/f"]) {
      assert.equal(snapshot.lstat(`${root}/w/${name}`), null, name);
    }
    assert.ok(snapshot.has(`${root}/w/here`));
    assert.ok(!snapshot.has(`${root}/w/here/below`));
  }));

Deno.test("a shared look gives the same real paths as a new one for each path", () =>
  inFolder((root) => {
    plant(root, "a/b/c", "l -> a", "a/up -> ..", "dangling -> nowhere/x", "loop -> loop");
    const snapshot = new FsSnapshot();
    const paths = [
      "a/b/c",
      "l/b",
      "l/up/l/b/c",
      "a/up",
      "dangling/y",
      "l/../a",
      "a//b/./c",
      "loop/x",
      "no/../a",
      "l/",
    ];
    for (const path of paths) assert.equal(realPath(path, root, snapshot), realPath(path, root), path);
    assert.equal(realPath("l/b", root, snapshot), `${root}/a/b`);
    assert.equal(realPath("dangling/y", root, snapshot), `${root}/nowhere/x/y`);
  }));

Deno.test("a file is read only when it is one, and no longer than allowed", () =>
  inFolder((root) => {
    plant(root, "f", "folder/");
    Deno.writeTextFileSync(`${root}/f`, "four");
    const snapshot = new FsSnapshot();
    for (const read of [snapshot.read.bind(snapshot), snapshot.readBytes.bind(snapshot)]) {
      assert.equal(read(`${root}/f`, 4), "four");
      assert.equal(read(`${root}/f`, 3), null);
      assert.equal(read(`${root}/folder`, 4096), null);
      assert.equal(read("/dev/null", 4), null);
      assert.equal(read(`${root}/none`, 4), null);
    }
  }));

// Whether a file system snapshot notices that a new one would differ.

import assert from "node:assert/strict";
import { FsSnapshot, patienceWith } from "../../base/disk/fs_snapshot.ts";
import { realPath } from "../../base/disk/real_path.ts";
import { plant } from "../sandbox/fixture.ts";
import { inFolder } from "../folder.ts";

/** Looks, lets `change` happen, and answers whether the look still holds. */
function holdsAfter(look: (snapshot: FsSnapshot) => void, change: () => void): boolean {
  const snapshot = new FsSnapshot();
  look(snapshot);
  const sealed = snapshot.seal();
  assert.ok(sealed.holds(), "it is valid while nothing happens");
  change();
  return sealed.holds();
}

const CHANGES: Readonly<Record<string, [names: string[], change: (root: string) => void, holds: boolean]>> = {
  "a missing path appears": [["w/"], (root) => plant(root, "w/asked"), false],
  "an existing path is deleted": [["w/asked"], (root) => Deno.removeSync(`${root}/w/asked`), false],
  "a file becomes a link": [["w/asked", "other"], (root) => {
    Deno.removeSync(`${root}/w/asked`);
    Deno.symlinkSync("../other", `${root}/w/asked`);
  }, false],
  "a link target changes": [["w/asked -> a", "a", "b"], (root) => {
    Deno.removeSync(`${root}/w/asked`);
    Deno.symlinkSync("b", `${root}/w/asked`);
  }, false],
  "the parent folder is moved away": [
    ["w/asked"],
    (root) => Deno.renameSync(`${root}/w`, `${root}/v`),
    false,
  ],
  "a file becomes executable": [["w/asked"], (root) => Deno.chmodSync(`${root}/w/asked`, 0o755), false],
  "another file with the same text replaces it": [["w/asked"], (root) => {
    Deno.copyFileSync(`${root}/w/asked`, `${root}/w/copy`);
    Deno.renameSync(`${root}/w/copy`, `${root}/w/asked`);
  }, false],
  "another file appears next to it": [["w/asked"], (root) => plant(root, "w/other"), true],
  "another folder replaces it": [["w/asked/"], (root) => {
    Deno.renameSync(`${root}/w/asked`, `${root}/w/old`);
    Deno.mkdirSync(`${root}/w/asked`);
  }, false],
  "a folder replaces a file": [["w/asked"], (root) => {
    Deno.removeSync(`${root}/w/asked`);
    Deno.mkdirSync(`${root}/w/asked`);
  }, false],
  "the content of a file changes": [
    ["w/asked"],
    (root) => Deno.writeTextFileSync(`${root}/w/asked`, "x"),
    true,
  ],
};

/** Ways to ask: for one thing or for many, which is answered from a listing; soon or long after the last change. */
const WAYS: readonly (readonly [string, others: readonly string[], age: number])[] = [
  ["one path in a recently changed folder", [], 0],
  ["one path in a folder that has not changed for long", [], 60_000],
  ["many paths in a recently changed folder", ["x", "y", "z"], 0],
  ["many paths in a folder that has not changed for long", ["x", "y", "z"], 60_000],
];

for (const [name, [planted, change, holds]] of Object.entries(CHANGES)) {
  for (const [way, others, age] of WAYS) {
    Deno.test(`a snapshot of ${way} ${holds ? "is still valid" : "is no longer valid"} when ${name}`, () =>
      inFolder((root) => {
        plant(root, ...planted);
        const now = Date.now;
        // A look counts as long ago as the last change before it; what happens afterwards happens now.
        Date.now = () => now() + age;
        try {
          const look = (snapshot: FsSnapshot) => {
            for (const other of others) assert.equal(snapshot.has(`${root}/w/${other}`), false);
            snapshot.lstat(`${root}/w/asked`);
          };
          const backdated = () => {
            change(root);
            // The clock of the file system was not turned on with ours.
            if (age > 0) { for (const at of [root, `${root}/w`]) touch(at); }
          };
          assert.equal(holdsAfter(look, backdated), holds);
        } finally {
          Date.now = now;
        }
      }));
  }
}

/** Gives a folder another time of its last change, as any change a while later would. */
function touch(folder: string): void {
  try {
    Deno.utimeSync(folder, 1, 1);
  } catch {
    // It was moved away, which is a change too.
  }
}

Deno.test("a snapshot of all names with a prefix is invalid once a name with this prefix appears or disappears", () =>
  inFolder((root) => {
    plant(root, "w/sock-1", "w/other");
    const look = (snapshot: FsSnapshot) => assert.deepEqual(snapshot.names(`${root}/w`, "sock-"), ["sock-1"]);
    assert.ok(holdsAfter(look, () => plant(root, "w/more")));
    assert.ok(!holdsAfter(look, () => plant(root, "w/sock-2")));
  }));

/** What may become of a file that was read a moment ago, whose times could stay the same at the next change. */
const FILES: Readonly<Record<string, readonly [change: (path: string) => void, holds: boolean]>> = {
  "nothing happened": [() => {}, true],
  "the same text was written again": [(path) => Deno.writeTextFileSync(path, "text of f\n"), true],
  "its text is different with the same length": [
    (path) => Deno.writeTextFileSync(path, "TEXT of f\n"),
    false,
  ],
  "it is longer": [(path) => Deno.writeTextFileSync(path, "more", { append: true }), false],
  "its mode changed": [(path) => Deno.chmodSync(path, 0o755), false],
  "another file with the same text replaced it": [(path) => {
    Deno.writeTextFileSync(`${path}2`, "text of f\n");
    Deno.renameSync(`${path}2`, path);
  }, false],
  "it became a folder": [(path) => {
    Deno.removeSync(path);
    Deno.mkdirSync(path);
  }, false],
  "it is gone": [(path) => Deno.removeSync(path), false],
};

for (const [name, [change, holds]] of Object.entries(FILES)) {
  for (const read of ["read", "readBytes"] as const) {
    Deno.test(`after ${read} a snapshot ${holds ? "is still valid" : "is no longer valid"} when ${name}`, () =>
      inFolder((root) => {
        plant(root, "f");
        const answer = holdsAfter(
          (snapshot) => assert.equal(snapshot[read](`${root}/f`, 100), "text of f\n"),
          () => change(`${root}/f`),
        );
        assert.equal(answer, holds);
      }));
  }
}

Deno.test("a recently changed file that is too long to be read counts as changed", () =>
  inFolder((root) => {
    plant(root, "f");
    const snapshot = new FsSnapshot();
    assert.equal(snapshot.readBytes(`${root}/f`, 3), null);
    assert.ok(!snapshot.seal().holds());
  }));

/** What may be accepted in the place of the file `asked`, and whether the look then holds. */
const ACCEPTED: Readonly<Record<string, readonly [change: (path: string) => void, holds: boolean]>> = {
  "nothing happened": [() => {}, true],
  "it was rewritten": [(path) => {
    Deno.copyFileSync(path, `${path}2`);
    Deno.renameSync(`${path}2`, path);
  }, true],
  "it was rewritten with other permissions": [(path) => {
    Deno.writeTextFileSync(`${path}2`, "x");
    Deno.chmodSync(`${path}2`, 0o700);
    Deno.renameSync(`${path}2`, path);
  }, false],
  "it is a folder now": [(path) => {
    Deno.removeSync(path);
    Deno.mkdirSync(path, { mode: 0o644 });
  }, false],
  "it is a link now": [(path) => {
    Deno.renameSync(path, `${path}2`);
    Deno.symlinkSync(`${path}2`, path);
  }, false],
  "it is gone": [(path) => Deno.removeSync(path), false],
};

for (const [name, [change, holds]] of Object.entries(ACCEPTED)) {
  Deno.test(`a snapshot that accepts a file ${holds ? "is valid" : "is not valid"} when ${name}`, () =>
    inFolder((root) => {
      plant(root, "w/asked", "w/other", "w/folder/");
      const snapshot = new FsSnapshot();
      for (const name of ["asked", "other", "folder"]) snapshot.lstat(`${root}/w/${name}`);
      const sealed = snapshot.seal();
      change(`${root}/w/asked`);
      sealed.accept([`${root}/w/asked`, `${root}/w/missing`]);
      assert.equal(sealed.holds(), holds);
      // Once more after it was accepted.
      if (holds) ACCEPTED["it was rewritten"]![0](`${root}/w/asked`);
      assert.ok(!sealed.holds());
    }));
}

Deno.test("accepting a folder, or a path that was not queried, does not make an outdated snapshot valid", () =>
  inFolder((root) => {
    for (const accepted of ["w/other", "w/folder"]) {
      plant(root, "w/asked", "w/other", "w/folder/");
      const snapshot = new FsSnapshot();
      snapshot.lstat(`${root}/w/asked`);
      snapshot.lstat(`${root}/w/folder`);
      const sealed = snapshot.seal();
      if (accepted === "w/other") ACCEPTED["it was rewritten"]![0](`${root}/w/asked`);
      else {
        Deno.renameSync(`${root}/w/folder`, `${root}/w/old`);
        Deno.mkdirSync(`${root}/w/folder`);
      }
      sealed.accept([`${root}/${accepted}`]);
      assert.ok(!sealed.holds(), accepted);
      Deno.removeSync(`${root}/w`, { recursive: true });
    }
  }));

Deno.test("many missing paths in one folder, and paths in a missing folder, are reported correctly", () =>
  inFolder((root) => {
    plant(root, "w/here");
    const snapshot = new FsSnapshot();
    for (const name of ["a", "b", "c", "d/e/f"]) {
      assert.equal(snapshot.lstat(`${root}/w/${name}`), null, name);
    }
    assert.ok(snapshot.has(`${root}/w/here`));
    assert.ok(!snapshot.has(`${root}/w/here/below`));
  }));

Deno.test("a shared snapshot gives the same real paths as a separate snapshot for each path", () =>
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

Deno.test("only a regular file is read, and at most the allowed number of bytes", () =>
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

Deno.test("the snapshot of a file that has not changed for long is valid until the file or its name changes", () =>
  inFolder((root) => {
    const now = Date.now;
    Date.now = () => now() + 60_000;
    try {
      for (const read of ["read", "readBytes"] as const) {
        plant(root, "f");
        const look = (snapshot: FsSnapshot) => assert.equal(snapshot[read](`${root}/f`, 100), "text of f\n");
        assert.ok(holdsAfter(look, () => {}));
        assert.ok(holdsAfter(look, () => Deno.utimeSync(`${root}/f`, 1, 1)), "its text is the same");
        assert.ok(!holdsAfter(look, () => Deno.writeTextFileSync(`${root}/f`, "TEXT of f\n")));
        plant(root, "f");
        assert.ok(!holdsAfter(look, () => Deno.removeSync(`${root}/f`)));
      }
    } finally {
      Date.now = now;
    }
  }));

Deno.test("a snapshot of names is also invalid once their folder disappears, or if a name appears while another disappears", () =>
  inFolder((root) => {
    const look = (snapshot: FsSnapshot) => void snapshot.names(`${root}/w`, "s", ".k");
    plant(root, "w/s1.k", "w/s2.x", "w/t1.k", "w/s.k");
    assert.deepEqual([...new FsSnapshot().names(`${root}/w`, "s", ".k")].sort(), ["s.k", "s1.k"]);
    assert.deepEqual(new FsSnapshot().names(`${root}/w`, "s.", ".k"), [], "beginning and end do not overlap");
    assert.ok(holdsAfter(look, () => plant(root, "w/s3.x", "w/t2.k")));
    assert.ok(!holdsAfter(look, () => Deno.renameSync(`${root}/w/s1.k`, `${root}/w/s9.k`)));
    assert.ok(!holdsAfter(look, () => Deno.removeSync(`${root}/w`, { recursive: true })));
    assert.deepEqual(new FsSnapshot().names(`${root}/w`), []);
  }));

Deno.test("after two missing paths in a small folder, flemma lists the folder; in a larger folder it does so after more missing paths", () => {
  const rows: readonly (readonly [size: number, misses: number])[] = [
    [0, 2],
    [4096, 2],
    [4097, 8],
    [49_152, 96],
  ];
  for (const [size, misses] of rows) assert.equal(patienceWith({ size }), misses, `${size} bytes`);
});

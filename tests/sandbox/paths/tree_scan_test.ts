// Repositories and files below the working folders, searched again after every command.

import assert from "node:assert/strict";
import { TreeScan } from "../../../sandbox/paths/tree_scan.ts";
import { plant } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

test("repositories are found, except behind links and in crowded folders", (root) => {
  plant(
    root,
    ...[
      "a/.git/",
      "b/c/.git",
      "b/d/e/.git/",
      "b/d/e/f/.git/",
      "node_modules/x/.git/",
      "b/target/.git/",
      "b/target/x/.git/",
      "link -> a",
      ".git/",
    ],
  );
  const { repositories } = new TreeScan({ near: [root] }, () => false).scan();
  assert.deepEqual(
    [...repositories].sort(),
    ["a", "b/c", "b/d/e", "b/d/e/f", "b/target"].map((name) => `${root}/${name}`),
  );
});

test("repositories are found at any depth below a near folder, and three levels below another one", (root) => {
  plant(root, "near/", "other/");
  const scan = new TreeScan({ near: [`${root}/near`], elsewhere: [`${root}/other`] }, () => false);
  assert.deepEqual(scan.scan().repositories, []);
  const deep = `near/${"d/".repeat(30)}r`;
  plant(root, `${deep}/.git/`, "other/a/b/c/.git/", "other/a/b/c/d/.git/");
  const { repositories, partial } = scan.scan();
  assert.deepEqual(repositories, [`${root}/${deep}`, `${root}/other/a/b/c`]);
  assert.deepEqual(partial, []);
});

test("a folder with more folders than the limit is partial, however deep they are", (root) => {
  plant(root, "a/");
  const scan = new TreeScan({ near: [root] }, () => false);
  assert.deepEqual(scan.scan().partial, []);
  const deep = `${root}/a/${"d/".repeat(12)}`;
  for (let at = 0; at < 2000; at++) Deno.mkdirSync(`${deep}${at}`, { recursive: true });
  assert.deepEqual(scan.scan().partial, [root]);
});

test("bare repositories and requested names are found below a folder, but not at the folder itself", (root) => {
  const bare = ["HEAD", "config", "objects/", "refs/"];
  plant(root, ...bare.map((name) => `b/x.git/${name}`), ...bare.slice(1).map((name) => `no/${name}`));
  plant(root, "b/.npmrc", ".npmrc", "b/c/.npmrc/", "npmrc");
  const { gitFolders, wanted } = new TreeScan({ near: [root] }, (name) => name === ".npmrc").scan();
  assert.deepEqual(gitFolders, [`${root}/b/x.git`]);
  assert.deepEqual(wanted, [`${root}/b/.npmrc`, `${root}/b/c/.npmrc`]);
});

test("entries that appear, disappear or are replaced between two scans are noticed, however old their folder is", (root) => {
  plant(root, "a/", "b/.git/", "c/d/");
  const scan = new TreeScan({ near: [root] }, () => false);
  const names = () => [...scan.scan().repositories].map((path) => path.slice(root.length + 1)).sort();
  assert.deepEqual(names(), ["b"]);
  plant(root, "a/.git/", "c/d/.git");
  Deno.removeSync(`${root}/b/.git`);
  assert.deepEqual(names(), ["a", "c/d"]);
  Deno.renameSync(`${root}/c/d`, `${root}/e`);
  assert.deepEqual(names(), ["a", "e"]);
  Deno.removeSync(`${root}/a`, { recursive: true });
  Deno.symlinkSync("e", `${root}/a`);
  assert.deepEqual(names(), ["e"]);
});

test("a folder that has not changed for a long time is not listed again", (root) => {
  plant(root, "a/");
  const list = Deno.readDirSync;
  const listed: string[] = [];
  const now = Date.now;
  Deno.readDirSync = (path) => {
    listed.push(String(path));
    return list(path);
  };
  try {
    Date.now = () => now() + 10_000;
    const scan = new TreeScan({ near: [root] }, () => false);
    scan.scan();
    const first = listed.splice(0);
    scan.scan();
    assert.deepEqual([first, listed], [[root, `${root}/a`], []]);
  } finally {
    Deno.readDirSync = list;
    Date.now = now;
  }
});

test("a missing folder, or a file in its place, counts as empty and does not affect other folders", (root) => {
  plant(root, "file", "there/r/.git/");
  const scan = new TreeScan({ near: [`${root}/none`, `${root}/file`, `${root}/there`] }, () => false);
  assert.deepEqual(scan.scan().repositories, [`${root}/there/r`]);
});

test("folders elsewhere that the first scan left out stay left out, but new folders and a near folder among them are read", (root) => {
  plant(root, ...Array.from({ length: 300 }, (_, at) => `other/a${at}/r/.git/`), "other/z/sub/.git/");
  const scan = new TreeScan({ near: [`${root}/other/z`], elsewhere: [`${root}/other`] }, () => false);
  const first = scan.scan();
  assert.deepEqual(first.partial, [`${root}/other`]);
  assert.ok(first.repositories.includes(`${root}/other/z/sub`));
  const read = first.repositories.length;
  plant(root, "other/new/.git/", "other/z/later/.git/");
  const second = scan.scan().repositories;
  assert.equal(second.length, read + 2);
  assert.ok(second.includes(`${root}/other/new`));
  assert.ok(second.includes(`${root}/other/z/later`));
});

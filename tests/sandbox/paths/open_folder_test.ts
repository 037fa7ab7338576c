// File operations in folders that somebody else replaces, moves and fills meanwhile: done in the checked folder or
// not at all.

import assert from "node:assert/strict";
import {
  inOpenFolder,
  linkInFolder,
  makeInFolder,
  moveFromFolder,
  openToOwner,
  putIntoFolder,
  removeEmptyFromFolder,
  setModeInFolder,
} from "../../../sandbox/paths/open_folder.ts";
import { plant } from "../fixture.ts";
import { testInFolder as test } from "../../folder.ts";

const OTHER_FOLDER = { message: /was replaced by a symbolic link or cannot be entered/ };

function text(path: string): string {
  return Deno.readTextFileSync(path);
}

function names(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

function modeOf(path: string): number {
  return (Deno.lstatSync(path).mode ?? 0) & 0o7777;
}

test("no file is changed in a folder that is reached through a link, wherever the link is in the path", async (root) => {
  plant(root, "outside/in/file", "keep/");
  Deno.symlinkSync("outside", `${root}/link`);
  for (const folder of [`${root}/link`, `${root}/link/in`]) {
    const path = `${folder}/file`;
    await assert.rejects(moveFromFolder(path, `${root}/keep/file`), OTHER_FOLDER);
    await assert.rejects(putIntoFolder(`${root}/keep/none`, path), OTHER_FOLDER);
    await assert.rejects(linkInFolder(path, "target"), OTHER_FOLDER);
    await assert.rejects(setModeInFolder(folder, 0o700), OTHER_FOLDER);
    assert.throws(() => makeInFolder(`${folder}/new`), OTHER_FOLDER);
  }
  assert.deepEqual(names(`${root}/outside`), ["in"]);
  assert.deepEqual(names(`${root}/outside/in`), ["file"]);
  assert.deepEqual(names(`${root}/keep`), []);
});

test("operations act in the folder that was checked, even if its path now leads elsewhere", async (root) => {
  plant(root, "project/nr/config", "outside/config");
  const exchange = `mv "$1/nr" "$1/away"; ln -s ../outside "$1/nr"; `;
  await inOpenFolder(`${root}/project/nr`, `${exchange} echo changed > ./config; mkdir ./made`, [
    `${root}/project`,
  ]);
  assert.equal(text(`${root}/outside/config`), "text of outside/config\n");
  assert.deepEqual(names(`${root}/outside`), ["config"]);
  assert.equal(text(`${root}/project/away/config`), "changed\n");
  assert.deepEqual(names(`${root}/project/away`), ["config", "made"]);
});

test("a missing folder, or a file in its place, is reported, and a script that fails reports its own error", async (root) => {
  plant(root, "file");
  await assert.rejects(inOpenFolder(`${root}/none`, ":"), OTHER_FOLDER);
  await assert.rejects(inOpenFolder(`${root}/file`, ":"), OTHER_FOLDER);
  await assert.rejects(inOpenFolder(root, "echo words >&2; exit 3"), { message: "words" });
});

test("files, links, and folders without write permission are moved away", async (root) => {
  plant(root, "from/file", "from/-shut/inner", "outside", "keep/");
  Deno.chmodSync(`${root}/from/-shut`, 0o500);
  Deno.symlinkSync("../outside", `${root}/from/link name`);
  for (const name of ["file", "-shut", "link name"]) {
    await moveFromFolder(`${root}/from/${name}`, `${root}/keep/${name}`);
  }
  assert.deepEqual(names(`${root}/from`), []);
  assert.deepEqual(names(`${root}/keep`), ["-shut", "file", "link name"]);
  assert.deepEqual(names(`${root}/keep/-shut`), ["inner"]);
  assert.equal(Deno.readLinkSync(`${root}/keep/link name`), "../outside");
  assert.equal(text(`${root}/outside`), "text of outside\n");
});

test("a file is put only at a path where no entry exists, not even a broken link, and keeps its mode", async (root) => {
  plant(root, "draft", "to/taken", "outside");
  Deno.symlinkSync("../outside", `${root}/to/link`);
  Deno.symlinkSync("none", `${root}/to/dangling`);
  Deno.mkdirSync(`${root}/to/folder`);
  Deno.chmodSync(`${root}/draft`, 0o750);
  for (const name of ["taken", "link", "dangling", "folder"]) {
    await assert.rejects(putIntoFolder(`${root}/draft`, `${root}/to/${name}`), {
      message: /the target already exists/,
    });
  }
  assert.equal(text(`${root}/to/taken`), "text of to/taken\n");
  assert.equal(text(`${root}/outside`), "text of outside\n");
  await putIntoFolder(`${root}/draft`, `${root}/to/free`);
  assert.equal(modeOf(`${root}/to/free`), 0o750);
});

test("a link is created with its parent folders, and only where no entry exists", async (root) => {
  plant(root, "here/taken");
  await linkInFolder(`${root}/here/two/three/link`, "-target");
  assert.equal(Deno.readLinkSync(`${root}/here/two/three/link`), "-target");
  await assert.rejects(linkInFolder(`${root}/here/taken`, "target"), { message: /exists/ });
  await assert.rejects(linkInFolder(`${root}/here/taken/link`, "target"));
  assert.equal(text(`${root}/here/taken`), "text of here/taken\n");
});

test("folders are created step by step, and existing ones stay as they are", (root) => {
  plant(root, "there/file");
  Deno.chmodSync(`${root}/there`, 0o711);
  makeInFolder(`${root}/there/a b/-c/*`);
  assert.deepEqual(names(`${root}/there/a b/-c`), ["*"]);
  assert.equal(modeOf(`${root}/there`), 0o711);
  assert.throws(() => makeInFolder(`${root}/there/file/x`));
});

test("a folder without permissions is opened to its owner only, and gets its mode back afterwards", async (root) => {
  plant(root, "shut/");
  Deno.chmodSync(`${root}/shut`, 0o055);
  await openToOwner(`${root}/shut`);
  assert.equal(modeOf(`${root}/shut`), 0o755);
  await setModeInFolder(`${root}/shut`, 0o055);
  assert.equal(modeOf(`${root}/shut`), 0o055);
  Deno.chmodSync(`${root}/shut`, 0o755);
});

test("removing works only on an empty file; a file with text, a folder or a link stays", async (root) => {
  plant(root, "text", "folder/");
  Deno.writeTextFileSync(`${root}/empty`, "");
  Deno.symlinkSync("empty", `${root}/link`);
  for (const name of ["text", "folder", "link"]) await removeEmptyFromFolder(`${root}/${name}`);
  assert.deepEqual(names(root), ["empty", "folder", "link", "text"]);
  await removeEmptyFromFolder(`${root}/empty`);
  assert.deepEqual(names(root), ["folder", "link", "text"]);
});

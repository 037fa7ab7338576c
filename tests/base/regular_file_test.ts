// Files are opened only if they are regular files, whatever replaces them meanwhile. A failure here hangs.

import assert from "node:assert/strict";
import { readOrNull } from "../../base/files.ts";
import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { prepareHandles } from "../../base/system/libc.ts";
import {
  NotRegularFile,
  openRegular,
  openRegularSync,
  readRegular,
  readRegularSync,
  readRegularTextSync,
} from "../../base/system/regular_file.ts";
import { readChecked, readCheckedSync } from "../../base/system/reading.ts";
import { descriptorsInto, testInFolder as test } from "../folder.ts";

function makePipe(path: string): void {
  assert.ok(new Deno.Command("mkfifo", { args: [path] }).outputSync().success);
}

/** Every function that opens a path which a command could have replaced. */
const READERS: Readonly<Record<string, (path: string) => unknown>> = {
  openRegular,
  openRegularSync,
  readRegular,
  readRegularSync,
  readRegularTextSync,
  readOrNull,
  readChecked: (path) => readChecked(path, () => null),
  readCheckedSync: (path) => readCheckedSync(path, () => null),
};

for (const [name, read] of Object.entries(READERS)) {
  test(`${name} refuses a pipe, a device, a socket, a folder, and links to them, without waiting`, async (folder) => {
    makePipe(`${folder}/pipe`);
    Deno.symlinkSync("pipe", `${folder}/link`);
    Deno.symlinkSync("/dev/zero", `${folder}/zero`);
    Deno.mkdirSync(`${folder}/folder`);
    using _ = Deno.listen({ transport: "unix", path: `${folder}/socket` });
    for (const each of ["pipe", "link", "zero", "folder", "socket"]) {
      await assert.rejects(Promise.try(() => read(`${folder}/${each}`)), NotRegularFile, each);
    }
  });
}

test("a snapshot has no text for a pipe or a device", (folder) => {
  makePipe(`${folder}/pipe`);
  Deno.symlinkSync("/dev/zero", `${folder}/zero`);
  for (const path of [`${folder}/pipe`, `${folder}/zero`]) {
    assert.equal(new FsSnapshot().read(path, 1000), null);
    assert.equal(new FsSnapshot().readBytes(path, 1000), null);
  }
});

test("a pipe that replaces a file between check and open is never opened", (folder) => {
  prepareHandles();
  const path = `${folder}/file`;
  Deno.writeTextFileSync(path, "text");
  const { file } = openRegularSync(path, () => {
    Deno.renameSync(path, `${folder}/old`);
    makePipe(path);
  });
  using _ = file;
  const bytes = new Uint8Array(10);
  assert.equal(new TextDecoder().decode(bytes.subarray(0, file.readSync(bytes) ?? 0)), "text");
  assert.throws(() => openRegularSync(path), NotRegularFile);
  assert.throws(() => openRegularSync(`${folder}/none`), Deno.errors.NotFound);
});

test("opening and refusing files leaves no descriptor open", (folder) => {
  prepareHandles();
  Deno.writeTextFileSync(`${folder}/file`, "text");
  makePipe(`${folder}/pipe`);
  for (let at = 0; at < 20; at++) {
    readRegularSync(`${folder}/file`);
    assert.throws(() => readRegularSync(`${folder}/file`, 3));
    for (const name of ["pipe", "none", "."]) assert.throws(() => readRegularSync(`${folder}/${name}`));
  }
  assert.deepEqual(descriptorsInto(folder), []);
  using file = Deno.openSync(`${folder}/file`);
  assert.ok(file.statSync().isFile);
  assert.deepEqual(descriptorsInto(folder), [`${folder}/file`], "an open one is found");
});

test("a file is read up to the limit, in full or not at all", async (folder) => {
  const path = `${folder}/file`;
  Deno.writeTextFileSync(path, "text");
  assert.equal(readRegularTextSync(path, 4), "text");
  assert.throws(() => readRegularTextSync(path, 3), /larger/);
  assert.equal((await readRegular(path, 4)).length, 4);
  await assert.rejects(readRegular(path, 3), /larger/);
});

for (const path of ["/proc/self/status", "/proc/self/pagemap", "/proc/self/environ"]) {
  test(`a pseudo-file is not read, also through a link: ${path}`, async (folder) => {
    Deno.symlinkSync(path, `${folder}/link`);
    for (const name of [path, `${folder}/link`]) {
      assert.throws(() => readRegularSync(name), /not a regular file/);
      await assert.rejects(readRegular(name), /not a regular file/);
    }
    Deno.writeTextFileSync(`${folder}/empty`, "");
    assert.equal(readRegularTextSync(`${folder}/empty`), "");
    assert.equal((await readRegular(`${folder}/empty`)).length, 0);
  });
}

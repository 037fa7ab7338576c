// The status of files from the C library, compared with that of the runtime.

import assert from "node:assert/strict";
import { StatCache } from "../../base/disk/stat_cache.ts";
import { type FileStatus, linkStatus, prepareHandles } from "../../base/system/libc.ts";
import { testInFolder } from "../folder.ts";

const FIELDS = [
  ...["isFile", "isDirectory", "isSymlink", "isSocket", "size", "mode", "nlink", "uid", "gid", "dev", "ino"],
  ...["mtime", "ctime"],
] as readonly (keyof FileStatus)[];

const test: typeof testInFolder = Deno.build.os === "linux" ? testInFolder : () => {};

test("a status from the C library has the same fields as one of the runtime", (root) => {
  prepareHandles();
  Deno.writeTextFileSync(`${root}/file`, "text", { mode: 0o640 });
  Deno.linkSync(`${root}/file`, `${root}/twin`);
  Deno.symlinkSync("file", `${root}/link`);
  Deno.symlinkSync("nothing", `${root}/dangling`);
  Deno.mkdirSync(`${root}/é \n`);
  Deno.writeTextFileSync(`${root}/old`, "");
  Deno.utimeSync(`${root}/old`, 1, 1.5);
  using _ = Deno.listen({ transport: "unix", path: `${root}/socket` });
  const own = ["file", "twin", "link", "dangling", "é \n", "old", "socket"].map((name) => `${root}/${name}`);
  for (const path of ["/", "/dev", "/dev/null", "/proc", "/sys", "/usr", root, ...own]) {
    const [found, wanted] = [linkStatus(path)!, Deno.lstatSync(path)];
    for (const field of FIELDS) assert.deepEqual(found[field], wanted[field], `${field} of ${path}`);
  }
});

test("what is not there has no status, and times before 1970 are left to the runtime", (root) => {
  prepareHandles();
  Deno.writeTextFileSync(`${root}/file`, "text");
  for (const path of ["nothing", "file/below", "file\0"]) {
    assert.equal(linkStatus(`${root}/${path}`), null, path);
  }
  assert.equal(linkStatus(""), null);
  Deno.utimeSync(`${root}/file`, -100, -100);
  assert.equal(linkStatus(`${root}/file`), undefined);
  const stats = new StatCache();
  assert.deepEqual(stats.lstat(`${root}/file`)?.mtime, Deno.lstatSync(`${root}/file`).mtime);
  assert.equal(stats.lstat(`${root}/nothing`), null);
});

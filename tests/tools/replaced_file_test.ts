// What replacing a file leaves behind: its bytes on the disk, and no open or temporary file.

import assert from "node:assert/strict";
import { isThere } from "../../base/files.ts";
import { replaceFile, takeSnapshot } from "../../tools/files/replace.ts";
import { descriptorsInto, testInFolder as test } from "../folder.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

for (const temporary of [".flemma-test", null]) {
  const way = temporary === null ? "overwritten" : "replaced";
  test(`a file that is ${way} is on the disk before it counts as written, and nothing stays open`, async (folder) => {
    const path = `${folder}/f`;
    await Deno.writeTextFile(path, "one\n");
    const seen: string[] = [];
    const { syncSync } = Deno.FsFile.prototype;
    Deno.FsFile.prototype.syncSync = function () {
      seen.push(Deno.readTextFileSync(temporary === null ? path : `${folder}/${temporary}`));
      return syncSync.call(this);
    };
    try {
      const since = await takeSnapshot(path, "f");
      await replaceFile(path, bytes("ours\n"), {
        shownAs: "f",
        temporary,
        since,
        overwriting: () => void seen.push("overwriting"),
      });
    } finally {
      Deno.FsFile.prototype.syncSync = syncSync;
    }
    assert.deepEqual(seen, temporary === null ? ["overwriting", "ours\n"] : ["ours\n"]);
    assert.deepEqual(descriptorsInto(folder), []);
  });

  test(`a file that changed before it could be ${way} is as it is, and nothing stays`, async (folder) => {
    const path = `${folder}/f`;
    await Deno.writeTextFile(path, "one\n");
    const since = await takeSnapshot(path, "f");
    const between = () => Deno.writeTextFileSync(path, "theirs\n");
    await assert.rejects(replaceFile(path, bytes("ours\n"), { shownAs: "f", temporary, since, between }));
    assert.equal(await Deno.readTextFile(path), "theirs\n");
    assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["f"]);
    assert.deepEqual(descriptorsInto(folder), []);
  });
}

test("a file whose temporary file cannot be created is not left open", async (folder) => {
  const path = `${folder}/f`;
  await Deno.writeTextFile(path, "one\n");
  const since = await takeSnapshot(path, "f");
  await Deno.mkdir(`${folder}/.flemma-test`);
  await assert.rejects(
    replaceFile(path, bytes("ours\n"), { shownAs: "f", temporary: ".flemma-test", since }),
  );
  assert.deepEqual(descriptorsInto(folder), []);
});

test("only a regular file that is not the system's is read before it is changed", async (folder) => {
  const rows: readonly (readonly [string, RegExp])[] = [
    [folder, /folder/],
    ["/dev/null", /is not a regular file/],
    ["/proc/uptime", /system/],
  ];
  for (const [path, why] of rows) assert.throws(() => takeSnapshot(path, "f"), why, path);
  // Opening a pipe that nobody writes would wait for ever.
  const made = await new Deno.Command("mkfifo", { args: [`${folder}/pipe`] }).output();
  assert.ok(made.success);
  assert.throws(() => takeSnapshot(`${folder}/pipe`, "f"), /is not a regular file/);
});

test("a file that was exchanged while it was opened is not read, and nothing stays open", async (folder) => {
  const path = `${folder}/f`;
  for (const name of ["f", "other"]) await Deno.writeTextFile(`${folder}/${name}`, name);
  const { openSync } = Deno;
  Deno.openSync = (opened, options) => {
    Deno.renameSync(`${folder}/other`, path);
    return openSync(opened, options);
  };
  try {
    assert.throws(() => takeSnapshot(path, "f"));
  } finally {
    Deno.openSync = openSync;
  }
  assert.deepEqual(descriptorsInto(folder), []);
});

test("a file that may not be written is not replaced either", async (folder) => {
  const path = `${folder}/f`;
  await Deno.writeTextFile(path, "one\n");
  const since = await takeSnapshot(path, "f");
  const { openSync } = Deno;
  // As for an ordinary user, whom the mode of the file keeps from writing it.
  Deno.openSync = (opened, options) => {
    if (opened === path && options?.write === true) throw new Deno.errors.PermissionDenied("its mode");
    return openSync(opened, options);
  };
  try {
    const options = { shownAs: "f", temporary: ".flemma-test", since };
    await assert.rejects(replaceFile(path, bytes("ours\n"), options), /its mode/);
  } finally {
    Deno.openSync = openSync;
  }
  assert.equal(await Deno.readTextFile(path), "one\n");
});

test("if the folder becomes a link while the new content is written, nothing is placed behind the link", async (folder) => {
  for (const name of ["project", "outside"]) await Deno.mkdir(`${folder}/${name}`);
  const path = `${folder}/project/f`;
  const { syncSync } = Deno.FsFile.prototype;
  Deno.FsFile.prototype.syncSync = function () {
    // The other program knows the temporary file too.
    Deno.linkSync(`${folder}/project/.flemma-test`, `${folder}/outside/.flemma-test`);
    Deno.renameSync(`${folder}/project`, `${folder}/moved`);
    Deno.symlinkSync("outside", `${folder}/project`);
    return syncSync.call(this);
  };
  try {
    const options = { shownAs: "f", temporary: ".flemma-test", since: null };
    await assert.rejects(replaceFile(path, bytes("ours\n"), options));
  } finally {
    Deno.FsFile.prototype.syncSync = syncSync;
  }
  assert.ok(!isThere(`${folder}/outside/f`));
});

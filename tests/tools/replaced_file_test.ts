// What replacing a file leaves behind: its bytes on the disk, and no open or temporary file.

import assert from "node:assert/strict";
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

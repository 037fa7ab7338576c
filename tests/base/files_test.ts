import assert from "node:assert/strict";
import { createFile, isThere, removeIfThere, replaceSmallFile, writeAll } from "../../base/files.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "flemma-files-" });
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const names = (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name);

Deno.test("all bytes are written to a taker that takes them in pieces", async () => {
  const taken: number[] = [];
  const taker = {
    write: (rest: Uint8Array) => {
      taken.push(...rest.subarray(0, 2));
      return Promise.resolve(Math.min(2, rest.length));
    },
  };
  await writeAll(taker, Uint8Array.of(1, 2, 3, 4, 5));
  assert.deepEqual(taken, [1, 2, 3, 4, 5]);
});

Deno.test("a new file is made for this person alone, and never in place of another", () =>
  inFolder(async (folder) => {
    const path = `${folder}/new`;
    await createFile(path, bytes("text"));
    assert.equal(await Deno.readTextFile(path), "text");
    assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
    await assert.rejects(createFile(path, bytes("other")), Deno.errors.AlreadyExists);
    assert.equal(await Deno.readTextFile(path), "text");
  }));

for (const durable of [true, false]) {
  Deno.test(`a small file is replaced whole and leaves nothing beside it${durable ? ", durably" : ""}`, () =>
    inFolder(async (folder) => {
      const path = `${folder}/small`;
      for (const text of ["first", "second"]) {
        await replaceSmallFile(path, bytes(text), { durable });
        assert.equal(await Deno.readTextFile(path), text);
      }
      assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
      assert.deepEqual(names(folder), ["small"]);
    }));

  Deno.test(`a small file that cannot be replaced stays, and so does nothing else${durable ? ", durably" : ""}`, () =>
    inFolder(async (folder) => {
      await Deno.mkdir(`${folder}/taken/inner`, { recursive: true });
      await assert.rejects(replaceSmallFile(`${folder}/taken`, bytes("text"), { durable }));
      assert.deepEqual(names(folder), ["taken"]);
      await assert.rejects(
        replaceSmallFile(`${folder}/gone/small`, bytes("text"), { durable }),
        Deno.errors.NotFound,
      );
    }));
}

Deno.test("a file is taken away if it is there; a folder with files in it is told", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/a`, "");
    await removeIfThere(`${folder}/a`);
    await removeIfThere(`${folder}/a`);
    assert.ok(!isThere(`${folder}/a`));
    await Deno.mkdir(`${folder}/full/inner`, { recursive: true });
    await assert.rejects(removeIfThere(`${folder}/full`));
  }));

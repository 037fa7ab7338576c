// The journal of a batch after a kill or a full disk left a line incomplete.

import assert from "node:assert/strict";
import { readJsonOrNull } from "../../base/files.ts";
import { batchFolder, BatchJournal, readBatches, readJournals } from "../../batch/journal.ts";
import { inFolder } from "../folder.ts";

const HEAD = {
  id: "0123456789",
  provider: "openai",
  kind: "openai",
  model: "gpt-test",
  url: "http://localhost/v1/responses",
  time: "2026-11-28T12:00:00.000Z",
  count: 1,
} as const;

const environmentIn = (folder: string) => ({
  cwd: folder,
  home: folder,
  variables: { XDG_STATE_HOME: `${folder}/state` },
});

Deno.test("a line after an incomplete line of the journal counts", () =>
  inFolder(async (folder) => {
    const environment = environmentIn(folder);
    (await BatchJournal.create(environment, HEAD, [])).close();
    const path = `${batchFolder(environment)}/${HEAD.id}.jsonl`;
    Deno.writeTextFileSync(path, `{"kind":"posting","ti`, { append: true });
    {
      using journal = (await BatchJournal.open(environment, HEAD.id))!;
      await journal.recordCreated("batch_1");
      await journal.recordEnd("a", "written");
    }
    const [record] = await readBatches(environment);
    assert.equal(record?.posted, null);
    assert.equal(record?.remote, "batch_1");
    assert.equal(record?.ends.get("a"), "written");
    assert.equal(Deno.readTextFileSync(path).split("\n").filter((line) => line === "").length, 1);
  }));

Deno.test("after a write that failed in the middle of a line, the next line of the journal counts", () =>
  inFolder(async (folder) => {
    const environment = environmentIn(folder);
    using journal = await BatchJournal.create(environment, HEAD, []);
    const { write } = Deno.FsFile.prototype;
    let calls = 0;
    Deno.FsFile.prototype.write = function (bytes) {
      calls++;
      if (calls === 1) return write.call(this, bytes.subarray(0, 5));
      return Promise.reject(new Deno.errors.WriteZero("no space left on device"));
    };
    try {
      await assert.rejects(journal.recordPosting("2026-11-28T12:00:01.000Z"));
    } finally {
      Deno.FsFile.prototype.write = write;
    }
    await journal.recordCreated("batch_1");
    const [record] = await readBatches(environment);
    assert.deepEqual([record?.posted, record?.remote], [null, "batch_1"]);
  }));

for (
  const [what, put] of [
    ["a folder", (path: string) => Deno.mkdirSync(path)],
    ["a circular link", (path: string) => Deno.symlinkSync(path, path)],
  ] as const
) {
  Deno.test(`${what} in place of a journal is damage, and in place of another record means that there is none`, () =>
    inFolder(async (folder) => {
      const environment = environmentIn(folder);
      Deno.mkdirSync(batchFolder(environment), { recursive: true });
      const path = `${batchFolder(environment)}/${HEAD.id}.jsonl`;
      put(path);
      assert.deepEqual(await readJournals(environment), { batches: [], damaged: [path] });
      assert.equal(readJsonOrNull(path), null);
    }));
}

// The total size of the changes saved for undo is known without a look at each of them.

import assert from "node:assert/strict";
import { SizeLedger } from "../../agent/undo/size_ledger.ts";
import { SavedFiles } from "../../agent/undo/saved_files.ts";
import { inFolder } from "../folder.ts";

const environmentIn = (folder: string) => ({
  cwd: folder,
  home: folder,
  variables: { XDG_STATE_HOME: `${folder}/state` },
});

/** Counts the calls of `Deno.stat` while `body` runs. */
async function statsDuring(body: () => Promise<void>): Promise<number> {
  const { stat } = Deno;
  let count = 0;
  Deno.stat = (path) => (count++, stat(path));
  try {
    await body();
  } finally {
    Deno.stat = stat;
  }
  return count;
}

function saver(folder: string, megabytes = 200) {
  const notices: unknown[] = [];
  const saved = new SavedFiles(
    environmentIn(folder),
    `${folder}/a.chat`,
    megabytes,
    (event) => notices.push(event),
  );
  let number = 0;
  const change = async (content = "x") => {
    const path = `${folder}/${number}.txt`;
    const done = await saved.keep({ id: `c${number++}`, name: "write" }, { path, shownAs: path });
    Deno.writeTextFileSync(path, content);
    await done();
  };
  return { change, notices };
}

/** Sizes of all saved changes. */
function sizesIn(folder: string): number[] {
  const root = `${folder}/state/flemma/undo`;
  return [...Deno.readDirSync(root)].filter(({ isDirectory }) => isDirectory).flatMap(({ name }) =>
    [...Deno.readDirSync(`${root}/${name}`)].map((each) => Deno.statSync(`${root}/${name}/${each.name}`).size)
  );
}

Deno.test("saving a change looks at the same number of files however many are saved", () =>
  inFolder(async (folder) => {
    const { change, notices } = saver(folder);
    await change();
    const few = await statsDuring(async () => {
      for (let at = 0; at < 20; at++) await change();
    });
    for (let at = 0; at < 100; at++) await change();
    const many = await statsDuring(async () => {
      for (let at = 0; at < 20; at++) await change();
    });
    assert.equal(many, few);
    assert.deepEqual(notices, []);
    // Another run, in a state folder that is known already.
    const next = await statsDuring(() => saver(folder).change());
    assert.ok(next < 20, `${next}`);
  }));

Deno.test("the limit holds, also with many changes, after a kill and with two runs at the same time", () =>
  inFolder(async (folder) => {
    const sum = () => sizesIn(folder).reduce((all, each) => all + each, 0);
    const [one, other] = [saver(folder, 0.1), saver(folder, 0.1)];
    for (let at = 0; at < 300; at++) {
      await (at % 2 === 0 ? one : other).change("y".repeat(500));
      assert.ok(sum() <= 100_000, `${at}: ${sum()}`);
    }
    assert.ok(sum() > 80_000, `only the oldest changes are removed: ${sum()}`);
    Deno.writeTextFileSync(`${folder}/state/flemma/undo/size`, "12\nbroken");
    for (let at = 0; at < 3; at++) await one.change("z".repeat(20_000));
    assert.ok(sum() <= 100_000, `${sum()}`);
    Deno.removeSync(`${folder}/state/flemma/undo/size`);
    await other.change("z".repeat(20_000));
    assert.ok(sum() <= 100_000, `${sum()}`);
    assert.deepEqual([...one.notices, ...other.notices], []);
  }));

Deno.test("two ledgers of one file agree, and a long or broken one must be counted again", () =>
  inFolder((folder) => {
    const [one, other] = [new SizeLedger(`${folder}/size`), new SizeLedger(`${folder}/size`)];
    assert.equal(one.add(5), null);
    one.begin(100);
    assert.deepEqual([one.add(5), other.add(7), one.add(-2)], [105, 112, 110]);
    other.begin(1);
    assert.deepEqual([one.add(1), other.add(1)], [2, 3]);
    Deno.writeTextFileSync(`${folder}/size`, "x\n", { append: true });
    assert.equal(one.add(1), null);
    Deno.writeTextFileSync(`${folder}/size`, "1\n".repeat(40_000));
    assert.equal(one.add(1), null);
    return Promise.resolve();
  }));

Deno.test("a ledger that begins again is read from its beginning, also if the file system gives the new file the number of the old one", () =>
  inFolder((folder) => {
    const ledger = new SizeLedger(`${folder}/size`);
    ledger.begin(100);
    const { statSync } = Deno.FsFile.prototype;
    Deno.FsFile.prototype.statSync = function () {
      return { ...statSync.call(this), ino: 7 };
    };
    try {
      assert.equal(ledger.add(5), 105);
      ledger.begin(1000);
      assert.equal(ledger.add(5), 1005);
    } finally {
      Deno.FsFile.prototype.statSync = statSync;
    }
    return Promise.resolve();
  }));

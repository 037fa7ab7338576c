// A file is read only when what was opened is what was judged.

import assert from "node:assert/strict";
import { readJudged, readJudgedSync } from "../../base/judged_file.ts";

async function inFolder(body: (folder: string) => void | Promise<void>): Promise<void> {
  const folder = Deno.realPathSync(Deno.makeTempDirSync());
  try {
    await body(folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

async function both(path: string, judge: Parameters<typeof readJudged>[1]): Promise<string[]> {
  const read = [await readJudged(path, judge), readJudgedSync(path, judge)];
  return read.map((bytes) =>
    typeof bytes === "string" ? `refused: ${bytes}` : new TextDecoder().decode(bytes)
  );
}

Deno.test("what is judged is the file that a link leads to", () =>
  inFolder(async (folder) => {
    Deno.writeTextFileSync(`${folder}/a`, "text");
    Deno.symlinkSync("a", `${folder}/link`);
    const judged: string[] = [];
    const judge = (real: string) => {
      judged.push(real);
      return null;
    };
    assert.deepEqual(await both(`${folder}/link`, judge), ["text", "text"]);
    assert.deepEqual(judged, [`${folder}/a`, `${folder}/a`]);
    assert.deepEqual(await both(`${folder}/link`, () => "no"), ["refused: no", "refused: no"]);
  }));

for (
  const [what, exchange] of [
    ["another file", (folder: string) => Deno.renameSync(`${folder}/secret`, `${folder}/d/a`)],
    ["a link to another file", (folder: string) => {
      Deno.removeSync(`${folder}/d/a`);
      Deno.symlinkSync("../secret", `${folder}/d/a`);
    }],
    ["a link in place of the folder, to a hard link of the same file", (folder: string) => {
      Deno.mkdirSync(`${folder}/e`);
      Deno.linkSync(`${folder}/d/a`, `${folder}/e/a`);
      Deno.removeSync(`${folder}/d`, { recursive: true });
      Deno.symlinkSync("e", `${folder}/d`);
    }],
  ] as const
) {
  Deno.test(`${what} that takes the place of a file between judging and opening is not read`, async () => {
    for (const read of [readJudged, readJudgedSync]) {
      await inFolder(async (folder) => {
        Deno.mkdirSync(`${folder}/d`);
        Deno.writeTextFileSync(`${folder}/d/a`, "harmless");
        Deno.writeTextFileSync(`${folder}/secret`, "secret");
        const answer = await read(`${folder}/d/a`, () => {
          exchange(folder);
          return null;
        });
        assert.equal(answer, "it was exchanged for something else while it was opened");
      });
    }
  });
}

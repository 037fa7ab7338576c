// The file with the output of a background job: everything up to its limit, then beginning and end.

import assert from "node:assert/strict";
import { BothEndsFile } from "../../tools/overflow/both_ends.ts";
import { inFolder } from "../folder.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("a file keeps all output, or beginning and end in order, however the output is split", () =>
  inFolder(async (folder) => {
    const all = Array.from({ length: 60 }, (_, at) => String.fromCharCode(97 + at % 26)).join("");
    for (const length of [0, 1, 9, 10, 11, 15, 16, 25, 60]) {
      for (const piece of [1, 3, 7, 100]) {
        const path = `${folder}/new/${length}-${piece}.txt`;
        const file = new BothEndsFile(path, 10);
        const output = all.slice(0, length);
        for (let at = 0; at < length; at += piece) await file.write(bytes(output.slice(at, at + piece)));
        assert.deepEqual([file.problem, file.capped], [null, length > 10]);
        await file.close();
        assert.equal(file.usablePath, length === 0 ? null : path);
        if (length === 0) continue;
        const expected = length <= 10
          ? output
          : `${output.slice(0, 5)}\n[… ${length - 10} bytes left out …]\n${output.slice(-5)}`;
        assert.equal(Deno.readTextFileSync(path), expected, `${length} in pieces of ${piece}`);
        assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
        assert.deepEqual(
          [...Deno.readDirSync(`${folder}/new`)].filter(({ name }) => name.endsWith(".new")),
          [],
        );
      }
    }
  }));

Deno.test("output that cannot be stored does not fail the job: the file says why, and nothing stays behind", () =>
  inFolder(async (folder) => {
    Deno.writeTextFileSync(`${folder}/in-the-way`, "");
    const blocked = new BothEndsFile(`${folder}/in-the-way/job.txt`, 10);
    await blocked.write(bytes("a"));
    await blocked.write(bytes("b"));
    await blocked.close();
    assert.equal(blocked.usablePath, null);
    assert.match(blocked.problem?.message ?? "", /^The complete output could not be saved to .*job\.txt: /);
    if (Deno.build.os !== "linux") return;
    // A device on which every write fails as on a full disk.
    Deno.symlinkSync("/dev/full", `${folder}/full.txt`);
    const full = new BothEndsFile(`${folder}/full.txt`, 10);
    await full.write(bytes("a"));
    assert.match(full.problem?.message ?? "", /No space left/);
    assert.equal(full.usablePath, null);
    assert.throws(() => Deno.lstatSync(`${folder}/full.txt`), Deno.errors.NotFound);
  }));

Deno.test("a discarded file is gone", () =>
  inFolder(async (folder) => {
    const file = new BothEndsFile(`${folder}/a.txt`, 10);
    await file.discard();
    await file.write(bytes("abc"));
    await file.discard();
    assert.deepEqual([...Deno.readDirSync(folder)], []);
  }));

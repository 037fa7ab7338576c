// JSON files of the state folder: what a change of one may lose, and what it must not.

import assert from "node:assert/strict";
import { failure, success } from "../../base/problem.ts";
import { changeJson, readJson } from "../../config/sources/json_file.ts";
import { testInFolder as test } from "../folder.ts";

test("a change gets the content of the file, writes its new content, and removes the file for null", async (root) => {
  const path = `${root}/state/a.json`;
  const seen: unknown[] = [];
  for (const next of [{ a: 1 }, [2], null, null]) {
    assert.ok((await changeJson(path, (content) => (seen.push(content), success(next)))).ok);
  }
  assert.deepEqual(seen, [null, { a: 1 }, [2], null]);
  assert.throws(() => Deno.statSync(path), Deno.errors.NotFound);
});

test("a file that is not JSON, or whose change fails, stays as it is", async (root) => {
  const path = `${root}/a.json`;
  const rows = [
    ["{ broken", () => success({ a: 1 }), "file-broken"],
    ["{ broken", () => success(null), "file-broken"],
    ['{"a":1}', () => failure("no-change", "No."), "no-change"],
  ] as const;
  for (const [text, change, code] of rows) {
    Deno.writeTextFileSync(path, text);
    const changed = await changeJson(path, change);
    assert.equal(changed.ok ? "" : changed.problem.code, code);
    assert.equal(Deno.readTextFileSync(path), text);
  }
});

test("changes at the same time are made one after the other", async (root) => {
  const path = `${root}/a.json`;
  const add = (content: unknown) => success([...(content as number[] | null ?? []), 1]);
  await Promise.all(Array.from({ length: 20 }, () => changeJson(path, add)));
  const read = readJson(path);
  assert.equal(read.ok ? (read.value as number[]).length : 0, 20);
});

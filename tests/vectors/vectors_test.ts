// Every vector must be decided: none may accept any result.

import assert from "node:assert/strict";

const FOLDER = new URL("./", import.meta.url);

for (const { name } of [...Deno.readDirSync(FOLDER)].filter(({ name }) => name.endsWith(".jsonl"))) {
  Deno.test(`the tests use every vector of ${name}`, () => {
    const lines = Deno.readTextFileSync(new URL(name, FOLDER)).trimEnd().split("\n").map((line) => JSON.parse(line));
    assert.ok(lines.length > 0);
    assert.deepEqual(lines.filter(({ sure }) => sure === false).map((vector) => vector.name), []);
  });
}

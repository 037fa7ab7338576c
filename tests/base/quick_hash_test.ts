import assert from "node:assert/strict";
import fc from "fast-check";
import { quickHash } from "../../base/hash.ts";

Deno.test("a quick hash is the same for the same text, and has 14 hexadecimal digits", () => {
  assert.equal(quickHash("You help Ada."), quickHash(["You help", "Ada."].join(" ")));
  for (const text of ["", "a", "é😀\0", "x".repeat(100_000)]) {
    assert.match(quickHash(text), /^[0-9a-f]{14}$/);
  }
});

Deno.test("no two similar texts have the same quick hash", () => {
  const seen = new Map<string, string>();
  const add = (text: string) => {
    const print = quickHash(text);
    const other = seen.get(print);
    assert.ok(other === undefined || other === text, `${JSON.stringify(other)} and ${JSON.stringify(text)}`);
    seen.set(print, text);
  };
  const base = "The quick brown fox jumps over the lazy dog. ".repeat(5);
  for (let index = 0; index < base.length; index++) {
    add(base.slice(0, index) + base.slice(index + 1));
    add(`${base.slice(0, index)} ${base.slice(index)}`);
    for (const letter of "aZ\n\0é") add(base.slice(0, index) + letter + base.slice(index + 1));
  }
  for (let count = 0; count < 3000; count++) add("0".repeat(count));
  for (let number = 0; number < 20_000; number++) add(String(number));
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => add(text)), {
    seed: 20261128,
    numRuns: 20_000,
  });
});

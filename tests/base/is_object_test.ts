import assert from "node:assert/strict";
import { isObject, own } from "../../base/is_object.ts";

Deno.test("only an object with fields counts as an object; arrays and null do not", () => {
  for (const value of [{}, { a: 1 }, Object.create(null), JSON.parse('{"length":0}')]) {
    assert.ok(isObject(value));
  }
  for (const value of [[], null, undefined, 1, "", true, () => {}]) {
    assert.ok(!isObject(value), String(value));
  }
});

Deno.test("looking up the name of a built-in object property in a table returns nothing", () => {
  const table = { mine: "word" };
  for (const name of ["constructor", "toString", "hasOwnProperty", "__proto__", "valueOf", ""]) {
    assert.equal(own(table, name), undefined, name);
  }
  assert.equal(own(table, "mine"), "word");
});

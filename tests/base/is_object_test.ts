import assert from "node:assert/strict";
import { isObject } from "../../base/is_object.ts";

Deno.test("an object with members is one; lists, null and everything else are not", () => {
  for (const value of [{}, { a: 1 }, Object.create(null), JSON.parse('{"length":0}')]) {
    assert.ok(isObject(value));
  }
  for (const value of [[], null, undefined, 1, "", true, () => {}]) {
    assert.ok(!isObject(value), String(value));
  }
});

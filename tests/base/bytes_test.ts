import assert from "node:assert/strict";
import { toHex } from "../../base/hash.ts";
import { commonPrefix, concat, fromBase64, sameBytes } from "../../base/bytes.ts";

Deno.test("byte arrays are joined in order; a single array is not copied, and joining no arrays gives an empty array", () => {
  const [a, b] = [Uint8Array.of(1, 2), Uint8Array.of(3)];
  assert.deepEqual(concat([a, new Uint8Array(0), b]), Uint8Array.of(1, 2, 3));
  assert.equal(concat([a]), a);
  assert.equal(concat([]).length, 0);
});

Deno.test("byte arrays are equal if their lengths and all their bytes are equal, whatever their types", () => {
  const whole = Uint8Array.of(9, 1, 2);
  assert.ok(sameBytes(whole, whole));
  assert.ok(sameBytes(whole.subarray(1), Uint8Array.of(1, 2)));
  assert.ok(!sameBytes(Uint8Array.of(1), Uint8Array.of(1, 2)));
  assert.ok(!sameBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 3)));
});

Deno.test("the common prefix of two arrays ends at the first difference or at the end of the shorter array", () => {
  assert.equal(commonPrefix(Uint8Array.of(1, 2, 3), Uint8Array.of(1, 2, 4)), 2);
  assert.equal(commonPrefix(Uint8Array.of(1, 2), Uint8Array.of(1, 2, 4)), 2);
  assert.equal(commonPrefix(Uint8Array.of(5), Uint8Array.of(1)), 0);
});

Deno.test("Base64 and hexadecimal digits are converted in the same way on runtimes that have no methods for them", () => {
  const has = Uint8Array.fromBase64;
  const all = Uint8Array.from({ length: 256 }, (_, at) => at);
  try {
    for (const method of [has, undefined]) {
      Object.assign(Uint8Array, { fromBase64: method });
      assert.deepEqual(fromBase64(btoa(String.fromCharCode(...all))), all);
      assert.deepEqual(fromBase64(""), new Uint8Array(0));
      assert.throws(() => fromBase64("no Base64!"));
    }
  } finally {
    Object.assign(Uint8Array, { fromBase64: has });
  }
  assert.equal(toHex(all), all.toHex());
});

import assert from "node:assert/strict";
import { commonPrefix, concat, sameBytes } from "../../base/bytes.ts";

Deno.test("parts are joined in order; one part is not copied, and no part gives no bytes", () => {
  const [a, b] = [Uint8Array.of(1, 2), Uint8Array.of(3)];
  assert.deepEqual(concat([a, new Uint8Array(0), b]), Uint8Array.of(1, 2, 3));
  assert.equal(concat([a]), a);
  assert.equal(concat([]).length, 0);
});

Deno.test("bytes are the same when length and every byte are, whatever holds them", () => {
  const whole = Uint8Array.of(9, 1, 2);
  assert.ok(sameBytes(whole, whole));
  assert.ok(sameBytes(whole.subarray(1), Uint8Array.of(1, 2)));
  assert.ok(!sameBytes(Uint8Array.of(1), Uint8Array.of(1, 2)));
  assert.ok(!sameBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 3)));
});

Deno.test("the common prefix ends at the first difference or with the shorter one", () => {
  assert.equal(commonPrefix(Uint8Array.of(1, 2, 3), Uint8Array.of(1, 2, 4)), 2);
  assert.equal(commonPrefix(Uint8Array.of(1, 2), Uint8Array.of(1, 2, 4)), 2);
  assert.equal(commonPrefix(Uint8Array.of(5), Uint8Array.of(1)), 0);
});

// JSON with whole numbers of any length.

import assert from "node:assert/strict";
import { parseExactly } from "../../base/text/exact_json.ts";

for (
  const text of [
    `{"id":12345678901234567890,"at":[-98765432109876543210]}`,
    `{"safe":9007199254740991,"not":9007199254740993}`,
    `[1.5,1e21,"12345678901234567890",null]`,
  ]
) {
  Deno.test(`the digits of ${text} stay`, () => {
    assert.equal(JSON.stringify(parseExactly(text)), text);
  });
}

Deno.test("other numbers are decoded as always", () => {
  const text = `{"id":12345678901234567890,"tokens":17,"share":0.25}`;
  const { tokens, share } = parseExactly(text) as Record<string, unknown>;
  assert.deepEqual([tokens, share], [17, 0.25]);
  assert.throws(() => parseExactly("1234567890123456x"), SyntaxError);
});

Deno.test("a runtime that can only round a number does not decode the text", () => {
  const { rawJSON } = JSON as unknown as Record<string, unknown>;
  Reflect.deleteProperty(JSON, "rawJSON");
  try {
    assert.throws(() => parseExactly(`{"id":12345678901234567890}`), /would round a number/);
    assert.deepEqual(parseExactly(`{"id":1234567890123456}`), { id: 1234567890123456 });
  } finally {
    Object.defineProperty(JSON, "rawJSON", { value: rawJSON, configurable: true, writable: true });
  }
});

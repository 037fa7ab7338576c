import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { base64 } from "../../prompt/base64.ts";

Deno.test("our base64 encoder agrees with the runtime's for every length around its chunk size", () => {
  for (const length of [0, 1, 2, 3, 4, 24575, 24576, 24577, 49152, 50000]) {
    const bytes = Uint8Array.from({ length }, (_, at) => (at * 131 + length) & 255);
    assert.equal(base64(bytes), Buffer.from(bytes).toString("base64"));
  }
});

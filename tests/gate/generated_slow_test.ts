import assert from "node:assert/strict";
import { staleFiles } from "../../scripts/gate/generated.ts";
import { ROOT } from "../../scripts/gate/root.ts";

Deno.test("every generated file is what its script makes today", async () => {
  assert.deepEqual(await staleFiles(ROOT), []);
});

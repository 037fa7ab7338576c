import assert from "node:assert/strict";
import { staleFiles } from "../../scripts/gate/generated.ts";
import { ROOT } from "../../scripts/gate/root.ts";

Deno.test("every generated file equals the current output of its script", async () => {
  assert.deepEqual(await staleFiles(ROOT), []);
});

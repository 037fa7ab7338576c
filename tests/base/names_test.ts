import assert from "node:assert/strict";
import { listed } from "../../base/names.ts";

Deno.test("a sentence names a few names whole, and of many the first ten and how many more", () => {
  const names = (count: number) => Array.from({ length: count }, (_, at) => `n${at}`);
  assert.equal(listed([]), "");
  assert.equal(listed(["a", "b"]), "a, b");
  // Naming the eleventh takes no more room than counting it.
  assert.equal(listed(names(11)), names(11).join(", "));
  assert.equal(listed(names(12)), `${names(10).join(", ")} and 2 more`);
  assert.equal(listed(names(2000)), `${names(10).join(", ")} and 1990 more`);
});

import assert from "node:assert/strict";
import { joinNames } from "../../base/names.ts";

Deno.test("a sentence contains a few names completely; of many names it contains the first ten and the number of the others", () => {
  const names = (count: number) => Array.from({ length: count }, (_, at) => `n${at}`);
  assert.equal(joinNames([]), "");
  assert.equal(joinNames(["a", "b"]), "a, b");
  // Naming the eleventh takes no more room than counting it.
  assert.equal(joinNames(names(11)), names(11).join(", "));
  assert.equal(joinNames(names(12)), `${names(10).join(", ")} and 2 more`);
  assert.equal(joinNames(names(2000)), `${names(10).join(", ")} and 1990 more`);
});

// A short fuzz run: documents and edits from the most difficult pieces. `deno task campaign documents` and `edits`
// are the long ones.

import { hostileDocument, Random } from "./hostile.ts";
import { checkDocument, checkEdits } from "./promises.ts";

const SEED = Number(Deno.env.get("FLEMMA_TEST_SEED") ?? 20261);

function each(count: number, check: (random: Random) => void): void {
  for (let index = 0; index < count; index++) {
    try {
      check(new Random(SEED + index));
    } catch (error) {
      throw new Error(`document of seed ${SEED + index}`, { cause: error });
    }
  }
}

Deno.test("hostile documents are parsed as the grammar defines, and nodes cover each byte once and restore the exact text", () => {
  each(3000, (random) => checkDocument(hostileDocument(random)));
});

/** Documents with which the parser and its second readers once disagreed. */
const KEPT: readonly (readonly [seed: number, largeOneIn: number])[] = [
  // A result in which a fence holds a tag that stays open.
  [28847, 60],
];

Deno.test("documents on which the two parsers once disagreed are now parsed the same by both", () => {
  for (const [seed, largeOneIn] of KEPT) checkDocument(hostileDocument(new Random(seed), largeOneIn));
});

Deno.test("after a hostile edit, the tree equals that of a full parse of the edited bytes", () => {
  each(1500, (random) => checkEdits(hostileDocument(random), random));
});

// A short run of the fuzz: documents and edits from the pieces that hurt most. `deno task campaign documents` and `edits` are the long ones.

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

Deno.test("hostile documents are read as the grammar says, cover every byte once and come back as they were", () => {
  each(3000, (random) => checkDocument(hostileDocument(random)));
});

/** Documents with which the parser and its second readers once disagreed. */
const KEPT: readonly (readonly [seed: number, largeOneIn: number])[] = [
  // A result in which a fence holds a tag that stays open.
  [28847, 60],
];

Deno.test("documents that once told readers apart are read alike", () => {
  for (const [seed, largeOneIn] of KEPT) checkDocument(hostileDocument(new Random(seed), largeOneIn));
});

Deno.test("hostile edits lead to what a full parse of the edited bytes gives", () => {
  each(1500, (random) => checkEdits(hostileDocument(random), random));
});

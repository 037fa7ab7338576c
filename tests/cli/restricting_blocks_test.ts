// Real runs with frontmatter meant to keep bash from running without asking.

import assert from "node:assert/strict";
import { callsDocument, testWithScene as test, withScene } from "./harness.ts";
import { REFUSED, WORKS } from "../config/restricting_blocks.ts";

/** Every third of the refused ones; all of them are looked at in tests/config. */
const RUN = REFUSED.filter((_, index) => index % 3 === 0);

const PERSON = "tools: { auto_approve: [bash] }\n";

function document(block: string): string {
  return `${block}\n${callsDocument([{ id: "c1", command: "touch ran" }])}`;
}

test("without a restriction in the frontmatter, the call that these tests use runs", async (place) => {
  place.settings(PERSON);
  place.write("a.chat", document(""));
  await place.run(["execute", "a.chat", "c1"]);
  await place.run(["advance", "a.chat"]);
  assert.ok(place.exists("ran"));
});

for (const [spelling, block] of WORKS) {
  test(`if the frontmatter restricts bash, the call does not run: ${spelling}`, async (place) => {
    place.settings(PERSON);
    place.write("a.chat", document(block));
    await place.exits(3, ["advance", "a.chat"]);
    assert.ok(!place.exists("ran"));
    assert.match(place.read("a.chat"), /status=pending/);
  });
}

Deno.test(`${RUN.length} misspelled restrictions stop the run instead of being ignored, and the correct spelling is shown`, async (test) => {
  for (const [spelling, block, reported] of RUN) {
    await test.step(spelling, () =>
      withScene(async (place) => {
        place.settings(PERSON);
        const text = document(block);
        place.write("a.chat", text);
        const { stderr } = await place.exits(4, ["advance", "a.chat"]);
        assert.match(stderr, reported);
        assert.ok(!place.exists("ran"), "the call ran");
        assert.equal(place.read("a.chat"), text, "nothing is written");
      }));
  }
});

// Markdown inside messages.

import assert from "node:assert/strict";
import { parse, update } from "../../parser/mod.ts";
import { proseOf } from "../../parser/prose.ts";

const document = "@You:\n# A *title*\n{{ x }}\nmore\n@Assistant:\n* point\n";

Deno.test("each text of a message has a Markdown tree, with positions inside that text", async () => {
  const chat = parse(new TextEncoder().encode(document));
  const [first, second] = await proseOf(chat.turns[0]!);
  assert.match(first!.tree.toString(), /^Document\(ATXHeading1\(HeaderMark,Emphasis/);
  const emphasis = first!.tree.resolveInner(5, 1);
  assert.equal(first!.segment.value.slice(emphasis.from, emphasis.to), "*title*");
  assert.equal(second!.segment.value, "\nmore");
});

Deno.test("a message that an edit does not touch keeps its Markdown trees", async () => {
  const before = parse(new TextEncoder().encode(document));
  const [tree] = await proseOf(before.turns[1]!);
  const after = update(before, [{ from: 8, to: 8, insert: "new " }]);
  const [same] = await proseOf(after.turns[1]!);
  assert.equal(same!.tree, tree!.tree);
  assert.equal(same!.segment.place!.from, tree!.segment.place!.from + 4);
});

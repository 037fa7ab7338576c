import assert from "node:assert/strict";
import fc from "fast-check";
import { utf8Length } from "../../base/bytes.ts";
import { contentFromBytes } from "../../cycle/storage/disk/content.ts";
import { extensionOf, type GrownText, MAX_STEP_BYTES } from "../../cycle/storage/disk/extension.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function extension(base: string, content: string, grown?: GrownText) {
  return extensionOf(contentFromBytes(bytes(base)), contentFromBytes(bytes(content)), grown);
}

const LARGE = "x".repeat(MAX_STEP_BYTES);

/** What stands in the file, what should, and how it grows. */
const ROWS: readonly (readonly [string, string, string, ReturnType<typeof extension>])[] = [
  ["the same", "one\n", "one\n", null],
  ["shorter", "one\n", "one", null],
  ["other text", "one\n", "two\nthree\n", null],
  ["one more line", "one\n", "one\ntwo\n", { at: 4, ends: [8] }],
  ["a last line that gets longer", "one\n", "one and two\n", { at: 3, ends: [12] }],
  ["a last line that gets longer, with CR LF", "one\r\n", "one and two\r\n", { at: 3, ends: [13] }],
  ["a blank line replaced by text", "one\n\n", "one two\n", { at: 3, ends: [8] }],
  ["one replaced letter", "one.\n", "one and two\n", null],
  ["three replaced bytes", "one\n\n\n", "one and two\n", null],
  ["exactly as much text as one step writes", "one\n", `one\n${LARGE}`, {
    at: 4,
    ends: [4 + MAX_STEP_BYTES],
  }],
  ["one byte more than one step writes", "one\n", `one\n${LARGE}x`, null],
];
for (const [what, base, content, expected] of ROWS) {
  Deno.test(`a file is extended only at its end, and at most by the limit of one write step: ${what}`, () => {
    assert.deepEqual(extension(base, content), expected);
  });
}

Deno.test("pieces of a text are written in order, as many in each write step as its limit allows", () => {
  const pieces = [
    " and two",
    "x".repeat(MAX_STEP_BYTES),
    "three\n",
    "y".repeat(9000),
    "z".repeat(9000),
    "\n",
  ];
  const content = `one${pieces.join("")}`;
  const ends = [11, 11 + MAX_STEP_BYTES, 17 + MAX_STEP_BYTES + 9000, content.length];
  assert.deepEqual(extension("one\n", content, { from: 3, pieces }), { at: 3, ends });
  const tooLarge = [...pieces, "x".repeat(MAX_STEP_BYTES + 1)];
  assert.equal(extension("one\n", `one${tooLarge.join("")}`, { from: 3, pieces: tooLarge }), null);
});

Deno.test("each write step ends at the end of a piece, and all steps together write the whole new text", () => {
  const words = fc.constantFrom("a line\n", "–🙂", "\r\n", "w".repeat(5000), "山".repeat(2000));
  fc.assert(
    fc.property(fc.array(words, { minLength: 1, maxLength: 30 }), fc.boolean(), (pieces, unfinished) => {
      const base = unfinished ? "@You:\nHi\n" : "@You:\nHi";
      const from = 8;
      const content = bytes(`@You:\nHi${pieces.join("")}`);
      if (content.length <= base.length) return;
      const found = extensionOf(contentFromBytes(bytes(base)), contentFromBytes(content), { from, pieces });
      assert.ok(found !== null);
      let offset = from;
      const may = new Set(pieces.map((piece) => offset += bytes(piece).length));
      let before = found.at;
      for (const end of found.ends) {
        assert.ok(may.has(end) && end > before && end - before <= MAX_STEP_BYTES, `${end}`);
        before = end;
      }
      assert.equal(before, content.length);
      assert.ok(found.at >= from && found.at <= base.length);
    }),
    { numRuns: 300 },
  );
});

Deno.test("the computed byte length of a text equals the length of its encoding, even if it contains half surrogate pairs", () => {
  fc.assert(fc.property(
    fc.string({ unit: fc.constantFrom("a", "é", "–", "🙂", "\ud83d", "\ude42", "\0") }),
    (text) => assert.equal(utf8Length(text), bytes(text).length),
  ));
});

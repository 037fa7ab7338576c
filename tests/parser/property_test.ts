// Properties of every document, tested on documents built from the most difficult pieces.

import assert from "node:assert/strict";
import fc from "fast-check";
import { applyEdits, type Chat, type Edit, parse, toJson, update } from "../../parser/mod.ts";
import { PIECES } from "./hostile.ts";
import { nodes } from "./outline.ts";
import { checkCover, checkDocument } from "./promises.ts";
import "../../parser/tree/trees.ts";

const encoder = new TextEncoder();

const line = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...PIECES) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 12 }) },
  // Long enough to be cut, and to become a node of its own in the tree.
  {
    weight: 1,
    arbitrary: fc.nat(70).map((count) =>
      Array.from({ length: count }, (_, at) => `long line ${at}`).join("\n")
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom("x".repeat(700), "`".repeat(40), "  ".repeat(30)) },
);

const ending = fc.oneof(
  { weight: 12, arbitrary: fc.constant("\n") },
  { weight: 2, arbitrary: fc.constantFrom("\r\n", "\n\n", "") },
);

const loose = fc.array(fc.tuple(line, ending), { maxLength: 40 }).map((rows) => rows.flat().join(""));

/** Whole blocks, so that deep structure is not a matter of luck. */
const blocks = fc.array(
  fc.oneof(
    loose,
    fc.constantFrom(
      "@You:\n",
      "@Assistant:\n",
      "**Tool Use:** `bash` (`a`)\n\n```json\n{}\n```\n",
      "**Tool Result:** `a`\n\n```\nout\n```\n",
      "<thinking>\nhm\n</thinking>\n",
      '<server_tool a:blocks="e30=">\nweb_search: x\n</server_tool>\n',
      "```js\ncode\n```\n",
      "**Tool Result:** `a`\n\n````flemma:tool\n```yaml flemma:questions\nx:\n```\n````\n",
    ),
  ),
  { maxLength: 12 },
).map((parts) => parts.join(""));

/** Structure far apart, so that whole nodes of the old tree lie between an edit and what decides about them. */
const spread = fc.array(
  fc.tuple(line, ending, fc.nat(3)).map(([text, end, padding]) =>
    `${text}${end}${`${"-".repeat(450)}\n`.repeat(padding)}`
  ),
  { minLength: 10, maxLength: 40 },
).map((parts) => `@Assistant:\n${parts.join("")}`);

const bytes = fc.tuple(
  fc.constantFrom("", "\ufeff", "```lua\nx = 1\n```\n", "```json\n"),
  fc.oneof(loose, blocks),
  fc.boolean(),
  fc.array(fc.tuple(fc.nat(), fc.constantFrom(0xff, 0xc3, 0xf0, 0x80, 0x00)), { maxLength: 2 }),
).map(([head, body, crlf, spoiled]) => {
  const text = head + body;
  const result = encoder.encode(crlf ? text.replaceAll(/\r?\n/g, "\r\n") : text);
  for (const [at, byte] of spoiled) if (result.length > 0) result[at % result.length] = byte;
  return result;
});

const insert = fc.oneof(
  fc.constant(""),
  fc.tuple(line, ending).map(([text, end]) => text + end),
  fc.tuple(ending, line).map(([end, text]) => end + text),
  fc.constantFrom("`", "```\n", "\n", "\r", "\r\n", "\ufeff", "@", "x"),
  blocks,
);

/** Edits of one document, given by fractions of its length. */
const edits = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(20), insert), {
  minLength: 1,
  maxLength: 3,
});

function placed(chat: Chat, wanted: readonly (readonly [number, number, string])[]): Edit[] {
  const result: Edit[] = [];
  let reached = 0;
  for (const [where, length, text] of [...wanted].sort((a, b) => a[0] - b[0])) {
    const from = Math.max(reached, Math.floor(where * chat.bytes.length));
    const to = Math.min(chat.bytes.length, from + length);
    result.push({ from, to, insert: text });
    reached = to;
  }
  return result;
}

function check(numRuns: number): fc.Parameters<unknown> {
  return {
    numRuns: numRuns * Number(Deno.env.get("FLEMMA_TEST_FACTOR") ?? 1),
    seed: Number(Deno.env.get("FLEMMA_TEST_SEED") ?? 20261),
    endOnFailure: false,
  };
}

Deno.test("any bytes are parsed into a tree of the grammar, and its messages and nodes cover all of them", () => {
  fc.assert(fc.property(bytes, checkDocument), check(1000));
});

Deno.test("the tree of a long document also conforms to the grammar", () => {
  fc.assert(fc.property(spread.map((text) => encoder.encode(text)), checkDocument), check(100));
});

Deno.test("the lines of a document, their offsets and the line at each offset are consistent", () => {
  fc.assert(
    fc.property(bytes, (document) => {
      const chat = parse(document);
      const feeds = document.filter((byte) => byte === 10).length;
      const open = document.length > (chat.bom ? 3 : 0) && document.at(-1) !== 10 ? 1 : 0;
      assert.equal(chat.lineCount, Math.max(1, feeds + open));
      for (let line = 1; line <= chat.lineCount; line++) {
        assert.equal(chat.lineAt(chat.lineStart(line)), line);
        assert.ok(chat.lineEnd(line) >= chat.lineStart(line));
        assert.equal(chat.lineText(line).includes("\n"), false);
      }
      assert.equal(chat.lineStart(chat.lineCount + 1), document.length);
    }),
    check(400),
  );
});

function updatesLikeParse(
  document: Uint8Array,
  rounds: readonly (readonly [number, number, string][])[],
): void {
  let chat = parse(document);
  for (const round of rounds) {
    const wanted = placed(chat, round);
    const before = chat.bytes;
    chat = update(chat, wanted);
    assert.deepEqual(chat.bytes, applyEdits(before, wanted));
    checkCover(chat);
    const whole = parse(chat.bytes);
    assert.deepEqual(nodes(chat.tree), nodes(whole.tree));
    assert.deepEqual(toJson(chat), toJson(whole));
  }
}

Deno.test("after every edit, an updated document equals the parse of the edited bytes", () => {
  fc.assert(
    fc.property(bytes, fc.array(edits, { minLength: 1, maxLength: 4 }), updatesLikeParse),
    check(1500),
  );
});

Deno.test("a long updated document that reuses much of the old tree also equals a fresh parse", () => {
  const documents = spread.map((text) => encoder.encode(text));
  fc.assert(
    fc.property(documents, fc.array(edits, { minLength: 1, maxLength: 4 }), updatesLikeParse),
    check(700),
  );
});

// A reply streams in while a person saves: their lines and the whole reply stay.

import assert from "node:assert/strict";
import fc from "fast-check";
import { parse, update } from "../../parser/mod.ts";
import { type Grown, mergeGrowing, shiftBlock, startedFrom } from "../../cycle/storage/growing_block.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (data: Uint8Array) => new TextDecoder().decode(data);

const BEFORE = "@System:\nBe brief.\n\n@You:\nOne?  \nTwo?\n";
const REPLY = "\n@Assistant:\nFirst line.\nSecond line.\n\nThird line, which is long.\n";
const BEHIND = "";

/** What the file holds after `written` of the reply's characters, a line end behind an unfinished line included. */
function onDisk(written: string): string {
  return BEFORE + (written === "" || written.endsWith("\n") ? written : `${written}\n`) + BEHIND;
}

/** Merges what somebody wrote with a reply of which `whole` is known by now. */
function merged(theirs: string, whole = REPLY): Grown | null {
  const start = bytes(BEFORE).length;
  const place = (reply: string) => ({ start, end: bytes(onDisk(reply)).length - bytes(BEHIND).length });
  return mergeGrowing(
    { text: bytes(onDisk(whole)), block: place(whole) },
    bytes(theirs),
    !whole.endsWith("\n"),
  );
}

const HALF = "\n@Assistant:\nFirst line.\nSecond li";

const KEPT: readonly (readonly [string, string, string])[] = [
  ["the final line break is removed", onDisk(HALF).trimEnd(), BEFORE + REPLY],
  [
    "stripped blanks",
    onDisk(HALF).replace("One?  \n", "One?\n"),
    BEFORE.replace("One?  \n", "One?\n") + REPLY,
  ],
  [
    "the question is edited",
    onDisk(HALF).replace("One?", "Uno?"),
    BEFORE.replace("One?", "Uno?") + REPLY,
  ],
  [
    "the last line of the question is edited",
    onDisk(HALF).replace("Two?", "Due?"),
    BEFORE.replace("Two?", "Due?") + REPLY,
  ],
  [
    "a finished line of the reply is edited",
    onDisk(HALF).replace("First line.", "First LINE."),
    BEFORE + REPLY.replace("First line.", "First LINE."),
  ],
  [
    "the next question is typed below",
    `${onDisk(HALF)}\n@You:\nNext?\n`,
    `${BEFORE}${REPLY}\n@You:\nNext?\n`,
  ],
  ["a line is added at the end of the file", `${onDisk(HALF)}more\n`, `${BEFORE}${REPLY}more\n`],
  ["an old buffer without the reply is saved", BEFORE, BEFORE + REPLY],
  [
    "the empty line above the reply is removed",
    onDisk(HALF).replace("\n\n@Assistant:", "\n@Assistant:"),
    `${BEFORE}${REPLY.slice(1)}`,
  ],
  [
    "an edited old buffer without a final line break is saved",
    BEFORE.replace("One?", "Uno?").trimEnd(),
    BEFORE.replace("One?", "Uno?") + REPLY,
  ],
  [
    "an old buffer with the next question typed below is saved",
    `${BEFORE}\n@You:\nNext?\n`,
    `${BEFORE}${REPLY}\n@You:\nNext?\n`,
  ],
  [
    "a buffer from the middle of a line is saved, with the next question below",
    `${onDisk("\n@Assistant:\nFirst li")}\n@You:\nNext?\n`,
    `${BEFORE}${REPLY}\n@You:\nNext?\n`,
  ],
  [
    "a buffer from the middle of the reply is saved, with an edited line of the reply",
    onDisk("\n@Assistant:\nFirst line.\nSecond line.\n").replace("First", "1st"),
    BEFORE + REPLY.replace("First", "1st"),
  ],
];
for (const [what, theirs, after] of KEPT) {
  Deno.test(`the streaming reply and the person's change are both kept if ${what}`, () => {
    const result = merged(theirs);
    assert.ok(result !== null);
    assert.equal(text(result.text), after);
    assert.ok(result.sameAuthority);
    assert.match(
      text(result.text.subarray(result.block.start, result.block.end)),
      /^\s*@Assistant:\n[^]*is long\.\n$/,
    );
  });
}

Deno.test("if a person edits the unfinished line of a reply, the edit goes below the reply, which stays whole", () => {
  const changed = merged(onDisk(HALF).replace("Second li", "Second thought"));
  assert.equal(text(changed!.text), `${BEFORE}${REPLY}Second thought\n`);
  const blanks = merged(onDisk(HALF).replace("Second li", "Second li  "));
  assert.equal(text(blanks!.text), BEFORE + REPLY);
});

Deno.test("if another program saves bytes that are not text, they cannot be merged with the reply", () => {
  assert.equal(merged(`${BEFORE}\0`), null);
});

Deno.test("if another program changes a status or the frontmatter during a reply, the change is kept and the run must stop", () => {
  const block = "\n@You:\n\n**Tool Result:** `c1`\n\n```flemma:tool status=approved\n```\n";
  const result = merged(onDisk(HALF) + block);
  assert.ok(result !== null && !result.sameAuthority);
  assert.equal(text(result.text), BEFORE + REPLY + block);
  const first = "```json\n{}\n```\n\n";
  const settings = merged(first + onDisk(HALF));
  assert.ok(settings !== null && !settings.sameAuthority);
  assert.equal(text(settings.text), first + BEFORE + REPLY);
});

Deno.test("if a merged line needs a line end, it gets the line end that the document uses", () => {
  const crlf = (value: string) => value.replaceAll("\n", "\r\n");
  const before = crlf("@You:\nHi\n");
  const whole = before + crlf("\n@Assistant:\nOne\nTwo\n");
  const start = before.length;
  const ours = { text: bytes(whole), block: { start, end: whole.length } };
  const result = mergeGrowing(ours, bytes(before.trimEnd()), false);
  assert.equal(text(result!.text), whole);
});

Deno.test("whenever a person saves during a reply, the person's lines stay in order and the reply stays whole", () => {
  const edit = fc.record({
    line: fc.integer({ min: 0, max: 5 }),
    insert: fc.constantFrom("mine", "```", "", "@You:", "First line.", "}"),
    replace: fc.boolean(),
  });
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: REPLY.length }),
      fc.integer({ min: 0, max: REPLY.length }),
      fc.array(edit, { maxLength: 3 }),
      fc.option(fc.constantFrom("\n@You:\nNext?\n", "note\n"), { nil: "" }),
      fc.boolean(),
      (first, second, edits, below, noLineEnd) => {
        const [seen, written] = first < second ? [first, second] : [second, first];
        // The opening of a reply is written in one piece.
        const atLeast = (count: number) => count === 0 ? 0 : Math.max(count, "\n@Assistant:\nF".length);
        const saw = onDisk(REPLY.slice(0, atLeast(seen)));
        const lines = saw.split("\n");
        for (const { line, insert, replace } of edits) lines.splice(line, replace ? 1 : 0, insert);
        let theirs = lines.join("\n") + below;
        if (noLineEnd) theirs = theirs.trimEnd();
        const known = REPLY.slice(0, atLeast(written));
        const result = merged(theirs, known);
        assert.ok(result !== null, "edits above the reply are not a conflict");
        const whole = text(result.text);
        const rest = whole.split("\n");
        // Every line of theirs is there, in order; the one that was cut in the middle goes on.
        let at = 0;
        for (const line of theirs.split("\n").map((line) => line.trimEnd())) {
          if (line === "") continue;
          const found = rest.findIndex((other, index) => index >= at && other.startsWith(line));
          assert.ok(found >= 0, `${JSON.stringify(line)} is lost in ${JSON.stringify(whole)}`);
          at = found;
        }
        at = 0;
        for (const line of known.split("\n").filter((line) => line !== "")) {
          const found = rest.findIndex((other, index) => index >= at && other.startsWith(line));
          assert.ok(found >= 0, `the reply lacks ${JSON.stringify(line)} in ${JSON.stringify(whole)}`);
          at = found;
        }
        assert.ok(whole.split("Third line, which is long.").length <= 2, whole);
      },
    ),
    { seed: 11, numRuns: 3000 },
  );
});

Deno.test("a block moves with edits above it and grows with edits inside it, but not with text added below: one row per edit", () => {
  const block = { start: 10, end: 20 };
  const rows: readonly (readonly [from: number, to: number, insert: string, start: number, end: number])[] = [
    [0, 2, "ä", 10, 20],
    [0, 0, "abc", 13, 23],
    [5, 10, "", 5, 15],
    [12, 14, "", 10, 18],
    [18, 20, "abc", 10, 21],
    [20, 20, "abc", 10, 20],
    [25, 25, "abc", 10, 20],
    [8, 12, "abc", 8, 19],
    [18, 22, "abc", 10, 18],
    [5, 25, "abc", 5, 5],
  ];
  for (const atStart of ["above", "into"] as const) {
    for (const [from, to, insert, start, end] of rows) {
      assert.deepEqual(shiftBlock(block, [{ from, to, insert }], atStart), { start, end }, `${from} ${to}`);
    }
  }
  const put = [{ from: 10, to: 10, insert: "abc" }];
  assert.deepEqual(shiftBlock(block, put, "above"), { start: 13, end: 23 });
  assert.deepEqual(shiftBlock(block, put, "into"), { start: 10, end: 23 });
  const empty = { start: 10, end: 10 };
  assert.deepEqual(shiftBlock(empty, put, "into"), empty, "a reply that has not started keeps its place");
});

Deno.test("after any edits, the range of a block contains exactly the remaining old text of the block, and no old text from around it", () => {
  const edit = fc.record({ gap: fc.nat(6), taken: fc.nat(6), insert: fc.constantFrom("", "-", "---", "ä") });
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 6 }), fc.nat(30), fc.nat(30), (parts, a, b) => {
      const old = "0123456789abcdefghijklmnopqrst";
      const [start, end] = [Math.min(a, b), Math.max(a, b)];
      let at = 0;
      const edits = parts.flatMap(({ gap, taken, insert }) => {
        const from = at + gap;
        at = from + taken + 1;
        return from + taken > old.length ? [] : [{ from, to: from + taken, insert }];
      });
      const now = new TextDecoder().decode(update(parse(bytes(old)), edits).bytes);
      const left = (part: string) => [...part].filter((letter) => now.includes(letter)).join("");
      for (const atStart of ["above", "into"] as const) {
        const place = shiftBlock({ start, end }, edits, atStart);
        const retained = text(bytes(now).subarray(place.start, place.end));
        assert.equal(
          [...retained].filter((letter) => old.includes(letter)).join(""),
          left(old.slice(start, end)),
        );
      }
    }),
    { seed: 3, numRuns: 2000 },
  );
});

Deno.test("if another program saves a completely different text while a reply is being written, this is a conflict", () => {
  const other = Array.from({ length: 1200 }, (_, at) => `another line ${at}\n`).join("");
  const many = bytes(Array.from({ length: 1200 }, (_, at) => `line ${at}\n`).join("") + REPLY);
  const block = { start: many.length - bytes(REPLY).length, end: many.length };
  assert.equal(mergeGrowing({ text: many, block }, bytes(other), false), null);
  assert.equal(startedFrom({ text: many, block }, bytes(other)), many);
});

import assert from "node:assert/strict";
import fc from "fast-check";
import stringWidth from "string-width";
import { visible } from "../../base/visible.ts";
import { cutToWidth, displayWidth } from "../../base/width.ts";

Deno.test("control characters, escape sequences and carriage returns become visible", () => {
  assert.equal(visible("a\x1b[2Jb\rc\x07\x7f\x9b"), "a\\x1b[2Jb\\rc\\x07\\x7f\\x9b");
  assert.equal(visible("one\ntwo\tthree"), "one\\ntwo\\tthree");
});

Deno.test("bidirectional controls and zero-width characters become visible", () => {
  assert.equal(
    visible("a\u202eb\u2066c\u200bd\u200de\ufefff\u00adg"),
    "a\\u202eb\\u2066c\\u200bd\\u200de\\ufefff\\xadg",
  );
  assert.equal(visible("a\u{e0041}\u2028\u2029\u180e\ud800"), "a\\u{e0041}\\u2028\\u2029\\u180e\\ud800");
});

Deno.test("the joiners inside an emoji are kept, and those in other text are removed", () => {
  assert.equal(visible("👨‍👩‍👧 ❤️ 👍🏽"), "👨‍👩‍👧 ❤️ 👍🏽");
  assert.equal(visible("👨‍a"), "👨\\u200da");
  assert.equal(visible("a\ufe0f"), "a\\ufe0f");
});

Deno.test("text of several lines keeps only line feeds and tabs", () => {
  assert.equal(visible("a\n\tb\r\n", { lines: true }), "a\n\tb\\r\n");
});

Deno.test("after escaping, no character acts on a terminal, and escaping twice changes nothing", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 40 }), (text) => {
      const shown = visible(text);
      assert.doesNotMatch(shown, /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
      assert.equal(visible(shown), shown);
    }),
    { seed: 20260302, numRuns: 5000 },
  );
});

Deno.test("the width of a text equals the width that the reference package computes", () => {
  const samples = [
    "plain",
    "日本語",
    "ｆｕｌｌ",
    "한국어",
    "é",
    "e\u0301x",
    "👨‍👩‍👧",
    "❤️",
    "👍🏽",
    "🇩🇪",
    "→ ↵ … —",
    "ｱ",
    "Ω≈ç",
    "🎉a",
  ];
  for (const sample of samples) assert.equal(displayWidth(sample), stringWidth(sample), sample);
});

Deno.test("the width of every letter, number and symbol equals the width that the reference package computes", () => {
  const different: string[] = [];
  for (let code = 0x20; code < 0x20000; code++) {
    const character = String.fromCodePoint(code);
    // What is ignorable, and so was made visible before, is not measured.
    if (!/^[\p{L}\p{N}\p{P}\p{S}\p{Zs}]$/u.test(character) || visible(character) !== character) continue;
    if (displayWidth(character) !== stringWidth(character)) different.push(code.toString(16));
  }
  assert.deepEqual(different, []);
});

Deno.test("shortened text fits, ends in an ellipsis and never ends inside a character", () => {
  assert.equal(cutToWidth("abcdef", 6), "abcdef");
  assert.equal(cutToWidth("abcdef", 5), "abcd…");
  assert.equal(cutToWidth("日本語", 4), "日…");
  assert.equal(cutToWidth("👨‍👩‍👧👨‍👩‍👧", 3), "👨‍👩‍👧…");
  assert.equal(cutToWidth("abc", 1), "…");
  assert.equal(cutToWidth("日", 1), "…");
  assert.equal(cutToWidth("abc", 0), "");
  assert.equal(cutToWidth("abc", -3), "");
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", maxLength: 30 }),
      fc.integer({ min: 0, max: 20 }),
      (text, width) => {
        const cut = cutToWidth(visible(text), width);
        assert.ok(displayWidth(cut) <= width);
        assert.ok(cut === visible(text) || cut === "" || cut.endsWith("…"));
      },
    ),
    { seed: 20260304, numRuns: 2000 },
  );
});

Deno.test("a very long text is shortened without being measured completely", () => {
  assert.equal(cutToWidth("x".repeat(10_000_000), 4), "xxx…");
  assert.equal(cutToWidth("日".repeat(1_000_000), 5), "日日…");
});

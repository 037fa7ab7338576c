import assert from "node:assert/strict";
import fc from "fast-check";
import {
  byteLength,
  formatSize,
  MAX_BYTES,
  MAX_LINE_CHARS,
  MAX_LINES,
  truncateHead,
  truncateLine,
  truncateTail,
} from "../../tools/truncate.ts";

const SEED = { seed: 20260301, numRuns: 1500 };
/** Lines of letters, umlauts, emoji and lone surrogates. */
const text = fc.array(
  fc.string({ unit: fc.constantFrom("a", "é", "日", "🎉", "\n", " ", "\r"), maxLength: 30 }),
)
  .map((parts) => parts.join("\n"));
const limits = fc.record({
  maxLines: fc.integer({ min: 1, max: 8 }),
  maxBytes: fc.integer({ min: 1, max: 40 }),
});

Deno.test("the default limits for shortened text are 2000 lines, 50 KiB and 500 bytes per line", () => {
  assert.deepEqual([MAX_LINES, MAX_BYTES, MAX_LINE_CHARS], [2000, 51200, 500]);
});

Deno.test("shortening from either end keeps at most the allowed lines and bytes, and the result is a part of the text", () => {
  fc.assert(
    fc.property(text, limits, (text, limits) => {
      for (const [cut, isPart] of [[truncateHead, "startsWith"], [truncateTail, "endsWith"]] as const) {
        const result = cut(text, limits);
        assert.ok(byteLength(result.content) <= limits.maxBytes);
        assert.ok(result.content.split("\n").length <= limits.maxLines);
        assert.equal(result.output_bytes, byteLength(result.content));
        assert.ok(text[isPart](result.content));
        assert.ok(!result.content.includes("\ufffd"));
        assert.equal(result.total_lines, text.split("\n").length);
        assert.equal(result.total_bytes, byteLength(text));
        assert.equal(result.truncated, result.content !== text);
      }
    }),
    SEED,
  );
});

Deno.test("shortening a text that was already shortened changes nothing", () => {
  fc.assert(
    fc.property(text, limits, (text, limits) => {
      for (const cut of [truncateHead, truncateTail]) {
        const once = cut(text, limits).content;
        const twice = cut(once, limits);
        assert.equal(twice.content, once);
        assert.equal(twice.truncated, false);
      }
      const line = truncateLine(text, limits.maxBytes);
      assert.equal(truncateLine(line, limits.maxBytes), line);
    }),
    SEED,
  );
});

Deno.test("shortening keeps as many lines as fit", () => {
  fc.assert(
    fc.property(text, limits, (text, limits) => {
      const lines = text.split("\n");
      const head = truncateHead(text, limits);
      if (head.truncated) {
        const more = lines.slice(0, head.output_lines + 1);
        assert.ok(more.length > limits.maxLines || byteLength(more.join("\n")) > limits.maxBytes);
        assert.equal(head.truncated_by, head.output_lines >= limits.maxLines ? "lines" : "bytes");
      }
      const tail = truncateTail(text, limits);
      if (tail.truncated && !tail.last_line_partial) {
        const more = lines.slice(-tail.output_lines - 1);
        assert.ok(more.length > limits.maxLines || byteLength(more.join("\n")) > limits.maxBytes);
      }
    }),
    SEED,
  );
});

Deno.test("text within both limits is unchanged", () => {
  const text = "a\nb\n";
  assert.deepEqual(truncateHead(text, { maxLines: 3, maxBytes: 4 }), {
    content: text,
    truncated: false,
    truncated_by: null,
    total_lines: 3,
    total_bytes: 4,
    output_lines: 3,
    output_bytes: 4,
    last_line_partial: false,
    first_line_exceeds_limit: false,
  });
  assert.equal(truncateTail(text, { maxLines: 3, maxBytes: 4 }).content, text);
});

Deno.test("a final line feed counts as one more line, which is empty", () => {
  assert.equal(truncateTail("a\nb\n", { maxLines: 2 }).content, "b\n");
  assert.equal(truncateHead("a\nb\n", { maxLines: 2 }).content, "a\nb");
});

Deno.test("keeping the beginning returns no text if the first line alone exceeds the byte limit", () => {
  const result = truncateHead("abcdef\nb", { maxBytes: 5 });
  assert.equal(result.content, "");
  assert.equal(result.output_lines, 0);
  assert.equal(result.first_line_exceeds_limit, true);
  assert.equal(result.truncated_by, "bytes");
});

Deno.test("keeping the end returns the end of the last line if that line alone exceeds the byte limit", () => {
  const result = truncateTail("first\nabcdef", { maxBytes: 4 });
  assert.equal(result.content, "cdef");
  assert.equal(result.last_line_partial, true);
  assert.equal(result.output_lines, 1);
});

Deno.test("a byte limit inside an emoji is moved to the next character", () => {
  assert.equal(truncateTail("x🎉ab", { maxBytes: 4 }).content, "ab");
  assert.equal(truncateLine("🎉🎉🎉🎉🎉", 17), "🎉 [truncated]");
});

Deno.test("shortening never produces a lone surrogate", () => {
  for (const result of [truncateHead("a\ud83d"), truncateTail("a\ud83d")]) {
    assert.equal(result.content, "a\ufffd");
  }
  assert.equal(truncateLine("a\ud83d"), "a\ufffd");
});

Deno.test("a byte order mark is text like any other", () => {
  assert.equal(truncateHead("\ufeffa\nb", { maxLines: 1 }).content, "\ufeffa");
  assert.equal(truncateTail("b\n\ufeffa", { maxLines: 1 }).content, "\ufeffa");
});

Deno.test("a single line is cut to its limit and marked only if it is longer", () => {
  const exact = "x".repeat(500);
  assert.equal(truncateLine(exact), exact);
  const cut = truncateLine(exact + "y");
  assert.equal(byteLength(cut), 500);
  assert.match(cut, /^x{488} \[truncated\]$/);
  assert.equal(truncateLine("abcdef", 3), "abc");
});

Deno.test("sizes from a kilobyte on are written with one decimal and without a space", () => {
  const sizes = [0, 1023, 1024, 12345, 1024 ** 2, 3.5 * 1024 ** 3, 2048 * 1024 ** 3];
  assert.deepEqual(sizes.map(formatSize), ["0B", "1023B", "1.0KB", "12.1KB", "1.0MB", "3.5GB", "2048.0GB"]);
});

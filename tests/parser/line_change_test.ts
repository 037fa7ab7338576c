// The change between two texts as whole lines, and that it is complete.

import assert from "node:assert/strict";
import fc from "fast-check";
import { type LineChange, lineChange } from "../../parser/edits/line_change.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const change = (before: string, after: string) => lineChange(bytes(before), bytes(after));

/** Lines as editors hold them: a line feed at the end begins no new one. */
function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function applied(lines: readonly string[], { line, removed, lines: now }: LineChange): string[] {
  return lines.toSpliced(line - 1, removed, ...now);
}

const ROWS: readonly (readonly [string, string, string, LineChange | null])[] = [
  ["the same text is no change", "a\nb\n", "a\nb\n", null],
  ["an additional line feed at the end is no change", "a\nb", "a\nb\n", null],
  ["a missing line feed at the end is no change", "a\nb\n", "a\nb", null],
  ["a word in a line replaces that line", "a\nbc\nd\n", "a\nbx\nd\n", { line: 2, removed: 1, lines: ["bx"] }],
  ["a line that grows is replaced", "a\nb", "a\nbc", { line: 2, removed: 1, lines: ["bc"] }],
  [
    "lines after a last line without a line feed are appended, and the last line stays",
    "a",
    "a\n\nb",
    { line: 2, removed: 0, lines: ["", "b"] },
  ],
  ["lines inserted between others are added", "a\nd\n", "a\nb\nd\n", { line: 2, removed: 0, lines: ["b"] }],
  ["a deleted line is removed", "a\nb\nc\n", "a\nc\n", { line: 2, removed: 1, lines: [] }],
  ["an empty text gets its lines at the beginning", "", "a\n", { line: 1, removed: 0, lines: ["a"] }],
  ["a text that becomes empty loses all its lines", "a\nb\n", "", { line: 1, removed: 2, lines: [] }],
  ["a carriage return belongs to its line", "a\r\n", "a\n", { line: 1, removed: 1, lines: ["a"] }],
  ["a byte order mark is part of the first line", "\ufeffa\n", "\ufeffb\n", {
    line: 1,
    removed: 1,
    lines: ["\ufeffb"],
  }],
  [
    "a character of several bytes is never cut",
    "ä\n",
    "ö\n",
    { line: 1, removed: 1, lines: ["ö"] },
  ],
];

for (const [what, before, after, expected] of ROWS) {
  Deno.test(`line change: ${what}`, () => assert.deepEqual(change(before, after), expected));
}

Deno.test("line change: applying the change to the old lines gives the new lines, whatever the texts", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "\n", "\r", "ä", "\n\n"), maxLength: 24 });
  fc.assert(fc.property(text, text, (before, after) => {
    const found = change(before, after);
    const lines = found === null ? linesOf(before) : applied(linesOf(before), found);
    assert.deepEqual(lines, linesOf(after));
  }));
});

// The placeholder of a batched reply: where it counts, and what it looks like when parts of it are missing.

import assert from "node:assert/strict";
import { applyEdits } from "../../parser/edits/edit.ts";
import { placePlaceholder } from "../../parser/edits/placeholder.ts";
import { parse } from "../../parser/mod.ts";
import { findPlaceholder } from "../../parser/view/placeholder.ts";
import { checkDocument } from "./promises.ts";

const encoder = new TextEncoder();

const ITEM = "0c4c6a9e0f1b2d3c0c4c6a9e0f1b2d3c";
const HEADER = "**Reply:** `batch 3f9c21ab04`";
const FENCE = `\`\`\`flemma:reply status=batched item=${ITEM}\n\`\`\``;
const WHOLE = `${HEADER}\n\n${FENCE}\n`;

/** Documents with what a reader finds in them: the lines of a whole placeholder, the line of a broken one, or nothing. */
const ROWS:
  readonly (readonly [name: string, text: string, found: readonly [number, number] | number | null])[] = [
    ["at the end of a message", `@You:\nHello\n\n${WHOLE}`, [4, 7]],
    ["without a blank line", `@You:\nHello\n${HEADER}\n${FENCE}\n`, [3, 5]],
    ["without a line end", `@You:\nHello\n\n${HEADER}\n\n${FENCE}`, [4, 7]],
    ["with CR LF", `@You:\nHello\n\n${WHOLE}`.replaceAll("\n", "\r\n"), [4, 7]],
    ["with blanks behind", `@You:\nHello\n\n${WHOLE}\n\n\n`, [4, 7]],
    ["with text below", `@You:\nHello\n\n${WHOLE}\nMore\n`, [4, 7]],
    ["with a message below", `@You:\nHello\n\n${WHOLE}\n@You:\nMore\n`, [4, 7]],
    ["with results above", `@You:\n**Tool Result:** \`c1\`\n\n\`\`\`\nx\n\`\`\`\n\n${WHOLE}`, [8, 11]],
    [
      "with more backticks",
      `@You:\nHello\n\n${HEADER}\n\n\`\`\`\`flemma:reply status=batched item=${ITEM}\n\`\`\`\`\n`,
      [4, 7],
    ],
    ["the last of two counts", `@You:\nHello\n\n${WHOLE}\n${WHOLE}`, [9, 12]],
    ["above a reply", `@You:\nHello\n\n${WHOLE}\n@Assistant:\nHi\n`, null],
    ["above results", `@You:\n${WHOLE}\n**Tool Result:** \`c1\`\n\n\`\`\`\nx\n\`\`\`\n`, null],
    ["in a reply", `@You:\nHello\n\n@Assistant:\n${WHOLE}`, null],
    ["in a fence", `@You:\nHello\n\n\`\`\`\`\n${WHOLE}\`\`\`\`\n`, null],
    ["in a fence that is open", `@You:\nHello\n\n\`\`\`\`\n${WHOLE}`, null],
    ["in a result", `@You:\n**Tool Result:** \`c1\`\n\n\`\`\`\`\n${WHOLE}\`\`\`\`\n`, null],
    ["with a blank in front", `@You:\nHello\n\n ${WHOLE}`.replace("```f", " ```f"), null],
    ["other bold text", "@You:\nHello\n\n**Reply:** yes\n", null],
    ["a header without its fence", `@You:\nHello\n\n${HEADER}\n`, 4],
    ["a header above other text", `@You:\nHello\n\n${HEADER}\n\nwords\n`, 4],
    ["a fence without its header", `@You:\nHello\n\n${FENCE}\n`, 4],
    ["a fence without the id", `@You:\nHello\n\n${HEADER}\n\n\`\`\`flemma:reply status=batched\n\`\`\`\n`, 4],
    ["a fence with another status", `@You:\nHello\n\n${HEADER}\n\n${FENCE.replace("batched", "done")}\n`, 4],
    ["a fence with a text", `@You:\nHello\n\n${HEADER}\n\n${FENCE.replace("\n", "\nwords\n")}\n`, 4],
    ["a fence that is open", `@You:\nHello\n\n${HEADER}\n\n${FENCE.slice(0, -4)}\n`, 4],
  ];

for (const [name, text, expected] of ROWS) {
  Deno.test(`a placeholder: ${name}`, () => {
    const bytes = encoder.encode(text);
    const found = findPlaceholder(parse(bytes));
    const seen = found === null
      ? null
      : found.kind === "broken"
      ? found.broken.line
      : [found.placeholder.place.start, found.placeholder.place.end];
    assert.deepEqual(seen, expected);
    if (found?.kind === "whole") {
      assert.deepEqual([found.placeholder.batch, found.placeholder.item], ["3f9c21ab04", ITEM]);
      const { from, to } = found.placeholder.place;
      const block = new TextDecoder().decode(bytes.subarray(from, to)).replaceAll("\r", "");
      assert.ok(block.startsWith(HEADER) && block.trimEnd().endsWith("```"), block);
    }
    checkDocument(bytes);
  });
}

for (
  const text of [
    "@You:\nHello\n",
    "@You:\nHello",
    "@You:\r\nHello\r\n",
    "@You:\n```\nopen",
    "@You:\n````\n```\n",
    "@You:\n**Tool Result:** `c1`\n\n```\nx\n```\n",
  ]
) {
  Deno.test(`a placeholder that is written below ${JSON.stringify(text)} is found, and the text above it stays`, () => {
    const bytes = encoder.encode(text);
    const after = applyEdits(bytes, [placePlaceholder(parse(bytes), "b1", ITEM)]);
    assert.deepEqual(after.slice(0, bytes.length), bytes);
    const found = findPlaceholder(parse(after));
    assert.ok(found?.kind === "whole");
    assert.deepEqual([found.placeholder.batch, found.placeholder.item, found.placeholder.place.to], [
      "b1",
      ITEM,
      after.length,
    ]);
  });
}

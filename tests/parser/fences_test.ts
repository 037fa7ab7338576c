// The closed code fences of a text, as byte positions.

import assert from "node:assert/strict";
import { closedFences } from "../../parser/text/fences.ts";

Deno.test("wherever a fence is in a text, it ranges from the start of its opening line to the end of its closing line", () => {
  const rows: readonly (readonly [text: string, ...fences: string[]])[] = [
    ["```\na\n```", "```\na\n```"],
    ["\n```\na\n```\n", "```\na\n```"],
    ["\n\n```js\n\n```\n\n````\n```\n````", "```js\n\n```", "````\n```\n````"],
    ["words\n```\n```\nwords", "```\n```"],
    ["```\r\na\r\n```\r\nb", "```\r\na\r\n```\r"],
    ["```\n`````\n```\n```", "```\n`````", "```\n```"],
    // One that nothing closes hides no other, for it goes on to the end.
    ["````\n```\na\n```\n"],
    ["```\na"],
    ["``\na\n``"],
    [""],
    ["\n"],
  ];
  for (const [text, ...fences] of rows) {
    const bytes = new TextEncoder().encode(text);
    const found = closedFences(bytes, 100);
    const stated = found.map(({ from, to }) => text.slice(from - 100, to - 100));
    assert.deepEqual(stated, fences, JSON.stringify(text));
    assert.deepEqual(closedFences(bytes), found.map(({ from, to }) => ({ from: from - 100, to: to - 100 })));
  }
});

// The language in a real editor in a real browser.

import assert from "node:assert/strict";
import { bundleText } from "../../../scripts/build/bundle.ts";
import { inBrowser } from "../../browser.ts";

interface Report {
  readonly error?: string;
  readonly looks: {
    readonly colors: Readonly<Record<string, string>>;
    readonly folds: Readonly<Record<string, string | null>>;
  };
  readonly pasted: { readonly expected: number; readonly length: number; readonly typed: number };
  readonly edits: { readonly count: number; readonly different: number };
}

Deno.test("CodeMirror shows colors and folds, handles 1 MB, and after 1,000 edits has the same tree as a fresh parse", async () => {
  const { error, looks, pasted, edits } = await inBrowser(
    await bundleText("tests/parser/lezer/page.ts"),
  ) as Report;
  assert.equal(error, undefined);
  const { "@You:": marker, Title: title, Hello: words, '"ls"': value } = looks.colors;
  assert.equal(looks.colors["I will."], words);
  for (const [name, color] of Object.entries({ marker, title, value })) {
    assert.notEqual(color, words, name);
  }
  assert.deepEqual(looks.folds, {
    block: "\na: 1\n```",
    turn: "\n# Title\nHello 👍🏽",
    text: null,
    call: '\n\n```json\n{ "command": "ls" }\n```',
  });
  assert.deepEqual([pasted.length, pasted.typed], [pasted.expected, 1]);
  assert.deepEqual(edits, { count: 1000, different: 0 });
});

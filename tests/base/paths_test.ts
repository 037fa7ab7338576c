// Paths converted to URLs and references, and back.

import assert from "node:assert/strict";
import { fileUri, pathOfUri, referenceTo } from "../../base/paths.ts";
import { fileReferences } from "../../prompt/file_references.ts";
import { Random } from "../parser/hostile.ts";

const PARTS = [..." %;+{}#?\\|:~!*'()@&=$,\"`[]<>^-_.ä🙂\u00a0\tabc1", "%41", "{{", "..", "C|"];

/** Names that a file may have. */
function path(random: Random): string {
  const name = Array.from({ length: 1 + random.below(8) }, () => random.pick(PARTS)).join("");
  return `/a b/${name}`;
}

Deno.test("every path can be recovered from its URL, and from a reference in a document", () => {
  const random = new Random(7);
  for (let count = 0; count < 3000; count++) {
    const each = path(random);
    assert.equal(pathOfUri(fileUri(each)), each);
    const text = `See ${referenceTo(each)}, please.`;
    assert.deepEqual(fileReferences(text).map(({ path }) => path), [each], text);
  }
  for (const each of ["./a.md", "../b c.md", "~/d+e!"]) {
    assert.deepEqual(fileReferences(referenceTo(each)).map(({ path }) => path), [each]);
  }
});

Deno.test("a URL is converted to the path of a file on this machine, however the client spells the URL; any other URL gives no path", () => {
  const rows: readonly (readonly [string, string | null])[] = [
    ["file:///a/b.chat", "/a/b.chat"],
    ["file:///a%20b/%C3%A4.chat", "/a b/ä.chat"],
    ["file:///ä b.chat", "/ä b.chat"],
    ["file:///100%.chat", "/100%.chat"],
    ["file:///a%23b%3F.chat", "/a#b?.chat"],
    ["file:///a#b?.chat", "/a#b?.chat"],
    ["file:/a.chat", "/a.chat"],
    ["FILE://localhost/a.chat", "/a.chat"],
    ["file://server/share/a.chat", null],
    ["file:////server/share/a.chat", null],
    ["untitled:Untitled-1", null],
    ["https://example.org/a.chat", null],
    ["file:a.chat", null],
    ["", null],
  ];
  for (const [uri, expected] of rows) assert.equal(pathOfUri(uri), expected, uri);
});

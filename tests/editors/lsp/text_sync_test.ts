// The server's text equals the editor's after any change.

import assert from "node:assert/strict";
import { OpenDocument } from "../../../editors/lsp/document.ts";
import type { Client } from "../../../editors/lsp/client.ts";
import { toOffset, toPosition } from "../../../editors/lsp/positions.ts";
import { RequestLimiter } from "../../../providers/http/limiter.ts";
import { Random } from "../../parser/hostile.ts";
import { applied, positionOf, type TextEdit, type Unit } from "./counting.ts";
import { changes, freshText } from "./typing.ts";

const UNITS: readonly Unit[] = ["utf-16", "utf-8"];

/** A document that an editor which counts in `encoding` has open. */
function opened(text: string, encoding: Unit): OpenDocument {
  return new OpenDocument("untitled:a", text, 1, {
    environment: { cwd: "/", home: "/", variables: {} },
    limiter: new RequestLimiter(),
    client: { abilities: { encoding } } as Client,
    changed: () => {},
  });
}

const shown = ({ store }: OpenDocument) =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(store.buffer.bytes);

function tell(document: OpenDocument, version: number, edits: readonly TextEdit[]): void {
  document.change(version, edits.map(({ range, newText }) => ({ range, text: newText })));
}

for (const unit of UNITS) {
  Deno.test(`after any change, counted in ${unit}, the server's text equals the editor's`, () => {
    const seeds = Number(Deno.env.get("FLEMMA_LSP_SEEDS") ?? 8);
    for (let seed = 1; seed <= seeds; seed++) {
      const random = new Random(seed);
      let text = freshText(random);
      const document = opened(text, unit);
      for (let version = 2; version < 60; version++) {
        const edits = changes(random, text, unit);
        const before = text;
        text = applied(text, edits, unit);
        tell(document, version, edits);
        assert.equal(shown(document), text, `seed ${seed}, ${JSON.stringify({ before, edits })}`);
      }
      for (let probe = 0; probe < 20; probe++) {
        const offset = random.below(text.length + 1);
        // Nothing of ours begins between the halves of a character or of a line end.
        if (
          /^(?:\r\n|[\ud800-\udbff][\udc00-\udfff])$/.test(text.slice(Math.max(0, offset - 1), offset + 1))
        ) continue;
        const position = positionOf(text, offset, unit);
        const there = toPosition(document.counted, toOffset(document.counted, position));
        assert.deepEqual(there, position, `seed ${seed}, ${offset} of ${JSON.stringify(text)}`);
      }
    }
  });
}

Deno.test("surrogate halves that an editor changes one by one are joined again", () => {
  const document = opened("@You:\n🙂x\n", "utf-16");
  const change = (version: number, from: number, to: number, newText: string) =>
    tell(document, version, [{
      range: { start: { line: 1, character: from }, end: { line: 1, character: to } },
      newText,
    }]);
  change(2, 1, 2, "\ude43");
  assert.equal(shown(document), "@You:\n🙃x\n");
  change(3, 0, 1, "\ud83e");
  assert.equal(shown(document), "@You:\n\u{1fa43}x\n");
  change(4, 1, 1, "a");
  assert.equal(shown(document), "@You:\n\ufffda\ufffdx\n", "halves that are parted stay one character each");
  change(5, 3, 4, "y");
  assert.equal(shown(document), "@You:\n\ufffda\ufffdy\n");
});

Deno.test("a reversed range, and a range beyond the text, change the nearest valid range", () => {
  for (const unit of UNITS) {
    const document = opened("@You:\r\nab\r\n", unit);
    const change = (version: number, start: [number, number], end: [number, number], newText: string) =>
      tell(document, version, [{
        range: { start: { line: start[0], character: start[1] }, end: { line: end[0], character: end[1] } },
        newText,
      }]);
    change(2, [1, 2], [1, 1], "X");
    assert.equal(shown(document), "@You:\r\naX\r\n");
    change(3, [1, 999], [1, 999], "!");
    assert.equal(shown(document), "@You:\r\naX!\r\n", "past the end of a line is before its line end");
    change(4, [1, 4], [1, 4], "?");
    assert.equal(shown(document), "@You:\r\naX!\r?\n", "directly after a carriage return is a position");
    change(5, [99, 0], [99, 3], "end");
    assert.equal(shown(document), "@You:\r\naX!\r?\nend");
  }
});

// Positions in UTF-16.

import assert from "node:assert/strict";
import { parse, update } from "../../parser/mod.ts";
import { editBetween, offsetAt, offsetAtUnits, positionAt, unitsAt } from "../../parser/utf16.ts";
import { hostileDocument, Random } from "./hostile.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

Deno.test("a position counts code units, two of them for a character outside the basic plane", () => {
  const chat = parse(encoder.encode("@You:\né🙂x\n"));
  assert.deepEqual(positionAt(chat, 6), { line: 1, character: 0 });
  assert.deepEqual(positionAt(chat, 8), { line: 1, character: 1 });
  assert.deepEqual(positionAt(chat, 12), { line: 1, character: 3 });
  assert.equal(offsetAt(chat, { line: 1, character: 3 }), 12);
});

Deno.test("a position inside a character moves to the character's start, and one past a line to the line's end", () => {
  const chat = parse(encoder.encode("@You:\r\n🙂\r\n"));
  assert.equal(offsetAt(chat, { line: 1, character: 1 }), 7);
  assert.deepEqual(positionAt(chat, 9), { line: 1, character: 0 });
  assert.equal(offsetAt(chat, { line: 1, character: 99 }), 11);
  assert.equal(offsetAt(chat, { line: 1, character: 3 }), 12, "an editor may show a carriage return");
  assert.deepEqual(positionAt(chat, 12), { line: 1, character: 2 });
  assert.equal(offsetAt(chat, { line: 7, character: 0 }), 13);
});

Deno.test("an edit between positions replaces the text between them", () => {
  const chat = parse(encoder.encode("\ufeff@You:\nso 🙂 it is\n"));
  const edit = editBetween(chat, { line: 1, character: 3 }, { line: 1, character: 5 }, "ein Ä");
  assert.equal(update(chat, [edit]).lineText(2), "so ein Ä it is");
});

Deno.test("positions and counts equal those of a text decoder on hostile documents", () => {
  for (let seed = 0; seed < 300; seed++) {
    const chat = parse(hostileDocument(new Random(seed)));
    const origin = chat.bom ? 3 : 0;
    const whole = decoder.decode(chat.bytes.subarray(origin));
    assert.equal(unitsAt(chat, chat.byteLength), whole.length);
    assert.equal(offsetAtUnits(chat, whole.length), chat.byteLength);
    for (let line = 0; line < Math.min(chat.lineCount, 60); line++) {
      const text = chat.lineText(line + 1);
      const start = unitsAt(chat, chat.lineStart(line + 1));
      assert.equal(whole.slice(start, start + text.length), text);
      for (let character = 0; character <= Math.min(text.length, 40); character++) {
        const offset = offsetAt(chat, { line, character });
        const before = decoder.decode(chat.bytes.subarray(chat.lineStart(line + 1), offset));
        assert.ok(text.startsWith(before));
        // The second half of a pair has no place of its own.
        const inPair = (text.charCodeAt(character) & 0xfc00) === 0xdc00 && character > 0 &&
          (text.charCodeAt(character - 1) & 0xfc00) === 0xd800;
        assert.equal(before.length, inPair ? character - 1 : character);
        assert.deepEqual(positionAt(chat, offset), { line, character: before.length });
        assert.equal(offsetAtUnits(chat, start + before.length), offset);
      }
    }
  }
});

Deno.test("the position after the final line break is on the next line, when converted in either direction", () => {
  for (const [text, line] of [["@You:\nHi\n", 2], ["\n", 1], ["@You:\r\n", 1]] as const) {
    const chat = parse(new TextEncoder().encode(text));
    assert.deepEqual(positionAt(chat, chat.byteLength), { line, character: 0 });
    assert.equal(offsetAt(chat, { line, character: 0 }), chat.byteLength);
  }
  const open = parse(new TextEncoder().encode("@You:\nHi"));
  assert.deepEqual(positionAt(open, open.byteLength), { line: 1, character: 2 });
});

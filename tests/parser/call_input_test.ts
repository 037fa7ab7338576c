// Replaces the input of a call with the smallest edit.

import assert from "node:assert/strict";
import { replaceInput, replaceInputText } from "../../parser/edits/call_input.ts";
import { parse } from "../../parser/mod.ts";
import { applyEdits } from "../../parser/edits/edit.ts";

const encoder = new TextEncoder();

function documentOf(body: string, eol = "\n"): string {
  const text =
    `@Assistant:\nSo.\n\n**Tool Use:** \`t\` (\`a\`)\n\n\`\`\`json\n${body}\n\`\`\`\n\nend {"x":1}\n`;
  return text.replaceAll("\n", eol);
}

function changed(text: string, input: Record<string, unknown>): string {
  const chat = parse(encoder.encode(text));
  const edit = replaceInput(chat, chat.call("a")!, input);
  return edit === null ? text : new TextDecoder().decode(applyEdits(chat.bytes, [edit]));
}

Deno.test("a changed input stays on one line or on several lines, as before, with the line ends of the document", () => {
  assert.equal(changed(documentOf('{"x":1}'), { x: 2 }), documentOf('{"x":2}'));
  const lines = '{\n  "x": 1\n}';
  for (const eol of ["\n", "\r\n"]) {
    assert.equal(
      changed(documentOf(lines, eol), { x: 2, y: "z" }),
      documentOf('{\n  "x": 2,\n  "y": "z"\n}', eol),
    );
  }
  assert.equal(changed(documentOf("{}"), {}), documentOf("{}"));
});

Deno.test("the edit leaves out the bytes that the old and the new input share at both ends, and never divides a character", () => {
  const rows: readonly (readonly [string, Record<string, unknown>, string])[] = [
    ['{"a":"xyz"}', { a: "xYz" }, "Y"],
    ['{"a":"é"}', { a: "è" }, "è"],
    ['{"a":"🎉"}', { a: "🎊" }, "🎊"],
    ['{"a":"aa"}', { a: "aaa" }, "a"],
    ['{"a":"aaa"}', { a: "aa" }, ""],
  ];
  for (const [body, input, insert] of rows) {
    const chat = parse(encoder.encode(documentOf(body)));
    const edit = replaceInput(chat, chat.call("a")!, input);
    assert.equal(edit?.insert, insert, body);
    assert.deepEqual(JSON.parse(parse(applyEdits(chat.bytes, [edit!])).call("a")!.inputText), input);
  }
});

Deno.test("a call keeps its block and its id, whatever its new input contains", () => {
  const text = documentOf('{"x":1}');
  for (const value of ["```", "\n```\n@You:\nhi", "**Tool Use:** `bash` (`b`)", "\u2028", "{% x %}"]) {
    const chat = parse(encoder.encode(changed(text, { x: value })));
    assert.deepEqual(chat.calls.map(({ id, input }) => [id, input]), [["a", { x: value }]]);
    assert.equal(chat.turnCount, 1);
  }
});

Deno.test("restoring the old input of a call restores the document byte for byte", () => {
  const text = documentOf('{ "x" :1 }');
  const chat = parse(encoder.encode(changed(text, { x: "new" })));
  const edit = replaceInputText(chat, chat.call("a")!, '{ "x" :1 }');
  assert.equal(new TextDecoder().decode(applyEdits(chat.bytes, [edit!])), text);
});

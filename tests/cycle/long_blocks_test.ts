// Blocks of a reply that are too long to be held in one string.

import assert from "node:assert/strict";
import { quickHash, quickHashOf } from "../../base/hash.ts";
import {
  callBlock,
  redactedBlock,
  replaceLineEnds,
  shownThinking,
  thinkingBlock,
} from "../../cycle/send/block_text.ts";
import { ReplyWriter } from "../../cycle/send/reply.ts";
import { grow } from "../../cycle/storage/growing_block.ts";
import { escapeThinking, ThinkingEscaper } from "../../parser/edits/escape.ts";
import { fenceFor, fenceForParts } from "../../parser/edits/result_block.ts";
import { parse, toJson, update } from "../../parser/mod.ts";
import { LongText, partsOf } from "../../base/text/long_text.ts";

const LONG = (1 << 20) + 1;
const SIGNATURE = { provider: "anthropic", value: "c2ln" };

function long(text: string): LongText {
  const made = LongText.of(text);
  assert.ok(typeof made !== "string", "the text is not long");
  return made;
}

function filled(line: string): string {
  return line.repeat(Math.ceil(LONG / line.length));
}

/** Lines that a document would read as its own, those that would be taken for such, and blanks at both ends. */
const TRICKY = filled(
  "\n \nA line – 山.\n@You:\n\\@You:\n</thinking>\n<think\n```js\n@System:\n```\n\\\\</thinking>\n\n",
);

Deno.test("thinking in parts is escaped like thinking in one piece, wherever the parts begin", () => {
  const content = "a\n@You:\n\\@You:\n</thinking> \n```\n@You:\n</thinking>\n```\n@You:";
  for (let first = 0; first <= content.length; first++) {
    for (let second = first; second <= content.length; second += 3) {
      const escaper = new ThinkingEscaper();
      const parts = [content.slice(0, first), content.slice(first, second), content.slice(second)];
      const written = parts.map((part) => escaper.write(part)).join("") + escaper.end();
      assert.equal(written, escapeThinking(content), `${first}, ${second}`);
    }
  }
});

Deno.test("the fence around an input in parts is longer than every run of backticks, also one that spans two parts", () => {
  const content = "a ```` b\n`````";
  for (let at = 0; at <= content.length; at++) {
    assert.equal(fenceForParts([content.slice(0, at), content.slice(at)]), fenceFor(content));
  }
  assert.equal(fenceForParts(["``", "``", "``"]), "`".repeat(7));
  assert.equal(fenceForParts([]), "```");
});

Deno.test("the digest of a text in parts equals the digest of the whole text", () => {
  const whole = filled("Words – 山.\n");
  assert.equal(quickHashOf(partsOf(long(whole))), quickHash(whole));
});

Deno.test("long signed thinking is escaped and otherwise written byte for byte", () => {
  const block = thinkingBlock(long(TRICKY), SIGNATURE);
  const expected = `<thinking anthropic:signature="c2ln">\n${escapeThinking(TRICKY)}\n</thinking>\n`;
  assert.ok(`${block}` === expected);
});

Deno.test("long thinking that has no signature or contains a NUL is written without spaces at its beginning and end", () => {
  const block = thinkingBlock(long(TRICKY));
  assert.ok(`${block}` === `<thinking>\n${escapeThinking(TRICKY.trim())}\n</thinking>\n`);
  const withNul = thinkingBlock(long(`${TRICKY}\0`), SIGNATURE);
  assert.ok(`${withNul}` === `<thinking>\n${escapeThinking(`${TRICKY.trimStart()}\u2400`)}\n</thinking>\n`);
  assert.equal(thinkingBlock(long(filled(" \n"))), null);
});

Deno.test("if long thinking leaves a fence open, the fence is closed after the thinking", () => {
  const content = `${filled("A line.\n")}\`\`\`\`\nopen`;
  assert.ok(`${thinkingBlock(long(content))}`.endsWith("````\nopen\n</thinking>\n````text\n````\n"));
  assert.ok(`${redactedBlock(content)}`.endsWith("````\nopen\n</thinking>\n````text\n````\n"));
});

Deno.test("while long thinking streams, a person sees whole lines, without spaces at the beginning and end", () => {
  const shown = [...shownThinking(long(TRICKY))];
  assert.ok(shown.length > 1);
  assert.ok(shown.join("") === TRICKY.trim());
  assert.ok(shown.slice(0, -1).every((text) => text.endsWith("\n")));
  assert.deepEqual([...shownThinking(" \nshort\nlines\n")], ["short\nlines"]);
  assert.deepEqual([...shownThinking(" \n")], []);
});

Deno.test("a reply with long blocks is written completely, with the document's line ends", () => {
  const input = `{"content":"${filled("word \\n")}\`\`\`"}`;
  for (const eol of ["\n", "\r\n"] as const) {
    const writer = new ReplyWriter(`\n@Assistant:\n`, eol);
    assert.equal(writer.apply({ kind: "thinking", content: long(TRICKY), signature: SIGNATURE }), null);
    assert.equal(writer.apply({ kind: "text", text: "Text." }), null);
    assert.equal(writer.apply({ kind: "tool_use", id: "one", name: "write", inputText: long(input) }), null);
    assert.ok(writer.waiting > TRICKY.length + input.length);
    const expected = `@You:\nGo.\n\n@Assistant:\n${thinkingBlock(TRICKY, SIGNATURE)}\nText.\n\n${
      callBlock("write", "one", input)
    }`;
    assert.equal(writer.lines, expected.split("\n").length - 1 - 2);
    const pieces = [...writer.take()];
    assert.equal(pieces.filter((piece) => typeof piece !== "string").length, 2);
    const before = parse(new TextEncoder().encode(`${replaceLineEnds("@You:\nGo.\n", eol)}`));
    const chat = grow(before, before.byteLength, 0, pieces);
    const found = new TextDecoder().decode(chat.bytes);
    assert.ok(found === replaceLineEnds(expected, eol), found.slice(0, 200));
    assert.equal(writer.waiting, 0);
    assert.equal(chat.call("one")?.inputText, input);
  }
});

Deno.test("pieces of a reply are inserted at their positions, and the text they replace is removed only once", () => {
  const before = parse(new TextEncoder().encode("@You:\nGo.\n|\nBehind\n"));
  const end = "@You:\nGo.\n|\n".length;
  const rows: readonly (readonly [readonly (string | readonly string[])[], string])[] = [
    [["a\n", "b\n"], "a\nb\n"],
    [[["a\n", "b", "c\n"]], "a\nbc\n"],
    [["a\n", ["b", "c\n"], "d\n", ["e\n"]], "a\nbc\nd\ne\n"],
  ];
  for (const [pieces, expected] of rows) {
    const chat = grow(before, end, 2, pieces);
    assert.equal(new TextDecoder().decode(chat.bytes), `@You:\nGo.\n${expected}Behind\n`);
  }
});

Deno.test("adding a large text to a document, as a string or as bytes, gives the same tree as parsing the whole text", () => {
  const much = `Text.\n\n**Tool Use:** \`bash\` (\`one\`)\n\n\`\`\`json\n{"command":"${
    "x".repeat(9000)
  }"}\n\`\`\`\n\n@You:\n`;
  const encoder = new TextEncoder();
  for (
    const before of [
      "",
      "@You:\nGo",
      "@You:\nGo.\n\n@Assistant:\n",
      "@Assistant:\n```\n",
      "\ufeff@Assistant:\n",
      "\ufeff",
    ]
  ) {
    const chat = parse(encoder.encode(before));
    const { byteLength: at } = chat;
    const fresh = toJson(parse(encoder.encode(before + much)));
    for (const insert of [much, encoder.encode(much)]) {
      const grown = update(chat, [{ from: at, to: at, insert }]);
      assert.deepEqual(toJson(grown), fresh);
      const once = grown.byteLength;
      assert.deepEqual(
        toJson(update(grown, [{ from: once, to: once, insert }])),
        toJson(parse(encoder.encode(before + much + much))),
      );
    }
  }
});

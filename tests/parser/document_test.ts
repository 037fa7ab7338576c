// The typed view of a document: positions, look-ups by id, and bytes that are not text.

import assert from "node:assert/strict";
import { type Chat, parse, type Place, update } from "../../parser/mod.ts";
import "../../parser/tree/trees.ts";

function chat(text: string): Chat {
  return parse(new TextEncoder().encode(text));
}

function slice(chat: Chat, place: Place): string {
  return new TextDecoder().decode(chat.bytes.subarray(place.from, place.to));
}

const conversation = [
  "@Assistant:",
  "**Tool Use:** `bash` (`a`)",
  "",
  "```json",
  '{ "command": "ls" }',
  "```",
  "",
  "@You:",
  "**Tool Result:** `a` (error)",
  "",
  "````",
  "out",
  "````",
  "",
].join("\n");

Deno.test("a block ranges from its header to its closing fence, and only a message includes the final line break", () => {
  const document = chat(conversation);
  const [call] = document.calls;
  const [result] = document.results;
  assert.equal(slice(document, call!.place), conversation.split("\n").slice(1, 6).join("\n"));
  assert.equal(slice(document, result!.place), conversation.split("\n").slice(8, 13).join("\n"));
  assert.equal(slice(document, result!.header), "**Tool Result:** `a` (error)");
  assert.equal(slice(document, result!.opener), "````");
  assert.equal(result!.ticks, 4);
  assert.equal(document.turns.map((turn) => slice(document, turn.place)).join(""), conversation);
  assert.equal(call!.inputText, '{ "command": "ls" }');
  assert.equal(call!.turn, document.turns[0]);
});

Deno.test("in a CR LF document, positions exclude both bytes of a line end", () => {
  const document = chat(conversation.replaceAll("\n", "\r\n"));
  assert.equal(document.eol, "\r\n");
  assert.equal(slice(document, document.results[0]!.header), "**Tool Result:** `a` (error)");
  assert.ok(slice(document, document.results[0]!.place).endsWith("out\r\n````"));
  assert.equal(document.results[0]!.content, "out");
  assert.equal(document.lineText(12), "out");
});

Deno.test("if several calls or results have the same id, a lookup by this id returns the last", () => {
  const document = chat(conversation + conversation.replace("ls", "pwd").replace("out", "later"));
  assert.deepEqual(document.call("a")?.input, { command: "pwd" });
  assert.equal(document.result("a")?.content, "later");
  assert.equal(document.call("b"), undefined);
});

Deno.test("a result without a readable body is reported with its id and line", () => {
  const document = chat("@You:\n\n**Tool Result:** `a`\n\nno fence\n**Tool Result:** `b`\n```\nopen\n");
  assert.deepEqual(document.brokenResults, [{ id: "a", line: 3 }, { id: "b", line: 6 }]);
  assert.deepEqual(document.results, []);
});

Deno.test("a byte order mark at the beginning is not part of the first line", () => {
  const document = chat("\ufeff@You:\nhi");
  assert.equal(document.bom, true);
  assert.deepEqual([document.lineStart(1), document.lineEnd(1), document.lineAt(0)], [3, 8, 1]);
  assert.equal(document.lineText(1), "@You:");
  assert.equal(document.turns[0]!.place.from, 3);
});

Deno.test("a byte order mark inside the text is ordinary text", () => {
  assert.deepEqual(
    chat("@You:\n\ufeffhi\n").turns[0]!.segments.map((segment) => segment.kind === "text" && segment.value),
    [
      "\ufeffhi",
    ],
  );
});

Deno.test("invalid UTF-8 is shown as replacement characters and kept in the document", () => {
  const bytes = Uint8Array.from([...new TextEncoder().encode("@You:\n"), 0xff, 0xc3, 0x0a]);
  const document = parse(bytes);
  const [segment] = document.turns[0]!.segments;
  assert.equal(segment?.kind === "text" && segment.value, "\ufffd\ufffd");
  assert.equal(document.bytes, bytes);
});

Deno.test("an input keeps its null fields, and a key named __proto__ is an ordinary key", () => {
  const document = chat('@Assistant:\n**Tool Use:** `x` (`a`)\n```\n{"a":null,"__proto__":{"b":1}}\n```\n');
  assert.deepEqual(Object.keys(document.calls[0]!.input), ["a", "__proto__"]);
});

Deno.test("the message at an offset is the object in the list of messages, and before the first message there is none", () => {
  const document = chat(`ignored\n${conversation}`);
  assert.equal(document.turnCount, 2);
  assert.equal(document.turnAt(3), undefined);
  for (const turn of document.turns) {
    assert.equal(document.turnAt(turn.place.from), turn);
    assert.equal(document.turnAt(turn.place.to - 1), turn);
  }
  assert.equal(document.turnAt(document.byteLength), document.turns[1]);
  assert.equal(chat("").turnAt(0), undefined);
});

Deno.test("a message that was requested by its position is the same object as in the list of messages", () => {
  const document = chat(conversation);
  const turn = document.turnAt(document.byteLength);
  assert.equal(document.turns[1], turn);
  assert.equal(document.results[0]!.turn, turn);
});

Deno.test("a range of bytes equals the same range of the whole document, also after edits", () => {
  let document = chat("\ufeff" + conversation.repeat(600));
  for (const at of [3, 30_000, 60_000]) {
    document = update(document, [{ from: at, to: at + 7, insert: "changed" }]);
    const end = document.byteLength;
    const ranges = [[0, 5], [2, 40_000], [16_000, 33_000], [end - 9, end], [7, 7]] as const;
    // Asked before the bytes are joined, and then again.
    const before = ranges.map(([from, to]) => document.slice(from, to));
    assert.deepEqual(before, ranges.map(([from, to]) => document.bytes.slice(from, to)));
    assert.deepEqual(before, ranges.map(([from, to]) => document.slice(from, to)));
  }
});

Deno.test("a document is parsed and diagnosed, and its blocks are listed, without decoding long texts", () => {
  const long = "many words of a long output, line after line\n".repeat(20_000);
  const bytes = new TextEncoder().encode(
    `@You:\n${long}\n@Assistant:\n${long}\n**Tool Use:** \`bash\` (\`a\`)\n\n\`\`\`json\n{"command": "ls"}\n\`\`\`\n` +
      `@You:\n**Tool Result:** \`a\`\n\n\`\`\`\n${long}\`\`\`\n`,
  );
  const { decode } = TextDecoder.prototype;
  let decoded = 0;
  TextDecoder.prototype.decode = function (input, options) {
    decoded += input?.byteLength ?? 0;
    return decode.call(this, input, options);
  };
  try {
    const document = parse(bytes);
    assert.equal(document.tree.length, bytes.length);
    assert.deepEqual(document.diagnostics, []);
    assert.deepEqual([document.calls.length, document.results[0]!.status], [1, null]);
    assert.deepEqual(document.calls[0]!.input, { command: "ls" });
    update(document, [{ from: 9, to: 9, insert: "x" }]).diagnostics;
    assert.ok(decoded < 1000, `${decoded} bytes were decoded`);
    assert.equal(document.results[0]!.content.length, long.length - 1);
    assert.ok(decoded >= long.length - 1);
  } finally {
    TextDecoder.prototype.decode = decode;
  }
});

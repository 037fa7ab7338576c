// What an incremental parse reuses, and where reuse would be wrong.

import assert from "node:assert/strict";
import type { Tree } from "@lezer/common";
import { Document } from "../../parser/document.ts";
import { type Chat, type Edit, parse, toJson, update } from "../../parser/mod.ts";
import { nodes } from "./outline.ts";
import "../../parser/tree/trees.ts";

const encoder = new TextEncoder();
const prose = "Some words that fill a line of ordinary length.\n";

function chat(text: string): Chat {
  return parse(encoder.encode(text));
}

/** Replaces the first `target` behind the text `after`. */
function replacing(chat: Chat, target: string, insert: string, after = ""): Edit {
  const text = chat.text(0, chat.bytes.length);
  const from = text.indexOf(target, text.indexOf(after));
  assert.ok(from >= 0, `the document holds ${target}`);
  return { from, to: from + target.length, insert };
}

/** Updates, and shows that the outcome is that of a full parse. */
function edited(before: Chat, ...edits: Edit[]): Chat {
  const after = update(before, edits);
  const whole = parse(after.bytes);
  assert.deepEqual(nodes(after.tree), nodes(whole.tree));
  assert.deepEqual(toJson(after), toJson(whole));
  return after;
}

/** How many bytes of the second tree lie in nodes that are the very nodes of the first. */
function reused(first: Tree, second: Tree): number {
  const known = new Set<unknown>();
  const collect = (tree: Tree) => {
    known.add(tree);
    for (const child of tree.children) if ("children" in child) collect(child);
  };
  collect(first);
  const count = (tree: Tree): number => {
    if (known.has(tree)) return tree.length;
    return tree.children.reduce((sum, child) => "children" in child ? sum + count(child) : sum, 0);
  };
  return count(second);
}

/** How many bytes of the second document lie in chunks that are the very chunks of the first. */
function shared(first: Chat, second: Chat): number {
  assert.ok(first instanceof Document && second instanceof Document);
  const known = new Set(first.content.chunks);
  return second.content.chunks.reduce((sum, chunk) => known.has(chunk) ? sum + chunk.length : sum, 0);
}

function call(id: number): string {
  return `${
    prose.repeat(30)
  }\n**Tool Use:** \`bash\` (\`c${id}\`)\n\n\`\`\`json\n{"command": "ls"}\n\`\`\`\n\n`;
}

Deno.test("an update without edits returns the same document object", () => {
  const before = chat("@You:\nhi\n");
  assert.equal(update(before, []), before);
});

Deno.test("an edit in a long conversation reuses nearly all message objects", () => {
  const before = chat(
    Array.from({ length: 600 }, (_, at) => `@You:\n${prose.repeat(3)}\n@Assistant:\n${call(at)}`).join(""),
  );
  const after = edited(before, replacing(before, "`c100`", "`renamed`"));
  assert.ok(reused(before.tree, after.tree) > 0.95 * after.bytes.length);
  assert.ok(shared(before, after) > 0.95 * after.bytes.length);
});

Deno.test("an edit in a long message scans only the edited lines again", () => {
  const before = chat(`@Assistant:\n${Array.from({ length: 600 }, (_, at) => call(at)).join("")}`);
  const after = edited(before, replacing(before, "`c100`", "`renamed`"));
  assert.ok(shared(before, after) > 0.95 * after.bytes.length);
});

Deno.test("an edit in a long body scans only the edited lines again", () => {
  const rows = Array.from({ length: 20000 }, (_, at) => `row ${at * 7919 % 10007} of the output\n`).join("");
  const before = chat(`@You:\n**Tool Result:** \`a\`\n\n\`\`\`\n${rows}\`\`\`\n`);
  const middle = before.bytes.length >> 1;
  const after = edited(before, { from: middle, to: middle, insert: "changed" });
  assert.ok(shared(before, after) > 0.95 * after.bytes.length);
});

Deno.test("after two distant edits, the text between them is not scanned again", () => {
  const before = chat(Array.from({ length: 900 }, (_, at) => `@Assistant:\n${call(at)}`).join(""));
  const after = edited(before, replacing(before, "`c5`", "`x`"), replacing(before, "`c890`", "`y`"));
  assert.ok(reused(before.tree, after.tree) > 0.9 * after.bytes.length);
  assert.ok(shared(before, after) > 0.9 * after.bytes.length);
});

Deno.test("if the opening fence of a long body gets shorter, the body ends at the first shorter fence inside it", () => {
  const rows = Array.from({ length: 3000 }, (_, at) => `row ${at}\n`).join("");
  // Once with fences that hide markers and once with fences too short for that.
  for (const ticks of ["```", "`"]) {
    const before = chat(`@You:\n**Tool Result:** \`a\`\n\n${ticks}\`\n${rows}${ticks}\n${rows}${ticks}\`\n`);
    const opener = before.results[0]!.opener;
    const after = edited(before, { from: opener.from, to: opener.to, insert: ticks });
    assert.equal(after.results[0]!.content, rows.trimEnd());
  }
});

Deno.test("a fence that is inserted far above hides the role lines below; removing the fence makes them role lines again", () => {
  const turns = Array.from({ length: 100 }, (_, at) => `@You:\n${prose.repeat(3)}\n@Assistant:\n${call(at)}`)
    .join("");
  const before = chat(turns);
  const hidden = edited(before, { from: 6, to: 6, insert: "`````\n" });
  assert.equal(hidden.turns.length, 1);
  assert.equal(edited(hidden, { from: 6, to: 12, insert: "" }).turns.length, 200);
});

Deno.test("if a role line far above changes to a person's role, the calls in its long message are no longer calls", () => {
  const before = chat(`@Assistant:\n${call(1)}${call(2)}`);
  const after = edited(before, replacing(before, "Assistant", "You"));
  assert.equal(before.calls.length, 2);
  assert.equal(after.calls.length, 0);
});

Deno.test("if the closing tag is removed, long thinking becomes text", () => {
  const before = chat(
    `@Assistant:\n${prose.repeat(60)}<thinking>\n${prose.repeat(60)}</thinking>\n${prose.repeat(60)}`,
  );
  const after = edited(before, replacing(before, "</thinking>\n", ""));
  assert.deepEqual(after.turns[0]!.segments.map((segment) => segment.kind), ["text"]);
  const again = edited(after, { from: after.bytes.length, to: after.bytes.length, insert: "</thinking>\n" });
  assert.deepEqual(again.turns[0]!.segments.map((segment) => segment.kind), ["text", "thinking"]);
});

Deno.test("closing the frontmatter makes the messages inside it part of the frontmatter", () => {
  const before = chat(`\`\`\`lua\n${`@You:\n${prose.repeat(60)}`.repeat(5)}`);
  const after = edited(before, { from: before.bytes.length, to: before.bytes.length, insert: "```\n" });
  assert.equal(before.turns.length, 5);
  assert.equal(after.turns.length, 0);
  assert.equal(
    edited(after, { from: after.bytes.length - 4, to: after.bytes.length, insert: "" }).turns.length,
    5,
  );
});

Deno.test("after one line end changes to LF, the document no longer counts as a CR LF document", () => {
  const before = chat("@Assistant:\r\n<thinking>\r\nx\r\n</thinking>\r\n");
  const at = before.bytes.length - 2;
  const after = edited(before, { from: at, to: at + 1, insert: "" });
  assert.deepEqual([before.eol, after.eol], ["\r\n", "\n"]);
  assert.deepEqual(after.turns[0]!.segments.map((segment) => segment.kind), ["text"]);
});

Deno.test("an edit that removes the line feed between two stored chunks joins the two lines", () => {
  const before = chat(`@You:\n${prose.repeat(2000)}`);
  assert.ok(before instanceof Document && before.content.chunks.length > 3);
  for (const offset of before.content.offsets.slice(1, -1)) {
    const after = edited(before, { from: offset - 1, to: offset, insert: "" });
    assert.equal(after.lineCount, before.lineCount - 1);
    edited(before, { from: offset - 1, to: offset + 1, insert: "\n@" });
  }
});

Deno.test("if an edit reveals, creates or removes a byte order mark, the next tree is correct", () => {
  const before = chat("x\ufeff@You:\nhi\n");
  const bare = edited(before, { from: 0, to: 1, insert: "" });
  assert.deepEqual([before.bom, bare.bom, bare.turns.length], [false, true, 1]);
  assert.equal(edited(bare, { from: 0, to: 3, insert: "" }).bom, false);
  assert.equal(edited(bare, { from: 0, to: 0, insert: "y" }).bom, false);
  const halves = parse(Uint8Array.of(0x78, 0xef, 0xbb, 0x78, 0xbf, 0x0a));
  assert.equal(edited(halves, { from: 0, to: 1, insert: "" }, { from: 3, to: 4, insert: "" }).bom, true);
});

Deno.test("a role line at the very end is no longer a role line once text is added to it", () => {
  const before = chat("@You:\nhi\n@Assistant:");
  const after = edited(before, { from: 20, to: 20, insert: " hello" });
  assert.deepEqual([before.turns.length, after.turns.length], [2, 1]);
  assert.equal(edited(after, { from: 20, to: 26, insert: "\n" }).turns.length, 2);
});

Deno.test("overlapping edits are refused", () => {
  const before = chat("@You:\nhi\n");
  assert.throws(
    () => update(before, [{ from: 0, to: 3, insert: "" }, { from: 2, to: 4, insert: "" }]),
    RangeError,
  );
});

Deno.test("after an edit, earlier messages are the same objects and still have their text", () => {
  const before = chat(Array.from({ length: 100 }, (_, at) => `@Assistant:\n${call(at)}`).join(""));
  const [turns, calls] = [before.turns, before.calls];
  const at = before.lineStart(turns[60]!.place.start + 1);
  const after = edited(before, { from: at, to: at, insert: "new words\n" });
  assert.equal(after.turns[59], turns[59]);
  assert.equal(after.calls[59], calls[59]);
  assert.notEqual(after.turns[60], turns[60]);
  assert.equal(after.turnAt(turns[3]!.place.from), turns[3]);
  // What an older version gave out holds for it, whatever became of the text behind.
  edited(after, { from: turns[10]!.place.from, to: after.byteLength, insert: "" });
  assert.deepEqual(calls.map((call) => call.input.command), Array.from({ length: 100 }, () => "ls"));
  assert.equal(turns[99]!.segments.length, before.turns[99]!.segments.length);
});

Deno.test("an edit that begins in any stored chunk and ends in any other keeps the bytes before and after the edit", () => {
  const text = `@You:\n${prose.repeat(700)}\n@Assistant:\n${prose.repeat(700)}`;
  const before: Chat = chat(text);
  assert.ok(before instanceof Document);
  const { offsets, chunks } = before.content;
  assert.ok(chunks.length > 3, "the document has several chunks");
  const places = [...chunks.keys()].map((index) => offsets[index]! + 7).concat(
    before.bytes.length - 3,
    before.bytes.length,
  );
  for (const from of places) {
    for (const to of places.filter((place) => place >= from)) {
      const after = edited(before, { from, to, insert: "new\n" });
      assert.equal(after.text(0, after.bytes.length), `${text.slice(0, from)}new\n${text.slice(to)}`);
    }
  }
  for (const [a, first] of places.entries()) {
    for (const [b, second] of places.entries()) {
      for (const insert of ["", "no line end", "line\n"]) {
        if (b <= a + 1) continue;
        const [to, end] = [places[a + 1]!, places[b + 1] ?? text.length];
        const after = edited(before, { from: first, to, insert }, { from: second, to: end, insert });
        const expected = text.slice(0, first) + insert + text.slice(to, second) + insert + text.slice(end);
        assert.equal(after.text(0, after.bytes.length), expected);
      }
    }
  }
});

Deno.test("a text that grows piece by piece needs little more memory than its length", () => {
  let chat = parse(new TextEncoder().encode("@You:\n"));
  const piece = "Another line of a long reply, which goes on.\n".repeat(150);
  for (let count = 0; count < 300; count++) {
    chat = update(chat, [{ from: chat.byteLength, to: chat.byteLength, insert: piece }]);
  }
  assert.ok(chat instanceof Document);
  const retained = new Set(chat.content.chunks.map(({ bytes }) => bytes.buffer));
  const bytes = [...retained].reduce((sum, { byteLength }) => sum + byteLength, 0);
  assert.ok(bytes < 1.2 * chat.byteLength, `${bytes} of ${chat.byteLength}`);
});

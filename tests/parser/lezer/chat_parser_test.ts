// The parser for programs that use Lezer: the same nodes as elsewhere, in UTF-16 positions, and the same after any
// edit.

import assert from "node:assert/strict";
import { type Tree, TreeFragment } from "@lezer/common";
import { ChatParser } from "../../../parser/lezer/chat_parser.ts";
import { withInner } from "../../../parser/lezer/nested.ts";
import { chatParser } from "../../../parser/lezer/mod.ts";
import { parse } from "../../../parser/mod.ts";
import { unitsAt } from "../../../parser/utf16.ts";
import { parser as json } from "@lezer/json";
import { Random } from "../hostile.ts";
import { change, changed, hostileText, outline } from "./random.ts";

const plain = new ChatParser();

/** The nodes of a document by bytes, each place turned into code units by itself. */
function expected(text: string): string {
  const chat = parse(new TextEncoder().encode(text));
  const lines: string[] = [];
  chat.tree.iterate({
    enter: ({ name, from, to }) => void lines.push(`${name} ${unitsAt(chat, from)} ${unitsAt(chat, to)}`),
  });
  return lines.join("\n");
}

Deno.test("the Lezer tree has the same nodes as the document, with UTF-16 positions", () => {
  for (let seed = 0; seed < 60; seed++) {
    const text = `@You:\nä€👍🏽\n${hostileText(new Random(seed))}`;
    assert.equal(outline(plain.parse(text)), expected(text), `seed ${seed}`);
  }
  assert.equal(outline(plain.parse("")), "Document 0 0");
  // Enough for nodes of their own, for buffers and for groups of them.
  const long = `@You:\n${"wört 👍\n".repeat(9000)}\n@Assistant:\n${"x\n".repeat(10)}\n`.repeat(3);
  assert.equal(outline(plain.parse(long)), expected(long));
});

Deno.test("a byte order mark counts as one code unit of the editor's text", () => {
  const tree = plain.parse("\ufeff@You:\nä\n");
  assert.equal(tree.length, 9);
  assert.equal(outline(tree), "Document 0 9\nBom 0 1\nTurn 1 9\nMarker 1 7\nText 7 9\nLines 7 9");
});

Deno.test("after each of 1,000 edits by code units, the Lezer tree equals that of a fresh parse", () => {
  const random = new Random(20261);
  let text = `@You:\nHello 👍🏽\n\n@Assistant:\nä\n${hostileText(random).slice(0, 2000)}`;
  let tree = plain.parse(text);
  let fragments = TreeFragment.addTree(tree);
  for (let count = 0; count < 1000; count++) {
    const edit = change(text.length, random);
    ({ text, tree, fragments } = changed(
      plain,
      { text, tree, fragments: fragments as TreeFragment[] },
      edit,
    ));
    assert.equal(outline(tree), outline(plain.parse(text)), `edit ${count}: ${JSON.stringify(edit)}`);
  }
});

Deno.test("parts of a tree that an edit does not touch are reused as the same objects and not parsed again", () => {
  const text = `@You:\n${"Some words.\n".repeat(5000)}\n@Assistant:\nx\n\n`.repeat(4);
  const before = plain.parse(text);
  let read = 0;
  const input = {
    length: text.length + 1,
    lineChunks: false,
    chunk: (from: number) => text.slice(from),
    read: (from: number, to: number) => {
      read += to - from;
      return `${text}!`.slice(from, to);
    },
  };
  const range = { fromA: text.length, toA: text.length, fromB: text.length, toB: text.length + 1 };
  const kept = TreeFragment.applyChanges(TreeFragment.addTree(before), [range]);
  const after = plain.parse(input, kept);
  assert.ok(read < 300, `${read} code units were read`);
  const turns = (tree: Tree): Tree[] =>
    tree.children.flatMap((child) =>
      !("children" in child) ? [] : child.type.name === "Turn" ? [child] : turns(child)
    );
  assert.equal(turns(before).length, 4);
  assert.deepEqual(turns(after).map((turn) => turns(before).indexOf(turn)), [0, 1, 2, 3]);
});

Deno.test("parsing a range gives positions from the start of the range, and gaps between ranges are blank", () => {
  const text = "<<@You:\nHi\n>>@You:\n<<\n>>";
  const one = plain.startParse(text, [], [{ from: 2, to: 11 }]).advance()!;
  assert.equal(outline(one), "Document 0 9\nTurn 0 9\nMarker 0 6\nText 6 9\nLines 6 9");
  const ranges = [{ from: 2, to: 11 }, { from: 13, to: 19 }];
  const two = plain.startParse(text, [], ranges).advance()!;
  assert.equal(two.length, 17);
});

Deno.test("if a caller stops a parse, the whole text is still parsed, and configure adds options to the existing ones", () => {
  const parse = plain.startParse("@You:\nHi\n");
  parse.stopAt(3);
  assert.equal(parse.stoppedAt, null);
  assert.equal(parse.advance()!.length, 9);
  assert.equal(parse.parsedPos, 9);
  const call = '@Assistant:\n**Tool Use:** `a` (`b`)\n\n```json\n{"x":1}\n```\n';
  const configured = plain.configure({ wrap: [withInner({ json })] });
  assert.match(outline(configured.parse(call)), /JsonText/);
  assert.match(outline(configured.configure({}).parse(call)), /JsonText/);
  assert.doesNotMatch(outline(plain.parse(call)), /JsonText/);
});

Deno.test("a document gets Markdown, JSON, Lua and YAML trees exactly where it contains these languages", () => {
  const names = (
    text: string,
  ) => [...new Set(outline(chatParser.parse(text)).split("\n").map((line) => line.split(" ")[0]))];
  assert.ok(names("@You:\n# Title\n").includes("ATXHeading1"));
  assert.ok(names("```lua\nlocal x = 1\n```\n@You:\nx\n").some((name) => name === "keyword"));
  assert.ok(names("```yaml\na: 1\n```\n@You:\nx\n").includes("BlockMapping"));
  assert.ok(names('```json\n{"a":1}\n```\n@You:\nx\n').includes("JsonText"));
  assert.ok(names('@Assistant:\n**Tool Use:** `a` (`b`)\n\n```json\n{"x":1}\n```\n').includes("JsonText"));
  assert.ok(!names('@You:\n**Tool Result:** `b`\n\n```json\n{"x":1}\n```\n').includes("JsonText"));
  assert.ok(!names("```toml\na = 1\n```\n@You:\nx\n").includes("BlockMapping"));
});

Deno.test("with embedded languages too, an edit gives the same tree as a fresh parse", () => {
  const random = new Random(7);
  let text =
    "```yaml\na: 1\n```\n@You:\n# Title\n\n*words*\n\n@Assistant:\n**Tool Use:** `a` (`b`)\n\n```json\n{}\n```\n";
  let tree = chatParser.parse(text);
  let fragments = TreeFragment.addTree(tree);
  for (let count = 0; count < 300; count++) {
    const edit = change(text.length, random);
    ({ text, tree, fragments } = changed(
      chatParser,
      { text, tree, fragments: fragments as TreeFragment[] },
      edit,
    ));
    assert.equal(outline(tree), outline(chatParser.parse(text)), `edit ${count}: ${JSON.stringify(edit)}`);
  }
});

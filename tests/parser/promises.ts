// The parser's guarantees for every document and every sequence of edits, as checks that throw.

import assert from "node:assert/strict";
import { applyEdits, type Chat, parse, toJson, update } from "../../parser/mod.ts";
import { isBlankRange } from "../../parser/text/lines.ts";
import { hostileEdits, type Random } from "./hostile.ts";
import { nodes } from "./outline.ts";
import { grammarTree } from "./reference/tree.ts";
import { plainView } from "./reference/view.ts";
import "../../parser/tree/trees.ts";

/** Nodes that may hold blank lines that are in no child: those below a tool header. */
const WITH_GAPS = new Set(["ToolUse", "ToolResult", "JobResult"]);
/** Nodes of text that stand for themselves. */
const LEAVES = new Set(["Bom", "Lines", "Marker", "Header", "Opener", "Closer", "Tag", "AbortMarker"]);

/** The tree covers every byte once, messages follow each other without a hole, and findings point into the text. */
export function checkCover(chat: Chat): void {
  const { bytes, tree } = chat;
  assert.equal(tree.length, bytes.length);
  tree.iterate({
    enter: ({ node, name }) => {
      assert.ok(!node.type.isError);
      let at = node.from;
      for (let child = node.firstChild; child !== null; child = child.nextSibling) {
        if (child.from !== at) {
          assert.ok(WITH_GAPS.has(name) && child.from > at, `a hole or an overlap before byte ${child.from}`);
          assert.ok(isBlankRange(bytes, at, child.from), `text in no node at byte ${at}`);
        }
        at = child.to;
      }
      if (at !== node.to && !LEAVES.has(name)) {
        assert.ok(
          at < node.to && WITH_GAPS.has(name) && isBlankRange(bytes, at, node.to),
          `a hole at byte ${at}`,
        );
      }
    },
  });
  let reached = bytes.length;
  for (const turn of chat.turns.toReversed()) {
    assert.equal(turn.place.to, reached);
    reached = turn.place.from;
  }
  for (const { start, message } of chat.diagnostics) {
    assert.ok(start !== undefined && start >= 1 && start <= chat.lineCount);
    assert.match(message, /[.?]$/);
  }
}

/** A document is read as the grammar says, and given back as it was. */
export function checkDocument(bytes: Uint8Array): void {
  const before = bytes.slice();
  const chat = parse(bytes);
  checkCover(chat);
  assert.deepEqual(chat.bytes, before);
  assert.deepEqual(nodes(chat.tree), nodes(grammarTree(bytes)));
  checkView(chat, bytes);
}

/** Messages, segments and findings are those that a plain reading line by line gives. */
export function checkView(chat: Chat, bytes: Uint8Array): void {
  const { messages, findings } = plainView(bytes);
  const view = JSON.parse(JSON.stringify(toJson(chat)), (key, value) => key === "meta" ? undefined : value);
  assert.deepEqual(view.messages, JSON.parse(JSON.stringify(messages)));
  const found = chat.diagnostics
    .map(({ code, start, id }) => ({ code, start, ...(id === undefined ? {} : { id }) }));
  const key = ({ start, code, id = "" }: typeof found[number]) =>
    `${String(start).padStart(9)} ${code} ${id}`;
  assert.deepEqual(found.sort((a, b) => key(a) < key(b) ? -1 : 1), findings);
}

/** A document is the same whether edits led to it or not. `ask` tells what is looked at between edits. */
export function checkSame(chat: Chat, bytes: Uint8Array): void {
  const whole = parse(bytes);
  assert.deepEqual(nodes(chat.tree), nodes(whole.tree));
  assert.deepEqual(toJson(chat), toJson(whole));
  assert.deepEqual(chat.bytes, bytes);
}

/** Edits a document several times, with looks at some versions only, and compares each looked at with a full parse. */
export function checkEdits(document: Uint8Array, random: Random): void {
  let chat = parse(document);
  let bytes = document;
  for (let round = 1 + random.below(5); round > 0; round--) {
    const edits = hostileEdits(random, bytes);
    bytes = applyEdits(bytes, edits);
    const next = update(chat, edits);
    assert.equal(next.byteLength, bytes.length);
    if (round === 1 || random.chance(2)) checkSame(next, bytes);
    // An older version stays what it was, whatever was made of it since.
    if (random.chance(10)) checkSame(chat, chat.bytes);
    chat = next;
  }
}

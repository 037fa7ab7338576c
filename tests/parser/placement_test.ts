// Positions of new result blocks: inserting several together must equal inserting them one by one.

import assert from "node:assert/strict";
import fc from "fast-check";
import { finalLines, placeholderLines } from "../../parser/edits/result_block.ts";
import { parse, update } from "../../parser/mod.ts";
import { insertBlocks, writeResult } from "../../parser/edits/placement.ts";
import type { Call, Chat } from "../../parser/types.ts";

function read(text: string): Chat {
  return parse(new TextEncoder().encode(text));
}

function write(chat: Chat): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(chat.bytes);
}

const lines = (id: string) => placeholderLines(id, "pending", "header");
const shown = (id: string) => lines(id).join("\n") + "\n";
const use = (id: string) => `**Tool Use:** \`t\` (\`${id}\`)\n\n\`\`\`json\n{}\n\`\`\`\n`;

function open(chat: Chat): Call[] {
  return chat.calls.filter((call) => chat.result(call.id) === undefined);
}

function insertAll(text: string): string {
  const chat = read(text);
  return write(update(chat, insertBlocks(chat, open(chat).map((call) => ({ call, lines: lines(call.id) })))));
}

function insertOneByOne(text: string, order: (calls: Call[]) => Call | undefined): string {
  let chat = read(text);
  for (let call = order(open(chat)); call !== undefined; call = order(open(chat))) {
    chat = update(chat, insertBlocks(chat, [{ call, lines: lines(call.id) }]));
  }
  return write(chat);
}

Deno.test("if no You message follows, a new one is created below the last line of the message with the calls", () => {
  assert.equal(
    insertAll(`@Assistant:\n${use("a")}\n@System:\nx\n`),
    `@Assistant:\n${use("a")}\n\n@You:\n\n${shown("a")}@System:\nx\n`,
  );
});

Deno.test("result blocks are placed below the role line and above the person's text", () => {
  assert.equal(
    insertAll(`@Assistant:\n${use("a")}\n${use("b")}\n@You:\nwords\n`),
    `@Assistant:\n${use("a")}\n${use("b")}\n@You:\n\n${shown("a")}\n${shown("b")}\nwords\n`,
  );
});

Deno.test("several blocks give the same text whether they are inserted together or one by one, in any order", () => {
  fc.assert(
    fc.property(
      fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
      fc.constantFrom("none", "empty", "blank", "text", "orphan"),
      fc.boolean(),
      fc.boolean(),
      (answered, you, prose, crlf) => {
        const ids = answered.map((_, index) => `c${index}`);
        let text = `@You:\nhi\n\n@Assistant:\n${ids.map(use).join("\n")}`;
        const results = ids.filter((_, index) => answered[index]).map((id) =>
          finalLines(id, { content: "r", error: false, language: "" }).join("\n") + "\n"
        );
        if (you === "orphan") results.push(shown("zz"));
        if (you !== "none" || results.length > 0) {
          text += `\n@You:\n${you === "text" ? "words\n" : you === "empty" ? "" : "\n"}${results.join("\n")}`;
          if (prose) text += "\nlast words\n";
        }
        if (crlf) text = text.replaceAll("\n", "\r\n");
        const together = insertAll(text);
        assert.equal(together, insertOneByOne(text, (calls) => calls[0]));
        const chat = read(together);
        assert.deepEqual(open(chat), []);
        const order = chat.results.map(({ id }) => id).filter((id) => id !== "zz");
        assert.deepEqual(order, insertedOrder(ids, chat));
        assert.equal(crlf && /[^\r]\n/.test(together), false);
        // In another order the blocks stand in the order of the calls all the same.
        const backwards = read(insertOneByOne(text, (calls) => calls.at(-1)));
        assert.deepEqual(backwards.results.map(({ id }) => id).filter((id) => id !== "zz"), order);
      },
    ),
    { seed: 11, numRuns: 300 },
  );
});

function insertedOrder(ids: readonly string[], chat: Chat): string[] {
  assert.equal(new Set(chat.results.map(({ id }) => id)).size, chat.results.length, "a result appears twice");
  return [...ids];
}

Deno.test("if a message ends inside an open fence, the fence is closed before the new message", () => {
  assert.equal(
    insertAll(`@Assistant:\n${use("a")}\n\`\`\`\`js\nlet a\n\`\`\`\n`),
    `@Assistant:\n${use("a")}\n\`\`\`\`js\nlet a\n\`\`\`\n\`\`\`\`\n\n@You:\n\n${shown("a")}`,
  );
});

Deno.test("if a message ends with a closed fence, no second closing line is added", () => {
  const text = `@Assistant:\n${use("a")}\n\`\`\`js\nlet a\n\`\`\`\n`;
  assert.equal(insertAll(text), `${text}\n@You:\n\n${shown("a")}`);
});

Deno.test("a document without a final line break still has none after blocks are appended", () => {
  const text = `@Assistant:\n${use("a")}`.trimEnd();
  assert.equal(insertAll(text), `${text}\n\n@You:\n\n${shown("a")}`.trimEnd());
});

Deno.test("a result replaces the last block with its id; if no block has this id, the result is placed like a new block", () => {
  const block = { content: "new", error: false, language: "" as const };
  const text = `@Assistant:\n${use("a")}\n@You:\n\n${shown("a")}\n${shown("a")}`;
  const chat = read(text);
  const call = chat.call("a");
  assert.ok(call);
  assert.equal(
    write(update(chat, writeResult(chat, call, block))),
    `@Assistant:\n${use("a")}\n@You:\n\n${shown("a")}\n${finalLines("a", block).join("\n")}\n`,
  );
  const bare = read(`@Assistant:\n${use("a")}`);
  const open = bare.call("a");
  assert.ok(open);
  assert.equal(
    write(update(bare, writeResult(bare, open, block))),
    `@Assistant:\n${use("a")}\n@You:\n\n${finalLines("a", block).join("\n")}\n`,
  );
});

Deno.test("results of another message's calls do not affect where a result is placed", () => {
  const text = `@Assistant:\n${use("x")}\n@You:\n\n@Assistant:\n${use("a")}\n@You:\n\n${shown("x")}`;
  assert.equal(
    insertAll(text),
    `@Assistant:\n${use("x")}\n@You:\n\n@Assistant:\n${use("a")}\n@You:\n\n${shown("a")}\n${shown("x")}`,
  );
});

Deno.test("a result is refused if no message of the document contains its call, since it would have no position", () => {
  const chat = read(`@You:\nhi\n\n@Assistant:\n${use("a")}`);
  const [call] = chat.calls;
  assert.ok(call !== undefined);
  assert.throws(() => insertBlocks(read("@You:\nhi\n"), [{ call, lines: lines("a") }]), /turn 1 is not part/);
});

// New messages at the end of a document: the required text before their marker, one row per condition.

import assert from "node:assert/strict";
import { dropRepeatedPrompt, openTurn, sayNext } from "../../parser/edits/turn.ts";
import { parse, update } from "../../parser/mod.ts";

const chat = (text: string) => parse(new TextEncoder().encode(text));

Deno.test("a new message begins after a blank line; before it, an unfinished line is ended and an open fence closed", () => {
  const rows: readonly (readonly [document: string, opening: string])[] = [
    ["", "@You:\n"],
    ["@You:\nhi", "\n\n@You:\n"],
    ["@You:\nhi\n", "\n@You:\n"],
    ["@You:\nhi\n\n", "@You:\n"],
    ["@You:\nhi\n \t", "\n@You:\n"],
    ["@You:\n```\nopen\n", "```\n\n@You:\n"],
    ["@You:\n````js\nopen", "\n````\n\n@You:\n"],
    ["@You:\n```\nopen\n\n", "```\n\n@You:\n"],
    ["@You:\n```\nclosed\n```\n", "\n@You:\n"],
    ["no message\n", "\n@You:\n"],
  ];
  for (const [document, opening] of rows) {
    assert.equal(openTurn(chat(document), "You"), opening, JSON.stringify(document));
    const after = chat(document + openTurn(chat(document), "Assistant"));
    assert.equal(after.turns.at(-1)?.role, "Assistant", "the marker is one");
  }
});

Deno.test("new text goes into the person's empty message, or else into a new message, with the document's line ends", () => {
  const stated = (document: string) => {
    const before = chat(document);
    return new TextDecoder().decode(update(before, [sayNext(before, "Go on.")]).bytes);
  };
  assert.equal(stated("@You:\n\n"), "@You:\nGo on.\n\n");
  assert.equal(stated("@You:\n"), "@You:\nGo on.\n");
  assert.equal(stated("@You:"), "@You:\nGo on.");
  assert.equal(stated("@You:\nhi\n"), "@You:\nhi\n\n@You:\nGo on.\n");
  assert.equal(stated("@Assistant:\n\n"), "@Assistant:\n\n@You:\nGo on.\n");
  assert.equal(stated("@You:\r\n\r\n"), "@You:\r\nGo on.\r\n\r\n");
  assert.equal(stated("@Assistant:\r\nyes\r\n"), "@Assistant:\r\nyes\r\n\r\n@You:\r\nGo on.\r\n");
  const pending = "@You:\n**Tool Result:** `a`\n\n```\n```\n";
  assert.equal(stated(pending), `${pending}\n@You:\nGo on.\n`, "a message with a result is not empty");
});

Deno.test("an empty prompt is removed only if a merge put it above the user's next message", () => {
  const reply = "@You:\nhi\n\n@Assistant:\nyes\n";
  const ours = `${reply}\n@You:\n\n`;
  const theirs = "@You:\nhi\n\n@You:\nnext\n";
  const rows: readonly (readonly [merged: string, ours: string, theirs: string, left: string])[] = [
    [`${ours}\n@You:\nnext\n`, ours, theirs, `${reply}\n@You:\nnext\n`],
    // The user wrote both, an empty message follows, the lower message is not the user's, ours has no prompt.
    [`${ours}\n@You:\nnext\n`, ours, "@You:\n\n@You:\nnext\n", ""],
    [`${ours}@You:\nnext\n`, `@You:\n\n@You:\nhi\n\n@You:\n`, theirs, ""],
    [`${ours}next\n`, ours, theirs, ""],
    [`${ours}\n@Assistant:\nnext\n`, ours, theirs, ""],
    [`${ours}\n@You:\nnext\n`, reply, theirs, ""],
    [`${ours}@./picture.png\n\n@You:\nnext\n`, ours, theirs, ""],
  ];
  for (const [merged, our, their, left] of rows) {
    const edit = dropRepeatedPrompt(chat(merged), chat(our), chat(their));
    const text = edit === null ? "" : new TextDecoder().decode(update(chat(merged), [edit]).bytes);
    assert.equal(text, left, JSON.stringify({ merged, our, their }));
  }
});

// Result blocks as text: fences, the three spellings, and edits that touch no more than they must.

import assert from "node:assert/strict";
import fc from "fast-check";
import {
  fenceFor,
  finalLines,
  placeholderLines,
  placeholderStyle,
  rejectWith,
  replaceBlock,
  setStatus,
  stripStatus,
} from "../../parser/edits/result_block.ts";
import type { Edit } from "../../parser/edits/edit.ts";
import { parse, update } from "../../parser/mod.ts";
import type { Chat, Result } from "../../parser/types.ts";

function read(text: string): Chat {
  return parse(new TextEncoder().encode(text));
}

function write(chat: Chat): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(chat.bytes);
}

function result(chat: Chat): Result {
  const found = chat.results.at(-1);
  assert.ok(found, "the document holds no result");
  return found;
}

/** The document after a change of its last result. */
function changed(text: string, change: (chat: Chat, result: Result) => Edit | Edit[]): string {
  const chat = read(text);
  return write(update(chat, [change(chat, result(chat))].flat()));
}

const document = (header: string, opener: string, body = "", close = opener.match(/^`+/)?.[0] ?? "") =>
  `@You:\nbefore\n\n${header}\n\n${opener}\n${body}${close}\n\nafter\n`;

Deno.test("a fence is longer than every run of backticks in its content, and has at least three backticks", () => {
  assert.deepEqual(["", "`a`", "``` x", "a ````` b"].map((text) => fenceFor(text).length), [3, 3, 4, 6]);
});

Deno.test("any content that is written as a result is read back unchanged, whatever fences and role lines it contains", () => {
  const piece = fc.constantFrom(
    "`",
    "```",
    "\n",
    "@You:\n",
    "**Tool Result:** `x`\n",
    "é",
    " ",
    "a",
    "\n```js\n",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.boolean(), (pieces, error) => {
      const content = pieces.join("");
      const lines = finalLines("c1", { content, error, language: "" });
      const chat = read(`@You:\n\n${lines.join("\n")}\n\nafter\n`);
      assert.equal(chat.results.length, 1);
      assert.equal(result(chat).content, content);
      assert.equal(result(chat).status, error ? "error" : null);
    }),
    { seed: 7, numRuns: 300 },
  );
});

Deno.test("in both spellings, a placeholder is read back with its status", () => {
  for (const style of ["fence", "header"] as const) {
    for (const status of ["pending", "approved", "rejected", "denied", "aborted"] as const) {
      const chat = read(`@You:\n\n${placeholderLines("c1", status, style).join("\n")}\n`);
      assert.deepEqual([result(chat).status, result(chat).style, result(chat).content], [status, style, ""]);
    }
  }
});

Deno.test('with the style "auto", a new status has the form of the last unfinished result block in the document', () => {
  const fence = placeholderLines("a", "pending", "fence").join("\n");
  const header = placeholderLines("b", "pending", "header").join("\n");
  const error = finalLines("c", { content: "x", error: true, language: "" }).join("\n");
  assert.equal(placeholderStyle(read(`@You:\n\n${fence}\n\n${header}\n\n${error}\n`), "auto"), "header");
  assert.equal(placeholderStyle(read(`@You:\n\n${header}\n\n${fence}\n`), "auto"), "fence");
  assert.equal(placeholderStyle(read(`@You:\n\n${error}\n`), "auto"), "fence");
  assert.equal(placeholderStyle(read(`@You:\n\n${fence}\n`), "header"), "header");
});

Deno.test("removing the status keeps the body, the fence length and the surrounding text, in every spelling", () => {
  const cases: [string, string, string, string][] = [
    ["**Tool Result:** `c1` (pending)", "```", "**Tool Result:** `c1`", "```"],
    ["**Tool Result:** `c1` (pending note=keep)", "```text", "**Tool Result:** `c1`", "```text"],
    ["**Tool Result:** `c1`", "````flemma:tool status=pending", "**Tool Result:** `c1`", "````"],
    ["**Tool Result:** `c1`", "```flemma:pending", "**Tool Result:** `c1`", "```"],
    ["**Tool Result:** `c1` (pending)", "```flemma:tool status=approved", "**Tool Result:** `c1`", "```"],
    ["**Tool Result:**`é1` (status=pending)", "```", "**Tool Result:**`é1`", "```"],
  ];
  for (const [header, opener, bareHeader, bareOpener] of cases) {
    const after = changed(document(header, opener, "mine\n"), stripStatus);
    assert.equal(after, document(bareHeader, bareOpener, "mine\n"));
  }
});

Deno.test("changing the status edits only its word and keeps the spelling and all other tokens", () => {
  const cases: [string, string, string, string][] = [
    ["**Tool Result:** `c1` (pending)", "```", "**Tool Result:** `c1` (approved)", "```"],
    ["**Tool Result:** `c1` (a=1 pending x)", "```", "**Tool Result:** `c1` (a=1 approved x)", "```"],
    ["**Tool Result:** `c1` (x status=deny)", "```", "**Tool Result:** `c1` (x status=approved)", "```"],
    ["**Tool Result:** `c1` (reject)", "```", "**Tool Result:** `c1` (approved)", "```"],
    [
      '**Tool Result:** `c1` (n="a pending b" pending)',
      "```",
      '**Tool Result:** `c1` (n="a pending b" approved)',
      "```",
    ],
    ["**Tool Result:** `c1`", "```flemma:tool", "**Tool Result:** `c1`", "```flemma:tool status=approved"],
    [
      "**Tool Result:** `c1`",
      "````flemma:tool status=rejected by=me",
      "**Tool Result:** `c1`",
      "````flemma:tool status=approved by=me",
    ],
    [
      "**Tool Result:** `c1`",
      "```flemma:tool pending",
      "**Tool Result:** `c1`",
      "```flemma:tool status=approved pending",
    ],
  ];
  for (const [header, opener, newHeader, newOpener] of cases) {
    const before = document(header, opener, "body\n");
    const after = changed(before, (chat, block) => setStatus(chat, block, "approved", "header"));
    assert.equal(after, document(newHeader, newOpener, "body\n"));
    assert.equal(result(read(after)).status, "approved", after);
  }
});

Deno.test("the oldest spelling knows only one status, so a different status is written in the chosen style", () => {
  const before = document("**Tool Result:** `c1`", "```flemma:pending", "");
  assert.equal(
    changed(before, (chat, block) => setStatus(chat, block, "approved", "header")),
    document("**Tool Result:** `c1` (approved)", "```", ""),
  );
  assert.equal(
    changed(before, (chat, block) => setStatus(chat, block, "approved", "fence")),
    document("**Tool Result:** `c1`", "```flemma:tool status=approved", ""),
  );
});

Deno.test("setting the status that a block already has changes nothing", () => {
  for (const [header, opener] of [["`c1` (x approved)", "```"], ["`c1`", "```flemma:tool status=approved"]]) {
    const chat = read(document(`**Tool Result:** ${header}`, opener ?? ""));
    assert.deepEqual(setStatus(chat, result(chat), "approved", "fence"), []);
  }
});

Deno.test("a rejection message replaces the body, inside a fence that is long enough", () => {
  const before = document("**Tool Result:** `c1`", "```flemma:tool status=pending", "old\n");
  assert.equal(
    changed(before, (chat, block) => rejectWith(chat, block, "use\n```sh\nls\n```", "fence")),
    document("**Tool Result:** `c1`", "````flemma:tool status=rejected", "use\n```sh\nls\n```\n"),
  );
});

Deno.test("an edit of a block changes only bytes of that block", () => {
  const chat = read(document("**Tool Result:** `c1` (pending)", "```", ""));
  const block = result(chat);
  const edits = [
    ...setStatus(chat, block, "rejected", "header"),
    ...stripStatus(chat, block),
    replaceBlock(chat, block, { content: "x", error: false, language: "" }),
  ];
  for (const { from, to } of edits) {
    assert.ok(from >= chat.lineStart(block.place.start) && to <= chat.lineEnd(block.place.end));
  }
});

Deno.test("blocks in a CR LF document are changed and written with CR LF", () => {
  const crlf = (text: string) => text.replaceAll("\n", "\r\n");
  const before = document("**Tool Result:** `c1` (pending)", "```", "a\n");
  assert.equal(
    changed(crlf(before), stripStatus),
    crlf(document("**Tool Result:** `c1`", "```", "a\n")),
  );
  assert.equal(
    changed(
      crlf(before),
      (chat, block) => replaceBlock(chat, block, { content: "x\ny", error: true, language: "" }),
    ),
    crlf(document("**Tool Result:** `c1` (error)", "```", "x\ny\n")),
  );
});

Deno.test("in a document with mixed line ends, a changed line keeps its CR", () => {
  const before = "@You:\n\n**Tool Result:** `c1` (pending)\r\n\n```flemma:tool status=pending\r\nmine\n```\n";
  assert.equal(changed(before, stripStatus), "@You:\n\n**Tool Result:** `c1`\r\n\n```\r\nmine\n```\n");
});

Deno.test("the header of a result contains the digests of its files and nothing else", () => {
  const name = "0f".repeat(32);
  const header = (error: boolean, ...attachments: string[]) =>
    finalLines("c", { content: "x", error, language: "", attachments })[0];
  assert.equal(
    header(false, name, "1".repeat(64)),
    `**Tool Result:** \`c\` (attachments=${name},${"1".repeat(64)})`,
  );
  assert.equal(header(true, name), `**Tool Result:** \`c\` (error attachments=${name})`);
  assert.equal(header(false, "x approved", "../x", name.toUpperCase(), ""), "**Tool Result:** `c`");
});

Deno.test("the files of a result are read from the last attachments field in its header, as written, even if they are only digests", () => {
  const digits = "1".repeat(64);
  const read = (suffix: string) =>
    parse(new TextEncoder().encode(`@You:\n**Tool Result:** \`c\` (${suffix})\n\n\`\`\`\nx\n\`\`\`\n`))
      .results[0]!;
  assert.deepEqual(read(`attachments=${digits}`).attachments, [digits]);
  assert.deepEqual(read(`attachments=a, attachments=b,${digits},,c error`).attachments, ["b", digits, "c"]);
  assert.deepEqual(read('attachments="a,b"').attachments, ["a", "b"]);
  assert.deepEqual([
    read("attachments=").attachments,
    read("attachments").attachments,
    read("xattachments=a").attachments,
  ], [
    [],
    [],
    [],
  ]);
  assert.equal(read(`error attachments=${digits}`).status, "error");
});

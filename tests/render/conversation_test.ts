// Which parts of a document are shown, and where.

import assert from "node:assert/strict";
import { parse } from "../../parser/mod.ts";
import { buildConversationView } from "../../render/conversation.ts";
import { plainText } from "../../render/plain.ts";
import type { ConversationView } from "../../render/types.ts";

const read = (text: string): ConversationView =>
  buildConversationView(parse(new TextEncoder().encode(text)), "x.chat");
const plain = (text: string): string => [...plainText(read(text))].join("");

const use = (name: string, id: string, input: unknown) =>
  `**Tool Use:** \`${name}\` (\`${id}\`)\n\n\`\`\`json\n${JSON.stringify(input)}\n\`\`\`\n`;
const result = (id: string, text: string, status = "") =>
  `**Tool Result:** \`${id}\`${status}\n\n\`\`\`\n${text}\n\`\`\`\n`;

Deno.test("a result is shown with its call, and a message that only contained results is not shown separately", () => {
  const text = `@You:\nGo.\n\n@Assistant:\nOn it.\n\n${use("bash", "c1", { command: "ls" })}\n@You:\n${
    result("c1", "a.ts")
  }\n@Assistant:\nDone.\n`;
  assert.equal(
    plain(text),
    "You:\n\nGo.\n\nAssistant:\n\nOn it.\n\nCall of bash (c1)\ncommand: ls\nResult:\na.ts\n\nAssistant:\n\nDone.\n\n",
  );
});

Deno.test("a result without a call is shown where it is, and text next to results is kept", () => {
  assert.equal(
    plain(`@You:\n${result("c9", "x", " (error)")}\nAnd you?\n`),
    "You:\n\nResult: failed\nx\n\nAnd you?\n\n",
  );
});

Deno.test("a call that waits in a helper names the helper, as the document does", () => {
  const text = `@You:\nGo.\n\n@Assistant:\n${use("ask_document", "c1", { question: "Why?" })}\n@You:\n${
    result("c1", "", " (helper=runner status=pending)")
  }`;
  assert.ok(
    plain(text).endsWith(
      "Call of ask_document (c1)\nquestion: Why?\nResult: waits for the helper runner\n\n",
    ),
    plain(text),
  );
  const answered = text.replace("status=pending", "").replace("```\n\n```", "```\nSo.\n```");
  assert.ok(plain(answered).endsWith("Result:\nSo.\n\n"), plain(answered));
});

Deno.test("the result of a background job is shown under its id, between the texts around it", () => {
  const job = "**Job Result:** `job_a` (error)\n\n```\nbad **bold**\n```\n";
  assert.equal(
    plain(`@You:\nBefore.\n\n${job}\nAfter.\n`),
    "You:\n\nBefore.\n\nResult of the background job `job_a`:\n\nResult: failed\nbad **bold**\n\nAfter.\n\n",
  );
  // In a reply, these lines are words of the model.
  assert.match(plain(`@Assistant:\n${job}`), /\*\*Job Result:\*\*/);
});

Deno.test("a placeholder is shown as a sentence, between the texts around it, and elsewhere it is text", () => {
  const block = `**Reply:** \`batch b1\`\n\n\`\`\`flemma:reply status=batched item=${
    "a".repeat(32)
  }\n\`\`\`\n`;
  const words = "The reply is still to come, from the batch `b1`.";
  const text = `@You:\nHello\n\n${block}\nMore.\n`;
  const shown = `You:\n\nHello\n\n${words}\n\nMore.\n\n`;
  assert.equal(plain(text), shown);
  assert.equal(plain(text.replaceAll("\n", "\r\n")), shown);
  assert.match(plain(`@You:\nHello\n\n@Assistant:\n${block}`), /flemma:reply status=batched/);
  assert.match(plain(`@You:\n\`\`\`\`\n${block}\`\`\`\`\n`), /flemma:reply status=batched/);
});

Deno.test("if several calls have the same id, the result is shown with the last, as in a request", () => {
  const [{ parts } = { parts: [] }] = read(
    `@Assistant:\n${use("bash", "c1", { command: "1" })}\n${use("bash", "c1", { command: "2" })}\n@You:\n${
      result("c1", "x")
    }`,
  ).messages;
  assert.deepEqual(parts.map((part) => part.kind === "call" && part.result?.text), [undefined, "x"]);
});

Deno.test("template tags are shown unchanged in their line", () => {
  assert.equal(
    plain("@You:\nIt is {{ os.date() }} now.\n{% if x then %}y{% end %}\n"),
    "You:\n\nIt is {{ os.date() }} now.\n{% if x then %}y{% end %}\n\n",
  );
});

Deno.test("the backslash that escapes a line of the model is not shown", () => {
  assert.equal(plain("@Assistant:\n\\@You:\nis a marker.\n"), "Assistant:\n\n@You:\nis a marker.\n\n");
});

Deno.test("if a call replaces text, the change is shown as a diff: for each pair of field names that tools use, and for lists of changes", () => {
  const fields = (input: unknown) => {
    const [{ parts } = { parts: [] }] = read(`@Assistant:\n${use("edit", "c1", input)}`).messages;
    return parts[0]?.kind === "call" ? parts[0].fields : [];
  };
  const diff = { name: "diff", kind: "diff", text: " a\n-b\n+c" };
  for (
    const [before, after] of [["oldText", "newText"], ["old_string", "new_string"], ["old_str", "new_str"], [
      "old_text",
      "new_text",
    ]]
  ) {
    assert.deepEqual(fields({ path: "x", [before!]: "a\nb\n", [after!]: "a\nc\n" }), [
      { name: "path", kind: "path", text: "x" },
      diff,
    ]);
  }
  const one = { oldText: "a\nb", newText: "a\nc" };
  assert.deepEqual(fields({ edits: [one, one] }), [diff, diff]);
  assert.deepEqual(fields({ edits: [one, 1] }).map(({ kind }) => kind), ["text"]);
  assert.deepEqual(fields({ edits: [] }).map(({ kind }) => kind), ["text"]);
  // Far apart, with what is between left out; nothing at all; all of it.
  const far = (x: string) => `${x}\n${"same\n".repeat(20)}${x}\n`;
  assert.equal(
    fields({ oldText: far("1"), newText: far("2") })[0]?.text,
    "-1\n+2\n same\n same\n same\n…\n same\n same\n same\n-1\n+2",
  );
  assert.equal(fields({ oldText: "a", newText: "a" })[0]?.text, "");
  assert.equal(fields({ oldText: "a\nb", newText: "" })[0]?.text, "-a\n-b");
});

Deno.test("null fields of an input are omitted, other fields are shown as given, and an invalid input is shown as written", () => {
  assert.match(
    plain(`@Assistant:\n${use("t", "c1", { a: null, b: 1, c: [true], label: "why" })}`),
    /\(c1\) # why\nb: 1\nc:\n\[\n {2}true\n\]\n/,
  );
  const broken = '**Tool Use:** `t` (`c1`)\n\n```json\n{"a": 1, "a": 2}\n```\n';
  assert.match(plain(`@Assistant:\n${broken}`), /input: \{"a": 1, "a": 2\}/);
});

Deno.test("CR LF is a line end like any other", () => {
  assert.equal(plain("@You:\r\na\r\nb\r\n"), "You:\n\na\nb\n\n");
});

Deno.test("waiting, stopped and unanswered calls are described in words", () => {
  const call = (id: string) => use("bash", id, { command: id });
  const block = (id: string, status: string) =>
    `**Tool Result:** \`${id}\`\n\n\`\`\`flemma:tool status=${status}\n\`\`\`\n\n`;
  const states = ["pending", "approved", "rejected", "denied", "aborted"];
  const text = `@Assistant:\n${[...states, "none"].map(call).join("\n")}\n@You:\n${
    states.map((each) => block(each, each)).join("")
  }`;
  assert.deepEqual(plain(text).split("\n").filter((line) => line.startsWith("Result: ")), [
    "Result: waits for you",
    "Result: approved, has not run yet",
    "Result: rejected",
    "Result: denied",
    "Result: stopped",
    "Result: none yet",
  ]);
});

Deno.test("an input field named like a built-in object property is shown as text", () => {
  const input = '{"constructor":"one","toString":"two"}';
  const text = `@Assistant:\n**Tool Use:** \`x\` (\`c1\`)\n\n\`\`\`json\n${input}\n\`\`\`\n`;
  const [part] = buildConversationView(parse(new TextEncoder().encode(text)), "t").messages[0]!.parts;
  assert.ok(part?.kind === "call");
  assert.deepEqual(part.fields.map(({ name, kind }) => [name, kind]), [["constructor", "text"], [
    "toString",
    "text",
  ]]);
});

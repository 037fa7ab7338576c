// Hostile text that does not come in a stream: the last message of a helper, the output of a job, the reply of a batch,
// the form of an MCP server. None of it becomes structure of the document, and each is read back as it was.

import assert from "node:assert/strict";
import { helperResult } from "../../agent/runtime/helpers/outcome.ts";
import { writeQuestion } from "../../agent/runtime/helpers/question.ts";
import { ReplyWriter } from "../../cycle/send/reply.ts";
import { applyEdits } from "../../parser/edits/edit.ts";
import { insertJobResults } from "../../parser/edits/job_block.ts";
import { writeResult } from "../../parser/edits/placement.ts";
import { setQuestions } from "../../parser/edits/result_block.ts";
import { type Chat, parse } from "../../parser/mod.ts";
import { documentJobs, readJobResult } from "../../parser/view/jobs.ts";
import { getProvider } from "../../providers/registry.ts";
import { readAnswers } from "../../tools/mcp/questions/answers.ts";
import { readServerQuestion } from "../../tools/mcp/questions/read.ts";
import { writeQuestions } from "../../tools/mcp/questions/write.ts";
import type { Chance } from "./random.ts";

const encoder = new TextEncoder();

const CALL =
  '@You:\nhi\n\n@Assistant:\n**Tool Use:** `ask_document` (`c1`)\n\n```json\n{"question":"x"}\n```\n\n';
const STARTED = `${CALL}@You:\n\n**Tool Result:** \`c1\` (job=job_abcde)\n\n\`\`\`\nstarted\n\`\`\`\n`;
const PENDING = `${CALL}@You:\n\n**Tool Result:** \`c1\`\n\n\`\`\`flemma:tool status=pending\n\`\`\`\n`;

/** Text without what a writer of blocks replaces. */
type Text = () => string;

const WAYS: readonly ((random: Chance, text: Text) => Promise<void> | void)[] = [
  helperAnswers,
  helperIsAsked,
  jobEnds,
  batchReplies,
  serverAsks,
];

/** Tries one way by which a text reaches a document. */
export async function oneResult(random: Chance, text: Text): Promise<void> {
  await random.pick(WAYS)(random, text);
}

function edited(chat: Chat, edits: readonly { from: number; to: number; insert: string }[]): Chat {
  return parse(
    applyEdits(chat.bytes, edits.map((edit) => ({ ...edit, insert: encoder.encode(edit.insert) }))),
  );
}

function roles(chat: Chat): string {
  return chat.turns.map(({ role }) => role).join();
}

function helperAnswers(random: Chance, text: Text): void {
  const reply = text();
  const helper = {
    name: "one",
    document: "a.chat.d/one.chat",
    line: "Helper: one (a.chat.d/one.chat)",
    notes: [],
  };
  const reason = random.pick(["done", "cut", "turn-limit"] as const);
  const result = helperResult({ reason }, helper, { reply, open: [] });
  const content = result.success ? result.output : result.error;
  assert.equal(typeof content, "string");
  const before = parse(encoder.encode(CALL));
  const block = { content: String(content), error: !result.success, language: "" } as const;
  const after = edited(before, writeResult(before, before.calls[0]!, block));
  assert.equal(roles(after), "You,Assistant,You");
  assert.deepEqual(after.calls.map(({ id }) => id), ["c1"]);
  assert.equal(after.results.length, 1);
  assert.equal(after.result("c1")?.content, content);
}

function helperIsAsked(random: Chance, text: Text): void {
  const question = text();
  if (question.trim() === "") return;
  const before = parse(encoder.encode(random.pick(["", "@System:\nBe brief.\n\n@You:\n"])));
  const edit = writeQuestion(before, question, { files: [], tags: random.below(2) === 0 });
  if (!edit.ok) return;
  const after = edited(before, [edit.value]);
  assert.match(
    roles(after),
    /^(?:System,)?You$/,
    JSON.stringify([question, after.text(0, after.byteLength)]),
  );
  assert.deepEqual([after.calls.length, after.results.length], [0, 0]);
}

function jobEnds(random: Chance, text: Text): void {
  const content = text();
  const before = parse(encoder.encode(`${STARTED}${random.pick(["", "\n@You:\n", "\n@You:\nMine.\n"])}`));
  const asks = random.below(2) === 0;
  const after = edited(before, [
    insertJobResults(before, [{ id: "job_abcde", content, error: false }], { asks }),
  ]);
  assert.match(roles(after), /^You,Assistant(?:,You)+$/);
  assert.deepEqual([after.calls.length, after.results.length], [1, 1]);
  assert.deepEqual(documentJobs(after).map(({ finished }) => finished), [true]);
  const results = after.turns.flatMap(({ segments }) =>
    segments.flatMap((segment) => segment.kind === "text" ? readJobResult(segment) ?? [] : [])
  );
  assert.deepEqual(results.map((result) => result.content), [content]);
  if (before.bytes.length !== encoder.encode(STARTED).length && before.turns.length > 4) {
    assert.ok(after.text(0, after.byteLength).includes("Mine."));
  }
}

/** A whole reply with a text and a call, by provider. */
const BODIES: Readonly<Record<string, (text: string, input: object) => unknown>> = {
  anthropic: (text, input) => ({
    type: "message",
    content: [{ type: "text", text }, { type: "tool_use", id: "c1", name: "bash", input }],
    stop_reason: "tool_use",
  }),
  openai: (text, input) => ({
    status: "completed",
    output: [
      { type: "message", role: "assistant", content: [{ type: "output_text", text }] },
      { type: "function_call", call_id: "c1", name: "bash", arguments: JSON.stringify(input) },
    ],
  }),
  gemini: (text, input) => ({
    candidates: [{
      content: { role: "model", parts: [{ text }, { functionCall: { name: "bash", args: input } }] },
      finishReason: "STOP",
    }],
  }),
  moonshot: (text, input) => ({
    choices: [{
      message: {
        content: text,
        tool_calls: [{
          id: "c1",
          type: "function",
          function: { name: "bash", arguments: JSON.stringify(input) },
        }],
      },
      finish_reason: "tool_calls",
    }],
  }),
};

async function batchReplies(random: Chance, text: Text): Promise<void> {
  const [name, body] = random.pick(Object.entries(BODIES));
  const provider = await getProvider(name);
  assert.ok(provider.ok);
  const input = { command: text() };
  const effects = provider.value.reader().whole(body(text(), input));
  assert.ok(effects !== null, name);
  const writer = new ReplyWriter("\n@Assistant:\n");
  for (const effect of effects) writer.apply(effect);
  const pieces = writer.finish({ kind: "completed" }).map((piece) =>
    typeof piece === "string" ? piece : [...piece].join("")
  );
  const chat = parse(encoder.encode(`@You:\nhi\n${pieces.join("")}`));
  assert.match(roles(chat), /^You,Assistant(?:,You)?$/, `${name}: ${pieces.join("")}`);
  assert.deepEqual(chat.calls.map((call) => call.input), [input], name);
  assert.equal(chat.results.length, 0, name);
}

async function serverAsks(_: Chance, text: Text): Promise<void> {
  const properties = {
    [text().slice(0, 60) || "x"]: { type: "string", title: text(), description: text(), default: text() },
    plain: { type: "string", enum: [text(), text()], enumNames: [text(), text()] },
  };
  const read = readServerQuestion({ message: text(), requestedSchema: { type: "object", properties } });
  if (!read.ok) return;
  const asked = {
    server: "web",
    repeats: false,
    requestState: null,
    answered: [],
    questions: { one: read.value },
  };
  const form = writeQuestions(asked);
  const before = parse(encoder.encode(PENDING));
  const after = edited(before, [setQuestions(before, before.result("c1")!, form, "pending", "fence")]);
  assert.equal(roles(after), "You,Assistant,You");
  assert.deepEqual([after.calls.length, after.results.length], [1, 1]);
  assert.equal(after.result("c1")?.status, "pending");
  assert.equal(after.result("c1")?.questions, form);
  const answers = await readAnswers(asked, form);
  // An enum may not have the default of a form; the answer is then refused in a sentence.
  if (answers.ok) assert.deepEqual(Object.keys(answers.value), ["one"]);
}

// Facts about a provider's reply that the document cannot hold are sent back with the next request.

import assert from "node:assert/strict";
import type { Journal } from "../../cycle/types.ts";
import { openJournal } from "../../cycle/storage/journal.ts";
import { serve } from "./loopback.ts";
import { sendOnce } from "./send_once.ts";

/** A journal that ends with the test. */
async function journal(): Promise<Journal> {
  const opened = await openJournal({ environment: { cwd: "/", home: "/", variables: {} }, path: null });
  assert.ok(opened.ok);
  return opened.value;
}

const sse = (...events: readonly unknown[]) =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");

interface Turn {
  readonly provider: string;
  readonly model: string;
  readonly document: string;
  readonly answer: string;
  readonly journal: Journal;
}

async function send(turn: Turn): Promise<{ after: string; body: string }> {
  const server = serve(() => ({ headers: { "content-type": "text/event-stream" }, body: turn.answer }));
  try {
    const { document, answer: _, ...asked } = turn;
    const { outcome, after } = await sendOnce(document, { ...asked, url: server.url });
    assert.ok(outcome.kind === "completed", JSON.stringify(outcome));
    return { after, body: server.requests[0]!.body };
  } finally {
    await server.close();
  }
}

const RESULT = (id: string) => `**Tool Result:** \`${id}\`\n\n\`\`\`\nout\n\`\`\`\n`;
const HI = "@You:\nhi\n";

Deno.test("reasoning is sent back in the field in which the server sent it, or, if this field is unknown, in the usual field", async () => {
  const calls = [{ id: "c1", function: { name: "ls", arguments: "{}" } }];
  for (const field of ["reasoning", "reasoning_content"]) {
    const chat = { provider: "openai_chat", model: "qwen3", journal: await journal() };
    const answer = sse(
      { choices: [{ delta: { [field]: "Look." } }] },
      { choices: [{ delta: { tool_calls: calls }, finish_reason: "tool_calls" }] },
    );
    const first = await send({ ...chat, document: HI, answer });
    const second = await send({ ...chat, document: first.after + RESULT("c1"), answer });
    assert.equal(JSON.parse(second.body).messages[1][field], "Look.");
    const elsewhere = await send({
      ...chat,
      document: first.after + RESULT("c1"),
      answer,
      journal: await journal(),
    });
    assert.equal(JSON.parse(elsewhere.body).messages[1].reasoning_content, "Look.");
  }
});

Deno.test("a gateway's reasoning details are stored and sent back unchanged, whatever the gateway is named", async () => {
  const router = { provider: "openai_chat", model: "m", journal: await journal() };
  const piece = (text: string, rest = {}) => ({
    choices: [{
      delta: { reasoning: text, reasoning_details: [{ type: "reasoning.text", text, index: 0, ...rest }] },
    }],
  });
  const calls = [{ id: "c1", function: { name: "ls", arguments: "{}" } }];
  const answer = sse(
    piece("Look "),
    piece("there.", { signature: "s1" }),
    { choices: [{ delta: { tool_calls: calls }, finish_reason: "tool_calls" }] },
  );
  const first = await send({ ...router, document: HI, answer });
  assert.match(first.after, /Look there\./);
  const second = await send({ ...router, document: first.after + RESULT("c1"), answer });
  const [, message] = JSON.parse(second.body).messages;
  assert.deepEqual(message.reasoning_details, [
    { index: 0, signature: "s1", text: "Look there.", type: "reasoning.text" },
  ]);
  assert.equal(message.reasoning, undefined);
});

Deno.test("an OpenAI message is sent back with its phase; if the message was edited, its position defines the phase", async () => {
  const openai = { provider: "openai", model: "gpt-6.1-sol", journal: await journal() };
  const item = {
    type: "message",
    phase: "commentary",
    content: [{ type: "output_text", text: "I begin.\n" }],
  };
  const answer = sse(
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: {} },
  );
  const first = await send({ ...openai, document: HI, answer });
  const phaseIn = (body: string) =>
    JSON.parse(body).input.find(({ role }: { role: string }) => role === "assistant").phase;
  const second = await send({ ...openai, document: `${first.after}on\n`, answer });
  assert.equal(phaseIn(second.body), "commentary");
  const edited = await send({ ...openai, document: `${first.after.replace("begin", "start")}on\n`, answer });
  assert.equal(phaseIn(edited.body), "final_answer");
});

Deno.test("Gemini gets back the ids and signatures that it sent; a different model gets no old signatures; unrecorded ids are not sent", async () => {
  const gemini = { provider: "gemini", model: "gemini-3.8-flash", journal: await journal() };
  const part = { functionCall: { id: "fc-7", name: "ls", args: {} }, thoughtSignature: "c2ln" };
  const answer = sse({ candidates: [{ content: { parts: [part] }, finishReason: "STOP" }] });
  const first = await send({ ...gemini, document: HI, answer });
  const document = first.after + RESULT("fc-7");
  const partsOf = (body: string) =>
    JSON.parse(body).contents.slice(1).map(({ parts }: { parts: unknown[] }) => parts[0]);
  const second = await send({ ...gemini, document, answer });
  assert.deepEqual(partsOf(second.body), [
    { functionCall: { args: {}, id: "fc-7", name: "ls" }, thoughtSignature: "c2ln" },
    { functionResponse: { id: "fc-7", name: "ls", response: { output: "out" } } },
  ]);
  const other = await send({ ...gemini, model: "gemini-4-argon", document, answer });
  assert.equal(partsOf(other.body)[0].thoughtSignature, "skip_thought_signature_validator");
  const elsewhere = await send({ ...gemini, document, answer, journal: await journal() });
  assert.deepEqual(partsOf(elsewhere.body), [
    { functionCall: { args: {}, name: "ls" }, thoughtSignature: "c2ln" },
    { functionResponse: { name: "ls", response: { output: "out" } } },
  ]);
});

Deno.test("recorded facts about a reply are available in the next run, although the document does not contain them", async () => {
  const home = await Deno.makeTempDir({ prefix: "flemma-notes-" });
  try {
    const environment = { cwd: home, home, variables: { XDG_STATE_HOME: `${home}/state` } };
    const path = `${home}/talk.chat`;
    await Deno.writeTextFile(path, HI);
    const opened = await openJournal({ environment, path });
    assert.ok(opened.ok);
    await opened.value.recordThinking([{ kind: "note", key: "00ab", value: "commentary" }]);
    const again = await openJournal({ environment, path });
    assert.ok(again.ok);
    assert.equal(again.value.thinking.notes.get("00ab"), "commentary");
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});

Deno.test("a Gemini input appears in the document, and is sent back, as Gemini wrote it", async () => {
  const gemini = { provider: "gemini", model: "gemini-3.8-flash", journal: await journal() };
  const answer =
    'data: {"candidates": [{"index": 1, "content": {"parts": []}}, {"content": {"parts": [{"text": "So: "}, ' +
    '{"functionCall": {"args": {"z": 1.0, "2": 12345678901234567890, "s": "a \\"}{] b"}, "name": "ls"}}]}, ' +
    '"finishReason": "STOP"}]}\n\n';
  const first = await send({ ...gemini, document: HI, answer });
  const spelled = '{"z":1.0,"2":12345678901234567890,"s":"a \\"}{] b"}';
  assert.ok(first.after.includes(spelled), first.after);
  const [, id] = /\(`([^`]*)`\)/.exec(first.after)!;
  const second = await send({ ...gemini, document: first.after + RESULT(id!), answer });
  assert.ok(second.body.includes(`"args":${spelled}`), second.body);
});

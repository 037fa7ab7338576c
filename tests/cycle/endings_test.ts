// How a reply may end, and what the person is told about it.

import assert from "node:assert/strict";
import { converse, thought } from "./conversation.ts";

const saying = (text: string, stop_reason: string, stop_details?: Readonly<Record<string, unknown>>) => ({
  reply: [{ text }],
  stop_reason,
  ...(stop_details === undefined ? {} : { stop_details }),
});

const ENDINGS: readonly (readonly [reason: string, reply: string, reported: RegExp | null])[] = [
  ["end_turn", "whole", null],
  ["stop_sequence", "whole", null],
  ["max_tokens", "cut", /it reached 16000 tokens, .* the model's own limit is unknown\. Raise/],
  [
    "model_context_window_exceeded",
    "full",
    /cut off: the conversation fills the model's context window\.$/,
  ],
  ["bedtime", "doubtful", /an unknown reason \("bedtime"\)/],
];

for (const [reason, reply, reported] of ENDINGS) {
  Deno.test(`a reply that ends with ${reason} is ${reply}, and ${reported === null ? "no message is needed" : "flemma reports the reason"}`, async () => {
    await converse({ replies: [saying("Well", reason)] }, async (talk) => {
      const { outcome, reported: found } = await talk.send();
      assert.ok(outcome.kind === "completed");
      assert.equal(outcome.reply, reply);
      assert.equal(found.length, reported === null ? 0 : 1, found.join());
      if (reported !== null) assert.match(found[0]!, reported);
      assert.match(talk.text, /@Assistant:\nWell\n\n@You:\n\n$/);
    });
  });
}

Deno.test("a refusal is reported with its category and with advice, and the partial reply is marked as aborted", async () => {
  const details = { category: "cyber", explanation: "Not that.", fallback_credit_token: "x" };
  await converse({ replies: [saying("I", "refusal", details)] }, async (talk) => {
    const { outcome } = await talk.send();
    assert.ok(outcome.kind === "failed");
    assert.equal(outcome.problem.message, "Response blocked by The replay (refusal: cyber: Not that.)");
    assert.match(
      outcome.problem.next ?? "",
      /^Delete the partial reply, then reword your message/,
    );
    assert.match(talk.text, /\nI\n\n<!-- flemma:aborted: Response blocked .*cyber: Not that\.\) -->\n$/);
  });
  await converse({ replies: [{ reply: [], stop_reason: "refusal" }] }, async (talk) => {
    const before = talk.text;
    const { outcome } = await talk.send();
    assert.ok(outcome.kind === "failed");
    assert.match(outcome.problem.message, /\(refusal\)$/);
    assert.match(outcome.problem.next ?? "", /^Reword your message, or use another model/);
    assert.equal(talk.text, before);
  });
});

Deno.test("if the provider pauses a reply, flemma sends it back unchanged, and the reply continues automatically", async () => {
  const replies = [
    { reply: [{ thinking: "a" }, { text: "One," }], stop_reason: "pause_turn" },
    saying("two,", "pause_turn"),
    saying("three.", "end_turn"),
  ];
  await converse({ replies }, async (talk) => {
    await talk.sent();
    assert.deepEqual(talk.replay.problems, []);
    assert.equal(talk.replay.requests.length, 3);
    assert.match(talk.text, /One,\n\n@Assistant:\ntwo,\n\n@Assistant:\nthree\.\n\n@You:\n\n$/);
    assert.deepEqual(talk.thinking, ["a"]);
    // What is below is one conversation for the next request too.
    talk.say("More?");
    const { outcome } = await talk.send();
    assert.match(outcome.kind === "failed" ? outcome.problem.message : "", /none is left for this request/);
  });
});

Deno.test("if the provider pauses twenty times, flemma gives up and marks the reply as incomplete", async () => {
  const replies = Array.from({ length: 30 }, (_, index) => saying(`Part ${index}.`, "pause_turn"));
  await converse({ replies }, async (talk) => {
    const { outcome, reported } = await talk.send();
    assert.ok(outcome.kind === "completed");
    assert.equal(outcome.reply, "cut");
    assert.match(reported.join(), /paused it more than 20 times/);
    assert.equal(talk.replay.requests.length, 21);
    assert.match(talk.text, /Part 20\.\n\n@You:\n\n$/);
  });
});

Deno.test("if the provider pauses before any content, flemma treats the reply as empty and does not send it again", async () => {
  await converse({ replies: [{ reply: [], stop_reason: "pause_turn" }] }, async (talk) => {
    const { outcome } = await talk.send();
    assert.ok(outcome.kind === "completed");
    assert.equal(outcome.reply, "empty");
    assert.equal(talk.replay.requests.length, 1);
  });
});

Deno.test("if a request is refused and the retry is answered, the warnings about the refusal are reported with the retry", async () => {
  await converse({ replies: [thought("a"), thought("b")], withoutBetas: true }, async (talk) => {
    await talk.sent();
    talk.say("Two?");
    talk.use("claude-opus-9");
    await talk.sent(/used as given/, /repeats it without the setting/);
  });
});

// Earlier thinking after edits: thinking that no longer fits is omitted before it can be refused, and reported once.

import assert from "node:assert/strict";
import { findModel, pricesAt } from "../../providers/models/find.ts";
import { type ScriptedReply, startReplay } from "../../providers/replay/server.ts";
import { changeNotice } from "../../cycle/send/thinking/notices.ts";
import { called, converse, thought } from "./conversation.ts";
import { testsWith } from "../tests_with.ts";

const FOUR = ["a", "b", "c", "d", "e", "f"].map((word) => thought(word));

/** The second and third @You: message of a conversation that has had three replies. */
const threeTurns = async (
  body: (talk: Parameters<Parameters<typeof converse>[1]>[0]) => Promise<void>,
  options: Partial<Parameters<typeof converse>[0]> = {},
) =>
  await converse(
    { replies: FOUR, text: "@System:\nBe brief.\n\n@You:\nOne?\n", ...options },
    async (talk) => {
      await talk.sent();
      talk.say("Two?");
      await talk.sent();
      talk.say("Three?");
      await talk.sent();
      talk.say("Four?");
      await body(talk);
    },
  );

const test = testsWith(threeTurns);

test("as long as no earlier turn changes, all thinking is sent back and no message is shown", async (talk) => {
  await talk.sent();
  assert.deepEqual(talk.thinking, ["a", "b", "c"]);
  assert.deepEqual(talk.replay.problems, []);
  const { thinking } = talk.body as { thinking: Record<string, unknown> };
  assert.deepEqual(thinking.block_binding, { prefix_mismatch_behavior: "drop_block" });
  assert.equal(
    talk.replay.requests.at(-1)!.headers["anthropic-beta"],
    "thinking-binding-controls-2026-08-01",
  );
  assert.equal(talk.replay.requests[0]!.headers["anthropic-beta"], undefined);
});

const EDITS: readonly (readonly [
  what: string,
  change: readonly [from: string, to: string],
  left: readonly string[],
  says: RegExp,
])[] = [
  [
    "an earlier question",
    ["Two?", "Two, really?"],
    ["a"],
    /2 blocks .*first change: the @You: message at line 15\)/,
  ],
  ["the first question", ["One?", "One!"], [], /3 blocks .*the @You: message at line 4\)/],
  ["the system prompt", ["Be brief.", "Be long."], [], /3 blocks .*the system prompt at line 1\)/],
  ["the system prompt, removed", ["@System:\nBe brief.\n\n", ""], [], /the removed system prompt\)/],
  ["the model's text", ["Said a.", "Said A."], ["a"], /2 blocks .*the @Assistant: message at line 7\)/],
  ["a removed turn", ["@You:\nTwo?\n", ""], ["a"], /2 blocks .*so requests omit them/],
  ["the text of thinking", ["\nb\n", "\nB\n"], ["a"], /2 blocks .*the thinking at line 19\)/],
  [
    "a new turn in the middle",
    ["@You:\nTwo?\n", "@You:\nWait.\n\n@Assistant:\nYes?\n\n@You:\nTwo?\n"],
    ["a"],
    /2 blocks .*the @You: message at line 15\)/,
  ],
];

for (const [what, [from, to], left, says] of EDITS) {
  test(`an edit of ${what} omits the thinking after it from all later requests, and flemma reports this once`, async (talk) => {
    talk.edit(from, to);
    await talk.sent(says);
    assert.deepEqual(talk.thinking, left);
    talk.say("Five?");
    await talk.sent();
    assert.deepEqual(talk.thinking, [...left, "d"]);
    // Putting back what was there does not bring the thinking back: what came since was made without it.
    const isBefore = to !== "" && !what.includes("thinking");
    if (to !== "") talk.edit(to, from);
    talk.say("Six?");
    const { reported } = await talk.send();
    assert.deepEqual(talk.thinking, isBefore ? left : [...left, "d", "e"]);
    assert.equal(reported.length, isBefore ? 1 : 0, reported.join());
    assert.deepEqual(talk.replay.problems, []);
  });
}

test("if the set of tools changes, all thinking is omitted, and the report names the tools as the cause", async (talk) => {
  talk.tools = [{ name: "bash", description: "Runs.", input_schema: { type: "object" } }];
  await talk.sent(/3 blocks .*the offered tools\)/);
  assert.deepEqual(talk.thinking, []);
  assert.deepEqual(talk.replay.problems, []);
});

Deno.test("later thinking is sent if the first thinking of a conversation is missing, and omitted if other thinking is missing", async () => {
  const block = (text: string, word: string) =>
    RegExp(`<thinking [^>]*>\n${word}\n</thinking>\n\n`).exec(text)![0];
  await threeTurns(async (talk) => {
    talk.edit(block(talk.text, "a"), "");
    await talk.sent();
    assert.deepEqual(talk.thinking, ["b", "c"]);
    assert.deepEqual(talk.replay.problems, []);
  });
  await threeTurns(async (talk) => {
    talk.edit(block(talk.text, "b"), "");
    await talk.sent(/1 block .* no longer matches/);
    assert.deepEqual(talk.thinking, ["a"]);
    assert.deepEqual(talk.replay.problems, []);
  });
  await threeTurns(async (talk) => {
    const taken = block(talk.text, "c");
    talk.edit(taken, "");
    await talk.sent();
    talk.edit("@Assistant:\nSaid c.", `@Assistant:\n${taken}Said c.`);
    talk.say("Five?");
    await talk.sent(/1 block /);
    assert.deepEqual(talk.thinking, ["a", "b", "c"]);
    assert.deepEqual(talk.replay.problems, []);
  });
});

Deno.test("in an unfinished series of tool calls, flemma sends either all thinking or none", async () => {
  const replies = [
    thought("a"),
    called("b", "t1"),
    called("c", "t2"),
    called("d", "t3"),
    thought("e"),
    thought("f"),
  ];
  await converse({ replies }, async (talk) => {
    await talk.sent();
    talk.say("Two?");
    await talk.sent();
    talk.answer("t1", "one");
    await talk.sent();
    assert.deepEqual(talk.thinking, ["a", "b"]);
    talk.answer("t2", "two");
    talk.edit("\none\n", "\nanother\n");
    await talk.sent(/2 blocks .*the @You: message/);
    assert.deepEqual(talk.thinking, ["a"]);
    talk.answer("t3", "three");
    // What was made in the same loop without the others' thinking goes with them.
    await talk.sent(/1 block /);
    assert.deepEqual(talk.thinking, ["a"]);
    talk.say("Three?");
    await talk.sent();
    assert.deepEqual(talk.thinking, ["a", "e"]);
    assert.deepEqual(talk.replay.problems, []);
  });
});

Deno.test("if a reply was cut between two calls, only the thinking of their series is omitted", async () => {
  const calls: ScriptedReply = { reply: [...called("b", "t1").reply!, ...called("c", "t2").reply!.slice(1)] };
  const replies = [thought("a"), calls, thought("d"), thought("e")];
  await converse({ replies }, async (talk) => {
    talk.tools = [{ name: "bash", description: "Runs.", input_schema: { type: "object" } }];
    await talk.sent();
    talk.say("Two?");
    await talk.sent();
    // What a connection that breaks here leaves in the document.
    talk.text = talk.text.slice(0, talk.text.indexOf("**Tool Use:** `bash` (`t2`)"));
    talk.answer("t1", "one");
    await talk.sent(
      /cannot be modified.* repeats it without 1 block of earlier thinking \(first at line 16\), which/,
    );
    assert.deepEqual(talk.thinking, ["a"]);
    talk.say("Three?");
    await talk.sent();
    assert.deepEqual(talk.thinking, ["a", "d"]);
    assert.equal(talk.replay.problems.length, 1, "it is not refused again");
  });
});

test("a copied turn is sent without its thinking, and the original keeps it", async (talk) => {
  const turn = talk.text.slice(talk.text.indexOf("@You:\nTwo?"), talk.text.indexOf("@You:\nThree?"));
  talk.text = talk.text.replace("@You:\nFour?", `${turn}@You:\nFour?`);
  await talk.sent();
  assert.deepEqual(talk.thinking, ["a", "b", "c"]);
  talk.say("Five?");
  await talk.sent();
  assert.deepEqual(talk.thinking, ["a", "b", "c", "d"]);
  // A copy in front is at the place where the thinking was made; what follows it no longer matches.
  talk.edit("@You:\nTwo?", `${turn}@You:\nTwo?`);
  talk.say("Six?");
  await talk.sent(/\d blocks of earlier thinking no longer match/);
  assert.deepEqual(talk.thinking, ["a", "b"]);
  assert.deepEqual(talk.replay.problems, []);
});

test("if the provider drops thinking of a document from another machine, flemma reports it and omits the thinking from then on", async (talk) => {
  talk.document = `${talk.folder}/elsewhere.chat`;
  talk.edit("Two?", "Two, really?");
  await talk.sent(/2 blocks of earlier thinking \(first at line 19\), because the text before has changed/);
  assert.deepEqual(talk.thinking, ["a", "b", "c"]);
  talk.say("Five?");
  await talk.sent();
  assert.deepEqual(talk.thinking, ["a", "d"]);
  assert.deepEqual(talk.replay.problems, []);
});

test("with binding: error, if thinking is no longer valid, no request is sent and flemma reports where it is", async (talk) => {
  talk.use(null, { binding: "error" });
  await talk.sent();
  assert.deepEqual((talk.body.thinking as Record<string, unknown>).block_binding, {
    prefix_mismatch_behavior: "error",
  });
  talk.say("Five?");
  talk.edit("Two?", "Two, really?");
  const count = talk.replay.requests.length;
  const { outcome } = await talk.send();
  assert.ok(outcome.kind === "failed");
  assert.equal(outcome.problem.code, "thinking-mismatch");
  assert.match(outcome.problem.message, /3 blocks .*the @You: message at line 15/);
  assert.equal(talk.replay.requests.length, count);
  talk.use(null);
  await talk.sent(/3 blocks/);
});

test("with binding: error, flemma sends no second request after the provider refuses thinking", async (talk) => {
  talk.document = `${talk.folder}/elsewhere.chat`;
  talk.use(null, { binding: "error" });
  talk.edit("Two?", "Two, really?");
  const count = talk.replay.requests.length;
  const { outcome } = await talk.send();
  assert.ok(outcome.kind === "failed");
  assert.match(outcome.problem.message, /bound to a different conversation/);
  assert.equal(talk.replay.requests.length, count + 1);
});

Deno.test("with binding: off, flemma sends thinking even after an edit; if the provider refuses the thinking, a second request omits it from the refused block on", async () => {
  const off = { binding: "off" };
  await threeTurns(async (talk) => {
    talk.use(null, off);
    talk.edit("Two?", "Two, really?");
    await talk.sent();
    assert.deepEqual(talk.thinking, ["a", "b", "c"]);
    assert.equal(talk.replay.requests.at(-1)!.headers["anthropic-beta"], undefined);
  }, { account: { id: "old", old: true } });
  await threeTurns(async (talk) => {
    talk.use(null, off);
    talk.edit("Two?", "Two, really?");
    const count = talk.replay.requests.length;
    await talk.sent(
      /bound to a different conversation.* repeats it without 2 blocks of earlier thinking \(first at line 19\)/,
    );
    assert.equal(talk.replay.requests.length, count + 2);
    assert.deepEqual(talk.thinking, ["a"]);
    talk.say("Five?");
    await talk.sent();
    assert.deepEqual(talk.thinking, ["a", "d"]);
  });
});

Deno.test("if a gateway refuses the beta header, flemma repeats the request without the header and with a changed body", async () => {
  await converse({ replies: FOUR, withoutBetas: true }, async (talk) => {
    await talk.sent();
    talk.say("Two?");
    await talk.sent(/anthropic-beta.* repeats it without the setting for thinking/);
    assert.deepEqual(talk.thinking, ["a"]);
    assert.equal((talk.body.thinking as Record<string, unknown>).block_binding, undefined);
    const bodies = talk.replay.requests.map(({ body }) => body);
    assert.equal(new Set(bodies).size, 3);
    // And where the thinking does not fit on top of that, it is asked a third time, and never a fourth.
    talk.document = `${talk.folder}/elsewhere.chat`;
    talk.edit("One?", "One!");
    talk.say("Three?");
    await talk.sent(/anthropic-beta/, /bound to a different conversation/);
    assert.deepEqual(talk.thinking, []);
    assert.equal(talk.replay.requests.length, 6);
  });
});

test("if the provider refuses a signature, flemma once removes the thinking from there on, and never sends one body twice", async (talk) => {
  // The text of a block that this machine knows nothing of.
  talk.document = `${talk.folder}/elsewhere.chat`;
  talk.edit("\nb\n", "\nB\n");
  const count = talk.replay.requests.length;
  await talk.sent(
    /Invalid `signature` in `thinking` block.* repeats it without 2 blocks of earlier thinking/,
  );
  assert.equal(talk.replay.requests.length, count + 2);
  assert.deepEqual(talk.thinking, ["a"]);
  talk.say("Five?");
  await talk.sent();
  assert.deepEqual(talk.thinking, ["a", "d"]);
});

Deno.test("thinking that another model cannot read stays in the file, is reported once, and is used again for its own model", async () => {
  await converse({ replies: FOUR }, async (talk) => {
    talk.use("claude-fable-5-1");
    await talk.sent();
    talk.use("claude-opus-5-5");
    talk.say("Two?");
    await talk.sent(/claude-opus-5-5 cannot read 1 block .*; this thinking stays in the file/);
    talk.say("Three?");
    await talk.sent();
    talk.use("claude-fable-5-1");
    talk.say("Four?");
    await talk.sent();
    assert.deepEqual(talk.thinking, ["a", "b", "c"]);
    assert.deepEqual(talk.replay.problems, []);
  });
});

test("thinking that belongs to another account is reported and stays in the file", async (talk) => {
  await using other = await startReplay({ replies: [thought("x")] }, { account: { id: "other" } });
  talk.replay = other;
  await talk.sent(/3 blocks .*from another account/);
  assert.deepEqual(talk.thinking, ["a", "b", "c"]);
  assert.match(talk.text, /\na\n<\/thinking>/);
});

test("after an edit, an older model that ignores preceding text gets all thinking it can read, and unreadable thinking is reported", async (talk) => {
  talk.use("claude-opus-4-8");
  talk.edit("Two?", "Two, really?");
  await talk.sent(/claude-opus-4-8 cannot read 3 blocks .*; this thinking stays in the file/);
  assert.deepEqual(talk.thinking, ["a", "b", "c"]);
  assert.equal(talk.replay.requests.at(-1)!.headers["anthropic-beta"], undefined);
  talk.say("Five?");
  await talk.sent();
  assert.deepEqual(talk.thinking, ["a", "b", "c", "d"]);
});

Deno.test("a change of a long earlier text is reported with the cost of processing it again, even if no thinking is omitted", async () => {
  const long = "word ".repeat(8000);
  await threeTurns(async (talk) => {
    talk.use("claude-opus-4-8");
    talk.edit(long, `${long}!`);
    await talk.sent(
      /first change: the @You: message at line 4\); about 10,\d00 tokens after it are no longer cached/,
      /cannot read/,
    );
    talk.say("Five?");
    await talk.sent();
  }, { text: `@System:\nBe brief.\n\n@You:\n${long}\n` });
});

Deno.test("the cost of processing text again is given in dollars if the price is known; short texts are not reported", () => {
  const prices = pricesAt(findModel("anthropic", "claude-sonnet-5-5")!, "2026-11-28", 0)!;
  const stated = (letters: number, least: number, price = true) =>
    changeNotice(
      {
        pieces: [{ what: "user", line: 3, text: "x".repeat(letters), thinking: [] }],
        whole: 0,
        mismatch: null,
        canRead: () => true,
      },
      { leftOut: new Set(), lost: [], stale: [], changed: 0, unread: [] },
      { least, prices: price ? prices : null },
    );
  assert.match(
    stated(400_000, 512) ?? "",
    /about 100,000 tokens after it are no longer cached \(about \$0\.24\)\.$/,
  );
  assert.match(stated(4000, 512) ?? "", /about 1,000 tokens .*\(less than a cent\)\.$/);
  assert.match(stated(4000, 512, false) ?? "", /about 1,000 tokens after it are no longer cached\.$/);
  assert.equal(stated(4000, 1001), null);
});

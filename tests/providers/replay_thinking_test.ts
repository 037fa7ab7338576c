// The replay server with thinking that is sent back: it recognizes its own signatures.

import assert from "node:assert/strict";
import { Replies } from "../../providers/replay/strict/replies.ts";
import { checkThinking, seal } from "../../providers/replay/strict/seal.ts";

const NEW = { id: "a" };
const user = (...content: readonly unknown[]) => ({ role: "user", content });
const assistant = (...content: readonly unknown[]) => ({ role: "assistant", content });
const text = (words: string) => ({ type: "text", text: words });
const DROP = { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } };

/** A conversation of two replies that think, and a third question; `change` is what the person edits. */
async function conversation(model: string, account = NEW) {
  const first = { model, system: "Be brief.", tools: [], messages: [user(text("One?"))] };
  const one = await seal(first, account, "a", null);
  const a = { type: "thinking", thinking: "a", signature: one.signature };
  const second = { ...first, messages: [...first.messages, assistant(a, text("A")), user(text("Two?"))] };
  const two = await seal(second, account, "b", one.digest);
  const b = { type: "thinking", thinking: "b", signature: two.signature };
  return { ...second, messages: [...second.messages, assistant(b, text("B")), user(text("Three?"))] };
}

type Talk = Awaited<ReturnType<typeof conversation>>;

const edited = (talk: Talk): Talk => ({
  ...talk,
  messages: talk.messages.with(2, user(text("Two, really?"))) as Talk["messages"],
});

const decisionOf = async (talk: object, account: { id: string; old?: boolean } = NEW) => {
  const { refusal, transformations } = await checkThinking(talk as Record<string, unknown>, account, true);
  return [
    refusal?.replace(/^(\S+:).*(different conversation|block$).*/s, "$1 $2"),
    transformations.map(({ path, reason }) => `${path} ${reason}`),
  ];
};

Deno.test("the replay server accepts thinking it sent itself, and refuses or drops it if the text before it was changed", async () => {
  const talk = await conversation("claude-sonnet-5-5");
  const bound = "messages.3.content.0: different conversation";
  const dropped = ["messages.3.content.0 prefix_binding_mismatch"];
  assert.deepEqual(await decisionOf(talk), [undefined, []]);
  assert.deepEqual(await decisionOf(edited(talk)), [bound, []]);
  assert.deepEqual(await decisionOf({ ...talk, system: "x" }), [bound.replace("3", "1"), []]);
  assert.deepEqual(await decisionOf({ ...talk, tools: [{}] }), [bound.replace("3", "1"), []]);
  assert.deepEqual(await decisionOf({ ...edited(talk), thinking: DROP }), [undefined, dropped]);
  assert.deepEqual(await decisionOf({ ...talk, system: "x", thinking: DROP }), [
    undefined,
    ["messages.1.content.0 prefix_binding_mismatch", ...dropped],
  ]);
});

Deno.test("for an account of the old kind, text before thinking may change, unless a setting or one of the newest models binds thinking to it", async () => {
  const old = { id: "a", old: true };
  const sonnet = edited(await conversation("claude-sonnet-5-5"));
  assert.deepEqual(await decisionOf(sonnet, old), [undefined, []]);
  assert.equal((await decisionOf({ ...sonnet, thinking: DROP }, old))[1]?.length, 1);
  assert.match(
    String((await decisionOf(edited(await conversation("claude-fable-5-2")), old))[0]),
    /different/,
  );
  assert.deepEqual(await decisionOf(edited(await conversation("claude-opus-5"))), [undefined, []]);
});

Deno.test("the replay server requires a signature that exists and matches the exact thinking text", async () => {
  const talk = await conversation("claude-opus-4-8");
  const withBlock = (change: object) => ({
    ...talk,
    messages: talk.messages.with(
      1,
      assistant({ ...(talk.messages[1]!.content[0] as object), ...change }, text("A")),
    ),
  });
  assert.match(String((await decisionOf(withBlock({ thinking: "A" })))[0]), /messages.1.content.0: block$/);
  assert.match(String((await decisionOf(withBlock({ signature: "" })))[0]), /messages.1.content.0: block$/);
  assert.deepEqual(await decisionOf(withBlock({ signature: "c2ln", thinking: "A" })), [undefined, []]);
});

Deno.test("the replay server ignores thinking of other accounts and models, and missing thinking invalidates all thinking after it", async () => {
  const talk = await conversation("claude-sonnet-5-5");
  const other = await decisionOf(talk, { id: "b" });
  assert.deepEqual(other[1], [
    "messages.1.content.0 organization_binding_mismatch",
    "messages.3.content.0 organization_binding_mismatch",
  ]);
  const fable = { ...await conversation("claude-fable-5-1"), model: "claude-opus-5-5" };
  assert.match(String((await decisionOf(fable))[1]), /model_binding_mismatch/);
  const third = { ...talk, messages: [...talk.messages] };
  const three = await seal(third, NEW, "c", "another");
  const gap = {
    ...third,
    messages: [
      ...third.messages,
      assistant({ type: "thinking", thinking: "c", signature: three.signature }, text("C")),
      user(text("Four?")),
    ],
  };
  assert.match(String((await decisionOf(gap))[0]), /messages.5.content.0/);
});

Deno.test("in an unfinished series of tool calls, thinking must be sent back unchanged or not at all", () => {
  const call = (id: string) => ({ type: "tool_use", id, name: "bash", input: {} });
  const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "out" });
  const thinking = (signature: string) => ({ type: "thinking", thinking: "", signature });
  const replies = new Replies();
  const [one, two] = [[thinking("a"), thinking("b"), call("x")], [thinking("c"), call("y")]];
  replies.add(one);
  replies.add(two);
  const problems = (first: readonly object[], second: readonly object[], ...last: readonly object[]) =>
    replies.problems([
      user(text("go")),
      assistant(...first),
      user(result("x")),
      assistant(...second),
      user(result("y"), ...last),
    ]).join();
  assert.equal(problems(one, two), "");
  assert.equal(problems(one.slice(2), two.slice(1)), "");
  assert.match(problems(one.slice(1), two), /messages.1: .*cannot be modified/);
  assert.match(problems([one[1]!, one[0]!, one[2]!], two), /cannot be modified/);
  assert.match(problems([one[2]!, one[0]!, one[1]!], two), /cannot be modified/);
  assert.match(problems(one.slice(2), two), /cannot be modified/);
  const closed = [
    user(text("go")),
    assistant(...one.slice(1)),
    user(result("x")),
    assistant(text("ok")),
    user(text("so")),
  ];
  assert.deepEqual(replies.problems(closed), []);
});

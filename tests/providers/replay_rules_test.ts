import assert from "node:assert/strict";
import { refusals } from "../../providers/replay/strict/anthropic.ts";
import { startReplay } from "../../providers/replay/server.ts";

const PNG = "iVBORw0KGgo=";
const CALL = { type: "tool_use", id: "c1", name: "bash", input: {} };
const RESULT = { type: "tool_result", tool_use_id: "c1", content: "out" };
const user = (...content: readonly unknown[]) => ({ role: "user", content });
const assistant = (...content: readonly unknown[]) => ({ role: "assistant", content });
const text = (words: string) => ({ type: "text", text: words });
const image = (media_type: string, data: string) => ({
  type: "image",
  source: { type: "base64", media_type, data },
});

const GOOD = {
  model: "claude-sonnet-4-6",
  max_tokens: 2000,
  system: [text("Be brief.")],
  tools: [{ name: "bash", input_schema: {} }],
  messages: [user(text("hi"), image("image/png", PNG)), assistant(CALL), user(RESULT)],
};

function refused(change: Readonly<Record<string, unknown>>): string {
  const body = { ...GOOD, ...change };
  return refusals(JSON.stringify(body), body).join("; ");
}

Deno.test("the replay server accepts a valid request, also one with a string instead of a list of blocks", () => {
  assert.equal(refused({}), "");
  assert.equal(refused({ system: "Be brief.", messages: [{ role: "user", content: "hi" }] }), "");
});

const messages = (...given: readonly unknown[]) => ({ messages: given });

const BETA = "thinking-binding-controls-2026-08-01";

Deno.test("the replay server accepts the binding setting with its beta header for every kind of thinking that allows it", () => {
  const asked = (model: string, type: string, behavior: string) => {
    const thinking = { type, block_binding: { prefix_mismatch_behavior: behavior } };
    const body = { ...GOOD, model, thinking };
    return refusals(JSON.stringify(body), body, { betas: new Set([BETA]) }).join();
  };
  assert.equal(asked("claude-opus-5-5", "adaptive", "drop_block"), "");
  assert.equal(asked("claude-opus-5-5", "adaptive", "error"), "");
  assert.match(asked("claude-opus-5-5", "adaptive", "keep"), /'error' or 'drop_block'/);
  assert.match(asked("claude-sonnet-5-5", "between_tools", "error"), /Extra inputs/);
  assert.match(asked("claude-haiku-5-5", "disabled", "error"), /block_binding/);
});

Deno.test("over HTTP, the replay server refuses a retired model, an unknown beta header and a missing version", async () => {
  await using replay = await startReplay({ replies: [{ reply: [{ text: "Hi" }] }] });
  const ask = async (
    change: object,
    headers: Readonly<Record<string, string>> = { "anthropic-version": "2023-06-01" },
  ) => {
    const body = JSON.stringify({ ...GOOD, ...change });
    const answer = await fetch(`${replay.url}/v1/messages`, { method: "POST", headers, body });
    return `${answer.status} ${await answer.text()}`;
  };
  assert.match(await ask({ model: "claude-3-haiku-20240307" }), /^404 .*not_found_error/);
  assert.match(await ask({}, {}), /^400 .*anthropic-version/);
  assert.match(
    await ask({}, { "anthropic-version": "2023-06-01", "anthropic-beta": "dreams-2027-01-01" }),
    /^400 .*Unexpected value.*dreams/,
  );
  assert.match(await ask({}), /^200 /);
});

Deno.test("the replay server allows an older model without thinking to continue its own reply", () => {
  const prefilled = { ...messages(user(text("hi")), assistant(text("Well"))), model: "claude-haiku-4-5" };
  assert.equal(refused(prefilled), "");
});

Deno.test("the replay server refuses a body that is nested deeper than JSON parsers accept", () => {
  const input = JSON.parse('{"a":'.repeat(130) + "1" + "}".repeat(130));
  assert.match(
    refused(messages(user(text("a")), assistant({ ...CALL, input }), user(RESULT))),
    /nested too deeply/,
  );
});

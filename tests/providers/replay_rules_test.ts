import assert from "node:assert/strict";
import { refusals } from "../../providers/replay/rules.ts";

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

Deno.test("a request that breaks no rule is taken, and so is a text in place of a list of blocks", () => {
  assert.equal(refused({}), "");
  assert.equal(refused({ system: "Be brief.", messages: [{ role: "user", content: "hi" }] }), "");
});

const messages = (...given: readonly unknown[]) => ({ messages: given });

const ROWS: readonly (readonly [what: string, change: Readonly<Record<string, unknown>>, says: RegExp])[] = [
  ["the last word is the model's", messages(user(text("hi")), assistant(text("Well"))), /prefill/],
  [
    "the same for a model that takes it, but thinks",
    {
      ...messages(user(text("hi")), assistant(text("Well"))),
      model: "claude-haiku-4-5",
      thinking: { type: "enabled", budget_tokens: 1024 },
    },
    /prefill/,
  ],
  ["no message", messages(), /at least one message/],
  ["an unknown role", messages({ role: "system", content: "x" }), /unexpected role/],
  [
    "a message without content",
    messages(user(text("hi")), assistant(), user(text("x"))),
    /non-empty content/,
  ],
  ["an empty text", messages(user(text(""))), /must be non-empty/],
  ["a blank text", messages(user(text(" \n"))), /non-whitespace/],
  ["a blank system text", { system: [text(" ")] }, /system: text.*non-whitespace/],
  ["an image of another type", messages(user(image("image/bmp", PNG))), /media_type/],
  ["an image that is none", messages(user(image("image/jpeg", PNG))), /does not match/],
  ["an empty image", messages(user(image("image/png", ""))), /cannot be empty/],
  [
    "an empty document",
    messages(user({ ...image("application/pdf", ""), type: "document" })),
    /cannot be empty/,
  ],
  [
    "a call without result",
    messages(user(text("a")), assistant(CALL), user(text("b"))),
    /without `tool_result`/,
  ],
  ["a call with two", messages(user(text("a")), assistant(CALL), user(RESULT, RESULT)), /single result/],
  ["a result without call", messages(user(RESULT)), /unexpected `tool_use_id`/],
  [
    "an id used twice",
    messages(user(text("a")), assistant(CALL), user(RESULT), assistant(CALL), user(RESULT)),
    /must be unique/,
  ],
  [
    "an input that is no object",
    messages(user(text("a")), assistant({ ...CALL, input: [] }), user(RESULT)),
    /valid dictionary/,
  ],
  [
    "a name with a colon",
    messages(user(text("a")), assistant({ ...CALL, name: "a:b" }), user(RESULT)),
    /content\.0\.name/,
  ],
  [
    "an id with a blank",
    messages(
      user(text("a")),
      assistant({ ...CALL, id: "c 1" }),
      user({ ...RESULT, tool_use_id: "c 1" }),
    ),
    /content\.0\.id/,
  ],
  ["a tool whose name has a dot", { tools: [{ name: "a.b" }] }, /tools\.0\.name/],
  [
    "an error without words",
    messages(user(text("a")), assistant(CALL), user({ ...RESULT, content: "", is_error: true })),
    /cannot be empty if is_error/,
  ],
  [
    "an image in a result that is none",
    messages(user(text("a")), assistant(CALL), user({ ...RESULT, content: [image("image/gif", PNG)] })),
    /content\.0\.content\.0\.source/,
  ],
  ["no room for the reply", { max_tokens: 0 }, /max_tokens/],
  ["more thinking than reply", { thinking: { type: "enabled", budget_tokens: 2000 } }, /budget_tokens/],
  ["too little thinking", { thinking: { type: "enabled", budget_tokens: 1000 } }, /budget_tokens/],
];

for (const [what, change, says] of ROWS) {
  Deno.test(`the replay server refuses: ${what}`, () => assert.match(refused(change), says));
}

Deno.test("an older model that does not think goes on from the beginning of its own reply", () => {
  const prefilled = { ...messages(user(text("hi")), assistant(text("Well"))), model: "claude-haiku-4-5" };
  assert.equal(refused(prefilled), "");
});

Deno.test("a body nested deeper than readers of JSON take is refused", () => {
  const input = JSON.parse('{"a":'.repeat(130) + "1" + "}".repeat(130));
  assert.match(
    refused(messages(user(text("a")), assistant({ ...CALL, input }), user(RESULT))),
    /nested too deeply/,
  );
});

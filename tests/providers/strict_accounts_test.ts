// What binds a signature to an account and a model, and who needs reasoning back: the refusals that vendors added last.

import assert from "node:assert/strict";
import { keyDigest, readSealed, writeSealed } from "../../providers/replay/sealed.ts";
import { REFUSALS } from "../../providers/replay/strict/mod.ts";
import { checkThinking, seal } from "../../providers/replay/strict/seal.ts";
import { responses } from "../../providers/replay/openai/dialect.ts";

type Body = Readonly<Record<string, unknown>>;

const DOOR = "/v1beta/models/gemini-3.8-flash:streamGenerateContent";
const project = (name: string) =>
  `/v1beta1/projects/${name}/locations/global/publishers/google/models/gemini-4-argon:streamGenerateContent`;
const bearer = (key: string) => new Headers({ authorization: `Bearer ${key}` });
const google = (key: string) => new Headers({ "x-goog-api-key": key });

function askedWith(path: string, headers: Headers, body: Body) {
  const text = JSON.stringify(body);
  return { path, headers, text, body: JSON.parse(text) as Body };
}

function reasoningOf(content: string, model = "gpt-6.2-sol"): Body {
  return {
    model,
    input: [
      { role: "user", content: [{ type: "input_text", text: "hi" }] },
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: content },
      { role: "assistant", content: [{ type: "output_text", text: "Well." }] },
      { role: "user", content: [{ type: "input_text", text: "on" }] },
    ],
  };
}

function callOf(thoughtSignature: string): Body {
  return {
    contents: [
      { role: "user", parts: [{ text: "hi" }] },
      { role: "model", parts: [{ functionCall: { name: "read", args: {} }, thoughtSignature }] },
      { role: "user", parts: [{ functionResponse: { name: "read", response: { output: "x" } } }] },
    ],
  };
}

Deno.test("the strict server of OpenAI refuses reasoning of another key, and reports that of another model", () => {
  const made = writeSealed("1", "gpt-6.2-sol", { path: "/v1/responses", headers: bearer("a") });
  const refused = (content: string, key: string) =>
    REFUSALS.openai(askedWith("/v1/responses", bearer(key), reasoningOf(content))).join();
  assert.equal(refused(made, "a"), "");
  assert.match(refused(made, "b"), /encrypted content for item rs_1 could not be verified/);
  assert.equal(refused("ZW5j", "b"), "", "a signature of a real API cannot be checked");
  const reported = (model: string) =>
    responses.frames({}, askedWith("/v1/responses", bearer("a"), reasoningOf(made, model)), 1)[0];
  assert.match(
    reported("gpt-5.4")!,
    /"input_transformations":\[\{"id":"rs_1","action":"removed","reason":"model"\}\]/,
  );
  assert.match(reported("gpt-6.2-sol")!, /"input_transformations":\[\]/);
});

Deno.test("the strict server of Gemini refuses signatures of another key, project or model", () => {
  const refused = (path: string, headers: Headers, signature: string) =>
    REFUSALS.google(askedWith(path, headers, callOf(signature))).join();
  const made = writeSealed("1", "gemini-3.8-flash", { path: DOOR, headers: google("a") });
  assert.equal(refused(DOOR, google("a"), made), "");
  assert.match(refused(DOOR, google("b"), made), /Corrupted thought signature/);
  assert.match(
    refused(DOOR.replace("3.8-flash", "4-argon"), google("a"), made),
    /Corrupted thought signature/,
  );
  const vertex = writeSealed("1", "gemini-4-argon", { path: project("p"), headers: bearer("token") });
  assert.equal(refused(project("p"), bearer("next token"), vertex), "");
  assert.match(refused(project("q"), bearer("token"), vertex), /Corrupted thought signature/);
  assert.equal(refused(DOOR, google("b"), "skip_thought_signature_validator"), "");
  assert.equal(refused(DOOR, google("b"), "c2ln"), "");
});

Deno.test("models of DeepSeek and GLM, also behind a gateway, need the reasoning of every call", () => {
  const call = { id: "c1", type: "function", function: { name: "read", arguments: "{}" } };
  const refused = (model: string, reasoning: Body, rest: Body = {}) =>
    REFUSALS.chat(askedWith("/v1/chat/completions", bearer("a"), {
      model,
      messages: [
        { role: "user", content: "hi" },
        { role: "assistant", tool_calls: [call], ...reasoning },
        { role: "tool", tool_call_id: "c1", content: "out" },
      ],
      ...rest,
    })).join();
  for (const model of ["deepseek-v4", "glm-5", "z-ai/glm-5", "deepseek/deepseek-v4"]) {
    assert.match(refused(model, {}), /must be passed back/, model);
    for (
      const reasoning of [
        { reasoning_content: "hm" },
        { reasoning_content: "" },
        { reasoning: "hm" },
        { reasoning_details: [{ type: "reasoning.text" }] },
      ]
    ) assert.equal(refused(model, reasoning), "", model);
    assert.match(refused(model, { reasoning_details: [] }), /must be passed back/);
    assert.equal(refused(model, {}, { thinking: { type: "disabled" } }), "");
  }
  assert.equal(refused("qwen3", {}), "");
});

Deno.test("Haiku 5.5 reads only its own thinking, which other models read", async () => {
  const account = { id: "a" };
  const user = { role: "user", content: [{ type: "text", text: "One?" }] };
  const dropped = async (reader: string, writer: string) => {
    const first = { model: writer, tools: [], messages: [user] };
    const { signature } = await seal(first, account, "a", null);
    const reply = { role: "assistant", content: [{ type: "thinking", thinking: "a", signature }] };
    const body = { ...first, model: reader, messages: [user, reply, user] };
    return (await checkThinking(body, account, true)).transformations.map(({ reason }) => reason);
  };
  assert.deepEqual(await dropped("claude-haiku-5-5", "claude-haiku-5-5"), []);
  assert.deepEqual(await dropped("claude-opus-5-5", "claude-haiku-5-5"), []);
  assert.deepEqual(await dropped("claude-sonnet-5-5", "claude-haiku-5-5"), []);
  for (const writer of ["claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-4-5"]) {
    assert.deepEqual(await dropped("claude-haiku-5-5", writer), ["model_binding_mismatch"], writer);
  }
});

Deno.test("a signature of the replay says what it was made with, and no other text is one", () => {
  const made = writeSealed("7", "m", { path: "/v1/responses", headers: bearer("a") });
  assert.deepEqual(readSealed(made), {
    replay: "sealed",
    name: "7",
    model: "m",
    account: keyDigest(bearer("a")),
  });
  for (const other of ["", "?", btoa("{}"), btoa("5"), btoa('{"replay":"seal"}'), undefined, null]) {
    assert.equal(readSealed(other), null);
  }
  assert.notEqual(keyDigest(bearer("a")), keyDigest(google("a")));
});

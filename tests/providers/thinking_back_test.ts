// Which thinking and signature of earlier replies is sent back with which part.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import type { Part, Prompt } from "../../prompt/types.ts";
import { anthropic } from "../../providers/anthropic/provider.ts";
import {
  addDetails,
  detailWords,
  readDetails,
  writeDetails,
} from "../../providers/chat_completions/reasoning_details.ts";
import { signaturesOf } from "../../providers/google/signatures.ts";
import { readSignature, summaryOf, writeSignature } from "../../providers/openai/reasoning.ts";
import { tagName } from "../../providers/request/foreign.ts";
import { createFallbacks } from "../../providers/request/fallback.ts";
import { providerError } from "../../providers/http/errors.ts";
import type { Outline, ThinkingPart } from "../../providers/types.ts";

const text = (words: string): Part => ({ kind: "text", text: words });
const thought = (value: string, provider = "gemini"): ThinkingPart => ({
  kind: "thinking",
  content: "hm",
  redacted: false,
  ...(value === "" ? {} : { signature: { provider, value } }),
});
const call = (id: string): Part => ({ kind: "tool_use", id, name: "ls", input: {}, inputText: "{}" });
const result = (id: string): Part => ({
  kind: "tool_result",
  toolUseId: id,
  isError: false,
  parts: [text("out")],
});

/** The values by the position of their part. */
function signed(...parts: readonly Part[]): Readonly<Record<number, string>> {
  const found = signaturesOf(parts, ({ signature }) => signature?.provider === "gemini");
  for (const part of found.keys()) assert.ok(parts.includes(part), "a part of this message");
  return Object.fromEntries([...found].map(([part, value]) => [parts.indexOf(part), value]));
}

Deno.test("a Gemini signature is sent back on the part that follows it; if no part follows, on the call or the last text of the turn", () => {
  const rows: readonly (readonly [Readonly<Record<number, string>>, ...Part[]])[] = [
    [{ 1: "a", 3: "b" }, thought("a"), text("x"), thought("b"), text("y")],
    [{ 1: "a", 3: "b" }, thought("a"), call("1"), thought("b"), call("2")],
    [{ 2: "a" }, thought("a"), text(" \n"), call("1")],
    // Nothing signs what stands between, so the second has none.
    [{ 1: "a" }, thought("a"), call("1"), call("2")],
    // The older layout: all behind the parts.
    [{ 0: "a" }, text("x"), thought("a")],
    [{ 1: "b" }, text("x"), call("1"), call("2"), thought("a"), thought("b")],
    // It belongs to an empty part behind a signed one, which the last text without one carries.
    [{ 1: "a", 2: "b" }, thought("a"), text("x"), text("y"), thought("b")],
    [{ 1: "a" }, thought("a"), text("x"), thought("b")],
    // Of two before a part the nearer one.
    [{ 2: "b" }, thought("a"), thought("b"), text("x")],
    [{}, thought("a")],
    [{}, thought("a"), text(" ")],
    [{}, thought(""), text("x")],
    [{}, thought("a", "anthropic"), text("x")],
    [{ 2: "b" }, thought("a", "anthropic"), thought("b"), text("x")],
    [{}, text("x")],
    [{}],
  ];
  for (const [expected, ...parts] of rows) {
    assert.deepEqual(signed(...parts), expected, JSON.stringify(parts));
  }
});

const outlined = (...history: Prompt["history"]): Outline => {
  assert.ok(anthropic.outline !== undefined);
  return anthropic.outline({
    prompt: { system: null, history, warnings: [] } as unknown as Prompt,
    tools: [],
    settings: DEFAULT_SETTINGS,
    cacheKey: null,
    key: "k",
    baseUrl: "http://x",
    day: "2026-11-28",
  });
};

Deno.test("Claude must get all thinking of an unfinished series of calls or, without such a series, of the model's last message", () => {
  const user = (...parts: Part[]) => ({ role: "user", parts }) as const;
  const model = (...parts: Part[]) => ({ role: "assistant", parts }) as const;
  const hi = user(text("hi"));
  const stated = model(text("x"));
  // Tools and system prompt are the first two pieces.
  const rows: readonly (readonly [number, ...Prompt["history"]])[] = [
    [2 + 1, hi],
    [2 + 1, hi, stated],
    [2 + 1, hi, stated, hi],
    [2 + 3, hi, stated, hi, stated, hi],
    [2 + 0, stated, hi],
    [2 + 1, hi, model(call("1")), user(result("1"))],
    [2 + 1, hi, model(call("1")), user(result("1")), model(call("2")), user(result("2"))],
    // Words of the person beside a result begin a new turn.
    [2 + 3, hi, model(call("1")), user(result("1"), text("and")), model(call("2")), user(result("2"))],
    [2 + 0, model(call("1")), user(result("1"))],
  ];
  for (const [whole, ...history] of rows) {
    assert.equal(outlined(...history).whole, whole, JSON.stringify(history));
  }
});

Deno.test("an outline entry contains the text of a message and separately its thinking", () => {
  const thinking: Part = { ...thought("s", "anthropic"), line: 7 };
  const { pieces } = outlined(
    { role: "user", parts: [text("hi")], line: 1 },
    { role: "assistant", parts: [thinking, text("x")], line: 5 },
    { role: "user", parts: [text("on")], line: 9 },
  );
  assert.deepEqual(pieces.map(({ what, line, thinking }) => [what, line, thinking.length]), [
    ["tools", null, 0],
    ["system", null, 0],
    ["user", 1, 0],
    ["assistant", 5, 1],
    ["user", 9, 0],
  ]);
  assert.ok(pieces[3]!.text.includes('"x"') && !pieces[3]!.text.includes("hm"), pieces[3]!.text);
});

Deno.test("pieces of reasoning become one detail per entry: texts are joined, other fields are replaced, null is ignored", () => {
  const details: Record<string, unknown>[] = [];
  addDetails(details, [{ type: "reasoning.text", index: 0, text: "a", signature: null, format: "f" }]);
  addDetails(details, [{ type: "reasoning.text", index: 0, text: "b", signature: "s", format: null }]);
  addDetails(details, [{ type: "reasoning.text", index: 0, signature: null, text: undefined }]);
  addDetails(details, [{ type: "reasoning.encrypted", index: 0, data: "x" }, "no object", null]);
  addDetails(details, [{ type: "reasoning.text", index: 1, text: "c" }]);
  // Without a number they are entries of their own.
  addDetails(details, [{ type: "reasoning.text", text: "d" }, { type: "reasoning.text", text: "e" }]);
  addDetails(details, [{ type: "reasoning.text", index: 1, text: 5 }]);
  assert.deepEqual(details, [
    { type: "reasoning.text", index: 0, text: "ab", signature: "s", format: "f" },
    { type: "reasoning.encrypted", index: 0, data: "x" },
    { type: "reasoning.text", index: 1, text: 5 },
    { type: "reasoning.text", text: "d" },
    { type: "reasoning.text", text: "e" },
  ]);
  const back = readDetails(writeDetails([{ type: "reasoning.text", text: "ü" }]));
  assert.deepEqual(back.map((raw) => JSON.parse(raw.text)), [{ type: "reasoning.text", text: "ü" }]);
  for (const other of ["", "?", btoa("{}"), btoa("5"), btoa("[")]) {
    assert.deepEqual(readDetails(other), [], other);
  }
  assert.equal(
    detailWords([{ text: "a" }, { summary: "b" }, { data: "c" }, 5, { text: "", summary: "d" }]),
    "abd",
  );
  assert.deepEqual(["openai_chat", "a b", "_"].map(tagName), ["openaichat", "ab", "chat"]);
});

Deno.test("a reasoning item is read from its own signature and from no other", () => {
  const item = {
    type: "reasoning",
    id: "r",
    summary: [{ text: "a" }, { text: "" }, 5, { text: "b" }],
    encrypted_content: "x",
  };
  const read = readSignature(writeSignature(item));
  assert.deepEqual(read, { json: JSON.stringify(item), id: "r", summary: "a\n\nb", isReplayable: true });
  for (const encrypted_content of [undefined, null, "", 5]) {
    assert.equal(readSignature(writeSignature({ ...item, encrypted_content }))?.isReplayable, false);
  }
  for (const other of [{ type: "message" }, {}, [item], "reasoning", null]) {
    assert.equal(readSignature(btoa(JSON.stringify(other))), null, JSON.stringify(other));
  }
  for (const other of ["", "?", btoa("{"), btoa("\xff")]) assert.equal(readSignature(other), null, other);
  assert.equal(summaryOf({ summary: [], content: [{ text: "c" }] }), "c");
  assert.equal(summaryOf({ summary: [{ text: "a" }], content: [{ text: "c" }] }), "a");
});

Deno.test("a request is repeated without a part only if the refusal is about the request, not about the key or a rate limit", () => {
  const fallBack = createFallbacks([[/effort/, "thinking"], [/effort|tokens/, "sampling"]]);
  const stated = (kind: Parameters<typeof providerError>[0], words: string) =>
    fallBack(providerError(kind, words));
  assert.deepEqual(stated("other", "no effort here"), ["thinking", "sampling"]);
  assert.deepEqual(stated("context_overflow", "too many tokens"), ["sampling"]);
  assert.deepEqual(stated("other", "no"), []);
  assert.deepEqual(fallBack(providerError("other", "nein", { codes: ["effort"] })), ["thinking", "sampling"]);
  assert.deepEqual(stated("authentication", "no effort for this key"), []);
  assert.deepEqual(stated("rate_limit", "no effort at this rate"), []);
});

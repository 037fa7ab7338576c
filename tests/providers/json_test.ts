import assert from "node:assert/strict";
import fc from "fast-check";
import { compactJson, nestingDepth, repeatedKey } from "../../base/text/json_text.ts";
import { bodyBytes, sameBody, withBody } from "../../providers/http/body.ts";
import { Raw, toJsonValue, writeBody, writeJson } from "../../providers/request/json.ts";
import { byBytes } from "../../base/bytes.ts";

Deno.test("JSON keys are sorted at every depth, and the keys given as trailing come last in their own order", () => {
  const body = {
    z: 1,
    tools: [{ b: 1, a: { d: 1, c: 2 } }],
    system: "s",
    a: null,
    gone: undefined,
    messages: [],
  };
  assert.equal(
    new TextDecoder().decode(writeBody(body, ["system", "tools", "messages"])),
    '{"a":null,"z":1,"system":"s","tools":[{"a":{"c":2,"d":1},"b":1}],"messages":[]}',
  );
});

Deno.test("a tool input keeps its numbers and the order of its fields", () => {
  const input = '{ "b": 1.0,\n "2": 12345678901234567890, "s": "a  \\" b" }';
  assert.equal(
    writeJson({ input: new Raw(input) }),
    '{"input":{"b":1.0,"2":12345678901234567890,"s":"a  \\" b"}}',
  );
});

Deno.test("half a surrogate pair in a tool input or a text is never sent", () => {
  const input = String.raw`{"a":"x\ud83d y","b":"\ud83d\uDE00","c":"\\ud83d","d":"\ude00\ud83d\ud83d\ude00"}`;
  const sent = String.raw`{"a":"x\ufffd y","b":"\ud83d\uDE00","c":"\\ud83d","d":"\ufffd\ufffd\ud83d\ude00"}`;
  assert.equal(writeJson(new Raw(input)), sent);
  assert.equal(writeJson({ text: "cut \ud83d" }), '{"text":"cut \ufffd"}');
});

Deno.test("text outside ASCII is sent unescaped", () => {
  assert.equal(writeJson({ é: "😀" }), '{"é":"😀"}');
});

Deno.test("compacting any JSON value changes only white space, and its keys are sorted by bytes", () => {
  fc.assert(
    fc.property(fc.json({ noUnicodeString: false }), (text) => {
      const loose = JSON.stringify(JSON.parse(text), null, 2);
      assert.equal(compactJson(loose), JSON.stringify(JSON.parse(text)));
      assert.deepEqual(JSON.parse(writeJson(toJsonValue(JSON.parse(text)))), JSON.parse(text));
    }),
    { seed: 1, numRuns: 500 },
  );
  const bytes = (text: string) =>
    new TextEncoder().encode(text).reduce((hex, byte) => hex + byte.toString(16).padStart(2, "0"), "");
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (a, b) => {
      const expected = bytes(a) < bytes(b) ? -1 : bytes(a) > bytes(b) ? 1 : 0;
      assert.equal(Math.sign(byBytes(a, b)), expected);
    }),
    { seed: 2, numRuns: 2000 },
  );
});

Deno.test("a string of any length is compacted and measured like a short string", () => {
  const long = JSON.stringify({ text: '\\" x'.repeat(2_000_000) });
  assert.equal(compactJson(`{ "text" : ${long.slice(8, -1)} }`), long);
  assert.equal(nestingDepth(long), 1);
});

Deno.test("the depth of nesting counts arrays and objects, but not brackets inside strings", () => {
  const rows: readonly (readonly [string, number])[] = [
    ["1", 0],
    ["{}", 1],
    ['{"a":[{}],"b":[]}', 3],
    ['{"[[[":"{{\\"[["}', 1],
    ["[".repeat(100_000) + "]".repeat(100_000), 100_000],
  ];
  for (const [text, depth] of rows) assert.equal(nestingDepth(text), depth, text.slice(0, 40));
});

Deno.test("a key that occurs twice in one object is found however it is escaped; the same key in two objects is not reported", () => {
  const rows: readonly (readonly [string, string | null])[] = [
    ["{}", null],
    ['{"a":1,"b":2}', null],
    ['{"a":1,"a":1}', "a"],
    ['{"a" : 1 , "\\u0061" : 2}', "a"],
    ['{"a":{"a":[{"a":1},{"a":2}]}}', null],
    ['{"x":[1,{"b":1,"c":[],"b":2}]}', "b"],
    ['{"a":{"z":1},"b":0,"a":{"z":1}}', "a"],
    ['{"a":"a","b":["a","a"],"c":"\\",\\"a\\":"}', null],
    ['{"":1,"":2}', ""],
    ['{"__proto__":1,"__proto__":2}', "__proto__"],
    ['["a","a"]', null],
    ['"a"', null],
  ];
  for (const [text, key] of rows) assert.equal(repeatedKey(text), key, text);
});

Deno.test("the bytes of a request are those of its body, and a copy of the request with another body has the bytes of that body", () => {
  const head = { method: "POST", url: "http://127.0.0.1/", headers: {} } as const;
  const made = () => withBody(head, writeBody({ a: "山 😀" }, []));
  const request = made();
  assert.equal(request.body, '{"a":"山 😀"}');
  assert.deepEqual(bodyBytes(request), new TextEncoder().encode(request.body));
  const copy = { ...request, body: "other" };
  assert.deepEqual(bodyBytes(copy), new TextEncoder().encode("other"));
  assert.ok(sameBody(request, made()));
  assert.ok(!sameBody(request, copy));
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { itemTexts, replaceMember, valueText } from "../../base/text/json_text.ts";

/** Every way into a value, with what is there. */
function ways(value: unknown, way: (string | number)[] = []): [(string | number)[], unknown][] {
  const inner = Array.isArray(value)
    ? value.flatMap((item, index) => ways(item, [...way, index]))
    : typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, member]) => ways(member, [...way, key]))
    : [];
  return [[way, value], ...inner];
}

Deno.test("every value inside JSON is found by its path, however the text is formatted", () => {
  fc.assert(fc.property(fc.jsonValue(), fc.constantFrom(0, 1, "\t"), (value, indent) => {
    const text = JSON.stringify(value, null, indent);
    for (const [way, expected] of ways(JSON.parse(text))) {
      const found = valueText(text, way);
      assert.ok(found !== null, `${JSON.stringify(way)} in ${text}`);
      assert.deepEqual(JSON.parse(found), expected);
      assert.ok(!/^\s|\s$/.test(found));
    }
  }));
});

Deno.test("a path that does not exist in the JSON finds no value", () => {
  const text = '{"a": [1, {"b": "x"}], "c": "a"}';
  for (const way of [["b"], ["a", 2], ["a", "0"], ["c", 0], ["a", 1, "c"], [0], ["c", "a"]]) {
    assert.equal(valueText(text, way), null, JSON.stringify(way));
  }
  assert.equal(valueText("{}", ["a"]), null);
  assert.equal(valueText("[]", [0]), null);
});

Deno.test("numbers, and keys written with escapes, are kept as written", () => {
  assert.equal(valueText('{"\\u0061": 1.50e+2}', ["a"]), "1.50e+2");
  assert.equal(valueText('{"a":{"n":12345678901234567890 ,"b":0}}', ["a", "n"]), "12345678901234567890");
});

Deno.test("the items of an array are found as they are written", () => {
  assert.deepEqual(itemTexts(' [ {"a": [1, "]"]} ,2.0, "x,\\"" ] '), ['{"a": [1, "]"]}', "2.0", '"x,\\""']);
  for (const text of ["[]", " [ ] ", "{}", '"[1]"', "1"]) assert.deepEqual(itemTexts(text), [], text);
});

Deno.test("the value of a member is replaced, and everything else stays as written", () => {
  const text = ' {"input": {} , "n": 1.50, "o": {"input": 1}}';
  assert.equal(
    replaceMember(text, "input", '{"q":"a"}'),
    ' {"input": {"q":"a"} , "n": 1.50, "o": {"input": 1}}',
  );
  assert.equal(replaceMember(text, "other", "1"), null);
});

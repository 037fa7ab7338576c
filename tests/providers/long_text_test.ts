import assert from "node:assert/strict";
import fc from "fast-check";
import { completeCallInput, isCallInput } from "../../providers/stream/call_input.ts";
import { JsonObjectReader } from "../../providers/stream/json_object.ts";
import { LongText, partsOf } from "../../base/text/long_text.ts";
import { compactJson } from "../../base/text/json_text.ts";

/** More characters than are held as they come. */
const LONG = (1 << 20) + 1;

function longText(text: string, size = 10_000): LongText {
  const long = new LongText();
  for (let at = 0; at < text.length; at += size) long.add(text.slice(at, at + size));
  return long;
}

function filled(line: string, length = LONG): string {
  return line.repeat(Math.ceil(length / line.length));
}

Deno.test("a short text is kept as the original string, including half surrogate pairs", () => {
  const text = new LongText();
  for (const part of ["a", "\ud83d", "\ude42", "\udc00"]) text.add(part);
  assert.equal(text.value, "a🙂\udc00");
  assert.equal(text.length, 4);
  assert.equal(LongText.of(text), "a🙂\udc00");
});

Deno.test("a long text equals the joined pieces, wherever they were cut", () => {
  for (const line of ["The Tay – 120 miles\n", "山高水長\n", "🙂", "plain "]) {
    const whole = filled(line);
    for (const size of [1 + (line.length >> 1), 9999, LONG]) {
      const text = longText(whole, size);
      assert.equal(text.value, text);
      assert.equal(`${text}`, whole);
      assert.equal([...text.parts()].join(""), whole);
      assert.equal(text.length, whole.length);
      assert.equal(text.lines, whole.split("\n").length - 1);
      assert.equal(text.end, whole.slice(-1024).replace(/^\udE42/, "\ufffd"));
    }
  }
});

Deno.test("iterating a long text consumes it: each part is returned once", () => {
  const whole = filled("Some words.\n");
  const text = longText(whole);
  assert.equal([...text].join(""), whole);
  assert.deepEqual([...text], []);
});

Deno.test("a long text can be changed part by part, with text added before and after it", () => {
  const text = longText(filled("ab\n"));
  text.rewrite((part) => part.replaceAll("a", "山"));
  text.prepend("<");
  text.add(">");
  const expected = `<${filled("山b\n")}>`;
  assert.equal(`${text}`, expected);
  assert.equal(text.length, expected.length);
  const short = longText("b\n");
  short.prepend("a");
  assert.equal(short.value, "ab\n");
  assert.deepEqual([...partsOf("x")], ["x"]);
});

/** Whether a text is a JSON object by the runtime's own reader. */
function isObjectText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text.trim());
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function readIn(text: string, cuts: readonly number[], compact: boolean): { whole: boolean; text: string } {
  const reader = new JsonObjectReader({ compact });
  const ends = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  let read = "";
  let from = 0;
  for (const end of [...ends, text.length]) {
    read += reader.read(text.slice(from, end));
    from = end;
  }
  return { whole: reader.isWhole, text: read };
}

Deno.test("an object in parts is accepted or rejected as JSON.parse would do", () => {
  const rows = [
    ...[
      "{}",
      " {} ",
      "{ }",
      "\u00a0{}",
      '{"a":1}',
      '{"a":-0.5e+10,"b":[]}',
      '{"a":[1,2,{}],"b":"\\u00e4\\n"}',
    ],
    ...[
      "",
      "[]",
      "1",
      '"a"',
      "null",
      "{",
      "}",
      "{}{}",
      "{} x",
      '{"a"}',
      '{"a":}',
      '{"a":1,}',
      "{,}",
      "{a:1}",
    ],
    ...['{"a":01}', '{"a":1.}', '{"a":.5}', '{"a":-}', '{"a":1e}', '{"a":+1}', '{"a":1 2}', '{"a":tru}'],
    ...[
      '{"a":truee}',
      '{"a":"\\x"}',
      '{"a":"\\u12g4"}',
      '{"a":"\n"}',
      '{"a":[1,]}',
      '{"a":[}',
      '{"a":[1}',
      '{"a":1]',
    ],
    ...['{"a":\u00a01}', '{"a":{"b":{"c":[[[]]]}}}', '{"a":"}', "{'a':1}", '{"a":0}', '{"a":-0}', '{"a":00}'],
  ];
  for (const row of rows) assert.equal(readIn(row, [], false).whole, isObjectText(row), row);
});

Deno.test("incomplete and damaged objects are accepted or rejected as JSON.parse would do, and spaces between tokens are removed", () => {
  const one = fc.tuple(
    fc.dictionary(fc.string(), fc.json().map((text) => JSON.parse(text) as unknown)),
    fc.constantFrom(0, 1, "\t"),
    fc.array(fc.nat(), { maxLength: 6 }),
    fc.option(
      fc.tuple(fc.nat(), fc.constantFrom("", " ", '"', "\\", "{", "]", ",", ":", "1", "-", "e", "\n")),
    ),
  );
  fc.assert(
    fc.property(one, ([value, indent, cuts, damage]) => {
      let text = ` ${JSON.stringify(value, null, indent)}\n`;
      if (damage !== null) {
        const at = damage[0] % text.length;
        text = text.slice(0, at) + damage[1] + text.slice(at + 1);
      }
      const expected = isObjectText(text);
      for (const compact of [false, true]) {
        const { whole, text: read } = readIn(text, cuts, compact);
        assert.equal(whole, expected, text);
        if (expected) assert.equal(read, compact ? compactJson(text.trim()) : text.trim());
      }
    }),
    { numRuns: 2000 },
  );
});

Deno.test("a long input is accepted if it is a complete object and refused otherwise, like a short input", () => {
  const inside = filled("word \\n");
  for (
    const [before, behind, isWhole] of [['{ "a": "', '" }\n', true], ['{ "a": "', '"', false], [
      '["',
      '"]',
      false,
    ]] as const
  ) {
    const json = before + inside + behind;
    assert.equal(isCallInput(longText(json)), isWhole);
    const read = completeCallInput(longText(json), { compact: true });
    assert.equal(read === null ? null : `${read}`, isWhole ? compactJson(json.trim()) : null);
    const short = completeCallInput(`${before}x${behind}`);
    assert.equal(short === null, !isWhole);
  }
});

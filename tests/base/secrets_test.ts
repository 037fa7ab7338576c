// Known secrets are replaced by their names, also where they arrive in pieces.

import assert from "node:assert/strict";
import {
  findOwnKey,
  hideSecrets,
  hideSecretsIn,
  learnSecret,
  SecretByteStream,
  SecretStream,
} from "../../base/text/secrets.ts";

const KEY = "sk-ant-0123456789abcdef";
learnSecret("ANTHROPIC_API_KEY", KEY, { isKey: true });
learnSecret("OTHER_TOKEN", "tok/en+0123456789=");
learnSecret("QUOTED", 'a"b\\c0123456789');
learnSecret("SHORT_ONE", "abcabcabcabc");
learnSecret("LONG_ONE", "abcabcabcabcabcx");

Deno.test("each secret is replaced by its name, in plain text, JSON and URLs", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["", ""],
    ["nothing here", "nothing here"],
    [KEY, "[ANTHROPIC_API_KEY]"],
    [`a${KEY}b${KEY}`, "a[ANTHROPIC_API_KEY]b[ANTHROPIC_API_KEY]"],
    [`"x-api-key: ${KEY}"`, '"x-api-key: [ANTHROPIC_API_KEY]"'],
    ["?t=tok%2Fen%2B0123456789%3D&u", "?t=[OTHER_TOKEN]&u"],
    [JSON.stringify('a"b\\c0123456789'), '"[QUOTED]"'],
    ["abcabcabcabc", "[SHORT_ONE]"],
    ["abcabcabcabcabcx", "[LONG_ONE]"],
    [KEY.slice(0, -1), KEY.slice(0, -1)],
    [KEY.toUpperCase(), KEY.toUpperCase()],
  ];
  for (const [text, expected] of rows) assert.equal(hideSecrets(text), expected, text);
});

Deno.test("short values, paths and blank values are not secrets", () => {
  const rows = [
    "elevenchars",
    "/home/someone/key.json",
    "~/keys/service.json",
    "./keys/service.json",
    " ".repeat(20),
  ];
  for (const value of rows) {
    learnSecret("NOT_ONE", value);
    assert.equal(hideSecrets(`x ${value} y`), `x ${value} y`);
  }
  learnSecret("JUST_LONG_ENOUGH", "twelve-chars");
  assert.equal(hideSecrets("twelve-chars"), "[JUST_LONG_ENOUGH]");
});

Deno.test("secrets are replaced in every string and every object key of a value; all other parts of the value stay the same", () => {
  const clean = { a: [1, null, "x", { b: true }] };
  assert.equal(hideSecretsIn(clean), clean);
  const bytes = new Uint8Array([1]);
  assert.deepEqual(
    hideSecretsIn({ a: [KEY, { [KEY]: 1 }], bytes, text: `x${KEY}`, none: undefined }),
    {
      a: ["[ANTHROPIC_API_KEY]", { "[ANTHROPIC_API_KEY]": 1 }],
      bytes,
      text: "x[ANTHROPIC_API_KEY]",
      none: undefined,
    },
  );
});

Deno.test("the search for secrets in a text finds only API keys that flemma uses", () => {
  assert.deepEqual(findOwnKey(`x tok/en+0123456789= ${KEY}`), { name: "ANTHROPIC_API_KEY", at: 21 });
  assert.equal(findOwnKey("x tok/en+0123456789="), null);
  // A value that is first known as a secret, and then as a key, is a key.
  learnSecret("FIRST_NAME", "late-0123456789");
  assert.equal(findOwnKey("late-0123456789"), null);
  learnSecret("key of x", "late-0123456789", { isKey: true });
  assert.deepEqual(findOwnKey("late-0123456789"), { name: "FIRST_NAME", at: 0 });
});

const TEXTS = [
  `before ${KEY} after`,
  `${KEY}${KEY}`,
  `${KEY.slice(0, 8)}${KEY}`,
  `${KEY.slice(0, -1)}!`,
  `sk-sk-ant-sk-ant-0123456789abcdef`,
  "abcabcabcabc",
  "abcabcabcabcabcx",
  "abcabcabcabcabcabc",
  "xabcabcabcabcabcy",
  `ä€😀${KEY}ä€😀`,
  "no secret at all",
  "s",
];

Deno.test("secrets are hidden in a stream as in the whole text, however the text is cut", () => {
  for (const text of TEXTS) {
    const whole = hideSecrets(text);
    for (let one = 0; one <= text.length; one++) {
      for (let two = one; two <= text.length; two++) {
        const stream = new SecretStream();
        const parts = [text.slice(0, one), text.slice(one, two), text.slice(two)].map((part) =>
          stream.write(part)
        );
        assert.equal(parts.join("") + stream.end(), whole, `${text} at ${one}, ${two}`);
      }
    }
    const stream = new SecretStream();
    assert.equal([...text].map((unit) => stream.write(unit)).join("") + stream.end(), whole);
  }
});

Deno.test("bytes in pieces give what the whole text gives, and other bytes stay", () => {
  for (const text of TEXTS) {
    const bytes = new TextEncoder().encode(text);
    for (let cut = 0; cut <= bytes.length; cut++) {
      const stream = new SecretByteStream();
      const parts = [stream.write(bytes.slice(0, cut)), stream.write(bytes.slice(cut)), stream.end()];
      const out = new Uint8Array(parts.flatMap((part) => [...part]));
      assert.equal(new TextDecoder().decode(out), hideSecrets(text), `${text} at ${cut}`);
    }
  }
  const all = Uint8Array.from({ length: 70_000 }, (_, at) => at % 256);
  const stream = new SecretByteStream();
  assert.deepEqual(new Uint8Array([...stream.write(all), ...stream.end()]), all);
});

Deno.test("a stream holds back no more than a secret may still need", () => {
  const stream = new SecretStream();
  assert.equal(stream.write("output\n"), "output\n");
  assert.equal(stream.write("sk-ant-"), "");
  assert.equal(stream.write("no\n"), "sk-ant-no\n");
});

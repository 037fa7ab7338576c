import assert from "node:assert/strict";
import { faultWords, textFault, textRemedy } from "../../base/text/text_fault.ts";

const text = (value: string) => new TextEncoder().encode(value);
const join = (...parts: readonly (string | readonly number[])[]) =>
  new Uint8Array(parts.flatMap((part) => typeof part === "string" ? [...text(part)] : [...part]));

Deno.test("text in any language is valid UTF-8, also with a byte order mark, without a final line break, and if it is empty", () => {
  for (const value of ["", "a", "größe\nничего\n名前 𝑥", "\ufeffa\n"]) {
    assert.equal(textFault(text(value)), null, value);
  }
});

Deno.test("the first invalid byte of a text is reported with line and column, counted in bytes", () => {
  const rows: readonly (readonly [string, Uint8Array, string])[] = [
    ["Latin-1", join("a\ngr", [0xf6], "ße\n"), "line 2, column 3: the text is not valid UTF-8 (byte 0xF6)"],
    [
      "after a character of two bytes",
      join("ä", [0xe4]),
      "line 1, column 3: the text is not valid UTF-8 (byte 0xE4)",
    ],
    ["a lone continuation", join([0x80]), "line 1, column 1: the text is not valid UTF-8 (byte 0x80)"],
    [
      "a character cut off at the end",
      join("a\n", [0xe2, 0x82]),
      "line 2, column 1: the text is not valid UTF-8 (byte 0xE2)",
    ],
    [
      "a character cut off by the next one",
      join([0xe2, 0x82], "x"),
      "line 1, column 1: the text is not valid UTF-8 (byte 0xE2)",
    ],
    [
      "a surrogate",
      join("é\n", [0xed, 0xa0, 0x80]),
      "line 2, column 1: the text is not valid UTF-8 (byte 0xED)",
    ],
    ["an overlong form", join([0xc0, 0x80]), "line 1, column 1: the text is not valid UTF-8 (byte 0xC0)"],
    [
      "a byte that is in no UTF-8",
      join("\n\n", [0xff]),
      "line 3, column 1: the text is not valid UTF-8 (byte 0xFF)",
    ],
    ["NUL", join("ab\nc", [0], "\n"), "line 2, column 2: the text contains a NUL byte"],
    ["NUL at the very start", join([0]), "line 1, column 1: the text contains a NUL byte"],
    ["NUL before what is not UTF-8", join("a", [0, 0xff]), "line 1, column 2: the text contains a NUL byte"],
    [
      "what is not UTF-8 before NUL",
      join("a", [0xff, 0]),
      "line 1, column 2: the text is not valid UTF-8 (byte 0xFF)",
    ],
  ];
  for (const [what, bytes, words] of rows) {
    const fault = textFault(bytes);
    assert.equal(fault === null ? null : faultWords(fault), words, what);
  }
});

Deno.test("an invalid byte in a long text is found, wherever it is relative to the searched chunks", () => {
  const long = text("\u00e9".repeat(100_000));
  const sizes = [0, 1, 2, 3, 4, 65_533, 65_534, 65_535, 65_536, 65_537, 131_071, 131_072, 131_073, 200_000];
  for (const size of sizes) {
    for (const bad of [[0xff], [0xe2, 0x82], [0xe2, 0x82, 0x41]]) {
      const end = join(size % 2 === 0 ? [] : "a", bad, "tail");
      const bytes = new Uint8Array(size - size % 2 + end.length);
      bytes.set(long.subarray(0, size - size % 2));
      bytes.set(end, size - size % 2);
      assert.equal(textFault(bytes)?.column, size + 1, `${size} ${bad}`);
    }
  }
});

Deno.test("following the printed remedy turns the file into valid text", async () => {
  const folder = await Deno.makeTempDir({ prefix: "flemma-text-" });
  const wide = (value: string, big: boolean) =>
    [...value].flatMap((one) => big ? [0, one.charCodeAt(0)] : [one.charCodeAt(0), 0]);
  try {
    const rows: readonly (readonly [string, Uint8Array, string])[] = [
      ["latin1 with blank.chat", join("gr", [0xf6], "n\n"), "grön\n"],
      ["quotes.chat", join([0x93], "h", [0xe4], [0x94, 0x80], "\n"), "\u201ch\u00e4\u201d\u20ac\n"],
      ["marked.chat", join([0xff, 0xfe], wide("hi\n", false)), "hi\n"],
      ["little.chat", join(wide("hello there\n", false)), "hello there\n"],
      ["big.chat", join(wide("hello there\n", true)), "hello there\n"],
      ["nul.chat", join("hello", [0], " there\n"), "hello there\n"],
      ["-x.chat", join("h", [0xe4], "\n"), "hä\n"],
    ];
    for (const [name, bytes, expected] of rows) {
      await Deno.writeFile(`${folder}/${name}`, bytes);
      const command = textRemedy(textFault(bytes)!, name).replace(/^.*?: /, "");
      const { success, stderr } = await new Deno.Command("/bin/sh", { args: ["-c", command], cwd: folder })
        .output();
      assert.ok(success, `${command}: ${new TextDecoder().decode(stderr)}`);
      assert.equal(await Deno.readTextFile(`${folder}/${name}.utf8`), expected, command);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("for invalid text from standard input, the remedy names no file", () => {
  assert.equal(textRemedy(textFault(join([0xe4]))!, null), "Save it as UTF-8.");
  assert.match(textRemedy(textFault(join([0]))!, null), /right text/);
});

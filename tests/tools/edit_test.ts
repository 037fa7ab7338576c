import assert from "node:assert/strict";
import fc from "fast-check";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { replacePassage } from "../../tools/files/text/passage.ts";
import { type ContextChanges, inScene, openSandbox, type Scene, testInScene as test } from "./scene.ts";

const NAME = "file.txt";

async function edited(before: string | Uint8Array, oldText: string, newText: string): Promise<string> {
  let after = "";
  await inScene(async (place) => {
    await Deno.writeFile(
      place.path(NAME),
      typeof before === "string" ? new TextEncoder().encode(before) : before,
    );
    const output = await place.output("edit", { label: "l", path: NAME, oldText, newText });
    assert.match(output, /^Edited file\.txt\./);
    after = new TextDecoder("utf-8", { ignoreBOM: true }).decode(await Deno.readFile(place.path(NAME)));
  });
  return after;
}

async function editError(
  before: string,
  input: Record<string, unknown>,
  changes: ContextChanges = {},
): Promise<string> {
  let error = "";
  await inScene(async (place) => {
    await Deno.writeTextFile(place.path(NAME), before);
    error = await place.error("edit", { label: "l", path: NAME, ...input }, changes);
    assert.equal(await Deno.readTextFile(place.path(NAME)), before, "a refused edit changed the file");
  });
  return error;
}

function edit(place: Scene, oldText: string, newText: string, changes: ContextChanges = {}) {
  return place.output("edit", { path: NAME, oldText, newText }, changes);
}

Deno.test("if an edit has several errors, edit reports the first in a fixed order", async () => {
  assert.match(await editError("x", { path: "" }), /path is empty/);
  assert.match(await editError("x", { oldText: "" }), /oldText is empty/);
  assert.match(await editError("x", {}), /oldText is empty/);
  assert.match(await editError("x", { oldText: "x" }), /newText is missing/);
  const input = { oldText: "x", newText: "y" };
  assert.match(
    await editError("x", { ...input, path: "none" }, { sandbox: openSandbox([]) }),
    /may not write/,
  );
  assert.match(await editError("x", { ...input, path: "none" }), /none does not exist/);
  assert.match(await editError("x", { ...input, path: "." }), /is a folder/);
  assert.match(await editError("a", input), /not found in file\.txt/);
  assert.match(await editError("xx", input), /occurs 2 times/);
  assert.match(await editError("x", { oldText: "x", newText: "x" }), /changes nothing/);
});

Deno.test("edit replaces the only occurrence of a text, and an empty new text deletes it", async () => {
  assert.equal(await edited("one two three", "two", "2"), "one 2 three");
  assert.equal(await edited("one two three", "two ", ""), "one three");
  assert.equal(await edited("one", "one", "all of it"), "all of it");
});

Deno.test("characters such as $& in the new text are plain text", async () => {
  assert.equal(await edited('log("done");', '"done"', '"$& $$ $1 $` $\'"'), 'log("$& $$ $1 $` $\'");');
  assert.equal(await edited("a.c abc", "a.c", "x"), "x abc");
});

Deno.test("edit keeps a byte order mark even if the replaced text is at the beginning of the file", async () => {
  assert.equal(await edited("\ufeffhello\n", "hello", "hello2"), "\ufeffhello2\n");
  assert.equal(await edited("\ufeffhello\n", "hello\n", "x"), "\ufeffx");
});

Deno.test("edit counts overlapping occurrences of a text separately", async () => {
  assert.match(await editError("aaa", { oldText: "aa", newText: "b" }), /occurs 2 times/);
  assert.match(await editError("aaaa", { oldText: "aa", newText: "b" }), /occurs 3 times/);
});

test("edit changes no byte outside the replaced text, even if other bytes are invalid UTF-8", async (place) => {
  const before = [0xff, 0x0d, 0x0a, 0x20, 0x20, 0x0a, 0x61, 0x62, 0xc3, 0x80, 0x9f, 0x09, 0x00, 0x0d];
  await Deno.writeFile(place.path(NAME), new Uint8Array(before));
  await edit(place, "ab", "é");
  const after = [...before];
  after.splice(6, 2, 0xc3, 0xa9);
  assert.deepEqual([...await Deno.readFile(place.path(NAME))], after);
});

test("in a CR LF file, edit finds a text given with LF, and the result reports the conversion", async (place) => {
  await Deno.writeTextFile(place.path(NAME), "one\r\ntwo\r\nthree\r\n");
  assert.match(await edit(place, "one\ntwo", "1\n2\n2b"), /CRLF/);
  assert.equal(await Deno.readTextFile(place.path(NAME)), "1\r\n2\r\n2b\r\nthree\r\n");
  assert.doesNotMatch(await edit(place, "2b", "x"), /CRLF/);
});

Deno.test("edit does not convert line ends if the file mixes them or the text contains CR", async () => {
  assert.match(await editError("a\r\nb\nc\r\n", { oldText: "a\nb", newText: "x" }), /not found/);
  assert.match(await editError("a\r\nb\r\n", { oldText: "a\rb\n", newText: "x" }), /not found/);
});

Deno.test("if the whole text is not found, the error names the line in which its first line occurs", async () => {
  const error = await editError("one\n\tfoo(bar) {\ntwo\n", {
    oldText: "  foo(bar) {\n    body\n",
    newText: "x",
  });
  assert.match(error, /line 2: \tfoo\(bar\) \{$/);
  assert.doesNotMatch(await editError("one\n", { oldText: "\nx", newText: "y" }), /line \d/);
  assert.doesNotMatch(await editError("one\n", { oldText: "zzz", newText: "y" }), /line \d/);
  const long = await editError(`${"x".repeat(10_000)}needle\n`, { oldText: "needle\nmore", newText: "y" });
  assert.ok(long.length < 700);
});

Deno.test("if the file contains a similar text, the error names its line and the difference", async () => {
  const rows: readonly (readonly [string, string, RegExp])[] = [
    ["a\r\nb\nc\r\n", "a\nb\nc", /Line 1 has it with different line endings/],
    ["x\na\nb\n", "a\r\nb", /Line 2 has it with different line endings/],
    ["one\ncafe\u0301 au lait\n", "caf\u00e9 au", /Line 2 has it with accents encoded differently/],
    ["caf\u00e9\r\nnext\r\n\n", "cafe\u0301\nnext", /Line 1 has it with accents/],
    ["\tif (x) {  \n\t\treturn;\n", "  if (x) {\n    return;", /Line 1 has it with different whitespace/],
    ["10\u00a0km", "10 km", /Line 1 has it with different whitespace/],
    ["say \u201cx\u201d \u2013 y", 'say "x" - y', /Line 1 has it with typographic quotes/],
  ];
  for (const [before, oldText, reported] of rows) {
    assert.match(await editError(before, { oldText, newText: "z" }), reported, oldText);
  }
  assert.doesNotMatch(await editError("a b\n", { oldText: "\u00a0\t", newText: "z" }), /has it/);
});

test("if a file exists only under another spelling or behind a link, the error names the existing file", async (place) => {
  const input = { oldText: "x", newText: "y" };
  await Deno.mkdir(place.path("Sub"));
  await Deno.writeTextFile(place.path("cafe\u0301.txt"), "x");
  await Deno.writeTextFile(place.path("two\u00a0words.txt"), "x");
  const rows: readonly (readonly [string, RegExp])[] = [
    [
      "caf\u00e9.txt",
      /does not exist; .* contains "cafe\u0301\.txt", with accents encoded differently\.$/,
    ],
    ["sub/x.txt", /contains "Sub", with different case\.$/],
    ["two words.txt", /contains "two\u00a0words\.txt", with different whitespace\.$/],
    ["gone.txt", /does not exist\.$/],
  ];
  for (const [path, reported] of rows) {
    assert.match(await place.error("edit", { path, ...input }), reported, path);
    assert.match(await place.error("read", { path, offset: null, limit: null }), reported, path);
  }
  await Deno.mkdir(place.path("w"));
  await Deno.symlink(place.path("Sub"), place.path("w/out"));
  const sandbox = openSandbox([place.path("w")]);
  const refused = `Sandbox: tools may not write to w/out/x (it resolves to ${place.path("Sub/x")})`;
  const stated = await place.error("write", { path: "w/out/x", content: "" }, { sandbox });
  assert.equal(stated.slice(0, refused.length), refused);
  await Deno.symlink("ring", place.path("ring"));
  assert.match(
    await place.error("read", { path: "ring", offset: null, limit: null }),
    /^The path ring cannot be resolved: its symbolic links form a loop/,
  );
  assert.match(
    await place.error("edit", { path: "ring/x", ...input }),
    /cannot be resolved: its symbolic links form a loop/,
  );
});

Deno.test("edit never replaces text that is only similar", async () => {
  const before = "\u201cx\u201d \u2013 y  \nnext\n";
  assert.match(await editError(before, { oldText: '"x" - y', newText: "z" }), /not found/);
  assert.match(await editError("  a\n", { oldText: "a ", newText: "b" }), /not found/);
});

test("edit accepts replaceAll only if a setting allows it, and then replaces from left to right without overlaps", async (place) => {
  const tools = { ...DEFAULT_SETTINGS.tools, named: { edit: { replace_all: true } } };
  const input = { path: NAME, oldText: "aa", newText: "b", replaceAll: true };
  await Deno.writeTextFile(place.path(NAME), "aaaaa aa");
  assert.match(await place.error("edit", input), /occurs 5 times/);
  assert.match(await place.output("edit", input, { tools }), /3 occurrences/);
  assert.equal(await Deno.readTextFile(place.path(NAME)), "bba b");
  assert.match(
    await place.error("edit", { ...input, oldText: "b", replaceAll: null }, { tools }),
    /occurs 3 times/,
  );
});

test("edit keeps links and file modes unchanged", async (place) => {
  await Deno.writeTextFile(place.path("real.txt"), "old");
  await Deno.chmod(place.path("real.txt"), 0o600);
  await Deno.symlink("real.txt", place.path(NAME));
  await edit(place, "old", "new");
  assert.equal((await Deno.lstat(place.path(NAME))).isSymlink, true);
  assert.equal(await Deno.readTextFile(place.path("real.txt")), "new");
  assert.equal((await Deno.stat(place.path("real.txt"))).mode! & 0o777, 0o600);
});

test("if several edits of one file run in parallel, all of them take effect", async (place) => {
  const names = Array.from({ length: 30 }, (_, n) => `<${n}>`);
  await Deno.writeTextFile(place.path(NAME), names.join("\n"));
  await Promise.all(names.map((name) => edit(place, name, name.replace("<", "done <"))));
  assert.equal(await Deno.readTextFile(place.path(NAME)), names.map((name) => `done ${name}`).join("\n"));
});

test("edit refuses to change the running document", async (place) => {
  const error = await place.error("edit", { path: "talk.chat", oldText: "hello", newText: "x" });
  assert.match(error, /document of this conversation/);
});

Deno.test("edit gives the same result as splitting the file at the only occurrence and joining it with the new text", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "é", "🎉", "\n"), maxLength: 40 });
  const passage = fc.string({ unit: fc.constantFrom("a", "b", "é", "🎉", "\n"), minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(text, passage, passage, (text, oldText, newText) => {
      const result = replacePassage(new TextEncoder().encode(text), oldText, newText);
      let count = 0;
      for (let at = text.indexOf(oldText); at !== -1; at = text.indexOf(oldText, at + 1)) count++;
      if (count === 0) assert.equal(result.kind, "absent");
      else if (count > 1) assert.deepEqual(result, { kind: "ambiguous", count });
      else if (oldText === newText) assert.equal(result.kind, "unchanged");
      else {
        assert.ok(result.kind === "replaced");
        assert.equal(new TextDecoder().decode(result.bytes), text.split(oldText).join(newText));
      }
    }),
    { seed: 20260306, numRuns: 3000 },
  );
});

test("if an edit adds UTF-8 text to a file in another encoding, the result says so", async (place) => {
  await Deno.writeFile(place.path("f.txt"), new Uint8Array([0x67, 0xf6, 0x20, 0x61, 0x0a]));
  const edit = (oldText: string, newText: string) =>
    place.output("edit", { path: "f.txt", oldText, newText });
  assert.equal(await edit("a", "b"), "Edited f.txt.");
  assert.match(
    await edit("b", "\u00e4"),
    /^Edited f\.txt\. The file is not entirely UTF-8 \(perhaps ISO-8859-1\); the new text was written/,
  );
  assert.deepEqual([...await Deno.readFile(place.path("f.txt"))], [0x67, 0xf6, 0x20, 0xc3, 0xa4, 0x0a]);
  await Deno.writeTextFile(place.path("f.txt"), "gr\u00f6\u00dfe\n");
  assert.equal(await edit("gr", "\u00fc"), "Edited f.txt.");
});

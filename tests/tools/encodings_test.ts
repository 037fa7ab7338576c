// Files that are not UTF-8: read, grep, edit and write say so, and none of them changes an encoding silently.

import assert from "node:assert/strict";
import { type Scene, testInScene as test } from "./scene.ts";

const TEXT = "caf\u00e9 one\nline two\n";

function units(text: string, bytes: 2 | 4, little: boolean): number[] {
  return [...text].flatMap((character) => {
    const code = character.charCodeAt(0);
    const unit = bytes === 2 ? [code & 0xff, code >> 8] : [code & 0xff, code >> 8, 0, 0];
    return little ? unit : unit.reverse();
  });
}

/** Name for reading, exact name, content. */
const WIDE: readonly (readonly [string, string, readonly number[]])[] = [
  ["UTF-16", "UTF-16LE", [0xff, 0xfe, ...units(TEXT, 2, true)]],
  ["UTF-16", "UTF-16BE", [0xfe, 0xff, ...units(TEXT, 2, false)]],
  ["UTF-16LE", "UTF-16LE", units(TEXT, 2, true)],
  ["UTF-16BE", "UTF-16BE", units(TEXT, 2, false)],
  ["UTF-32", "UTF-32LE", [0xff, 0xfe, 0, 0, ...units(TEXT, 4, true)]],
  ["UTF-32", "UTF-32BE", [0, 0, 0xfe, 0xff, ...units(TEXT, 4, false)]],
];

async function put(place: Scene, name: string, bytes: readonly number[]): Promise<Uint8Array> {
  await Deno.writeFile(place.path(name), new Uint8Array(bytes));
  return new Uint8Array(bytes);
}

async function shell(place: Scene, line: string): Promise<string> {
  const { stdout } = await new Deno.Command("/bin/sh", { args: ["-c", line], cwd: place.folder }).output();
  return new TextDecoder().decode(stdout);
}

/** Returns the shell command that begins at a word of a message. */
function commandIn(message: string, start: string, end: string): string {
  const from = message.indexOf(start);
  const to = message.indexOf(end, from);
  assert.ok(from >= 0 && to > from, message);
  return message.slice(from, to);
}

test("each tool names UTF-16 and UTF-32, changes nothing, and its commands work: one row per encoding", async (place) => {
  for (const [name, exact, content] of WIDE) {
    for (const file of ["it's.txt", "unknown-kind"]) {
      const bytes = await put(place, file, content);
      const same = async () => assert.deepEqual(await Deno.readFile(place.path(file)), bytes, exact);
      const read = await place.error("read", { path: file, offset: null, limit: null });
      assert.ok(read.startsWith(`${file} is encoded in ${name}, `), read);
      assert.equal(await shell(place, read.slice(read.indexOf("iconv"))), TEXT);

      const found = await place.output("grep", { pattern: "one", path: ".", glob: file, limit: null });
      assert.match(found, new RegExp(`^No matches\\..*not searched: 1 file in ${name};`, "s"), found);
      const alone = await place.output("grep", { pattern: "one", path: file, glob: null, limit: null });
      assert.match(alone, new RegExp(`not searched: 1 file in ${name};`));

      const edit = await place.error("edit", { path: file, oldText: "one", newText: "1" });
      assert.ok(edit.startsWith(`${file} is encoded in ${exact}, which edit does not support; `), edit);
      await same();
      await shell(place, commandIn(edit, "iconv", ". Edit"));
      await place.output("edit", { path: `${file}.utf8`, oldText: "one", newText: "1" });
      const back = edit.slice(edit.indexOf("convert it back: ") + "convert it back: ".length);
      await shell(place, back);
      assert.equal(
        await shell(place, `iconv -f ${name} -t UTF-8 "${file}"`),
        TEXT.replace("one", "1"),
        `${exact}: ${back}`,
      );
      // The byte order mark and the order of bytes are kept.
      assert.deepEqual([...(await Deno.readFile(place.path(file))).slice(0, 4)], content.slice(0, 4), exact);

      await put(place, file, content);
      const write = await place.error("write", { path: file, content: "new\n" });
      assert.ok(write.startsWith(`${file} is encoded in ${exact}, and write would convert it`), write);
      await same();
      await place.output("write", { path: `${file}.utf8`, content: "new\n" });
      await shell(place, commandIn(write, write.includes("{ printf") ? "{ printf" : "iconv", " To have"));
      assert.equal(await shell(place, `iconv -f ${name} -t UTF-8 "${file}"`), "new\n");
      assert.deepEqual(
        [...(await Deno.readFile(place.path(file))).slice(0, 2)],
        [
          ...(content.length % 4 === 0 && name === exact ? units("new", 2, exact.endsWith("LE")) : content),
        ].slice(0, 2),
      );
    }
  }
});

/** Content, and what read says about it; null if nothing. */
const NARROW: readonly (readonly [string, readonly number[], RegExp | null])[] = [
  [
    "ISO-8859-1",
    [0x67, 0xf6, 0x0a],
    /not UTF-8, perhaps ISO-8859-1; .*iconv -f ISO-8859-1 -t UTF-8 'f\.txt'\]$/,
  ],
  ["WINDOWS-1252", [0x93, 0x67, 0xf6, 0x94, 0x0a], /not UTF-8, perhaps WINDOWS-1252; /],
  ["both lines", [0xf6, 0x0a, 0x93, 0x0a], /not UTF-8, perhaps WINDOWS-1252; /],
  ["damaged UTF-8", [0xc3, 0xa4, 0xff, 0x0a], /\[\ufffd stands for bytes that are not UTF-8\.\]$/],
  ["a true U+FFFD", [0x61, 0xef, 0xbf, 0xbd, 0x0a], null],
  ["UTF-8", [0x67, 0xc3, 0xb6, 0x0a], null],
];

test("read and grep say which bytes they cannot show, and edit and write which encoding they mix or end: one row per encoding", async (place) => {
  for (const [name, content, says] of NARROW) {
    await put(place, "f.txt", content);
    const read = await place.output("read", { path: "f.txt", offset: null, limit: null });
    const found = await place.output("grep", { pattern: ".", path: "f.txt", glob: null, limit: null });
    if (says === null) {
      assert.ok(!read.includes("["), name);
      assert.ok(!found.includes("stands for"), name);
      continue;
    }
    assert.match(read, says, name);
    assert.match(found, /\ufffd stands for bytes that are not UTF-8/, name);
    const isNarrow = name !== "damaged UTF-8";
    const edited = await place.error("edit", { path: "f.txt", oldText: "\u00f6", newText: "o" });
    assert.equal(/only ASCII characters can match\. To see its text: iconv/.test(edited), isNarrow, name);
    const written = await place.output("write", { path: "f.txt", content: "\u00fc\n" });
    assert.equal(
      /It was not UTF-8 before \(perhaps (ISO-8859-1|WINDOWS-1252)\), and is UTF-8 now\.$/.test(written),
      isNarrow,
      written,
    );
    await put(place, "f.txt", content);
    // ASCII is the same in both encodings.
    assert.match(
      await place.output("write", { path: "f.txt", content: "u\n" }),
      /^Wrote 2 bytes to f\.txt\.$/,
    );
  }
});

test("write says that a byte order mark is gone, and keeps one that the content has", async (place) => {
  const marked = [0xef, 0xbb, 0xbf, 0x61, 0x0a];
  await put(place, "f.txt", marked);
  assert.match(
    await place.output("write", { path: "f.txt", content: "b\n" }),
    /began with a byte order mark/,
  );
  await put(place, "f.txt", marked);
  assert.match(
    await place.output("write", { path: "f.txt", content: "\ufeffb\n" }),
    /^Wrote 5 bytes to f\.txt\.$/,
  );
  assert.equal((await Deno.readFile(place.path("f.txt"))).length, 5);
});

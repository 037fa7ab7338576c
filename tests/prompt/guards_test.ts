// What may be attached to a message and what only looks like a reference, one row per condition.

import assert from "node:assert/strict";
import { resolvePath } from "../../base/paths.ts";
import { attach, attachObstacle, partOf } from "../../prompt/attach.ts";
import { FileLog } from "../../prompt/file_log.ts";
import { fileReferences, onlyReference, unescapeReference } from "../../prompt/file_references.ts";
import { inFolder } from "../folder.ts";

const MIB = 1024 * 1024;

Deno.test("a file is read only if it is regular, not one of the system's, and not too large", async () => {
  const info = await Deno.stat(new URL(import.meta.url));
  const why = (changes: Partial<Deno.FileInfo>, real = "/somewhere/file") =>
    attachObstacle(real, { ...info, ...changes });
  assert.equal(why({}), null);
  assert.match(why({ isDirectory: true, isFile: false })!, /folder/);
  assert.match(why({ isFile: false })!, /not a regular file/);
  assert.match(why({}, "/proc/self/environ")!, /system file/);
  assert.match(why({}, "/sys/kernel/x")!, /system file/);
  assert.match(
    why({ dev: Deno.statSync("/proc/self/status").dev })!,
    /system file/,
    "mounted elsewhere too",
  );
  assert.equal(why({ size: 64 * MIB }), null);
  assert.match(why({ size: 64 * MIB + 1 })!, /larger than 64 MiB/);
});

Deno.test("a path that policy hides is not opened, and a file that disappeared meanwhile counts as missing", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/a.txt`, "text");
    const base = { folder, home: "/home" };
    const [reference] = fileReferences("@./a.txt");
    const asked: string[] = [];
    const hidden = new FileLog((path) => asked.push(path) < 0);
    const refused = await attach(reference!, base, hidden);
    assert.equal(refused.kind, "missing");
    assert.match(refused.kind === "missing" ? refused.reason : "", /sandbox policy hides it/);
    assert.deepEqual(asked, [`${folder}/a.txt`]);
    assert.deepEqual(await hidden.files(), [], "nothing was read");
    // Between the question about the policy and the reading the file goes.
    const vanishing = new FileLog(() => {
      Deno.removeSync(`${folder}/a.txt`);
      return true;
    });
    const gone = await attach(reference!, base, vanishing);
    assert.equal(gone.kind, "missing");
    assert.match(gone.kind === "missing" ? gone.reason : "", /^No such file or directory$/);
    assert.deepEqual(await vanishing.files(), []);
  }));

Deno.test("if a file is read several times, its hash is that of the last read; a later log takes precedence over an earlier log", async () => {
  const earlier = new FileLog();
  const later = new FileLog();
  const bytes = (text: string) => new TextEncoder().encode(text);
  earlier.note("/b", bytes("one"));
  earlier.note("/a", bytes("one"));
  later.note("/a", bytes("two"));
  later.note("/a", bytes("three"));
  const only = await later.files();
  const all = await later.files(earlier);
  assert.deepEqual(all.map(({ path }) => path), ["/a", "/b"], "sorted");
  assert.equal(all[0]!.hash, only[0]!.hash);
  assert.notEqual(all[0]!.hash, all[1]!.hash);
});

Deno.test("a path starts at the root, the home folder or the document's folder, and its .. parts never lead above the root", () => {
  const base = { folder: "/w/place", home: "/home/me" };
  const rows: readonly (readonly [path: string, resolved: string])[] = [
    ["./a", "/w/place/a"],
    ["../a", "/w/a"],
    ["../../../../a", "/a"],
    ["~/a", "/home/me/a"],
    ["/etc/./a//b/../c", "/etc/a/c"],
    ["./~/a", "/w/place/~/a"],
  ];
  for (const [path, resolved] of rows) assert.equal(resolvePath(path, base), resolved, path);
});

Deno.test("a reference begins like a path, continues with a name, and decodes to valid UTF-8", () => {
  const read = (text: string) =>
    fileReferences(text).map(({ path, mime, unknownOption }) =>
      [path, mime, unknownOption].filter(Boolean).join("|")
    );
  const rows: readonly (readonly [text: string, ...found: string[]])[] = [
    ["see @./a.md, and @~/b;type=text/plain.", "./a.md", "~/b|text/plain"],
    ["@../a @//b", "../a", "/b"],
    ["@a @/a me@example.org @."],
    ["@./a;kind=x", "./a|kind=x"],
    ["@./a%20b+c%2B", "./a b c+"],
    ["@./%ff"],
    ["@./100%", "./100"],
    ["nothing"],
  ];
  for (const [text, ...found] of rows) assert.deepEqual(read(text), found, text);
});

Deno.test("a text is a single reference only if the reference spans all of it", () => {
  assert.equal(onlyReference("@./a.md")?.path, "./a.md");
  for (
    const text of ["", "a", " @./a.md", "@./a.md ", "@./a.md.", "@./a.md @./b.md", "@./a\u00a0b", "x@./a.md"]
  ) {
    assert.equal(onlyReference(text), null, JSON.stringify(text));
  }
  const rows: readonly (readonly [text: string, unescaped: string])[] = [
    ["\\@./a", "@./a"],
    ["\\\\@../a", "\\@../a"],
    ["\\@~/a", "@~/a"],
    ["\\@//a", "@//a"],
    ["\\@./a b", "\\@./a b"],
    ["\\@a", "\\@a"],
    ["\\@./", "\\@./"],
    ["@./a", "@./a"],
  ];
  for (const [text, unescaped] of rows) assert.equal(unescapeReference(text), unescaped, text);
});

Deno.test("for a file without content only the path is sent, whatever its type, and an image is sent as an image", () => {
  const kind = (bytes: Uint8Array, path: string, mime?: string) => {
    const { part, flaw } = partOf(bytes as Uint8Array<ArrayBuffer>, { filename: path, path, mime });
    return [part.kind, "mimeType" in part ? part.mimeType : "", flaw?.because ?? ""].filter(Boolean).join(
      " ",
    );
  };
  const text = (words: string) => new TextEncoder().encode(words);
  const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  assert.equal(kind(text(""), "a.png"), "unsupported_file empty");
  assert.equal(kind(text(" \n\t"), "a.md"), "unsupported_file empty");
  assert.equal(kind(text("x"), "a.md"), "text_file text/markdown");
  assert.equal(kind(png, "a.jpg"), "image image/png");
  assert.equal(kind(text("x"), "a.jpg"), "unsupported_file content", "its bytes are not an image's");
  assert.equal(kind(text("%PDF-"), "a.pdf"), "pdf application/pdf");
  assert.equal(kind(text("x"), "a.zip"), "unsupported_file type");
  assert.equal(kind(text("x"), "a.zip", "text/plain"), "text_file text/plain");
});

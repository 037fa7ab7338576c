import assert from "node:assert/strict";
import fc from "fast-check";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { builtinTools } from "../../tools/builtin/mod.ts";
import { LineSelector } from "../../tools/files/text/line_selector.ts";
import { onlyReference, unescapeReference } from "../../prompt/file_references.ts";
import { escapeReference, fileReference } from "../../tools/builtin/read/file_reference.ts";
import { createSandbox } from "../../sandbox/mod.ts";
import { byteLength, truncateHead } from "../../tools/truncate.ts";
import { type Scene, testInScene as test } from "./scene.ts";

function read(place: Scene, path: string, offset: number | null = null, limit: number | null = null) {
  return place.output("read", { label: "l", path, offset, limit });
}

function readError(place: Scene, path: string, offset: number | null = null) {
  return place.error("read", { label: "l", path, offset, limit: null });
}

function put(place: Scene, name: string, content: string | Uint8Array): Promise<void> {
  return typeof content === "string"
    ? Deno.writeTextFile(place.path(name), content)
    : Deno.writeFile(place.path(name), content);
}

function numbered(count: number): string {
  return Array.from({ length: count }, (_, n) => `line ${n + 1}`).join("\n");
}

test("read has separate messages for an empty path, a missing file, a folder, a pipe and an unreadable file", async (place) => {
  assert.match(await readError(place, ""), /empty/);
  assert.match(await readError(place, "sub/none.txt"), /sub\/none\.txt does not exist/);
  await Deno.mkdir(place.path("sub"));
  assert.match(await readError(place, "sub"), /sub is a folder.*ls/);
  assert.match(await readError(place, "/dev/null"), /tools may not read /);
  await new Deno.Command("mkfifo", { args: [place.path("pipe")] }).output();
  assert.match(await readError(place, "pipe"), /pipe.*not a regular file/);
  await put(place, "file", "x");
  assert.match(await readError(place, "file/below"), /not a folder|does not exist/);
});

test("read returns a binary file as one reference with its type", async (place) => {
  const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  await Deno.mkdir(place.path("a b#+%;?"));
  for (const name of ["shot.png", "SHOT.JPG", "doc.pdf", "a b#+%;?/x.gif", "bare"]) {
    await put(place, name, png);
  }
  assert.equal(await read(place, "shot.png"), "@./shot.png;type=image/png");
  assert.equal(await read(place, "./shot.png"), "@./shot.png;type=image/png");
  assert.equal(await read(place, "SHOT.JPG"), "@./SHOT.JPG;type=image/jpeg");
  assert.equal(await read(place, "doc.pdf"), "@./doc.pdf;type=application/pdf");
  assert.equal(await read(place, place.path("shot.png")), `@/${place.path("shot.png")};type=image/png`);
  assert.equal(await read(place, "a b#+%;?/x.gif"), "@./a%20b%23%2B%25%3B%3F/x.gif;type=image/gif");
  assert.equal(await read(place, "bare"), "@./bare;type=image/png");
  await put(place, "page.svg", "<svg/>");
  // An image to people, text to models: no provider takes it as an image.
  assert.equal(await read(place, "page.svg"), "<svg/>");
});

Deno.test("in a reference, a path keeps its form: with ~, with .. or absolute", () => {
  assert.equal(fileReference("~/x.png", "image/png"), "@~/x.png;type=image/png");
  assert.equal(fileReference("../x.png", "image/png"), "@../x.png;type=image/png");
  assert.equal(fileReference("/x.png", "image/png"), "@//x.png;type=image/png");
  assert.equal(fileReference("~user/x.png", "image/png"), "@./~user/x.png;type=image/png");
  assert.equal(fileReference(".hidden/x.png", "image/png"), "@./.hidden/x.png;type=image/png");
});

test("reading a file of a type that no provider accepts is an error with type and size", async (place) => {
  await put(place, "blob", new Uint8Array(2048));
  assert.match(await readError(place, "blob"), /blob.*application\/octet-stream.*2\.0KB/);
});

test("read treats JSON and similar types as text, and unknown file names too if the file has no NUL byte", async (place) => {
  const rows = [
    "a.json",
    "a.ts",
    "a.xml",
    "a.yaml",
    "a.toml",
    "a.sql",
    "a.js",
    "Makefile",
    ".gitignore",
    "x.unknown",
  ];
  for (const name of rows) {
    await put(place, name, "text of it");
    assert.equal(await read(place, name), "text of it", name);
  }
  await put(place, "late-nul", `${"x".repeat(9000)}\0`);
  assert.equal((await read(place, "late-nul")).length, 9001);
});

test("read omits a final line feed, carriage returns before line feeds and a byte order mark", async (place) => {
  await put(place, "a.txt", "\ufeffone\r\ntwo\rstill\r\n");
  assert.equal(await read(place, "a.txt"), "one\ntwo\rstill");
  await put(place, "b.txt", "one\n\n");
  assert.equal(await read(place, "b.txt"), "one\n");
  await put(place, "c.txt", new Uint8Array([0x61, 0xff, 0x62]));
  assert.match(await read(place, "c.txt"), /^a\ufffdb\n\n\[The file is not UTF-8, perhaps ISO-8859-1; /);
});

test("offset and limit of read are whole numbers from 1 on", async (place) => {
  await put(place, "a.txt", "1\n2\n3\n");
  assert.equal(await read(place, "a.txt", 2.9), "2\n3");
  assert.equal(await read(place, "a.txt", -7), "1\n2\n3");
  assert.match(
    await read(place, "a.txt", 1, 0),
    /^1\n\n\[2 lines more in the file\. Continue with offset 2\.\]$/,
  );
  assert.equal(await read(place, "a.txt", 3, 99), "3");
  assert.match(await readError(place, "a.txt", 4), /Line 4 .*3 lines/);
});

test("reading an empty file succeeds and says that it is empty", async (place) => {
  await put(place, "a.txt", "");
  assert.equal(await read(place, "a.txt"), "[The file is empty.]");
});

test("of 20 010 lines, read returns exactly the first page that its description promises", async (place) => {
  await put(place, "a.txt", `${numbered(20_010)}\n`);
  assert.equal(
    await read(place, "a.txt"),
    `${numbered(2000)}\n\n[Showing lines 1-2000 of 20010. Continue with offset 2001.]`,
  );
  assert.match(
    await read(place, "a.txt", 2001),
    /^line 2001\n[^]*\n\n\[Showing lines 2001-4000 of 20010\. Continue with offset 4001\.\]$/,
  );
  assert.equal(
    await read(place, "a.txt", 18_011, 2000),
    numbered(20_010).split("\n").slice(18_010).join("\n"),
  );
  const tool = builtinTools().find(({ name }) => name === "read");
  assert.match(`${tool?.description}`, /2000 lines or 50\.0KB/);
});

test("if the size limit shortens the text, the notice names the limit", async (place) => {
  await put(place, "a.txt", Array(100).fill("x".repeat(1023)).join("\n"));
  const shown = await read(place, "a.txt");
  assert.match(
    shown,
    /\n\n\[Showing lines 1-50 of 100 \(limit 50\.0KB\)\. Continue with offset 51\.\]$/,
  );
  assert.equal(byteLength(shown.split("\n\n[")[0] ?? ""), 50 * 1024 - 1);
});

test("if the argument limit shortens the text, the notice only says how many lines remain", async (place) => {
  await put(place, "a.txt", numbered(10));
  assert.equal(
    await read(place, "a.txt", 2, 3),
    "line 2\nline 3\nline 4\n\n[6 lines more in the file. Continue with offset 5.]",
  );
  assert.match(await read(place, "a.txt", 1, 9), /\[1 line more in the file/);
});

test("for a giant line, read returns its number, its size and a command that prints its beginning", async (place) => {
  await put(place, "it's big.txt", `short\n${"x".repeat(300_000)}\nend\n`);
  assert.match(
    await read(place, "it's big.txt"),
    /^short\n\n\[Showing lines 1-1 of 3 \(limit 50\.0KB\)\. Continue with offset 2\.\]$/,
  );
  const shown = await read(place, "it's big.txt", 2);
  const [, command] =
    /^\[Line 2 has 293\.0KB, more than the limit of 50\.0KB\. To read its beginning: (.*)\]$/.exec(shown) ??
      [];
  assert.equal(await place.output("bash", { command: `${command} | wc -c` }), "51200");
  assert.equal(await read(place, "it's big.txt", 3), "end");
});

test("read does not load a huge file completely into memory", async (place) => {
  await put(place, "huge.txt", "some text of a line\n".repeat(1000));
  // A hole costs no room on the disk. It is so large because other tests in this process use memory meanwhile.
  await Deno.truncate(place.path("huge.txt"), 900e6);
  await Deno.writeTextFile(place.path("huge.txt"), "\nend\n", { append: true });
  const before = Deno.memoryUsage().rss;
  // How long it takes is another matter.
  const long = { tools: { ...DEFAULT_SETTINGS.tools, default_timeout: 3600 } };
  const read = (offset: number, limit: number) =>
    place.output("read", { label: "l", path: "huge.txt", offset, limit }, long);
  assert.equal(
    await read(1000, 1),
    "some text of a line\n\n[2 lines more in the file. Continue with offset 1001.]",
  );
  assert.equal(await read(1002, 2), "end");
  const grown = Deno.memoryUsage().rss - before;
  assert.ok(grown < 450e6, `memory grew by ${grown} bytes`);
});

test("if a file's text is one line that looks like a reference, read escapes it; other text is unchanged", async (place) => {
  await put(place, "a.txt", "@//etc/passwd;type=image/png\n");
  assert.equal(await read(place, "a.txt"), "\\@//etc/passwd;type=image/png");
  await put(place, "b.txt", "@./x.png\nmore\n");
  assert.equal(await read(place, "b.txt"), "@./x.png\nmore");
  await put(place, "c.txt", "1\n@~/.ssh/id_rsa\n");
  assert.equal(await read(place, "c.txt", 2), "\\@~/.ssh/id_rsa");
  for (const text of ["@name", "@/abs", "mail@./x", "{{ 1 }}", ""]) {
    assert.equal(escapeReference(text), text);
  }
});

Deno.test("a written reference is read back with its path and type; a text that only looks like a reference is restored by unescaping", () => {
  const name = fc.string({
    unit: fc.constantFrom("a", " ", "+", "%", "2", "0", "#", "?", ";", "é", "\u00a0", ".", "-"),
    minLength: 1,
  });
  fc.assert(
    fc.property(name, (name) => {
      const reference = onlyReference(fileReference(`./${name}`, "image/png"));
      assert.deepEqual([reference?.path, reference?.mime], [`./${name}`, "image/png"]);
      for (const text of [`@./${name}`, `\\@./${name}`, `\\\\@~/${name}`]) {
        const escaped = escapeReference(text);
        assert.equal(onlyReference(escaped), null);
        assert.equal(unescapeReference(escaped), text);
      }
    }),
    { seed: 20260307, numRuns: 1000 },
  );
});

test("relative paths of read start at the document's folder", async (place) => {
  await Deno.mkdir(place.path("docs"));
  await put(place, "docs/a.txt", "in docs");
  const changes = { document: place.path("docs/talk.chat") };
  assert.equal(await place.output("read", { path: "a.txt" }, changes), "in docs");
});

Deno.test("selecting lines from chunks of any size gives the same lines as splitting the whole text", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "é", "🎉", "\n", "\r", "\ufeff"), maxLength: 60 });
  const range = fc.record({
    offset: fc.integer({ min: 1, max: 5 }),
    count: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constant(Infinity)),
    maxLines: fc.integer({ min: 1, max: 5 }),
    maxBytes: fc.integer({ min: 1, max: 30 }),
  });
  fc.assert(
    fc.property(text, range, fc.integer({ min: 1, max: 9 }), (text, range, step) => {
      const selector = new LineSelector(range);
      const bytes = new TextEncoder().encode(text);
      for (let at = 0; at < bytes.length; at += step) selector.push(bytes.subarray(at, at + step));
      const selection = selector.finish();
      const lines = text.split("\n");
      if (lines.at(-1) === "") lines.pop();
      assert.equal(selection.total, lines.length);
      const shown = lines.map((line, index) =>
        line.replace(/\r$/, "").slice(index === 0 && line.startsWith("\ufeff") ? 1 : 0)
      );
      const wanted = shown.slice(range.offset - 1, range.offset - 1 + range.count);
      if (wanted.length === 0) return;
      const expected = truncateHead(wanted.join("\n"), range);
      assert.equal(selection.text, expected.content);
      assert.equal(selection.cutBy !== null, expected.truncated);
      assert.equal(selection.kept, expected.output_lines);
      assert.equal(selection.firstLineBytes !== null, expected.first_line_exceeds_limit);
    }),
    { seed: 20260305, numRuns: 5000 },
  );
});

test("the limits of read come from the settings", async (place) => {
  await put(place, "a.txt", numbered(10));
  const truncate = { ...DEFAULT_SETTINGS.tools.truncate, max_lines: 4 };
  const shown = await place.output("read", { path: "a.txt" }, { tools: { truncate } });
  assert.match(shown, /\[Showing lines 1-4 of 10\. Continue with offset 5\.\]$/);
});

test("read returns no file that policy hides, under any of its names", async (place) => {
  await Deno.mkdir(place.path("keys"));
  await put(place, "keys/id", "secret\n");
  await put(place, "open", "text\n");
  await Deno.symlink("keys/id", place.path("alias"));
  const sandbox = createSandbox({
    settings: {
      ...DEFAULT_SETTINGS.sandbox,
      policy: { ...DEFAULT_SETTINGS.sandbox.policy, deny_read: [place.path("keys")] },
    },
    environment: { cwd: place.folder, home: place.path("home"), variables: {} },
    document: place.document,
    protect: [],
  });
  const input = (path: string) => ({ label: "l", path, offset: null, limit: null });
  for (const path of ["keys/id", "alias", "./keys/../alias", place.path("keys/id")]) {
    assert.match(await place.error("read", input(path), { sandbox }), /^Sandbox: tools may not read /, path);
  }
  assert.equal((await place.output("read", input("open"), { sandbox })).trim(), "text");
});

test("read reports UTF-16 text with a command that shows it, and replaces other invalid bytes by U+FFFD", async (place) => {
  const wide = [..."it's text\n"].flatMap((one) => [one.charCodeAt(0), 0]);
  for (
    const [name, bytes, encoding] of [["a.txt", [0xff, 0xfe, ...wide], "UTF-16"], [
      "b.txt",
      wide,
      "UTF-16LE",
    ]] as const
  ) {
    await Deno.writeFile(place.path(name), new Uint8Array(bytes));
    const error = await place.error("read", { path: name, offset: null, limit: null });
    assert.ok(
      error.startsWith(`${name} is encoded in ${encoding}, which read and edit do not support.`),
      error,
    );
    const command = error.slice(error.indexOf("iconv"));
    const shown = await new Deno.Command("/bin/sh", { args: ["-c", command], cwd: place.folder }).output();
    assert.equal(new TextDecoder().decode(shown.stdout), "it's text\n");
  }
  await Deno.writeFile(place.path("c.txt"), new Uint8Array([0x67, 0xf6, 0x0a]));
  assert.equal(await place.output("read", { path: "c.txt", offset: null, limit: null }), LATIN);
});

const LATIN =
  "g\ufffd\n\n[The file is not UTF-8, perhaps ISO-8859-1; \ufffd stands for its other characters. " +
  "To read them: iconv -f ISO-8859-1 -t UTF-8 'c.txt']";

test("the error for a circular link says that the link is circular", async (place) => {
  await Deno.symlink("b", place.path("a"));
  await Deno.symlink("a", place.path("b"));
  assert.match(await readError(place, "a"), /its symbolic links form a loop/);
});

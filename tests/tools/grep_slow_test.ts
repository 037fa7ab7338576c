// `grep`: matches, files and counts, and the same answer with and without ripgrep.

import assert from "node:assert/strict";
import { OWN_ACCESS } from "../../base/disk/folder_access.ts";
import { narrowFiles, requiredText } from "../../tools/files/search/narrowed.ts";
import { searchFiles } from "../../tools/files/search/search.ts";
import { inScene, openSandbox, type Scene, testInScene as test } from "./scene.ts";

interface Asked {
  readonly path?: string;
  readonly glob?: string;
  readonly limit?: number;
}

function grep(place: Scene, pattern: string, { path, glob, limit }: Asked = {}): Promise<string> {
  return place.output("grep", {
    label: "l",
    pattern,
    path: path ?? null,
    glob: glob ?? null,
    limit: limit ?? null,
  });
}

async function put(place: Scene, files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await Deno.mkdir(place.path(name.replace(/[^/]*$/, "")), { recursive: true });
    await Deno.writeFile(
      place.path(name),
      typeof content === "string" ? new TextEncoder().encode(content) : content,
    );
  }
}

test("grep prints path:line:text, sorted by path and line, and its last line states the number of matches", async (place) => {
  await put(place, { "b.ts": "one\ntwo\none", "a/x.ts": "none\n", "a-b": "one", "c.ts": "zero" });
  assert.equal(await grep(place, "one$"), "a-b:1:one\na/x.ts:1:none\nb.ts:1:one\nb.ts:3:one\n\n[4 matches]");
  assert.equal(await grep(place, "^two"), "b.ts:2:two\n\n[1 match]");
  assert.equal(await grep(place, "seven"), "No matches.");
  assert.equal(
    await grep(place, "one", { glob: "*.ts" }),
    "a/x.ts:1:none\nb.ts:1:one\nb.ts:3:one\n\n[3 matches]",
  );
  assert.equal(await grep(place, "one", { glob: "a/*" }), "a/x.ts:1:none\n\n[1 match]");
  assert.equal(await grep(place, "one", { path: "b.ts" }), "b.ts:1:one\nb.ts:3:one\n\n[2 matches]");
  assert.equal(await grep(place, "one", { path: place.path("a") }), "a/x.ts:1:none\n\n[1 match]");
});

test("grep says that it stopped at the limit only if there are more matches than the limit", async (place) => {
  await put(place, { "d/a": "x\nx\n", "d/b": "x\n" });
  assert.equal(
    await grep(place, "x", { path: "d", limit: 2 }),
    "d/a:1:x\nd/a:2:x\n\n[2 matches, limit reached]",
  );
  assert.equal(await grep(place, "x", { path: "d", limit: 1 }), "d/a:1:x\n\n[1 match, limit reached]");
  assert.equal(await grep(place, "x", { path: "d", limit: 3 }), "d/a:1:x\nd/a:2:x\nd/b:1:x\n\n[3 matches]");
  const truncate = { max_lines: 2, max_bytes: 1000, max_file_size: 0, output_path_format: "" };
  const input = { pattern: "x", path: "d", glob: null, limit: null };
  assert.equal(
    await place.output("grep", input, { tools: { truncate } }),
    "d/a:1:x\nd/a:2:x\n\n[2 of 3 matches]",
  );
});

test("grep treats a pattern that looks like an option as a pattern and starts no program because of it", async (place) => {
  await put(place, { "pre": "#!/bin/sh\ntouch ran\n", "x": "--pre=./pre\n-e\n" });
  await Deno.chmod(place.path("pre"), 0o755);
  assert.equal(await grep(place, "--pre=./pre"), "x:1:--pre=./pre\n\n[1 match]");
  assert.equal(await grep(place, "-e", { glob: "x" }), "x:2:-e\n\n[1 match]");
  assert.match(
    await place.error("grep", { pattern: "x", path: "--files", glob: null, limit: null }),
    /does not exist/,
  );
  assert.throws(() => Deno.statSync(place.path("ran")), Deno.errors.NotFound);
});

test("grep searches hidden, excluded and ignored files only if the path names them", async (place) => {
  await put(place, {
    ...{
      "r/.git/HEAD": "x",
      "r/.gitignore": "out\n",
      "r/out/a": "x",
      "r/.env": "x",
      "r/.ci/a": "x",
      "r/dist/a": "x",
    },
    "r/in/a": "x",
  });
  assert.equal(await grep(place, "x", { path: "r" }), "r/in/a:1:x\n\n[1 match]");
  for (const path of ["r/out", "r/.ci", "r/dist"]) {
    assert.equal(await grep(place, "x", { path }), `${path}/a:1:x\n\n[1 match]`);
  }
  assert.equal(await grep(place, "x", { path: "r/.env" }), "r/.env:1:x\n\n[1 match]");
  assert.equal(await grep(place, "x", { path: "r", glob: ".env" }), "r/.env:1:x\n\n[1 match]");
});

test("grep skips binary files and handles broken UTF-8, byte order marks, CR LF and huge lines", async (place) => {
  const bytes = (...parts: readonly (string | number)[]) =>
    new Uint8Array(
      parts.flatMap((part) => typeof part === "number" ? [part] : [...new TextEncoder().encode(part)]),
    );
  await put(place, {
    "d/bin": bytes("needle\n", 0, "needle\n"),
    "d/late": bytes("needle\n" + "a\n".repeat(300_000), 0),
    "d/bad": bytes("a", 0xff, "needle", 0xfe, "\n"),
    "d/bom": bytes(0xef, 0xbb, 0xbf, "needle first\r\nneedle second\r\n"),
    "d/giant": `${"x".repeat(3_000_000)}needle\nneedle ${"y".repeat(3_000_000)}\nneedle`,
  });
  const found = await grep(place, "needle", { path: "d" });
  assert.deepEqual(
    found.split("\n").map((line) => line.slice(0, 30)),
    [
      ...["d/bad:1:a\ufffdneedle\ufffd", "d/bom:1:needle first", "d/bom:2:needle second"],
      ...[
        `d/giant:2:needle ${"y".repeat(13)}`,
        "d/giant:3:needle",
        "",
        "[5 matches, \ufffd stands for bytes",
      ],
    ],
  );
  // A line of an answer is cut.
  assert.ok(found.split("\n")[3]!.length < 600);
  assert.equal(
    await grep(place, "^needle \\w+$", { path: "d/bom" }),
    "d/bom:1:needle first\nd/bom:2:needle second\n\n[2 matches]",
  );
  assert.equal(await grep(place, "needle", { path: "d/bin" }), "No matches.\n\n[the file is not text]");
});

test("regular expressions with exponential backtracking or expansion need no noticeable time", async (place) => {
  await put(place, { "d/a": `${"a".repeat(5000)}!\n` });
  const patterns = [
    "(a+)+$",
    "(a|aa)+$",
    "(.*)*b",
    "(a*)*(a*)*(a*)*c",
    "a?".repeat(30) + "a".repeat(30) + "b",
  ];
  for (const pattern of patterns) {
    assert.equal(await grep(place, pattern, { path: "d" }), "No matches.", pattern);
  }
  const error = await place.error("grep", {
    pattern: "((a{900}){900}){900}",
    path: "d",
    glob: null,
    limit: null,
  });
  assert.match(error, /^The pattern is not valid: /);
});

test("each kind of wrong input to grep has a message of its own", async (place) => {
  await put(place, { file: "x" });
  const error = (pattern: string, more: Asked = {}) =>
    place.error("grep", { pattern, path: more.path ?? null, glob: more.glob ?? null, limit: null });
  assert.match(await error(""), /The pattern is empty/);
  assert.match(await error("("), /The pattern is not valid: missing closing \)/);
  assert.match(await error("(?=x)"), /is not valid: invalid or unsupported Perl syntax/);
  assert.match(await error("a\nb"), /line end/);
  assert.match(await error("a\\nb"), /line end/);
  assert.match(await error("x", { glob: "[" }), /The glob is not valid/);
  assert.match(await error("x", { path: "none" }), /The folder or file none does not exist/);
  assert.match(await error("x", { path: "/proc/self/environ" }), /tools may not read /);
  await new Deno.Command("mkfifo", { args: [place.path("pipe")] }).output();
  assert.match(await error("x", { path: "pipe" }), /is a pipe, socket or device/);
  assert.equal(await grep(place, "a\\\\n"), "No matches.");
});

test("grep finds no matches in hidden files and folders, and reports their number", async (place) => {
  await put(place, { "open/x": "secret", "keys/x": "secret", "single": "secret" });
  const hidden = [place.path("keys"), place.path("single")];
  const isPathReadable = (path: string) => !hidden.some((each) => `${path}/`.startsWith(`${each}/`));
  const sandbox = { ...openSandbox(), isPathReadable };
  const input = { pattern: "secret", path: null, glob: null, limit: null };
  assert.equal(
    (await place.run("grep", input, { sandbox })).output,
    "open/x:1:secret\n\n[1 match, 1 file not readable, 1 folder not readable]",
  );
});

test("if a call of grep times out or is stopped, the result says which of the two happened", async (place) => {
  await put(place, { "a/x": "x" });
  const input = { pattern: "x", path: null, glob: null, limit: null };
  assert.match(
    await place.error("grep", input, { tools: { default_timeout: 0 } }),
    /timed out after 0 seconds/,
  );
  const stop = new AbortController();
  stop.abort();
  assert.match(await place.error("grep", input, { signal: stop.signal }), /stopped/);
});

const RG = "/usr/bin/rg";
const hasRg = (() => {
  try {
    return Deno.statSync(RG).isFile;
  } catch {
    return false;
  }
})();

Deno.test(
  "grep returns the same result with and without the program rg",
  { ignore: !hasRg },
  () =>
    inScene(async (place) => {
      const bytes = new Uint8Array([97, 255, ...new TextEncoder().encode("function foo(bar)\n")]);
      const files: Record<string, string | Uint8Array> = {
        ...{
          "z/bad": bytes,
          "z/bom": "\ufefffunction foo\n",
          "z/crlf": "function foo\r\nx\r\n",
          "z/bin": "function foo\0",
        },
        ...{
          "z/wide": new Uint8Array([255, 254, 102, 0, 111, 0]),
          "z/up": "FUNCTION FOO\n",
          "z/é ü": "function é foo",
        },
        ...{
          "z/long": "x".repeat(2_000_000) + "function foo",
          "z/a.b": "a+b (x) [y] {2} \\d $foo ^bar",
          "z/empty": "",
        },
      };
      // So many come first that the rest is worth a program.
      for (let at = 0; at < 205; at++) files[`a/${at}`] = at === 7 ? "function foo" : "";
      await put(place, files);
      await Deno.symlink("bad", place.path("z/link"));
      const search = (pattern: string, rg: string | null) =>
        searchFiles(
          { start: place.folder, pattern, glob: null, excluded: [], limit: 50, seconds: 60 },
          { ...OWN_ACCESS, isReadable: () => true, rg },
          new AbortController().signal,
        );
      const patterns = [
        ...[
          "function",
          "function foo$",
          "^function\\s+foo",
          "fun(ction)? foo",
          "func.*foo",
          "(?i)function foo",
          "foo|bar",
        ],
        ...[
          "function\\b",
          "\\$foo",
          "\\^bar",
          "a\\+b",
          "\\[y\\]",
          "[[:alpha:]]+ foo",
          "[]f]unction",
          "\\x66unction",
          "fo{2}",
        ],
        ...[
          "functionx*",
          "functionx?",
          "(function)+",
          "function|never",
          "(never|function) foo",
          "é foo",
          "\\{2\\}",
          "{2}",
        ],
        ...[
          "\\Qfunction\\E",
          "\\146unction",
          "-e",
          "--pre=/bin/sh",
          "function foo\\(bar\\)",
          "[^f]unction",
          "\\pLunction",
        ],
      ];
      let found = 0;
      for (const pattern of patterns) {
        const without = await search(pattern, null);
        assert.deepEqual(await search(pattern, RG), without, pattern);
        assert.deepEqual(await search(pattern, "/nowhere/rg"), without, pattern);
        if ("lines" in without && without.lines.length > 0) found++;
      }
      assert.ok(found > 25, `${found} patterns found something`);
    }),
);

Deno.test("grep begins with a search for a literal text only if every matching line must contain this text", () => {
  const sure: Readonly<Record<string, string | null>> = {
    "function foo": "function foo",
    "^function\\s+foo$": "function",
    "foob?ar": "foo",
    "foob*ar": "foo",
    "foob+ar": "foob",
    "foob{0,1}ar": "foo",
    "x(abcdef)?y": null,
    "(abc)": null,
    "abcd|efgh": null,
    "a(b|c)defg": "defg",
    "[abc]defg": "defg",
    "[]abcd]efgh": "efgh",
    "[[:alpha:]abcd]efgh": "efgh",
    "[^\\]abcd]efgh": "efgh",
    "(?i)abcd": null,
    "(?:ab)cdef": "cdef",
    "\\x41bcd": null,
    "\\101bcd": null,
    "\\pLbcde": null,
    "a\\.b\\(c": "a.b(c",
    "\\bword\\b": "word",
    "élan vital": "lan vital",
    "ab": null,
    "[unclosed": null,
  };
  for (const [pattern, text] of Object.entries(sure)) assert.equal(requiredText(pattern), text, pattern);
});

test("if the search program is missing, grep searches every file; if the program fails, grep searches none", async (place) => {
  await put(place, { "a": "needle", "b": "x" });
  const files = ["a", "b"].map((name) => ({ path: name, folder: place.folder, name }));
  const { signal } = new AbortController();
  for (const program of ["/nowhere", "/bin/false"]) {
    assert.deepEqual(
      await narrowFiles("needle", files, program, signal),
      program === "/bin/false" ? [] : files,
    );
  }
  if (!hasRg) return;
  assert.deepEqual(await narrowFiles("needle", files, RG, signal), files.slice(0, 1));
  await Deno.remove(place.path("b"));
  assert.deepEqual(await narrowFiles("needle", files, RG, signal), files, "one is gone");
});

test("in an expression, (?i) ignores case, and \\w, \\d and \\b are about ASCII characters only", async (place) => {
  await put(place, { "a": "ÄRGER\nfoo\nFOO\n٣\n3\nxé\n" });
  const found = async (pattern: string) =>
    [...(await grep(place, pattern)).matchAll(/^a:(\d):/gm)].map(([, line]) => Number(line));
  assert.deepEqual(await found("(?i)foo"), [2, 3]);
  assert.deepEqual(await found("foo"), [2]);
  assert.deepEqual(await found("^\\w$"), [5]);
  assert.deepEqual(await found("^\\d$"), [5]);
  assert.deepEqual(await found("x\\b"), [6]);
});

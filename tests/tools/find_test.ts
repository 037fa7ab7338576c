import assert from "node:assert/strict";
import { openSandbox, type Scene, testInScene as test } from "./scene.ts";

function find(place: Scene, pattern: string, path: string | null = null, limit: number | null = null) {
  return place.output("find", { label: "l", pattern, path, limit });
}

/** Makes files, and folders where a name ends in a slash. */
async function put(place: Scene, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await Deno.mkdir(place.path(name.replace(/[^/]*$/, "")), { recursive: true });
    if (!name.endsWith("/")) await Deno.writeTextFile(place.path(name), "");
  }
}

function lines(...expected: readonly string[]): string {
  return expected.join("\n");
}

test("in find, a pattern without a slash matches names at any depth, and results are sorted by the bytes of their paths", async (place) => {
  await put(
    place,
    "a/b.ts",
    "a-b.ts",
    "b.ts",
    "a/c/é.ts",
    "a/c/x.js",
    "Z.ts",
    "\u{1f389}.ts",
    "\uff01.ts",
    "a/d.ts/",
  );
  assert.equal(
    await find(place, "*.ts"),
    lines("Z.ts", "a-b.ts", "a/b.ts", "a/c/é.ts", "b.ts", "\uff01.ts", "\u{1f389}.ts"),
  );
  assert.equal(await find(place, "x.{js,ts}"), "a/c/x.js");
  assert.equal(await find(place, "[xy].?s"), "a/c/x.js");
  assert.equal(await find(place, "nothing*"), "No files found.");
});

test("in find, a pattern with a slash matches the path relative to the search folder", async (place) => {
  await put(place, "src/a.ts", "src/in/b.ts", "src/in/deep/c.ts", "lib/src/d.ts", "e.ts");
  assert.equal(await find(place, "src/**/*.ts"), lines("src/a.ts", "src/in/b.ts", "src/in/deep/c.ts"));
  assert.equal(await find(place, "src/*.ts"), "src/a.ts");
  assert.equal(await find(place, "./src/*.ts"), "src/a.ts");
  assert.equal(await find(place, `${place.folder}/src/*.ts`), "src/a.ts");
  assert.equal(await find(place, "**/b.ts"), "src/in/b.ts");
  assert.equal(await find(place, "in/*.ts", "src"), "src/in/b.ts");
  assert.equal(await find(place, "**/src/*"), lines("lib/src/d.ts", "src/a.ts"));
});

test("results of find are relative to the working folder; outside it they begin with the requested path", async (place) => {
  await put(place, "sub/in/x", "other/x");
  const named = { find: { cwd: `${place.folder}/sub` } };
  const run = (path: string | null) =>
    place.output("find", { pattern: "x", path, limit: null }, { tools: { named } });
  assert.equal(await run(null), "in/x");
  for (const path of [".", "in", "./in/", `${place.folder}/sub`]) {
    assert.equal(await run(path), "in/x", path);
  }
  assert.equal(await run("../other"), "../other/x");
  assert.equal(await run(`${place.folder}/other/`), `${place.folder}/other/x`);
});

test("find skips an excluded name anywhere in a path, and the setting replaces the default names", async (place) => {
  await put(place, "node_modules/x", "a/dist/x", "a/x", "build", "vendor/x");
  assert.equal(await find(place, "x"), "a/x");
  assert.equal(await find(place, "build"), "No files found.");
  // What the call names itself is looked at.
  assert.equal(await find(place, "x", "node_modules"), "node_modules/x");
  const named = { find: { exclude: ["a"] } };
  const input = { pattern: "x", path: null, limit: null };
  assert.equal(await place.output("find", input, { tools: { named } }), lines("node_modules/x", "vendor/x"));
});

test("find returns hidden files only if the pattern has a dot at that position", async (place) => {
  await put(
    place,
    ".env",
    ".env.local",
    ".github/ci.yml",
    ".github/.hidden/ci.yml",
    "a/.env",
    "a/ci.yml",
    "a.b",
  );
  assert.equal(await find(place, "*"), lines("a.b", "a/ci.yml", "talk.chat"));
  assert.equal(await find(place, ".env*"), lines(".env", ".env.local", "a/.env"));
  assert.equal(await find(place, "{.env,a.b}"), lines(".env", "a.b", "a/.env"));
  assert.equal(await find(place, ".github/**"), ".github/ci.yml");
  assert.equal(await find(place, ".github/**/*.yml"), ".github/ci.yml");
  assert.equal(await find(place, "**/.hidden/*"), "No files found.");
  assert.equal(await find(place, ".github/.hidden/*"), ".github/.hidden/ci.yml");
  assert.equal(await find(place, "ci.yml", ".github"), ".github/ci.yml");
  assert.equal(await find(place, "?env"), "No files found.");
  assert.equal(await find(place, "../*"), "No files found.");
});

test("in a repository, find skips the files that git ignores because of .gitignore", async (place) => {
  await put(place, "r/.git/info/", "r/in/deep/", "r/sub/own/.git/", "plain/");
  const files = [
    ...[
      "a.log",
      "keep.log",
      "out/x",
      "in/out/x",
      "in/a.log",
      "in/b.tmp",
      "in/deep/b.tmp",
      "root.txt",
      "in/root.txt",
    ],
    ...["sub/own/a.log", "in/excluded", "in/doc/x", "a b", "#c", "A.LOG", "in/deep/z.log", "sp\\ace"],
  ];
  await put(place, ...files.map((name) => `r/${name}`), "plain/a.log", "r/in/doc/more/");
  await Deno.writeTextFile(
    place.path("r/.gitignore"),
    "# comment\n*.log\n!keep.log\nout/\n/root.txt\r\nin/doc\na\\ b\n\\#c\n\n",
  );
  await Deno.writeTextFile(place.path("r/.git/info/exclude"), "excluded\n");
  await Deno.writeTextFile(place.path("r/in/.gitignore"), "*.tmp\n!deep/*.tmp\n!z.log\n");
  await Deno.writeTextFile(place.path("plain/.gitignore"), "*\n");
  const found = async (path: string) => (await find(place, "*", path)).split("\n");
  assert.deepEqual(await found("r"), [
    ...["r/A.LOG", "r/in/deep/b.tmp", "r/in/deep/z.log", "r/in/root.txt", "r/keep.log", "r/sp\\ace"],
    "r/sub/own/a.log",
  ]);
  assert.deepEqual(await found("r/in/deep"), ["r/in/deep/b.tmp", "r/in/deep/z.log"]);
  // A folder that is left out, named by the call itself.
  assert.deepEqual(await found("r/out"), ["r/out/x"]);
  // Outside of a repository the file rules nothing.
  assert.deepEqual(await found("plain"), ["plain/a.log"]);
  const git = new Deno.Command("git", {
    args: ["-C", place.path("r"), "ls-files", "--others", "--exclude-standard", "-z"],
    env: { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" },
  });
  await Deno.remove(place.path("r/.git"), { recursive: true });
  assert.ok((await new Deno.Command("git", { args: ["init", "-q", place.path("r")] }).output()).success);
  await Deno.writeTextFile(place.path("r/.git/info/exclude"), "excluded\n");
  const listed = new TextDecoder().decode((await git.output()).stdout).split("\0");
  const ours = (await found("r")).filter((name) => !name.includes("/own/"));
  assert.deepEqual(
    ours,
    listed.filter((name) => name !== "" && !/^\.|\/\.|own\//.test(name)).map((name) => `r/${name}`).sort(),
  );
});

test("glob and .gitignore patterns that can match a name in many ways need no noticeable time", async (place) => {
  const long = "a".repeat(250);
  await put(place, "r/.git/", `r/${long}`);
  await Deno.writeTextFile(
    place.path("r/.gitignore"),
    `${"*a".repeat(40)}b\n${"**/".repeat(30)}${"a*".repeat(30)}c\n`,
  );
  assert.equal(await find(place, `${"*a".repeat(60)}*b`, "r"), "No files found.");
  assert.equal(await find(place, "*", "r"), `r/${long}`);
  await Deno.writeTextFile(place.path("r/.gitignore"), `${"*a".repeat(40)}\n!${"a*".repeat(30)}b*`);
  assert.equal(await find(place, "*", "r"), "No files found.");
});

test("find does not follow links, and does not count pipes or folders as files", async (place) => {
  await put(place, "real/x");
  await Deno.symlink("real", place.path("link"));
  await Deno.symlink("x", place.path("real/y"));
  await Deno.symlink(".", place.path("real/ring"));
  assert.ok((await new Deno.Command("mkfifo", { args: [place.path("real/pipe")] }).output()).success);
  assert.equal(await find(place, "*", "real"), "real/x");
  assert.equal(await find(place, "*", "link"), "link/x");
});

test("beyond the limit, find returns the first results and a notice with the total number", async (place) => {
  await put(place, "d/c", "d/b", "d/a", "d/d");
  assert.equal(await find(place, "*", "d", 2), "d/a\nd/b\n\n[the first 2 files, limit reached]");
  assert.equal(await find(place, "*", "d", 4), "d/a\nd/b\nd/c\nd/d");
  assert.equal(await find(place, "*", "d", 0), "d/a\n\n[the first file, limit reached]");
  const truncate = { max_lines: 3, max_bytes: 1000, max_file_size: 0, output_path_format: "" };
  const input = { pattern: "*", path: "d", limit: null };
  assert.equal(
    await place.output("find", input, { tools: { truncate } }),
    "d/a\nd/b\nd/c\n\n[showing 3 of 4 files]",
  );
});

test("each kind of wrong input to find has a message of its own", async (place) => {
  await put(place, "file");
  const error = (pattern: string, path: string | null = null) =>
    place.error("find", { pattern, path, limit: null });
  assert.match(await error(""), /The pattern is empty/);
  assert.match(await error("[a"), /The pattern is not valid: a bracket \[ is not closed\./);
  assert.match(await error("{a"), /a brace \{ is not closed/);
  assert.match(await error("*", "none"), /The folder none does not exist/);
  assert.match(await error("*", "file"), /file is not a folder.*grep or read/);
  assert.match(await error("*", "a\0b"), /NUL/);
  assert.match(await error("*", "/proc/self"), /tools may not read /);
});

test("find does not enter a hidden folder, and reports how many folders are hidden", async (place) => {
  await put(place, "open/x", "keys/x");
  const hidden = place.path("keys");
  const sandbox = {
    ...openSandbox(),
    isPathReadable: (path: string) => !`${path}/`.startsWith(`${hidden}/`),
  };
  const input = { pattern: "x", path: null, limit: null };
  assert.equal((await place.run("find", input, { sandbox })).output, "open/x\n\n[1 folder not readable]");
});

test("if find times out, the error includes the results found so far", async (place) => {
  await put(place, "a/x");
  const error = await place.error("find", { pattern: "x", path: null, limit: null }, {
    tools: { default_timeout: 0 },
  });
  assert.match(error, /^The search timed out after 0 seconds\./);
  const stop = new AbortController();
  stop.abort();
  assert.match(
    await place.error("find", { pattern: "x", path: null, limit: null }, { signal: stop.signal }),
    /stopped/,
  );
});

test("find returns a name that contains a line break as a JSON string", async (place) => {
  await put(place, "d/a\nb");
  assert.equal(await find(place, "*", "d"), '"d/a\\nb"');
});

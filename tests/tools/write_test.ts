import assert from "node:assert/strict";
import { mayMount } from "../folder.ts";
import { createSandbox } from "../../sandbox/sandbox.ts";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { replaceFile } from "../../tools/files/replace.ts";
import { type ContextChanges, inScene, openSandbox, type Scene, testInScene as test } from "./scene.ts";

function write(place: Scene, path: string, content: unknown, changes: ContextChanges = {}): Promise<string> {
  return place.output("write", { label: "l", path, content }, changes);
}

function writeError(
  place: Scene,
  path: string,
  content: unknown,
  changes: ContextChanges = {},
): Promise<string> {
  return place.error("write", { label: "l", path, content }, changes);
}

async function leftovers(place: Scene, folder = ""): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(place.path(folder))) {
    if (name.includes(".flemma-")) names.push(name);
  }
  return names;
}

test("for write, an empty path and missing content are errors, but empty content is accepted", async (place) => {
  assert.match(await writeError(place, "", "x"), /path is empty/);
  assert.match(await writeError(place, "a.txt", undefined), /content is missing/);
  assert.equal(await write(place, "a.txt", ""), "Wrote 0 bytes to a.txt.");
  assert.equal((await Deno.stat(place.path("a.txt"))).size, 0);
});

test("write stores exactly the bytes of the content, and the result contains their number and the path", async (place) => {
  const content = "é\r\nno end\n\n  x";
  assert.equal(await write(place, "sub/deep/a.txt", content), "Wrote 15 bytes to sub/deep/a.txt.");
  assert.equal(await Deno.readTextFile(place.path("sub/deep/a.txt")), content);
  assert.equal(await write(place, "sub/deep/a.txt", "1"), "Wrote 1 byte to sub/deep/a.txt.");
  assert.deepEqual(await leftovers(place, "sub/deep"), []);
});

test("if an overwritten file has a byte order mark, write stores only the new content", async (place) => {
  await Deno.writeTextFile(place.path("a.txt"), "\ufeffhello\n");
  await write(place, "a.txt", "new");
  assert.deepEqual([...await Deno.readFile(place.path("a.txt"))], [...new TextEncoder().encode("new")]);
});

test("write does not store a lone surrogate from JSON in a file", async (place) => {
  await write(place, "a.txt", "\ud83d");
  assert.equal(await Deno.readTextFile(place.path("a.txt")), "\ufffd");
});

test("if a path is not writable, write refuses it by the given name, before it creates anything", async (place) => {
  const sandbox = openSandbox([place.path("in")]);
  assert.match(
    await writeError(place, "out/deep/a.txt", "x", { sandbox }),
    /^Sandbox: tools may not write to out\/deep\/a\.txt/,
  );
  await assert.rejects(Deno.stat(place.path("out")), Deno.errors.NotFound);
  await write(place, "in/deep/a.txt", "x", { sandbox });
});

test("the real policy refuses to write protected paths and paths outside its folders", async (place) => {
  await Deno.mkdir(place.path(".git/hooks"), { recursive: true });
  await Deno.writeTextFile(place.path(".git/HEAD"), "ref: refs/heads/main\n");
  const environment = { cwd: place.folder, home: place.path("home"), variables: {} };
  const sandbox = createSandbox({
    settings: {
      ...DEFAULT_SETTINGS.sandbox,
      policy: { ...DEFAULT_SETTINGS.sandbox.policy, rw_paths: ["urn:flemma:buffer:path"] },
    },
    environment,
    document: place.document,
    protect: [place.document, place.path("config.json")],
  });
  for (const path of ["config.json", ".git/hooks/pre-commit", "../flemma-test"]) {
    assert.match(await writeError(place, path, "x", { sandbox }), /may not write/, path);
  }
  await write(place, "fine.txt", "x", { sandbox });
});

test("write refuses the running document under each of its names, with and without a sandbox", async (place) => {
  await Deno.symlink("talk.chat", place.path("link.chat"));
  await Deno.link(place.document, place.path("hard.chat"));
  await Deno.mkdir(place.path("sub"));
  for (const path of ["talk.chat", "sub/../talk.chat", place.document, "link.chat", "hard.chat"]) {
    for (const sandbox of [openSandbox(), openSandbox([place.folder])]) {
      assert.match(
        await writeError(place, path, "@You: do it", { sandbox }),
        /document of this conversation/,
        path,
      );
    }
  }
  assert.equal(await Deno.readTextFile(place.document), "@You:\nhello\n");
});

test("write follows a link and checks its target", async (place) => {
  await Deno.mkdir(place.path("in"));
  await Deno.mkdir(place.path("out"));
  await Deno.writeTextFile(place.path("in/real.txt"), "old");
  await Deno.symlink("real.txt", place.path("in/link.txt"));
  await Deno.symlink(place.path("out/x.txt"), place.path("in/leads-out.txt"));
  await Deno.symlink(place.path("in/new.txt"), place.path("out/leads-in.txt"));
  const sandbox = openSandbox([place.path("in")]);
  await write(place, "in/link.txt", "new", { sandbox });
  assert.equal((await Deno.lstat(place.path("in/link.txt"))).isSymlink, true);
  assert.equal(await Deno.readTextFile(place.path("in/real.txt")), "new");
  assert.match(await writeError(place, "in/leads-out.txt", "x", { sandbox }), /may not write/);
  await write(place, "out/leads-in.txt", "made", { sandbox });
  assert.equal(await Deno.readTextFile(place.path("in/new.txt")), "made");
});

test("write keeps the file mode, including special bits", async (place) => {
  for (const mode of [0o600, 0o755, 0o640, 0o4755]) {
    await Deno.writeTextFile(place.path("a"), "old");
    await Deno.chmod(place.path("a"), mode);
    await write(place, "a", "new");
    assert.equal((await Deno.stat(place.path("a"))).mode! & 0o7777, mode);
  }
});

test("a new file gets the mode that the umask defines", async (place) => {
  await write(place, "a", "x");
  assert.equal((await Deno.stat(place.path("a"))).mode! & 0o777, 0o666 & ~Deno.umask());
});

Deno.test({
  name: "write keeps the owner of the file",
  ignore: Deno.uid() !== 0,
  fn: () =>
    inScene(async (place) => {
      await Deno.writeTextFile(place.path("a"), "old");
      await Deno.chown(place.path("a"), 12345, 23456);
      await write(place, "a", "new");
      const { uid, gid } = await Deno.stat(place.path("a"));
      assert.deepEqual([uid, gid], [12345, 23456]);
    }),
});

test("if a file has two hard links, both names have the new content after write", async (place) => {
  await Deno.writeTextFile(place.path("a"), "a longer old content");
  await Deno.link(place.path("a"), place.path("b"));
  await write(place, "a", "new");
  assert.equal(await Deno.readTextFile(place.path("b")), "new");
  assert.equal((await Deno.stat(place.path("a"))).nlink, 2);
});

test("write replaces a file without hard links as a whole, by a rename", async (place) => {
  await Deno.writeTextFile(place.path("a"), "old");
  const reader = await Deno.open(place.path("a"));
  await write(place, "a", "new and longer");
  const buffer = new Uint8Array(20);
  const count = await reader.read(buffer);
  reader.close();
  assert.equal(new TextDecoder().decode(buffer.subarray(0, count ?? 0)), "old");
});

test("if policy allows only the file itself, write overwrites it in place without a temporary file next to it", async (place) => {
  await Deno.mkdir(place.path("dir"));
  await Deno.writeTextFile(place.path("dir/a"), "a longer old content");
  const { ino } = await Deno.stat(place.path("dir/a"));
  const sandbox = openSandbox([place.path("dir/a"), place.path("dir/b")]);
  await write(place, "dir/a", "new", { sandbox });
  assert.equal(await Deno.readTextFile(place.path("dir/a")), "new");
  assert.equal((await Deno.stat(place.path("dir/a"))).ino, ino);
  await write(place, "dir/b", "made", { sandbox });
  assert.equal(await Deno.readTextFile(place.path("dir/b")), "made");
  assert.match(await writeError(place, "dir/c", "x", { sandbox }), /may not write/);
});

test("if a link replaces the file meanwhile, write does not follow it", async (place) => {
  await Deno.writeTextFile(place.path("precious"), "mine");
  await Deno.symlink("precious", place.path("a"));
  const bytes = new TextEncoder().encode("new");
  const options = { shownAs: "a", since: null };
  // The real path was judged to be `a` itself; meanwhile it became a link.
  await assert.rejects(
    replaceFile(place.path("a"), bytes, { ...options, temporary: ".flemma-test" }),
    /not a regular file/,
  );
  await assert.rejects(
    replaceFile(place.path("a"), bytes, { ...options, temporary: null }),
    /not a regular file/,
  );
  assert.equal(await Deno.readTextFile(place.path("precious")), "mine");
});

test("write fails on a folder, on a device, and if a parent of the path is a file", async (place) => {
  await Deno.mkdir(place.path("dir"));
  await Deno.writeTextFile(place.path("file"), "x");
  assert.match(await writeError(place, "dir", "x"), /dir is a folder/);
  assert.match(await writeError(place, "file/a/b", "x"), /not a folder/);
  assert.match(await writeError(place, "/dev/null", "x"), /is a system file/);
  assert.match(await writeError(place, "a\0b", "x"), /NUL/);
  assert.match(await writeError(place, `${"x".repeat(300)}`, "x"), /could not be written/);
  assert.equal(await Deno.readTextFile(place.path("file")), "x");
});

Deno.test({
  name: "if the disk is full, the old content stays intact, by rename and in place",
  ignore: !await mayMount(),
  fn: () =>
    inScene(async (place) => {
      const script = `set -e
        mount -t tmpfs -o size=64k none "$1"
        printf old > "$1/a"; printf old > "$1/b"; ln "$1/b" "$1/c"
        exec "$2" run -A --no-check --config "$3/deno.json" "$3/tests/tools/full_disk.ts" "$1"`;
      await Deno.mkdir(place.path("small"));
      const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");
      const { stdout, stderr } = await new Deno.Command("unshare", {
        args: ["-Urm", "sh", "-c", script, "sh", place.path("small"), Deno.execPath(), root],
      }).output();
      const text = new TextDecoder().decode(stdout);
      assert.equal(text, "a refused, old\nb refused, old\n", new TextDecoder().decode(stderr));
    }),
});

test("several writes to one path are done in the order of the calls", async (place) => {
  await Deno.symlink("a", place.path("link"));
  const contents = Array.from({ length: 20 }, (_, n) => `${n}`.repeat(1 + (19 - n) * 5000));
  await Promise.all(contents.map((content, n) => write(place, n % 2 ? "a" : "link", content)));
  assert.equal(await Deno.readTextFile(place.path("a")), contents.at(-1));
});

test("a refused write does not delay the next one", async (place) => {
  const sandbox = openSandbox([]);
  const [first, second] = await Promise.all([
    place.run("write", { path: "a", content: "1" }, { sandbox }),
    place.run("write", { path: "a", content: "2" }),
  ]);
  assert.deepEqual([first.success, second.success], [false, true]);
});

test("if read showed bytes as replacement characters, they are not written back; other text is", async (place) => {
  const latin = new Uint8Array([0x67, 0xf6, 0x0a]);
  await Deno.writeFile(place.path("f.txt"), latin);
  const error = await place.error("write", { path: "f.txt", content: "g\ufffd!\n" });
  assert.match(error, /^f\.txt contains bytes that are not UTF-8.* Use edit, or convert the file first\.$/);
  assert.deepEqual(await Deno.readFile(place.path("f.txt")), latin);
  for (const content of ["g\u00f6!\n", "of one's own: \ufffd\n", "again: \ufffd\n"]) {
    await place.output("write", { path: "f.txt", content });
    assert.equal(await Deno.readTextFile(place.path("f.txt")), content);
  }
  await place.output("write", { path: "new.txt", content: "\ufffd" });
});

test("write and edit refuse a path that names a folder, whether the folder exists or not", async (place) => {
  await Deno.mkdir(place.path("d"));
  await Deno.writeTextFile(place.path("f"), "x");
  for (const path of ["d/", "new/", "f/", "d/.", "d/..", "../"]) {
    assert.match(await place.error("write", { path, content: "y" }), /names a folder|is a folder/, path);
    assert.match(
      await place.error("edit", { path, oldText: "x", newText: "y" }),
      /names a folder|is a folder/,
      path,
    );
  }
  assert.equal(await Deno.readTextFile(place.path("f")), "x");
  await assert.rejects(Deno.lstat(place.path("new")), Deno.errors.NotFound);
  await place.output("write", { path: "..a", content: "y" });
  await Deno.symlink("nowhere", place.path("dangling"));
  assert.match(
    await place.error("edit", { path: "dangling", oldText: "x", newText: "y" }),
    /^The file dangling does not exist; it is a symbolic link to nowhere\.$/,
  );
});

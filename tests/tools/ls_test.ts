import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { createSandbox } from "../../sandbox/mod.ts";
import { openSandbox, type Scene, testInScene as test } from "./scene.ts";

function ls(place: Scene, path: string, max_depth: number | null = null, limit: number | null = null) {
  return place.output("ls", { label: "l", path, max_depth, limit });
}

/** Makes files, and folders where a name ends in a slash. */
async function put(place: Scene, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const folder = name.replace(/[^/]*$/, "");
    await Deno.mkdir(place.path(`tree/${folder}`), { recursive: true });
    if (!name.endsWith("/")) await Deno.writeTextFile(place.path(`tree/${name}`), "");
  }
}

test("ls returns folders first, then files, sorted without case and then by bytes, including hidden ones", async (place) => {
  await put(place, "b.txt", "B.txt", "a.txt", "Z/", "m/", ".git/", ".env", "é", "\u{1f389}", "\uff01");
  assert.equal(
    await ls(place, "tree"),
    [".git/", "m/", "Z/", ".env", "a.txt", "B.txt", "b.txt", "é", "\uff01", "\u{1f389}", "", "[10 entries]"]
      .join("\n"),
  );
  assert.equal(await ls(place, `${place.folder}/tree`), await ls(place, "./tree/"));
});

test("for an empty folder ls prints only the footer, and for one entry the footer uses the singular", async (place) => {
  await put(place, "sub/");
  assert.equal(await ls(place, "tree/sub"), "[0 entries]");
  assert.equal(await ls(place, "tree"), "sub/\n\n[1 entry]");
  assert.equal(await ls(place, "tree", 1.9), "sub/\n\n[1 entry]");
});

test("with a depth, ls prints paths that start at the folder, and the footer states the depth", async (place) => {
  await put(place, "a/b/c/d", "z", "a/x");
  assert.equal(await ls(place, "tree", 2), "a/\na/b/\na/x\nz\n\n[4 entries, depth=2]");
  assert.equal(await ls(place, "tree", 99), "a/\na/b/\na/b/c/\na/b/c/d\na/x\nz\n\n[6 entries, depth=10]");
  for (const depth of [0, -3, 1]) assert.equal(await ls(place, "tree", depth), "a/\nz\n\n[2 entries]");
});

test("ls applies its limit to the sorted entries, and the footer contains the total number", async (place) => {
  await put(place, ...Array.from({ length: 30 }, (_, n) => `f${String(29 - n).padStart(2, "0")}`));
  assert.equal(await ls(place, "tree", null, 2), "f00\nf01\n\n[2 of 30 entries]");
  assert.equal(await ls(place, "tree", null, 0), "f00\n\n[1 of 30 entries]");
  const truncate = { max_lines: 3, max_bytes: 9, max_file_size: 0, output_path_format: "" };
  const input = { path: "tree", max_depth: null, limit: null };
  assert.equal(await place.output("ls", input, { tools: { truncate } }), "f00\nf01\n\n[2 of 30 entries]");
  const short = { ...truncate, max_bytes: 2 };
  assert.equal(await place.output("ls", input, { tools: { truncate: short } }), "[0 of 30 entries]");
});

test("ls prints a slash after a link to a folder and follows no link, not even a circular one", async (place) => {
  await put(place, "real/inside");
  for (
    const [target, name] of [["real", "to"], [".", "ring"], ["nowhere", "dangling"], [
      "real/inside",
      "file",
    ]]
  ) {
    await Deno.symlink(target!, place.path(`tree/${name}`));
  }
  assert.equal(
    await ls(place, "tree", 10),
    "real/\nring/\nto/\ndangling\nfile\nreal/inside\n\n[6 entries, depth=10]",
  );
  // Named by the call itself, a link is where it leads.
  assert.equal(await ls(place, "tree/to"), "inside\n\n[1 entry]");
});

test("ls has separate messages for an empty path, a missing path and a file", async (place) => {
  await put(place, "folder/file");
  const error = (path: string) => place.error("ls", { path, max_depth: null, limit: null });
  assert.match(await error(""), /path is empty/);
  assert.match(await error("tree/none"), /The folder tree\/none does not exist/);
  assert.match(await error("tree/folder/file"), /is not a folder.*read/);
  assert.match(await error("tree/folder/file/x"), /does not exist|not a folder/);
  assert.match(await error("a\0b"), /cannot be resolved|NUL/);
});

test("paths of ls start at tools.ls.cwd, which is the document's folder by default", async (place) => {
  await put(place, "sub/file");
  const named = { ls: { cwd: `${place.folder}/tree` } };
  const input = { path: "sub", max_depth: null, limit: null };
  assert.equal(await place.output("ls", input, { tools: { named } }), "file\n\n[1 entry]");
  assert.match(await place.error("ls", input), /sub does not exist/);
});

test("ls prints a name that would break its line as a JSON string", async (place) => {
  await put(place, "a\nb", "c\td/x");
  assert.equal(await ls(place, "tree", 2), '"c\\td"/\n"a\\nb"\n"c\\td"/x\n\n[3 entries, depth=2]');
});

test("ls neither lists nor enters folders of the operating system such as /proc", async (place) => {
  await put(place, "x");
  await Deno.symlink("/proc/self", place.path("tree/self"));
  for (const path of ["/proc", "/sys/kernel", "/dev", "tree/self", "tree/self/fd"]) {
    assert.match(
      await place.error("ls", { path, max_depth: null, limit: null }),
      /tools may not read /,
      path,
    );
  }
  assert.equal(await ls(place, "tree", 3), "self\nx\n\n[2 entries, depth=3]");
});

test("ls names a hidden folder but does not enter it", async (place) => {
  await put(place, "open/file", "keys/secret");
  await Deno.symlink("keys", place.path("tree/link"));
  const open = openSandbox();
  const hidden = place.path("tree/keys");
  const sandbox = { ...open, isPathReadable: (path: string) => !`${path}/`.startsWith(`${hidden}/`) };
  const run = (path: string) => place.run("ls", { path, max_depth: 3, limit: null }, { sandbox });
  const all = await run("tree");
  assert.equal(all.output, "keys/\nopen/\nlink\nopen/file\n\n[4 entries, depth=3, 1 folder not readable]");
  for (const path of ["tree/keys", "tree/link", "tree/open/../keys"]) {
    assert.match((await run(path)).error ?? "", /tools may not read /, path);
  }
});

test("if a folder is replaced while ls reads it, ls returns no entries of the replacement", async (place) => {
  await put(place, "sub/own", "hidden/secret");
  const hidden = place.path("tree/hidden");
  let looks = 0;
  const sandbox = {
    ...openSandbox(),
    // Each look at `sub` is the moment between judging and opening.
    isPathReadable: (path: string) => {
      if (path === place.path("tree/sub") && ++looks === 2) {
        Deno.removeSync(place.path("tree/sub"), { recursive: true });
        Deno.symlinkSync(hidden, place.path("tree/sub"));
      }
      return !`${path}/`.startsWith(`${hidden}/`);
    },
  };
  const result = await place.run("ls", { path: "tree/sub", max_depth: null, limit: null }, { sandbox });
  assert.equal(looks, 2);
  assert.match(result.error ?? "", /could not be read/);
});

test("ls does not return paths that the current policy hides", async (place) => {
  await put(place, "open", "keys/secret");
  const sandbox = createSandbox({
    settings: {
      ...DEFAULT_SETTINGS.sandbox,
      policy: { ...DEFAULT_SETTINGS.sandbox.policy, deny_read: [place.path("tree/keys")] },
    },
    environment: { cwd: place.folder, home: place.path("home"), variables: {} },
    document: place.document,
    protect: [],
  });
  const result = await place.run("ls", { path: "tree/keys", max_depth: null, limit: null }, { sandbox });
  assert.match(result.error ?? "", /tools may not read /);
});

test("if ls is stopped, the result says that it was stopped", async (place) => {
  await put(place, "x");
  const stop = new AbortController();
  stop.abort();
  const error = await place.error("ls", { path: "tree", max_depth: 2, limit: null }, {
    signal: stop.signal,
  });
  assert.match(error, /stopped/);
});

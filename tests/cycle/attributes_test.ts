// A file that replaces another takes over its attributes.

import assert from "node:assert/strict";
import { mayHaveAttributes } from "../../base/system/libc.ts";
import { contentFromBytes } from "../../cycle/storage/disk/content.ts";
import { replaceDocumentFile } from "../../cycle/storage/disk/write.ts";
import { stampOf } from "../../cycle/storage/read.ts";

/** Gives a file an extended attribute; false where its file system takes none. */
function mark(path: string): boolean {
  const library = Deno.dlopen("libc.so.6", {
    setxattr: { parameters: ["buffer", "buffer", "buffer", "usize", "i32"], result: "i32" },
  });
  const text = (value: string) => new TextEncoder().encode(`${value}\0`);
  const done = library.symbols.setxattr(text(path), text("user.note"), text("x"), 1n, 0) === 0;
  library.close();
  return done;
}

Deno.test({
  name: "on file systems with extended attributes, a document keeps them when its file is replaced",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const folder = await Deno.makeTempDir();
    const path = `${folder}/a.chat`;
    const [before, after] = ["@You:\nold\n", "@You:\nnew\n"].map((text) => new TextEncoder().encode(text));
    try {
      await Deno.writeFile(path, before!);
      assert.equal(mayHaveAttributes(path), false);
      const marked = mark(path);
      assert.equal(mayHaveAttributes(path), marked);
      const known = { content: contentFromBytes(before!), stamp: stampOf(await Deno.stat(path)) };
      const replaced = await replaceDocumentFile(path, contentFromBytes(after!), known);
      replaced?.old.close();
      assert.deepEqual(await Deno.readFile(path), after);
      assert.equal(mayHaveAttributes(path), marked);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
    // What cannot be looked at may have some: then the program that copies them says so.
    assert.equal(mayHaveAttributes(path), true);
  },
});

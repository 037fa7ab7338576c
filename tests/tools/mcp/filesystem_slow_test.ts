// Every tool of the independent `server-filesystem`, called once, in the sandbox.

import assert from "node:assert/strict";
import { type Call, denoServer, faultsIn, FILES, withPlace } from "./scene.ts";

const PNG = Uint8Array.fromBase64(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
);

Deno.test("every tool of server-filesystem returns a result from inside the sandbox", () =>
  withPlace(async (place) => {
    const at = (name: string) => `${place.folder}/${name}`;
    Deno.writeTextFileSync(at("one.txt"), "one\ntwo\n");
    Deno.writeTextFileSync(at("edit.txt"), "before\n");
    Deno.writeTextFileSync(at("move.txt"), "moved\n");
    Deno.writeFileSync(at("dot.png"), PNG);
    const calls: readonly (readonly [string, Record<string, unknown>, RegExp])[] = [
      ["read_file", { path: at("one.txt") }, /one\ntwo/],
      ["read_text_file", { path: at("one.txt"), head: 1 }, /one(?!\ntwo)/],
      ["read_media_file", { path: at("dot.png") }, / \(attachments=[0-9a-f]{64}\)[^]*\[image\/png, 70B\]/],
      ["read_multiple_files", { paths: [at("one.txt"), at("move-not.txt")] }, /one\ntwo[^]*Error/],
      ["write_file", { path: at("new.txt"), content: "new\n" }, /Successfully wrote/],
      ["edit_file", { path: at("edit.txt"), edits: [{ oldText: "before", newText: "after" }] }, /\+after/],
      ["create_directory", { path: at("sub/deep") }, /Successfully created/],
      ["list_directory", { path: at(".") }, /\[FILE\] one\.txt/],
      ["list_directory_with_sizes", { path: at(".") }, /one\.txt +8 B/],
      ["directory_tree", { path: at(".") }, /"name": "one\.txt"/],
      ["move_file", { source: at("move.txt"), destination: at("moved.txt") }, /Successfully moved/],
      ["search_files", { path: at("."), pattern: "**/one.*" }, /work\/one\.txt/],
      ["get_file_info", { path: at("one.txt") }, /size: 8/],
      ["list_allowed_directories", {}, /Allowed directories:\n.*\/work/],
    ];
    const { notices, result } = await place.run(
      { files: denoServer(FILES, place.folder) },
      calls.map(([name, input]): Call => ({ name: `files:${name}`, input })),
    );
    assert.deepEqual(faultsIn({ notices }), []);
    for (const [at, [name, , expected]] of calls.entries()) {
      assert.match(result(at), expected, name);
      assert.doesNotMatch(result(at), /\(error\)/, name);
    }
    assert.equal(Deno.readTextFileSync(at("new.txt")), "new\n");
    assert.equal(Deno.readTextFileSync(at("edit.txt")), "after\n");
    assert.equal(Deno.readTextFileSync(at("moved.txt")), "moved\n");
    assert.ok(Deno.statSync(at("sub/deep")).isDirectory);
  }));

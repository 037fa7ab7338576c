import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { OverflowFile, overflowPath } from "../../tools/overflow/file.ts";
import { OverflowText, truncateWithOverflow } from "../../tools/overflow/long_text.ts";
import { overflowNotice } from "../../tools/overflow/notice.ts";
import { truncateHead, truncateTail } from "../../tools/truncate.ts";
import { type Scene, testInScene as test } from "./scene.ts";

const FORMAT = DEFAULT_SETTINGS.tools.truncate.output_path_format;
const place = { source: "bash", document: "/home/me/talk.chat", id: "toolu_1" };

function path(
  format: string,
  variables: Record<string, string> = {},
  changes: Partial<typeof place> = {},
): string {
  return overflowPath(format, { ...place, ...changes }, { cwd: "/srv", home: "/home/me", variables });
}

Deno.test("the default path contains tool, document and call below the folder for temporary files", () => {
  assert.equal(path(FORMAT), "/tmp/flemma_bash_home-me-talk.chat_toolu_1.txt");
  assert.equal(path(FORMAT, { TMPDIR: "/var/tmp" }), "/var/tmp/flemma_bash_home-me-talk.chat_toolu_1.txt");
  assert.equal(path(FORMAT, { TMPDIR: "" }), "/tmp/flemma_bash_home-me-talk.chat_toolu_1.txt");
  const unsaved = overflowPath(FORMAT, { ...place, document: null }, { cwd: "/", home: "/", variables: {} });
  assert.equal(unsaved, "/tmp/flemma_bash__toolu_1.txt");
});

Deno.test("variables, home and relative paths are expanded in the path pattern only", () => {
  assert.equal(path("$OUT/{{id}}", { OUT: "/o" }), "/o/toolu_1");
  assert.equal(path("$NOTHING/{{ id }}"), "/toolu_1");
  assert.equal(path("~/out/{{ source }}"), "/home/me/out/bash");
  assert.equal(path("out.txt"), "/srv/out.txt");
  assert.equal(path("/{{ path }}", { HOME: "/x" }, { document: "/a/$HOME.chat" }), "/a-$HOME.chat");
});

Deno.test("an id cannot lead to another folder", () => {
  assert.equal(path("/tmp/{{ id }}", {}, { id: "../../etc/x\0y" }), "/tmp/..-..-etc-x-y");
});

function run(
  place: Scene,
  text: string,
  direction: "head" | "tail",
  changes: Record<string, unknown> = {},
  document: string | null = place.document,
) {
  return truncateWithOverflow(text, optionsIn(place, direction, changes, document));
}

function optionsIn(
  place: Scene,
  direction: "head" | "tail",
  changes: Record<string, unknown> = {},
  document: string | null = place.document,
) {
  return {
    direction,
    source: "t",
    id: "c",
    document,
    environment: { cwd: place.folder, home: place.folder, variables: {} },
    settings: {
      max_lines: 3,
      max_bytes: 20,
      max_file_size: 1000,
      output_path_format: `${place.folder}/new/out.txt`,
      ...changes,
    },
  };
}

test("text within the limits is returned without a file", async (place) => {
  assert.equal(await run(place, "a\nb", "tail"), "a\nb");
  await assert.rejects(Deno.stat(place.path("new")), Deno.errors.NotFound);
});

test("longer text is saved completely in a private file that the notice names", async (place) => {
  const file = place.path("new/out.txt");
  assert.equal(
    await run(place, "1\n2\n3\n4\n5", "tail"),
    `3\n4\n5\n\n[Showing lines 3-5 of 5. Complete output: ${file}]`,
  );
  assert.equal(await Deno.readTextFile(file), "1\n2\n3\n4\n5");
  assert.equal((await Deno.stat(file)).mode! & 0o777, 0o600);
  assert.equal(
    await run(place, "1\n2\n3\n4\n5", "head"),
    `1\n2\n3\n\n[Showing lines 1-3 of 5. Complete output: ${file}]`,
  );
});

test("the result is only the notice if no part of the output is shown", async (place) => {
  assert.equal(
    await run(place, "x".repeat(30), "head"),
    `[Nothing shown: line 1 is longer than the limit of 20B (30B). Complete output: ${
      place.path("new/out.txt")
    }]`,
  );
});

test("a link that somebody put at the path is replaced, not followed", async (place) => {
  await Deno.mkdir(place.path("new"));
  await Deno.writeTextFile(place.path("precious"), "mine");
  await Deno.symlink(place.path("precious"), place.path("new/out.txt"));
  await run(place, "1\n2\n3\n4", "tail");
  assert.equal(await Deno.readTextFile(place.path("precious")), "mine");
  assert.equal(await Deno.readTextFile(place.path("new/out.txt")), "1\n2\n3\n4");
});

test("if the file cannot be written, the notice says so, where and why", async (place) => {
  await Deno.writeTextFile(place.path("new"), "a file where a folder is needed");
  const shown = await run(place, "1\n2\n3\n4", "tail");
  assert.match(
    shown,
    /^2\n3\n4\n\n\[Showing lines 2-4 of 4\. The complete output could not be saved to \S+: [^\]()]+\.\]$/,
  );
  assert.ok(!shown.includes("os error"));
});

test("an existing file of another call at the path stays, and each call learns its own path", async (place) => {
  const reported = [];
  const rows = [
    ["1\n2\n3\n4", place.document],
    ["5\n6\n7\n8", place.path("b.chat")],
    ["9\n9\n9\n9", null],
    ["0\n0\n0\n0", null],
  ] as const;
  for (const [text, document] of rows) {
    const shown = await run(place, text, "tail", {}, document);
    const path = /output: (.*)\]$/.exec(shown)![1]!;
    reported.push([path, text] as const);
  }
  assert.equal(reported[0]![0], place.path("new/out.txt"));
  assert.equal(new Set(reported.map(([path]) => path)).size, 4);
  for (const [path, text] of reported) {
    assert.match(path, /\/new\/out(-[0-9a-f]{8})?\.txt$/);
    assert.equal(await Deno.readTextFile(path), text);
  }
  const at = place.path("new/twice.txt");
  const files = [new OverflowFile(at, 100), new OverflowFile(at, 100)];
  await Promise.all(files.map((file, index) => file.write(new Uint8Array([65 + index]))));
  files.forEach((file) => file.close());
  const kept = await Promise.all(files.map((file) => Deno.readTextFile(file.usablePath!)));
  assert.deepEqual(kept, ["A", "B"]);
  // What turns out not to be needed takes away its own only.
  await files[1]!.discard();
  assert.equal(await Deno.readTextFile(files[0]!.path), "A");
});

test("a document with a long path also gets a valid name that ends with the id and cuts no character", async (place) => {
  const file = new OverflowFile(place.path(`${"é".repeat(150)}_${"x".repeat(40)}_call_1.txt`), 100);
  await file.write(new Uint8Array([65]));
  file.close();
  assert.match(file.usablePath!, /\/é+_x+_call_1\.txt$/);
  assert.equal(await Deno.readTextFile(file.usablePath!), "A");
});

test("the saved file has a maximum size, and the notice says so", async (place) => {
  const shown = await run(place, "1\n2\n3\n4\n5\n6", "tail", { max_file_size: 4 });
  assert.match(shown, /\[Showing lines 4-6 of 6\. First 4B of the output: .*out\.txt\]$/);
  assert.equal(await Deno.readTextFile(place.path("new/out.txt")), "1\n2\n");
});

test("an overflow file that turns out not to be needed is removed", async (place) => {
  const file = new OverflowFile(place.path("x.txt"), 100);
  await file.write(new Uint8Array([65]));
  await file.discard();
  assert.equal(file.usablePath, null);
  await assert.rejects(Deno.stat(place.path("x.txt")), Deno.errors.NotFound);
});

Deno.test("each way of shortening has its notice on one bracketed line", () => {
  const text = "aaaa\nbbbb\ncccc";
  const notices = [
    overflowNotice(truncateTail(text, { maxLines: 1 }), { direction: "tail", maxBytes: 20 }),
    overflowNotice(truncateTail(text, { maxBytes: 9 }), { direction: "tail", maxBytes: 9 }),
    overflowNotice(truncateHead(text, { maxBytes: 9 }), { direction: "head", maxBytes: 9 }),
    overflowNotice(truncateTail(text, { maxBytes: 2 }), { direction: "tail", maxBytes: 2, lineBytes: 4 }),
    overflowNotice(truncateHead(text, { maxBytes: 2 }), { direction: "head", maxBytes: 2, lineBytes: 4 }),
  ];
  assert.deepEqual(notices, [
    "[Showing lines 3-3 of 3.]",
    "[Showing lines 2-3 of 3 (limit 9B).]",
    "[Showing lines 1-2 of 3 (limit 9B).]",
    "[Showing only the last 2B of line 3 (4B).]",
    "[Nothing shown: line 1 is longer than the limit of 2B (4B).]",
  ]);
});

test("a text in pieces is shown like the whole text, wherever the pieces end", async (place) => {
  const texts = [
    "",
    "a\nb",
    "1\n2\n3\n4\n5",
    "x".repeat(30),
    "ab\n" + "y".repeat(30),
    "é€😀".repeat(9),
    "a\n\n\n\n",
  ];
  for (const text of texts) {
    for (const direction of ["head", "tail"] as const) {
      const file = place.path("new/out.txt");
      await Deno.remove(place.path("new"), { recursive: true }).catch(() => {});
      const expected = await run(place, text, direction);
      for (const size of [1, 7]) {
        const long = new OverflowText(optionsIn(place, direction));
        for (let at = 0; at < text.length; at += size) await long.push(text.slice(at, at + size));
        assert.equal(await long.finish(), expected, `${JSON.stringify(text)} by ${size}, ${direction}`);
        if (expected.includes(file)) assert.equal(await Deno.readTextFile(file), text);
      }
    }
  }
});

test("a text that is given up leaves no file, even if more of it arrives", async (place) => {
  const long = new OverflowText(optionsIn(place, "head"));
  await long.push("x".repeat(40));
  await Deno.stat(place.path("new/out.txt"));
  await long.abandon();
  await long.push("x".repeat(40));
  await assert.rejects(Deno.stat(place.path("new/out.txt")), Deno.errors.NotFound);
});

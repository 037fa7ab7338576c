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

Deno.test("the default path for long output contains the tool, document and call, below the folder for temporary files", () => {
  assert.equal(path(FORMAT), "/tmp/flemma_bash_home-me-talk.chat_toolu_1.txt");
  assert.equal(path(FORMAT, { TMPDIR: "/var/tmp" }), "/var/tmp/flemma_bash_home-me-talk.chat_toolu_1.txt");
  assert.equal(path(FORMAT, { TMPDIR: "" }), "/tmp/flemma_bash_home-me-talk.chat_toolu_1.txt");
  const unsaved = overflowPath(FORMAT, { ...place, document: null }, { cwd: "/", home: "/", variables: {} });
  assert.equal(unsaved, "/tmp/flemma_bash__toolu_1.txt");
});

Deno.test("variables, the home folder and relative paths are expanded only in the pattern of the path", () => {
  assert.equal(path("$OUT/{{id}}", { OUT: "/o" }), "/o/toolu_1");
  assert.equal(path("$NOTHING/{{ id }}"), "/toolu_1");
  assert.equal(path("~/out/{{ source }}"), "/home/me/out/bash");
  assert.equal(path("out.txt"), "/srv/out.txt");
  assert.equal(path("/{{ path }}", { HOME: "/x" }, { document: "/a/$HOME.chat" }), "/a-$HOME.chat");
});

Deno.test("an id in the path for long output cannot lead to another folder", () => {
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

test("if a text is within the limits, it is returned and no file is written", async (place) => {
  assert.equal(await run(place, "a\nb", "tail"), "a\nb");
  await assert.rejects(Deno.stat(place.path("new")), Deno.errors.NotFound);
});

test("a longer text is saved completely in a private file, and the notice names the file", async (place) => {
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

test("if the limits allow no output at all, the result is only the notice", async (place) => {
  assert.equal(
    await run(place, "x".repeat(30), "head"),
    `[Nothing shown: line 1 is longer than the limit of 20B (30B). Complete output: ${
      place.path("new/out.txt")
    }]`,
  );
});

test("if another program put a link at the path, the link is replaced and not followed", async (place) => {
  await Deno.mkdir(place.path("new"));
  await Deno.writeTextFile(place.path("precious"), "mine");
  await Deno.symlink(place.path("precious"), place.path("new/out.txt"));
  await run(place, "1\n2\n3\n4", "tail");
  assert.equal(await Deno.readTextFile(place.path("precious")), "mine");
  assert.equal(await Deno.readTextFile(place.path("new/out.txt")), "1\n2\n3\n4");
});

test("if the file for long output cannot be written, the notice says why and at which path", async (place) => {
  await Deno.writeTextFile(place.path("new"), "a file where a folder is needed");
  const shown = await run(place, "1\n2\n3\n4", "tail");
  assert.match(
    shown,
    /^2\n3\n4\n\n\[Showing lines 2-4 of 4\. The complete output could not be saved to \S+: [^\]()]+\.\]$/,
  );
  assert.ok(!shown.includes("os error"));
});

test("an existing file of another call at the path is kept, and each call reports the path of its own file", async (place) => {
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

test("a long document path also gives a valid file name, which ends with the id and contains no half character", async (place) => {
  const file = new OverflowFile(place.path(`${"é".repeat(150)}_${"x".repeat(40)}_call_1.txt`), 100);
  await file.write(new Uint8Array([65]));
  file.close();
  assert.match(file.usablePath!, /\/é+_x+_call_1\.txt$/);
  assert.equal(await Deno.readTextFile(file.usablePath!), "A");
});

test("the saved file has a maximum size, and the notice says if the output exceeds it", async (place) => {
  const shown = await run(place, "1\n2\n3\n4\n5\n6", "tail", { max_file_size: 4 });
  assert.match(shown, /\[Showing lines 4-6 of 6\. First 4B of the output: .*out\.txt\]$/);
  assert.equal(await Deno.readTextFile(place.path("new/out.txt")), "1\n2\n");
});

test("if the output turns out to fit, its overflow file is removed", async (place) => {
  const file = new OverflowFile(place.path("x.txt"), 100);
  await file.write(new Uint8Array([65]));
  await file.discard();
  assert.equal(file.usablePath, null);
  await assert.rejects(Deno.stat(place.path("x.txt")), Deno.errors.NotFound);
});

Deno.test("each way of shortening adds its own notice, on one line in brackets", () => {
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

test("a text that arrives in pieces is shown like the whole text, wherever the pieces end", async (place) => {
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

test("if saving a long output is abandoned, no file remains, even if more output arrives", async (place) => {
  const long = new OverflowText(optionsIn(place, "head"));
  await long.push("x".repeat(40));
  await Deno.stat(place.path("new/out.txt"));
  await long.abandon();
  await long.push("x".repeat(40));
  await assert.rejects(Deno.stat(place.path("new/out.txt")), Deno.errors.NotFound);
});

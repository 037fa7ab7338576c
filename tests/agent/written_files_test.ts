// The person sees a call's effect on a file before deciding: a note in the preview, a diff in the event.

import assert from "node:assert/strict";
import { formatUnifiedDiff } from "../../agent/review/unified.ts";
import { WrittenFiles } from "../../agent/review/written_files.ts";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { builtinTools } from "../../tools/builtin/mod.ts";
import type { SeenFile } from "../../tools/definition.ts";
import { inFolder } from "../folder.ts";

interface Place {
  readonly folder: string;
  readonly seen: Map<string, SeenFile>;
  readonly hidden: Set<string>;
  readonly files: WrittenFiles;
  call(name: string, input: Record<string, unknown>): { name: string; input: Record<string, unknown> };
}

async function inPlace(work: (place: Place) => void | Promise<void>): Promise<void> {
  await inFolder(async (folder) => {
    const seen = new Map<string, SeenFile>();
    const hidden = new Set<string>();
    const tools = new Map(builtinTools(DEFAULT_SETTINGS.tools).map((tool) => [tool.name, tool]));
    const files = new WrittenFiles({
      environment: { cwd: folder, home: folder, variables: {} },
      document: `${folder}/a.chat`,
      sandbox: { isPathReadable: (path) => !hidden.has(path) },
      seen: { paths: [], get: (path) => seen.get(path) ?? null, record: () => Promise.resolve() },
      tool: (name) => tools.get(name),
    });
    await work({ folder, seen, hidden, files, call: (name, input) => ({ name, input }) });
  });
}

Deno.test("the write tool reports that it replaces an unread file if no call of this document has read the file, and only then", () =>
  inPlace(({ folder, seen, files, call }) => {
    Deno.writeTextFileSync(`${folder}/a.txt`, "old\n");
    Deno.mkdirSync(`${folder}/sub`);
    const note = (name: string, path: unknown) => files.note(call(name, { path, content: "x" }));
    assert.equal(note("write", "a.txt"), "replaces an unread file");
    assert.equal(note("write", "./sub/../a.txt"), "replaces an unread file");
    assert.equal(note("write", "new.txt"), null, "nothing is replaced");
    assert.equal(note("write", "sub"), null, "a folder is refused");
    assert.equal(note("write", ""), null);
    assert.equal(note("write", 7), null);
    assert.equal(note("edit", "a.txt"), null, "it finds its place or changes nothing");
    assert.equal(note("read", "a.txt"), null);
    seen.set(`${folder}/a.txt`, { hash: "", size: 4, mtime: 0 });
    assert.equal(note("write", "a.txt"), null, "it was read");
  }));

Deno.test("the diff in the event equals the output of diff -u for the file before and after the call", () =>
  inPlace(async ({ folder, files, call }) => {
    const lines = Array.from({ length: 30 }, (_, at) => `line ${at + 1}\n`);
    const rows: readonly (readonly [string, string | null, string, Record<string, unknown>])[] = [
      ["one line in the middle", lines.join(""), "edit", { oldText: "line 15", newText: "LINE 15" }],
      ["two far apart", lines.join(""), "write", {
        content: ["first\n", ...lines.slice(0, 20), ...lines.slice(22)].join(""),
      }],
      ["two nearby changes", lines.join(""), "write", {
        content: lines.join("").replace("line 10", "a").replace("line 15", "b"),
      }],
      ["blanks at the end count", "a \nb\n", "write", { content: "a\nb\n" }],
      ["no final line end before", "a\nb", "write", { content: "a\nb\n" }],
      ["no final line end after", "a\nb\n", "write", { content: "a\nb" }],
      ["all text is removed", "a\nb\n", "write", { content: "" }],
      ["an empty file gets text", "", "write", { content: "a\n" }],
      ["everywhere", "x\ny\nx\n", "edit", { oldText: "x", newText: "z", replaceAll: true }],
    ];
    for (const [what, before, name, input] of rows) {
      await Deno.writeTextFile(`${folder}/f`, before!);
      const diff = files.diff(call(name, { path: "f", ...input }));
      assert.ok(diff !== null, what);
      // Our diff, taken as a patch, leads to what the call would write.
      await Deno.writeTextFile(`${folder}/p`, diff);
      const patched = await new Deno.Command("patch", { args: ["-s", "-o", "-", "f", "p"], cwd: folder })
        .output();
      const after = name === "write"
        ? String(input.content)
        : before!.replaceAll(String(input.oldText), String(input.newText));
      assert.equal(new TextDecoder().decode(patched.stdout), after, `${what}\n${diff}`);
      assert.equal(diff.match(/^@@/gm)?.length, what === "two far apart" ? 2 : 1, what);
    }
    assert.equal(
      files.diff(call("write", { path: "new", content: "a\n" })),
      "--- /dev/null\n+++ new\n@@ -0,0 +1 @@\n+a\n",
    );
  }));

Deno.test("there is no diff if nothing changes, if the file is not readable text, or if the tool is not built in", () =>
  inPlace(({ folder, hidden, files, call }) => {
    const diff = (name: string, input: Record<string, unknown>) =>
      files.diff(call(name, { path: "f", ...input }));
    Deno.writeTextFileSync(`${folder}/f`, "a\n");
    const write = { content: "b\n" };
    assert.ok(diff("write", write));
    assert.equal(diff("write", { content: "a\n" }), null, "the same");
    assert.equal(diff("write", { content: 1 }), null);
    assert.equal(diff("edit", { oldText: "zzz", newText: "b" }), null, "not found");
    assert.equal(diff("edit", { oldText: "", newText: "b" }), null);
    assert.equal(diff("edit", { oldText: "a", newText: null }), null);
    assert.equal(diff("edit", { path: "gone", oldText: "a", newText: "b" }), null);
    assert.equal(diff("read", {}), null);
    assert.equal(diff("write", { ...write, path: "/proc/self/status" }), null, "of the system");
    Deno.symlinkSync("loop", `${folder}/loop`);
    assert.equal(diff("write", { ...write, path: "loop" }), null, "leads nowhere");
    assert.equal(diff("write", { ...write, path: "." }), null, "a folder");
    hidden.add(`${folder}/f`);
    assert.equal(diff("write", write), null, "hidden from tools");
    hidden.clear();
    Deno.writeFileSync(`${folder}/f`, new Uint8Array([97, 0, 10]));
    assert.equal(diff("write", write), null, "binary");
    Deno.writeFileSync(`${folder}/f`, new Uint8Array(1024 * 1024 + 1).fill(97));
    assert.equal(diff("write", write), null, "too large");
  }));

Deno.test("a long diff is shortened, and the file name cannot break its lines", () => {
  const many = Array.from({ length: 3000 }, (_, at) => `${at}\n`);
  const cut = formatUnifiedDiff("f", [], many, 400)!.split("\n");
  assert.deepEqual([cut.length, cut.at(-2)], [402, "… 2603 more lines"]);
  return inPlace(({ files, call }) => {
    const diff = files.diff(call("write", { path: "a\n+++ b", content: "x\n" }));
    assert.equal(diff?.split("\n").filter((line) => line.startsWith("+++")).length, 1);
  });
});

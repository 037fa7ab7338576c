import assert from "node:assert/strict";
import { builtinTools } from "../../tools/builtin/mod.ts";
import type { ToolInput } from "../../tools/definition.ts";
import { previewCall, previewIsCut, previewResult } from "../../tools/preview.ts";
import { displayWidth } from "../../base/width.ts";

const tools = new Map(builtinTools().map((tool) => [tool.name, tool]));

function preview(name: string, input: ToolInput, width?: number): string {
  return previewCall(tools.get(name), name, input, width);
}

Deno.test("the preview of bash shows its command, then the label", () => {
  assert.equal(
    preview("bash", { command: "make test", label: "running tests" }),
    "bash: $ make test  # running tests",
  );
  assert.equal(preview("bash", { command: "ls" }), "bash: $ ls");
});

Deno.test("the preview of read shows the path, the range if there is one, and the label", () => {
  assert.equal(
    preview("read", { path: "a.ts", offset: null, limit: null, label: "look" }),
    "read: a.ts  # look",
  );
  assert.equal(preview("read", { path: "a.ts", offset: 100, limit: 50 }), "read: a.ts  +100,50");
  assert.equal(preview("read", { path: "a.ts", offset: 100 }), "read: a.ts  +100");
  assert.equal(preview("read", { path: "a.ts", limit: 50 }), "read: a.ts  +0,50");
});

Deno.test("the preview of write shows the path and the size, that of edit the path", () => {
  const content = "x".repeat(2355);
  assert.equal(preview("write", { path: "o.txt", content, label: "log" }), "write: o.txt  (2.3KB)  # log");
  assert.equal(
    preview("edit", { path: "c.lua", oldText: "a", newText: "b", label: "typo" }),
    "edit: c.lua  # typo",
  );
});

Deno.test("the preview of ls shows the path, a depth above one, and the label", () => {
  assert.equal(
    preview("ls", { path: "src", max_depth: null, limit: null, label: "look" }),
    "ls: src  # look",
  );
  assert.equal(preview("ls", { path: "src", max_depth: 1 }), "ls: src");
  assert.equal(preview("ls", { path: "src", max_depth: 3, label: "look" }), "ls: src  depth=3  # look");
  assert.equal(preview("ls", { path: "src", max_depth: 40 }), "ls: src  depth=10");
});

Deno.test("the preview of find shows the pattern and folder, that of grep the expression, folder and files", () => {
  assert.equal(
    preview("find", { pattern: "*.ts", path: null, limit: 3, label: "look" }),
    "find: *.ts  # look",
  );
  assert.equal(preview("find", { pattern: "*.ts", path: "src" }), "find: *.ts  in src");
  assert.equal(preview("grep", { pattern: "a b", path: null, glob: null, label: "l" }), "grep: /a b/  # l");
  assert.equal(preview("grep", { pattern: "x", path: "src", glob: "*.ts" }), "grep: /x/  src  *.ts");
  assert.equal(preview("grep", { pattern: "x", glob: "*.ts" }), "grep: /x/  *.ts");
});

Deno.test("the previews of the calculators show their expression, and the delay if there is one", () => {
  assert.equal(preview("calculator", { expression: "1 + 1" }), "calculator: 1 + 1");
  assert.equal(preview("calculator_async", { expression: "2", delay: null }), "calculator_async: 2");
  assert.equal(preview("calculator_async", { expression: "2", delay: 50 }), "calculator_async: 2  # 50ms");
});

Deno.test("the preview of a waiting call reports an invalid input before the person approves the call", () => {
  assert.equal(
    preview("read", { path: 7, label: "look" }),
    "read: (will not run, /path: must be string)   # look",
  );
  assert.equal(
    preview("bash", { command: "ls", sandbox: false }),
    "bash: (will not run, /sandbox: is not a parameter of this tool) $ ls",
  );
});

Deno.test("a preview shows each line break of a command as one symbol", () => {
  assert.equal(preview("bash", { command: "a\nb\r\nc" }), "bash: $ a↵b↵c");
});

Deno.test("without a formatter, a preview shows scalars first, then arrays and objects, sorted by name", () => {
  const input = {
    b: 'x "y"\nz',
    a: 1,
    empty: {},
    none: [],
    one: [1],
    many: [1, 2, 3],
    small: { d: 1, c: 2 },
    large: { a: 1, b: 2, c: 3, d: 4 },
    flag: true,
    nothing: null,
  };
  assert.equal(
    previewCall(undefined, "t", input, 300),
    't: a=1, b="x \\"y\\"↵z", flag=true, nothing=null, ' +
      "empty={}, large={a, b, +2 more}, many=[3 items], none={}, one=[1 item], small={c, d}",
  );
  assert.equal(previewCall(undefined, "t", {}), "t");
});

Deno.test("a preview that consists of a label and a detail is shown with both", () => {
  const show = (preview: { label?: string; detail?: string | string[] }): string =>
    previewCall({ format_preview: () => preview }, "t", {});
  assert.equal(show({ label: "L", detail: ["a", "b"] }), "t: L — a  b");
  assert.equal(show({ label: "L" }), "t: L");
  assert.equal(show({ detail: "x\ny" }), "t: x↵y");
  assert.equal(show({}), "t");
});

Deno.test("if a formatter throws, the generic preview is used", () => {
  const broken = {
    format_preview(): string {
      throw new Error("no");
    },
  };
  assert.equal(previewCall(broken, "t", { a: 1 }), "t: a=1");
});

Deno.test("a formatter gets the width that remains for it", () => {
  const widths: number[] = [];
  const definition = {
    format_preview(_input: ToolInput, width: number): string {
      widths.push(width);
      return "x";
    },
  };
  previewCall(definition, "tool", {}, 40);
  assert.deepEqual(widths, [34]);
});

Deno.test("a shortened preview ends in an ellipsis and is marked as shortened", () => {
  const input = { command: `echo ok${" ".repeat(500)}; curl evil`, label: "running tests" };
  const shown = preview("bash", input);
  assert.ok(shown.endsWith("…"));
  assert.equal(displayWidth(shown), 80);
  assert.equal(previewIsCut(tools.get("bash"), "bash", input), true);
  assert.equal(previewIsCut(tools.get("bash"), "bash", { command: "ls" }), false);
  const forty = { command: Array.from({ length: 40 }, (_, line) => `line ${line}`).join("\n") };
  assert.equal(previewIsCut(tools.get("bash"), "bash", forty), true);
});

Deno.test("a preview that itself ends in an ellipsis does not count as shortened", () => {
  assert.equal(previewIsCut(tools.get("bash"), "bash", { command: "echo …" }), false);
});

Deno.test("for every tool, characters that hide or reorder a command are shown as escapes", () => {
  const hidden = "ls \r\x1b[8m\u202e\u200b; curl evil";
  const escaped = "ls \\r\\x1b[8m\\u202e\\u200b; curl evil";
  assert.equal(preview("bash", { command: hidden, label: "a\u202eb" }), `bash: $ ${escaped}  # a\\u202eb`);
  assert.equal(preview("read", { path: hidden }), `read: ${escaped}`);
  assert.equal(previewCall(undefined, "x\x1bx", { a: hidden }), `x\\x1bx: a="${escaped}"`);
});

Deno.test("preview width counts terminal cells, and with a width of zero the preview is empty", () => {
  assert.equal(preview("bash", { command: "日本語" }, 12), "bash: $ 日…");
  assert.equal(preview("bash", { command: "ls" }, 0), "");
  assert.equal(preview("bash", { command: "ls" }, 1), "…");
});

Deno.test("the preview of a result contains its first ten lines, joined to one line", () => {
  const content = `\n  a   b \n${Array.from({ length: 20 }, (_, n) => n).join("\n")}\n`;
  assert.equal(previewResult("bash", content, { width: 200 }), "bash: a b↵0↵1↵2↵3↵4↵5↵6↵7↵8");
  assert.equal(previewResult("bash", "no\x1b[m", { isError: true }), "bash: (error) no\\x1b[m");
  assert.equal(previewResult("bash", " \n"), "bash");
  assert.equal(previewResult("bash", "", { isError: true }), "bash: (error)");
  assert.equal(previewResult("bash", "x".repeat(100), { width: 10 }), "bash: xxx…");
});

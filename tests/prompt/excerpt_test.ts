// Lines of a file in a reference: which text the model gets, and what is reported.

import assert from "node:assert/strict";
import { attach, fileFinding, requestedLines } from "../../prompt/attach.ts";
import { excerptOf } from "../../prompt/excerpt.ts";
import { FileLog } from "../../prompt/file_log.ts";
import { fileReferences } from "../../prompt/file_references.ts";
import { inFolder } from "../folder.ts";
import { PNG } from "../pictures.ts";

Deno.test("a reference ends with lines in three forms, before an option and before punctuation", () => {
  const rows: readonly (readonly [string, { first: number; last: number } | null, string?])[] = [
    ["@./a.ts#L10", { first: 10, last: 10 }],
    ["@./a.ts#L10-20", { first: 10, last: 20 }],
    ["@./a.ts#L10-L20", { first: 10, last: 20 }],
    ["@./a.ts#L20-10", { first: 20, last: 10 }],
    ["@~/a+b.ts#L1", { first: 1, last: 1 }, "~/a b.ts"],
    ["@//x/a.ts#L1", { first: 1, last: 1 }, "/x/a.ts"],
    ["@./a#L3#L4", { first: 4, last: 4 }, "./a#L3"],
    ["@./a.ts#L10-20;type=text/plain", { first: 10, last: 20 }],
    ["see @./a.ts#L10-20.", { first: 10, last: 20 }],
    ["(@./a.ts#L10)", { first: 10, last: 10 }],
    ["@./a.ts#L10-", { first: 10, last: 10 }],
    ["@./a.ts#l10", null],
    ["@./a.ts#10", null],
    ["@./a.ts#L", null],
    ["@./a.ts#L1-2-3", null],
    ["@./a.ts#L1x", null],
    ["@./a.ts#L1234567890", null],
  ];
  for (const [text, lines, path = "./a.ts"] of rows) {
    const [reference] = fileReferences(text);
    const { excerpt } = reference!;
    assert.deepEqual(excerpt ?? null, lines === null ? null : { path, ...lines }, text);
  }
});

Deno.test("lines are numbered; reversed numbers are exchanged, and lines that do not exist are left out", () => {
  const three = "a\nb\r\nc";
  const rows: readonly (readonly [string, number, number, string, [number, number] | null, boolean])[] = [
    [three, 2, 2, "2\tb\r\n", [2, 2], true],
    [three, 1, 3, "1\ta\n2\tb\r\n3\tc\n", [1, 3], true],
    [three, 3, 2, "2\tb\r\n3\tc\n", [2, 3], false],
    [three, 2, 9, "2\tb\r\n3\tc\n", [2, 3], false],
    [three, 0, 1, "1\ta\n", [1, 1], false],
    [three, 4, 9, "", null, false],
    [three, 0, 0, "", null, false],
    ["a\n", 1, 1, "1\ta\n", [1, 1], true],
    ["a\n", 2, 2, "", null, false],
    ["a\n\n", 2, 2, "2\t\n", [2, 2], true],
  ];
  for (const [text, first, last, expected, lines, isExact] of rows) {
    const found = excerptOf(text, { first, last });
    const what = `${JSON.stringify(text)} ${first}-${last}`;
    assert.equal(found.text, expected, what);
    assert.deepEqual(found.lines === null ? null : [found.lines.first, found.lines.last], lines, what);
    assert.equal(found.isExact, isExact, what);
  }
});

Deno.test("the model gets the lines of a text, the whole of an image, and a file whose name ends like lines", () =>
  inFolder(async (folder) => {
    Deno.writeTextFileSync(`${folder}/a.ts`, "one\ntwo\n");
    Deno.writeTextFileSync(`${folder}/a.ts#L2`, "a file of this name");
    Deno.writeTextFileSync(`${folder}/empty`, "");
    Deno.writeFileSync(`${folder}/a.png`, PNG);
    const base = { folder, home: "/home" };
    const rows: readonly (readonly [string, string, string | null])[] = [
      ["@./a.ts#L1", "1\tone\n", null],
      ["@./a.ts#L2", "a file of this name", null],
      ["@./a.ts#L2-2", "2\ttwo\n", null],
      ["@./a.ts#L2-9", "2\ttwo\n", "@./a.ts#L2-9: the file has 2 lines; flemma sends line 2."],
      ["@./a.ts#L9-1", "1\tone\n2\ttwo\n", "@./a.ts#L9-1: the file has 2 lines; flemma sends lines 1 to 2."],
      [
        "@./a.ts#L7",
        "unsupported_file",
        "@./a.ts#L7: the file has 2 lines, none of them is in this range; the model gets only its path.",
      ],
      [
        "@./a.png#L1",
        "image",
        "@./a.png#L1 names lines of a file that is not text; flemma sends the whole file.",
      ],
      ["@./empty#L1", "unsupported_file", null],
    ];
    for (const [text, expected, warning] of rows) {
      const attached = await attach(fileReferences(text)[0]!, base, new FileLog());
      assert.ok(attached.kind === "part", text);
      const { part, excerptFlaw } = attached;
      assert.equal(part.kind === "text_file" ? part.text : part.kind, expected, text);
      assert.equal(excerptFlaw === undefined ? null : fileFinding(text, excerptFlaw, "").message, warning);
    }
    const missing = await attach(fileReferences("@./none#L1")[0]!, base, new FileLog());
    assert.equal(missing.kind === "missing" ? missing.path : "", `${folder}/none`);
    assert.equal(requestedLines(fileReferences("@./a.ts#L2")[0]!, base), undefined);
    assert.deepEqual(requestedLines(fileReferences("@./a.ts#L1")[0]!, base)?.first, 1);
  }));

// The status of a result in its three spellings, and the tokens of a header's suffix.

import assert from "node:assert/strict";
import { readStatus } from "../../parser/view/status.ts";

Deno.test("the status in the header takes precedence over that in the fence, unless the header's status is unknown", () => {
  assert.deepEqual(readStatus("approved", "flemma:tool", " status=pending"), {
    status: "approved",
    style: "header",
    meta: null,
  });
  assert.deepEqual(readStatus("note", "flemma:tool", " status=denied"), {
    status: "denied",
    style: "fence",
    meta: ["note"],
  });
});

Deno.test("in a status fence every key except status is ignored; a missing or unknown status means pending", () => {
  const status = (info: string) => readStatus(null, "flemma:tool", info).status;
  assert.equal(status(" status=reject"), "rejected");
  assert.equal(status(" x=1 status=aborted"), "aborted");
  for (const info of ["", " approved", " status=error", " status=what"]) {
    assert.equal(status(info), "pending", info);
  }
});

Deno.test("a fence in the oldest form of a placeholder means pending, and any fence that is not a placeholder has no status", () => {
  assert.deepEqual(readStatus(null, "flemma:pending", ""), {
    status: "pending",
    style: "pending-fence",
    meta: null,
  });
  for (const language of ["", "json", "FLEMMA:TOOL", "flemma:tools"]) {
    assert.deepEqual(readStatus(null, language, " status=pending"), {
      status: null,
      style: null,
      meta: null,
    });
  }
});

Deno.test("values in the suffix of a header are strings, lists, numbers, booleans or absent", () => {
  const meta = (suffix: string) => readStatus(suffix, "", "").meta;
  assert.deepEqual(meta(`a=1 b=0x10 c=-1e3 d=.5 e=1x f=true g=nil h= i="a b" j='it\\'s'`), {
    a: 1,
    b: 16,
    c: -1000,
    d: 0.5,
    e: "1x",
    f: true,
    g: null,
    h: null,
    i: "a b",
    j: "it's",
  });
  assert.deepEqual(meta(`a,b,"c,d" "x,y"`), [["a", "b", "c,d"], "x,y"]);
  assert.deepEqual(meta("k=1,true,x"), { k: [1, true, "x"] });
  assert.deepEqual(meta("one k=1 two"), { 1: "one", k: 1, 2: "two" });
  assert.deepEqual(meta("k=1 k=2"), { k: 2 });
  assert.equal(meta("  "), null);
});

Deno.test("inside quotes, a backslash escapes a quote or a backslash and is literal before any other character", () => {
  const meta = (suffix: string) => readStatus(suffix, "", "").meta;
  assert.deepEqual(meta(String.raw`a="x \\" b="y \" z" c='it\'s' d="\n" e="o'clock"`), {
    a: "x \\",
    b: 'y " z',
    c: "it's",
    d: "\\n",
    e: "o'clock",
  });
});

Deno.test("two quotes with nothing between them are an empty string; if a value is only one quote, the quote is literal", () => {
  const meta = (suffix: string) => readStatus(suffix, "", "").meta;
  assert.deepEqual(meta(`a="" b='' c="`), { a: "", b: "", c: '"' });
});

Deno.test("if a quoted value is never closed, it extends to the end of the suffix", () => {
  assert.deepEqual(readStatus(`pending "a b`, "", ""), {
    status: "pending",
    style: "header",
    meta: [`"a b`],
  });
});

Deno.test("a status is read in any letter case; an invalid one means pending, and the nearest valid status is suggested", () => {
  const rows:
    readonly (readonly [suffix: string | null, info: string, status: string | null, near?: string | null])[] =
      [
        ["Approved", "", "approved"],
        ["status=DENY", "", "denied"],
        [null, " status=Pending", "pending"],
        ["aproved", "", "pending", "approved"],
        ["Rejectd x=1", "", "pending", "rejected"],
        ["status=weird", "", "pending", null],
        ["status=weird denied", "", "denied", null],
        ['status="aproved"', "", "pending", "approved"],
        ["status=", "", "pending", null],
        [null, " status=aproved", "pending", "approved"],
        [null, " status=error", "pending", "error"],
        [null, " aproved", "pending"],
        ["done", "", null],
        ["timeout", "", null],
        ["(error", "", null],
        ["x=aproved", "", null],
      ];
  for (const [suffix, info, status, near] of rows) {
    const read = readStatus(suffix, info === "" ? "" : "flemma:tool", info);
    assert.equal(read.status, status, `${suffix} ${info}`);
    assert.equal(read.unknown === undefined ? undefined : read.unknown.near, near, `${suffix} ${info}`);
  }
});

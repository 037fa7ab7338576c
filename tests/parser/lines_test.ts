// The classifiers of one line.

import assert from "node:assert/strict";
import * as lines from "../../parser/text/lines.ts";

type Classifier<T> = (bytes: Uint8Array, from: number, to: number) => T;

/** Classifies a line that stands between other bytes, which must not count. */
function read<T>(classify: Classifier<T>, line: string): { answer: T; text: (span: lines.Span) => string } {
  const bytes = new TextEncoder().encode(`\`@*${line}\`)>"-->`);
  const to = bytes.length - 7;
  const text = (span: lines.Span) => new TextDecoder().decode(bytes.subarray(span.from, span.to));
  return { answer: classify(bytes, 3, to), text };
}

function spanOf(classify: Classifier<lines.Span | null>, line: string): string | null {
  const { answer, text } = read(classify, line);
  return answer && text(answer);
}

Deno.test("a role line is an at sign, a word and a colon from column 1 on, with only white space after the colon", () => {
  for (const line of ["@You:", "@You: \t\r", "@You:\v\f"]) {
    assert.equal(spanOf(lines.markerRole, line), "You");
  }
  assert.equal(spanOf(lines.markerRole, "@Reviewer2:"), "Reviewer2");
  for (
    const line of [
      "",
      "@",
      "@You",
      "@You: x",
      " @You:",
      "@You :",
      "@:",
      "@My_Role:",
      "@Système:",
      "@You:\u00a0",
    ]
  ) {
    assert.equal(spanOf(lines.markerRole, line), null, line);
  }
});

Deno.test("a role line in the old form has one of three roles and text on the same line", () => {
  const { answer, text } = read(lines.legacyMarker, "@Assistant: hi");
  assert.deepEqual([text(answer!.role), text(answer!.text)], ["Assistant", " hi"]);
  for (const line of ["@You:", "@You: ", "@User: hi", "@You : hi", " @You: hi"]) {
    assert.equal(read(lines.legacyMarker, line).answer, null, line);
  }
});

Deno.test("a fence that hides role lines opens with at least three backticks at the start of a line that contains no more backticks", () => {
  const ticks = (line: string) => read(lines.fenceOpen, line).answer;
  assert.deepEqual(["```", "````js x", "```\r"].map(ticks), [3, 4, 3]);
  assert.deepEqual(["``", "```js `x`", " ```", "~~~", ""].map(ticks), [0, 0, 0, 0, 0]);
});

Deno.test("a fence is closed by a line of at least as many backticks, with nothing but white space after them", () => {
  const closes = (line: string) =>
    read((bytes, from, to) => lines.fenceClose(bytes, from, to, 3), line).answer;
  assert.deepEqual(["```", "````", "``` \t\r"].map(closes), [true, true, true]);
  assert.deepEqual(["``", "```js", " ```", ""].map(closes), [false, false, false, false]);
});

Deno.test("the body of a tool block opens with any number of backticks, a language and any other text", () => {
  const { answer, text } = read(lines.blockOpen, "``flemma:tool_x.%-1 status=`a`");
  assert.equal(answer?.ticks, 2);
  assert.equal(text(answer!.language), "flemma:tool_x.%-1");
  assert.equal(text(answer!.info), " status=`a`");
  assert.equal(read(lines.blockOpen, " `").answer, null);
});

Deno.test("the header of a tool use needs a name and an id, and anything after them is ignored", () => {
  const parts = (line: string) => {
    const { answer, text } = read(lines.toolUseHeader, line);
    return answer && [text(answer.name), text(answer.id)];
  };
  assert.deepEqual(parts("**Tool Use:** `bash` (`a-1`)"), ["bash", "a-1"]);
  assert.deepEqual(parts("**Tool Use:**`my (x)`\t(`urn:a b`)rest)"), ["my (x)", "urn:a b"]);
  for (
    const line of [
      "**Tool Use:** `bash`",
      "**Tool Use:** `bash` (`)",
      "**Tool Use:** `bash` (``)",
      "**Tool Use:** `bash` (`a)b`)",
      "**Tool Use:** `bash` (`a`b`)",
      "**Tool Use:** `` (`a`)",
      "**Tool Use:** bash (`a`)",
      " **Tool Use:** `bash` (`a`)",
      "**Tool use:** `bash` (`a`)",
    ]
  ) assert.equal(parts(line), null, line);
});

Deno.test("the header of a tool result has a suffix if it ends in parentheses", () => {
  const parts = (line: string) => {
    const { answer, text } = read(lines.toolResultHeader, line);
    return answer && [text(answer.id), answer.suffix && text(answer.suffix)];
  };
  assert.deepEqual(parts("**Tool Result:** `a`"), ["a", null]);
  assert.deepEqual(parts("**Tool Result:**`a`(error)\t"), ["a", "error"]);
  assert.deepEqual(parts("**Tool Result:** `a` ()"), ["a", ""]);
  assert.deepEqual(parts("**Tool Result:** `a` (error) (x)"), ["a", "error) (x"]);
  assert.deepEqual(parts("**Tool Result:** `a` (error) done"), ["a", null]);
  assert.deepEqual(parts("**Tool Result:** `a` see (error)"), ["a", null]);
  assert.deepEqual(parts("**Tool Result:** `a` ("), ["a", null]);
  assert.equal(parts("**Tool Result:** ``"), null);
  assert.equal(parts("**Tool Result:**"), null);
});

Deno.test("a server tool tag fills its whole line and has one attribute", () => {
  const parts = (line: string) => {
    const { answer, text } = read(lines.serverToolTag, line);
    return answer && [answer.what, text(answer.provider), text(answer.value)];
  };
  assert.deepEqual(parts('<server_tool anthropic:blocks="e30=">'), ["blocks", "anthropic", "e30="]);
  assert.deepEqual(parts('<server_tool \t x:citations="a>b" >'), ["citations", "x", "a>b"]);
  for (
    const line of [
      "<server_tool>",
      '<server_tool x:blocks="y"/>',
      '<server_tool x:blocks="y"> ',
      '<server_tool x:other="y">',
      '<server_tool a-b:blocks="y">',
      '<server_tool :blocks="y">',
      '<server_toolx:blocks="y">',
      '<server_tool x:blocks="y>',
      ' <server_tool x:blocks="y">',
    ]
  ) assert.equal(parts(line), null, line);
  const closes = (line: string) => read(lines.serverToolClose, line).answer;
  assert.deepEqual(["</server_tool>", "</server_tool> ", " </server_tool>"].map(closes), [
    true,
    false,
    false,
  ]);
});

Deno.test("a thinking tag fills its whole line and has at most one attribute", () => {
  const parts = (line: string) => {
    const { answer, text } = read(lines.thinkingTag, line);
    const signature = answer?.signature;
    return answer && [
      answer.selfClosed,
      answer.redacted,
      signature ? `${text(signature.provider)}=${text(signature.value)}` : null,
    ];
  };
  assert.deepEqual(parts("<thinking>"), [false, false, null]);
  assert.deepEqual(parts("<thinking redacted>"), [false, true, null]);
  assert.deepEqual(parts('<thinking \t openai:signature="a>b" >'), [false, false, "openai=a>b"]);
  assert.deepEqual(parts('<thinking x:signature="" />'), [true, false, "x="]);
  for (
    const line of [
      "<thinking> ",
      "<thinking/>",
      "<thinking >",
      "<thinking>x</thinking>",
      "<thinkingredacted>",
      "<thinking redacted >",
      '<thinking a-b:signature="x">',
      '<thinking foo="1">',
      '<thinking x:signature="y" redacted>',
      '<thinking x:signature="y>',
      " <thinking>",
    ]
  ) assert.equal(parts(line), null, line);
  const closes = (line: string) => read(lines.thinkingClose, line).answer;
  assert.deepEqual(["</thinking>", "</thinking> ", " </thinking>", "</thinking"].map(closes), [
    true,
    false,
    false,
    false,
  ]);
});

Deno.test("an abort marker fills its whole line and contains its trimmed message", () => {
  const message = (line: string) => spanOf(lines.abortMarker, line);
  assert.equal(message("<!-- flemma:aborted: stopped --> it -->"), "stopped --> it");
  assert.equal(message("<!--flemma:aborted:x-->"), "x");
  assert.equal(message("<!-- flemma:aborted:-->"), "");
  for (const line of ["<!-- flemma:aborted: x --> ", "<!-- flemma:aborted: x ->", "<!-- aborted: x -->"]) {
    assert.equal(message(line), null, line);
  }
});

Deno.test("frontmatter opens with three backticks and a word and closes with exactly three backticks", () => {
  assert.equal(spanOf(lines.frontmatterOpen, "```lua \r"), "lua");
  for (const line of ["```", "````lua", "```lua x", "```c++", "``` lua", " ```lua"]) {
    assert.equal(spanOf(lines.frontmatterOpen, line), null, line);
  }
  const closes = (line: string) => read(lines.frontmatterClose, line).answer;
  assert.deepEqual(["```", "``` ", "````", "```x", " ```"].map(closes), [true, true, false, false, false]);
});

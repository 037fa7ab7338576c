import assert from "node:assert/strict";
import fc from "fast-check";
import {
  escapeTextLine,
  escapeThinking,
  fenceAfter,
  isLiveInText,
  mayBecomeLive,
  unescapeText,
  unescapeThinking,
  unescapeTurn,
} from "../../parser/edits/escape.ts";
import { parse } from "../../parser/mod.ts";

const LIVE = [
  "@You:",
  "@Assistant: \t",
  "@Reviewer2:",
  "**Tool Use:** `bash` (`x`)",
  "**Tool Use:**`a b`(`id`) and more",
  "<thinking>",
  "<thinking redacted>",
  '<thinking anthropic:signature="c2ln">',
  '<thinking  a:signature="" />',
  '<server_tool anthropic:blocks="sha256:00">',
  '<server_tool  a:citations="" >',
  "<!-- flemma:aborted: stopped -->",
  "<!--flemma:aborted:-->",
];

const PLAIN = [
  "@You: hello",
  " @You:",
  "@my-role:",
  "**Tool Use:** `bash`",
  "**Tool Result:** `x`",
  " **Tool Use:** `bash` (`x`)",
  "<thinking> ",
  "<thinking/>",
  "</thinking>",
  "</server_tool>",
  "<server_tool>",
  '<server_tool a:other="">',
  "<!-- aborted -->",
  "\\plain",
  "```",
  "",
];

Deno.test("in text, every line that would act as document syntax gets one more backslash, and no other line does", () => {
  for (const line of LIVE) {
    assert.ok(isLiveInText(line), line);
    assert.equal(escapeTextLine(line, 0), `\\${line}`);
    assert.equal(escapeTextLine(`\\\\${line}`, 0), `\\\\\\${line}`);
    assert.equal(escapeTextLine(line, 3), line, "an open fence hides it");
  }
  for (const line of PLAIN) assert.equal(escapeTextLine(line, 0), line);
});

Deno.test("the beginning of a line that may become document syntax is held back; any other line is released as soon as possible", () => {
  for (const line of LIVE) {
    for (let length = 1; length <= line.length; length++) {
      assert.ok(mayBecomeLive(line.slice(0, length)), line.slice(0, length));
      assert.ok(mayBecomeLive(`\\\\${line.slice(0, length)}`));
    }
  }
  for (
    const partial of [
      "",
      "a",
      "@You: h",
      "@ ",
      "@_",
      "**Tool R",
      "*x",
      "<b",
      "<thinking/",
      "<!-- x",
      "```",
      "\\x",
    ]
  ) {
    assert.ok(!mayBecomeLive(partial), partial);
  }
});

Deno.test("inside thinking, only the closing tag and role lines outside a fence act as document syntax", () => {
  const content = "a\n</thinking>\n@You:\n<thinking>\n```\n@You:\n</thinking>\n```\n\\@You:";
  const written = "a\n\\</thinking>\n\\@You:\n<thinking>\n```\n@You:\n\\</thinking>\n```\n\\\\@You:";
  assert.equal(escapeThinking(content), written);
  assert.equal(unescapeThinking(written), content);
});

Deno.test("the backslash before a quoted header is kept in a closed fence and removed under an unclosed fence", () => {
  const header = "\\**Tool Use:** `bash` (`x`)";
  assert.equal(unescapeText(`\`\`\`\n${header}\n\`\`\``), `\`\`\`\n${header}\n\`\`\``);
  assert.equal(unescapeText(`\`\`\`\n${header}`), `\`\`\`\n${header.slice(1)}`);
  assert.equal(unescapeText("```\n\\@You:"), "```\n\\@You:", "an unclosed fence still hides markers");
});

Deno.test("a fence that thinking leaves open hides the role line in the text below", () => {
  const source = "@Assistant:\n<thinking>\n```\n</thinking>\n\\@You:\n```\n\\@You:\n";
  const chat = parse(new TextEncoder().encode(source));
  const [, text] = unescapeTurn(chat, chat.turns[0]!);
  assert.ok(text?.kind === "text");
  assert.equal(text.value, "\\@You:\n```\n@You:");
});

const pieces = fc.constantFrom(
  ...LIVE,
  ...PLAIN,
  "\\",
  "\\\\",
  "`",
  "```",
  "````",
  "```js",
  "x",
  "@",
  " ",
  "\r",
  "</thinking>",
  "é",
  "\u2028",
);
const lines = fc.array(fc.oneof(pieces, fc.tuple(pieces, pieces).map((pair) => pair.join(""))), {
  maxLength: 12,
});

Deno.test("for any text, no escaped line acts as document syntax, and reading restores the text", () => {
  fc.assert(
    fc.property(lines, (source) => {
      let ticks = 0;
      const written = source.map((line) => {
        const escaped = escapeTextLine(line, ticks);
        if (ticks === 0) assert.ok(!isLiveInText(escaped));
        ticks = fenceAfter(ticks, line);
        return escaped;
      });
      if (ticks > 0) {
        written.push("`".repeat(ticks));
        source = [...source, "`".repeat(ticks)];
      }
      assert.equal(unescapeText(written.join("\n")), source.join("\n"));
      const content = source.join("\n");
      assert.equal(unescapeThinking(escapeThinking(content)), content);
    }),
    { seed: 20260801, numRuns: 3000 },
  );
});

Deno.test("a line that resembles document syntax but does not act as such is read unchanged", () => {
  const text = "a \\ b\n<thinking>\nthat nothing closes";
  const chat = parse(new TextEncoder().encode(`@Assistant:\n${text}\n`));
  assert.deepEqual(chat.turns[0]!.segments.map((segment) => segment.kind === "text" && segment.value), [
    text,
  ]);
});

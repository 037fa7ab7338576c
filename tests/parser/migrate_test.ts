// Older forms of a document are converted by the smallest edits, once, without changing their meaning.

import assert from "node:assert/strict";
import fc from "fast-check";
import { migrate } from "../../parser/migrate.ts";
import { applyEdits, parse } from "../../parser/mod.ts";

const encoder = new TextEncoder();
const decode = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

function migrated(text: string) {
  return migrate(parse(encoder.encode(text)));
}

/** A reply that calls these tools. */
function calls(...names: readonly string[]): string {
  const blocks = names.map((name, at) =>
    `**Tool Use:** \`${name}\` (\`c${at}\`)\n\n\`\`\`json\n{}\n\`\`\`\n`
  );
  return `@Assistant:\n${blocks.join("\n")}`;
}

/** Before, after. */
const ROWS: Readonly<Record<string, readonly [string, string]>> = {
  "text after a role on its line moves to the next line": [
    "@System: Be brief.\n@You: Hello\n\n@Assistant: Hi\n@You:\n",
    "@System:\nBe brief.\n@You:\nHello\n\n@Assistant:\nHi\n@You:\n",
  ],
  "only one space between role and text is removed": [
    "@You:  a\n@You:\tb\n@You:c\n",
    "@You:\n a\n@You:\n\tb\n@You:\nc\n",
  ],
  "a last line without a line end still has none": ["@You: a", "@You:\na"],
  "line ends stay unchanged": [
    "@You: a\r\nb\r\n@Assistant: c\r\n",
    "@You:\r\na\r\nb\r\n@Assistant:\r\nc\r\n",
  ],
  "in a document with mixed line ends, each line keeps its own": [
    "@You: a\r\n@You: b\n",
    "@You:\r\na\r\n@You:\nb\n",
  ],
  "a byte order mark stays at the beginning": ["\ufeff@You: a\n", "\ufeff@You:\na\n"],
  "other roles, lower case and role lines with trailing spaces are not older forms": [
    "@user: a\n@you: b\n@You:  \nc\n @You: d\n",
    "@user: a\n@you: b\n@You:  \nc\n @You: d\n",
  ],
  "text quoted in a fence stays unchanged": ["@You:\n```\n@You: a\n```\n", "@You:\n```\n@You: a\n```\n"],
  "the frontmatter stays unchanged": ["```json\n{}\n```\n@You: a\n", "```json\n{}\n```\n@You:\na\n"],
  "if a fence opens after a role on its line, the text inside the fence stays quoted": [
    "@You: ```js\n@You: quoted\n```\n@Assistant: b\n",
    "@You:\n```js\n@You: quoted\n```\n@Assistant:\nb\n",
  ],
  "text that would itself be a role line stays text": [
    "@You: @Assistant: hi\n@You: @Other:\n@You:@You:\n@Assistant: x\n",
    "@You:\n @Assistant: hi\n@You:\n @Other:\n@You:\n @You:\n@Assistant:\nx\n",
  ],
  "unclosed frontmatter stays unclosed": [
    '```json\n{"flemma": {}}\n@System:\n@You: ```\n@Assistant: b\n',
    '```json\n{"flemma": {}}\n@System:\n@You:\n ```\n@Assistant:\nb\n',
  ],
  "a block after a role on its line becomes a block": [
    "@You: **Tool Result:** `a`\n\n```\nx\n```\n",
    "@You:\n**Tool Result:** `a`\n\n```\nx\n```\n",
  ],
  "a waiting result gets the current spelling": [
    "@You:\n**Tool Result:** `a`\n\n```flemma:pending\n```\n",
    "@You:\n**Tool Result:** `a`\n\n```flemma:tool status=pending\n```\n",
  ],
  "words after the old fence that have no meaning approve nothing": [
    "@You:\n**Tool Result:** `a`\n\n```flemma:pending status=approved \n```\n",
    "@You:\n**Tool Result:** `a`\n\n```flemma:tool status=pending \n```\n",
  ],
  "a status in the header takes precedence over the old fence, and the fence stays": [
    "@You:\n**Tool Result:** `a` (rejected)\n\n```flemma:pending\n```\n",
    "@You:\n**Tool Result:** `a` (rejected)\n\n```flemma:pending\n```\n",
  ],
  "a tool named with a dot gets a colon, and tools of flemma.nvim and of servers keep their names": [
    calls("trello.list.all", "flemma.jobs.status", "s:x.y", ".x", "x."),
    calls("trello:list.all", "flemma.jobs.status", "s:x.y", ".x", "x."),
  ],
  "a dotted name below a converted marker is converted in the same step": [
    `@You: a\n@Assistant: b\n${calls("a.b").slice("@Assistant:\n".length)}`,
    `@You:\na\n@Assistant:\nb\n${calls("a:b").slice("@Assistant:\n".length)}`,
  ],
  "a dotted name in a quoted call stays": [
    `@You:\n\`\`\`\`\n${calls("a.b")}\`\`\`\`\n`,
    `@You:\n\`\`\`\`\n${calls("a.b")}\`\`\`\`\n`,
  ],
  "text before the first message stays unchanged": ["notes\n\n@You: a\n", "notes\n\n@You:\na\n"],
};

for (const [name, [before, after]] of Object.entries(ROWS)) {
  Deno.test(name, () => assert.equal(decode(migrated(before).chat.bytes), after));
}

Deno.test("each older form is reported with its line in the original document", () => {
  const { forms } = migrated(
    "@You: a\n@Assistant: b\n@You: **Tool Result:** `x`\n\n```flemma:pending\n```\n",
  );
  assert.deepEqual(forms, [
    { kind: "marker", line: 1, role: "You" },
    { kind: "marker", line: 2, role: "Assistant" },
    { kind: "marker", line: 3, role: "You" },
    { kind: "pending-fence", line: 5, id: "x" },
  ]);
});

Deno.test("all older forms in any document are converted in one step, and the edits change only lines with older forms", () => {
  const line = fc.constantFrom(
    "@You: a",
    "@You:",
    "@Assistant: ```",
    "@Assistant:",
    "@System: <thinking>",
    "@You: @You: b",
    "@You:@Assistant:",
    "@You: **Tool Result:** `x`",
    "@Assistant: **Tool Use:** `bash` (`x`)",
    "**Tool Result:** `x`",
    "**Tool Result:** `x` (approved)",
    "**Tool Use:** `bash` (`x`)",
    "**Tool Use:** `a.b` (`x`)",
    "```",
    "```json",
    "```flemma:pending",
    "``flemma:pending status=approved",
    "``",
    "````flemma:pending x=1",
    "<thinking>",
    "</thinking>",
    "{% raw %}",
    "{}",
    "",
    "ä\r",
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 14 }), fc.constantFrom("\n", "\r\n"), (lines, end) => {
      const before = encoder.encode(lines.join(end));
      const { chat, edits, forms } = migrate(parse(before));
      assert.equal(decode(chat.bytes), decode(applyEdits(before, edits)));
      assert.equal(forms.length, edits.length);
      assert.deepEqual(chat.diagnostics.filter(({ code }) => code === "legacy_form"), []);
      assert.equal(migrate(parse(chat.bytes)).edits.length, 0);
      assert.deepEqual(chat.frontmatter, parse(before).frontmatter);
      for (const { from, to, insert } of edits) assert.ok(to - from <= 30 && insert.length <= 19);
    }),
    { numRuns: 2000 },
  );
});

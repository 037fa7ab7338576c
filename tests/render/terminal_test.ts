// A conversation on a terminal: nothing wider than it, nothing that acts on it, and only our own lines at its margin.

import assert from "node:assert/strict";
import { displayWidth } from "../../base/width.ts";
import { loadMarkdown } from "../../render/markdown.ts";
import { markdownLines } from "../../render/terminal/markdown.ts";
import { screenLines } from "../../render/terminal/screen.ts";
import type { ConversationView, HelperView, PartView } from "../../render/types.ts";
import { INJECTIONS, SEQUENCES } from "./injections.ts";

const markdown = await loadMarkdown();

/** The text as lines of that width, without colours. */
const drawn = (text: string, width = 30): string[] => markdownLines(markdown(text), { width, colors: false });

const conversation = (...parts: readonly PartView[]): ConversationView => ({
  title: "x",
  settings: null,
  preamble: null,
  messages: [{ role: "Assistant", line: 1, parts }],
});

const screen = (shown: ConversationView, { width = 40, colors = false, full = false } = {}): string[] => [
  ...screenLines(shown, { width, colors, full, markdown }),
];

/** A helper with the text at every place that a text has in one. */
const helper = (text: string): HelperView => ({
  name: text,
  path: text,
  state: text,
  waits: false,
  cost: text,
  conversation: conversation({ kind: "prose", text, line: 1 }),
});

Deno.test("a helper is one line below its call; unfolded, its conversation follows behind a line at the margin", () => {
  const shown = conversation({
    kind: "call",
    id: "c1",
    tool: "ask_document",
    label: "",
    line: 1,
    fields: [],
    result: { kind: "result", id: "c1", status: "pending", waitsIn: "runner", text: "", line: 1 },
    helper: {
      name: "runner",
      path: "a.chat.d/runner.chat",
      state: "waits for you",
      waits: true,
      cost: "$0.02",
      conversation: conversation({ kind: "prose", text: "Hello", line: 1 }),
    },
  });
  const folded = [
    `── Assistant ${"─".repeat(67)}`,
    "  ▸ ask_document c1",
    "  waits for the helper runner",
    "  ▸ helper runner: waits for you, $0.02, a.chat.d/runner.chat",
  ];
  assert.deepEqual(screen(shown, { width: 80 }), folded);
  assert.deepEqual(screen(shown, { width: 80, full: true }), [
    ...folded,
    `  │ ── Assistant ${"─".repeat(63)}`,
    "  │   Hello",
  ]);
});

Deno.test("each kind of Markdown block is rendered as terminal lines", () => {
  const text = `# Plan

First *this*, then **that**,
and \`code\` ~~not~~.

1. one
2. two
   - deep

     loose
   - er

> quoted
> more

    indented

---

![a cat](cat.png) [words](https://example.org) <https://example.org/a>
`;
  assert.deepEqual(drawn(text), [
    "# Plan",
    "",
    "First *this*, then **that**,",
    "and `code` ~~not~~.",
    "",
    "1. one",
    "2. two",
    "   • deep",
    "",
    "     loose",
    "",
    "   • er",
    "",
    "▌ quoted more",
    "",
    "│ indented",
    "",
    "────────────────────",
    "",
    "[image: a cat] (cat.png) words",
    "(https://example.org)",
    "https://example.org/a",
  ]);
});

Deno.test("a table divides the width between its columns, and becomes a list if the width is too small", () => {
  const table = "| a | right | middle |\n|---|--:|:-:|\n| x | 1 | some words more |\n| `y` | 22 | z |\n";
  assert.deepEqual(drawn(table, 40), [
    "a    right      middle",
    "───  ─────  ───────────────",
    "x        1  some words more",
    "`y`     22         z",
  ]);
  assert.deepEqual(drawn(table, 24), [
    "a    right     middle",
    "───  ─────  ────────────",
    "x        1   some words",
    "                more",
    "`y`     22       z",
  ]);
  assert.deepEqual(drawn(table, 16), [
    "a: x",
    "right: 1",
    "middle: some",
    "words more",
    "",
    "a: `y`",
    "right: 22",
    "middle: z",
  ]);
});

Deno.test("a word that is wider than the line is continued on the next line, with its colors", () => {
  assert.deepEqual(drawn(`see ${"x".repeat(12)}**${"y".repeat(12)}** z`, 10), [
    "see",
    "xxxxxxxxxx",
    "xx**",
    "yyyyyyyyyy",
    "yy** z",
  ]);
});

Deno.test("the target of a link is shown unless its text equals it", () => {
  assert.deepEqual(drawn("[https://good.test](https://evil.test)", 60), [
    "https://good.test (https://evil.test)",
  ]);
  assert.deepEqual(drawn("https://good.test", 60), ["https://good.test"]);
  assert.deepEqual(drawn("<me@good.test>", 60), ["me@good.test"]);
});

Deno.test("no line is wider than the terminal, whatever the text and the width", () => {
  const texts = [
    ...INJECTIONS,
    ...SEQUENCES,
    "日本語のテキスト ".repeat(20),
    "👩‍👩‍👧 é ".repeat(20),
    "x".repeat(300),
    "\t\tx\ty".repeat(20),
    `| ${"a | ".repeat(30)}\n| ${"- | ".repeat(30)}\n| ${"b b | ".repeat(30)}`,
    `${"> ".repeat(40)}deep`,
    `${"- ".repeat(40)}deep`,
  ];
  for (const text of texts) {
    for (const width of [20, 37, 80]) {
      const shown = conversation(
        { kind: "prose", text, line: 1 },
        { kind: "thinking", text: "", redacted: true, line: 1 },
        { kind: "server_tool", title: "sources", text, line: 1 },
        { kind: "call", id: text, tool: text, label: "", line: 1, fields: [], result: null },
        {
          kind: "call",
          id: text,
          tool: text,
          label: text,
          line: 1,
          fields: [{ name: "diff", kind: "diff", text: "" }, { name: text, kind: "text", text }, {
            name: "x",
            kind: "text",
            text: `${text}\n${text}`,
          }],
          result: { kind: "result", id: text, status: text, text, line: 1 },
          helper: helper(text),
        },
      );
      for (const line of [false, true].flatMap((full) => screen(shown, { width, full }))) {
        // A few cells are left to what is nested deeper than any terminal is wide.
        const room = /^[ │]*(?:▌ |• ){5}/.test(line) ? 100 : width;
        assert.ok(displayWidth(line) <= room, `${width}: ${JSON.stringify(line)}`);
      }
    }
  }
});

Deno.test("no text acts on the terminal, wherever it appears in a document", () => {
  for (
    const text of [
      ...SEQUENCES,
      ...SEQUENCES.map((each) => `\`${each}\``),
      ...SEQUENCES.map((each) => `[a](<${each}>)`),
    ]
  ) {
    const part = { kind: "result", id: text, status: text, text, line: 1 } as const;
    const shown: ConversationView = {
      title: text,
      settings: { language: text, code: text, line: 1 },
      preamble: { text, line: 1 },
      messages: [{
        role: text,
        line: 1,
        parts: [
          { kind: "prose", text, line: 1 },
          { kind: "thinking", text, redacted: false, line: 1 },
          { kind: "server_tool", title: "sources", text, line: 1 },
          { kind: "aborted", text, line: 1 },
          part,
          {
            kind: "call",
            id: text,
            tool: text,
            label: text,
            line: 1,
            fields: [
              { name: text, kind: "text", text },
              { name: text, kind: "command", text },
              { name: text, kind: "diff", text: `+${text}` },
            ],
            result: part,
            helper: helper(text),
          },
        ],
      }],
    };
    for (const line of screen(shown)) assert.doesNotMatch(line, CONTROLS, JSON.stringify(text));
    const colors = screen(shown, { colors: true });
    for (const line of colors) {
      assert.doesNotMatch(line.replace(SGR, ""), CONTROLS, JSON.stringify(text));
    }
  }
});

// deno-lint-ignore no-control-regex
const SGR = /\x1b\[[0-9;]*m/g;
// deno-lint-ignore no-control-regex
const CONTROLS = /[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u;

Deno.test("document text is always indented, because flemma's own lines begin at the margin", () => {
  const forged = "── You ─────\n\nPlease.\n\n\n── Assistant ──\n";
  const lines = screen(conversation(
    { kind: "prose", text: forged, line: 1 },
    { kind: "thinking", text: forged, redacted: false, line: 1 },
    { kind: "result", id: "x", status: null, text: forged, line: 1 },
  ));
  const [head, ...rest] = lines;
  assert.match(head!, /^── Assistant ─+$/);
  for (const line of rest) assert.match(line, /^(?: {2}.*)?$/);
});

Deno.test("long texts are folded with a note, commands are never folded, and --full shows everything", () => {
  const text = Array.from({ length: 30 }, (_, at) => `line ${at + 1}`).join("\n");
  const shown = conversation({
    kind: "call",
    id: "c1",
    tool: "bash",
    label: "",
    line: 1,
    fields: [{ name: "command", kind: "command", text }, { name: "stdin", kind: "text", text }],
    result: { kind: "result", id: "c1", status: null, text: `${text}\n${"x".repeat(5000)}`, line: 1 },
  }, { kind: "thinking", text, redacted: false, line: 1 });
  const lines = screen(shown);
  assert.equal(lines.filter((line) => line.includes("│ line 30")).length, 3);
  assert.equal(lines.filter((line) => line.includes("│ line 7")).length, 3);
  assert.deepEqual(lines.filter((line) => line.includes("…")).map((line) => line.trim()), [
    "… 14 more lines",
    "… 19 more lines",
    "┆ … 4,892 more characters",
    "… 27 more lines",
  ]);
  const all = screen(shown, { full: true });
  assert.equal(all.filter((line) => line.includes("line 30")).length, 4);
  assert.ok(!all.some((line) => line.includes("…")));
});

Deno.test("colors distinguish roles, changes and failures, thinking is dim, and without color support there are none", () => {
  const lines = screen(
    conversation(
      { kind: "thinking", text: "hm", redacted: false, line: 1 },
      {
        kind: "call",
        id: "c1",
        tool: "edit",
        label: "",
        line: 1,
        fields: [{ name: "diff", kind: "diff", text: " a\n-b\n+c" }],
        result: { kind: "result", id: "c1", status: "error", text: "", line: 1 },
      },
    ),
    { colors: true },
  );
  for (
    const wanted of [
      "\x1b[1;36mAssistant\x1b[0m",
      "\x1b[2mhm\x1b[0m",
      "\x1b[31m-b\x1b[0m",
      "\x1b[32m+c\x1b[0m",
      "\x1b[31mfailed\x1b[0m",
    ]
  ) {
    assert.ok(
      lines.some((line) => line.includes(wanted)),
      `${JSON.stringify(wanted)} in ${JSON.stringify(lines)}`,
    );
  }
});

// What an editor shows in addition to the text: outline, references, hints, completions and colors.

import assert from "node:assert/strict";
import { type Scene, withScene } from "../../cli/harness.ts";
import { type Json, LspEditor } from "./client.ts";
import { positionOf } from "./counting.ts";

const DOCUMENT = [
  "```yaml",
  "flemma:",
  "  tools:",
  '    rules: [{ ask: bash, command: ["make **"] }]',
  "```",
  "",
  "@You:",
  "Look at @./notes.md and build.",
  "",
  "@Assistant:",
  "<thinking>",
  "Let me see.",
  "</thinking>",
  "",
  "I will.",
  "",
  "**Tool Use:** `bash` (`call_1`)",
  "",
  "```json",
  '{"command": "make test\\necho done", "label": "run the tests"}',
  "```",
  "",
  "**Tool Use:** `write` (`call_2`)",
  "",
  "```json",
  '{"path": "notes.md", "content": "new\\n", "label": "notes"}',
  "```",
  "",
  "@You:",
  "",
  "**Tool Result:** `call_1`",
  "",
  "```flemma:tool status=pending",
  "```",
  "",
  "**Tool Result:** `call_2`",
  "",
  "```flemma:tool status=pending",
  "```",
  "",
].join("\n");

async function withEditor(
  text: string,
  body: (editor: LspEditor, uri: string, place: Scene) => Promise<void>,
): Promise<void> {
  await withScene(async (place) => {
    place.write("notes.md", "old\n");
    const uri = `file://${place.path("f.chat")}`;
    await using editor = await LspEditor.start(place, { env: { ANTHROPIC_API_KEY: "k" } });
    editor.open(uri, text);
    await body(editor, uri, place);
    assert.equal(await editor.shutdown(), 0);
  });
}

/** Asks about the place where a text stands, a little way into it. */
async function at(editor: LspEditor, uri: string, method: string, text: string, into = 0): Promise<Json> {
  const retained = editor.textOf(uri);
  const offset = retained.indexOf(text);
  assert.ok(offset >= 0, text);
  return await editor.request(`textDocument/${method}`, {
    textDocument: { uri },
    position: positionOf(retained, offset + into),
    context: { includeDeclaration: true },
  });
}

const line = (text: string) => DOCUMENT.split("\n").indexOf(text);

Deno.test("frontmatter, messages, thinking, calls and results can be folded, each with a label", () =>
  withEditor(DOCUMENT, async (editor, uri) => {
    const folds: Json[] = await editor.request("textDocument/foldingRange", { textDocument: { uri } });
    const of = (first: number) => folds.find(({ startLine }) => startLine === first);
    assert.deepEqual(of(0), { startLine: 0, endLine: 4, kind: "imports", collapsedText: "settings" });
    assert.deepEqual(of(line("<thinking>")), {
      startLine: line("<thinking>"),
      endLine: line("</thinking>"),
      kind: "region",
      collapsedText: "thinking",
    });
    assert.equal(of(line("**Tool Use:** `bash` (`call_1`)")).collapsedText, "call: bash");
    assert.equal(of(line("**Tool Result:** `call_1`")).collapsedText, "bash: pending");
    assert.equal(of(line("@You:")).endLine, line("Look at @./notes.md and build."), "blank lines stay");
  }));

const SEARCHED = "@You:\nDeno?\n\n@Assistant:\n" +
  `<server_tool anthropic:blocks="sha256:${
    "0".repeat(64)
  }">\nweb_search: deno\n1. A — https://a.b\n</server_tool>\n\n` +
  "Yes.\n\n@You:\nThanks.\n";

Deno.test("a search by the provider can be folded, is a symbol, and missing data is a finding", () =>
  withEditor(SEARCHED, async (editor, uri) => {
    const folds: Json[] = await editor.request("textDocument/foldingRange", { textDocument: { uri } });
    assert.deepEqual(folds.find(({ startLine }) => startLine === 4), {
      startLine: 4,
      endLine: 7,
      kind: "region",
      collapsedText: "web_search: deno",
    });
    const symbols: Json[] = await editor.request("textDocument/documentSymbol", { textDocument: { uri } });
    assert.deepEqual(symbols[1].children.map(({ name }: Json) => name), ["web_search: deno"]);
    const found: Json[] = await editor.findings(uri);
    assert.deepEqual(found.map(({ code }) => code), ["server_tool_lost"]);
  }));

Deno.test("a background job without a result whose program is gone is a finding at its call's result", () =>
  withEditor(
    '@You:\nGo.\n\n@Assistant:\n**Tool Use:** `bash` (`c1`)\n\n```json\n{"command":"x"}\n```\n\n' +
      "@You:\n**Tool Result:** `c1` (job=job_abcde)\n\n```\nRunning.\n```\n",
    async (editor, uri) => {
      const found: Json[] = await editor.findings(uri);
      assert.deepEqual(found.map(({ code, severity, range }) => [code, severity, range.start.line]), [
        ["job_lost", 2, 11],
      ]);
    },
  ));

Deno.test("document symbols are messages that contain calls and results with their status", () =>
  withEditor(DOCUMENT, async (editor, uri) => {
    const symbols: Json[] = await editor.request("textDocument/documentSymbol", { textDocument: { uri } });
    assert.deepEqual(
      symbols.map((
        { name, children = [] },
      ) => [name, children.map((each: Json) => [each.name, each.detail])]),
      [
        ["settings", []],
        ["@You: Look at @./notes.md and build.", []],
        ["@Assistant: I will.", [["thinking", ""], ["bash (call_1)", "pending"], [
          "write (call_2)",
          "pending",
        ]]],
        ["@You:", [["result (call_1)", "pending"], ["result (call_2)", "pending"]]],
      ],
    );
    const waiting: Json[] = await editor.request("workspace/symbol", { query: "MAKE" });
    assert.deepEqual(waiting.map(({ name, containerName }) => [name, containerName]), [
      ["bash: $ make test↵echo done  # run the tests", "call_1"],
    ]);
  }));

Deno.test("a call links to its result and back, and all occurrences of its id are found", () =>
  withEditor(DOCUMENT, async (editor, uri) => {
    const [call, result] = [line("**Tool Use:** `bash` (`call_1`)"), line("**Tool Result:** `call_1`")];
    assert.equal((await at(editor, uri, "definition", "**Tool Result:** `call_1`")).range.start.line, call);
    assert.equal((await at(editor, uri, "definition", "make test")).range.start.line, result);
    assert.deepEqual(
      (await at(editor, uri, "references", "make test")).map((each: Json) => each.range.start.line),
      [call, result],
    );
    assert.deepEqual((await at(editor, uri, "documentHighlight", "make test")).length, 2);
    assert.equal(await at(editor, uri, "definition", "Look at"), null);
  }));

Deno.test("hovering over a call shows the whole call, who decides about it, and its file change before anybody approves it", () =>
  withEditor(DOCUMENT, async (editor, uri) => {
    const bash = (await at(editor, uri, "hover", "**Tool Result:** `call_1`")).contents.value;
    assert.match(bash, /```sh\nmake test\necho done\n```/);
    assert.match(bash, /Waits for you \(a rule\)/);
    const write = (await at(editor, uri, "hover", "**Tool Result:** `call_2`")).contents.value;
    assert.match(write, /```diff\n--- notes\.md\n\+\+\+ notes\.md\n@@ -1 \+1 @@\n-old\n\+new\n```/);
    const diff = await editor.execute("flemma.showDiff", { uri, id: "call_2" });
    assert.match(diff.result.diff, /^-old$/m);
  }));

Deno.test("previews appear after waiting blocks within the requested lines, and code lenses above these blocks", () =>
  withEditor(DOCUMENT, async (editor, uri) => {
    const hints = (first: number, last: number): Promise<Json[]> =>
      editor.request("textDocument/inlayHint", {
        textDocument: { uri },
        range: { start: { line: first, character: 0 }, end: { line: last, character: 0 } },
      });
    const first = line("```flemma:tool status=pending");
    assert.deepEqual((await hints(first, first)).map(({ label }) => label), [
      "bash: $ make test↵echo done  # run the tests",
    ]);
    assert.equal((await hints(0, 1000)).length, 2);
    const lenses: Json[] = await editor.request("textDocument/codeLens", { textDocument: { uri } });
    assert.deepEqual(lenses.slice(0, 3).map(({ command }) => command.title), ["Approve", "Reject", "Run"]);
    const { command } = lenses[0];
    await editor.request("workspace/executeCommand", command);
    await editor.until(() => editor.textOf(uri).includes("status=approved"), "it is approved");
  }));

Deno.test("a file that a message references is a link, relative to the document", () =>
  withEditor(DOCUMENT, async (editor, uri, place) => {
    const links = await editor.request("textDocument/documentLink", { textDocument: { uri } });
    assert.deepEqual(links, [{
      range: { start: { line: 7, character: 8 }, end: { line: 7, character: 19 } },
      target: `file://${place.path("notes.md")}`,
    }]);
  }));

Deno.test("a link to lines of a file opens the first line; a file whose name ends like lines is opened itself", () =>
  withEditor("@You:\n@./a.md#L9-3 @./a.md#L2 @./b#L1\n", async (editor, uri, place) => {
    place.write("a.md", "x\n");
    place.write("a.md#L2", "x\n");
    const links: Json[] = await editor.request("textDocument/documentLink", { textDocument: { uri } });
    const folder = `file://${place.path("")}`;
    assert.deepEqual(
      links.map(({ target }) => target),
      [`${folder}a.md#L3`, `${folder}a.md%23L2`, `${folder}b#L1`],
    );
  }));

Deno.test("an attachment named in the header of a result is a link to its stored file", async () => {
  const name = "0f".repeat(32);
  const text = `@You:\n**Tool Result:** \`ü\` (attachments=../x,${name})\n\n\`\`\`\nx\n\`\`\`\n`;
  await withEditor(text, async (editor, uri) => {
    const [link, ...others] = await editor.request("textDocument/documentLink", { textDocument: { uri } });
    assert.deepEqual(others, []);
    assert.ok(link.target.endsWith(`/flemma/attachments/${name}`), link.target);
    const line = text.split("\n")[1]!;
    const { start, end } = link.range;
    assert.deepEqual([start.line, line.slice(start.character, end.character)], [1, name]);
  });
});

Deno.test("expanding a selection goes from the line to the block, the message and the document", () =>
  withEditor(DOCUMENT, async (editor, uri) => {
    const position = positionOf(DOCUMENT, DOCUMENT.indexOf("make test"));
    const [selection] = await editor.request("textDocument/selectionRange", {
      textDocument: { uri },
      positions: [position],
    });
    const starts: number[] = [];
    for (let each = selection; each !== undefined; each = each.parent) starts.push(each.range.start.line);
    assert.deepEqual(starts, [
      position.line,
      line("**Tool Use:** `bash` (`call_1`)"),
      line("@Assistant:"),
      0,
    ]);
  }));

Deno.test("completion offers what is valid at the position: roles, statuses, ids, tools, files, settings and their values", async () => {
  const cases: readonly (readonly [text: string, before: string, expected: readonly string[]])[] = [
    ["@You:\nHi\n\n@", "@", ["@System:", "@You:", "@Assistant:"]],
    [DOCUMENT, "```flemma:tool status=pe", ["pending", "approved", "rejected"]],
    ["@You:\nRead @./no", "@./no", ["notes.md"]],
    ["```yaml\nflemma:\n  sandbox:\n    en\n```\n@You:\n", "    en", ["enabled"]],
    ["```yaml\nflemma:\n  sandbox:\n    enabled: \n```\n@You:\n", "enabled: ", ["true", "false"]],
    ['```json\n{"flemma": {"tools": {"autopilot": {"\n```\n@You:\n', '{"autopilot": {"', ["max_turns"]],
    ['```json\n{"flemma": {"tools": {"status_style": "\n```\n@You:\n', '"status_style": "', [
      "fence",
      "header",
    ]],
    ["```lua\nflemma.opt.tools.auto\n```\n@You:\n", "flemma.opt.tools.auto", ["auto_approve", "autopilot"]],
    ["```yaml\nflemma:\n  model: \n```\n@You:\n", "model: ", ["claude-opus-4-5-20251101"]],
    ["```yaml\nflemma:\n  model: gpt-5\n```\n@You:\n", "model: gpt-5", ["gpt-5.2"]],
    ["```yaml\nflemma:\n  model: gpt-5\n  provider: openai\n```\n@You:\n", "model: gpt-5", ["gpt-5.2"]],
    ["```yaml\nflemma:\n  model: nobody\n```\n@You:\n", "model: nobody", []],
    ["```yaml\nflemma:\n  provider: \n```\n@You:\n", "provider: ", ["anthropic", "openai"]],
    ["@Assistant:\n**Tool Use:** `", "**Tool Use:** `", ["bash", "read"]],
    ["```yaml\nfl\n```\n@You:\n", "```yaml\nfl", ["flemma"]],
    ["```yaml\ntools:\n  au\n```\n@You:\n", "  au", []],
    ["@You:\nnothing here", "nothing", []],
  ];
  await withEditor("", async (editor, first) => {
    for (const [index, [text, before, expected]] of cases.entries()) {
      const uri = first.replace("f.chat", `${index}.chat`);
      editor.open(uri, text);
      const items: Json[] = await at(editor, uri, "completion", before, before.length);
      const labels = items.map(({ label }) => label);
      for (const label of expected) {
        assert.ok(labels.includes(label), `${label} behind ${before}: ${labels.join(" ")}`);
      }
      if (expected.length === 0) assert.deepEqual(labels, []);
    }
  });
});

Deno.test("typing the colon after a role completes the role line", () =>
  withEditor("@You:\nHi\n\nyou:", async (editor, uri) => {
    const edits = await editor.request("textDocument/onTypeFormatting", {
      textDocument: { uri },
      position: { line: 3, character: 4 },
      ch: ":",
      options: {},
    });
    assert.deepEqual(edits, [{
      range: { start: { line: 3, character: 0 }, end: { line: 3, character: 4 } },
      newText: "@You:",
    }]);
  }));

Deno.test("after a change, applying the difference to the earlier semantic tokens gives the same tokens as a full request", () =>
  withEditor(DOCUMENT, async (editor, uri) => {
    const textDocument = { uri };
    const first = await editor.request("textDocument/semanticTokens/full", { textDocument });
    editor.replace(uri, "status=pending", "status=approved");
    editor.replace(uri, "Let me see.", "Let me see.\nAnd think.");
    const delta = await editor.request("textDocument/semanticTokens/full/delta", {
      textDocument,
      previousResultId: first.resultId,
    });
    const data = [...first.data];
    for (const { start, deleteCount, data: more } of delta.edits) data.splice(start, deleteCount, ...more);
    const fresh = await editor.request("textDocument/semanticTokens/full", { textDocument });
    assert.deepEqual(data, fresh.data);
    assert.equal(data.length % 5, 0);
    const range = await editor.request("textDocument/semanticTokens/range", {
      textDocument,
      range: { start: { line: 6, character: 0 }, end: { line: 6, character: 5 } },
    });
    assert.deepEqual(range.data, [6, 0, 5, 0, 0]);
  }));

Deno.test("the editor commands for status, explanation, request, line and session rules return their result to the editor", () =>
  withEditor(DOCUMENT, async (editor, uri) => {
    const status = (await editor.execute("flemma.status", { uri })).result;
    assert.deepEqual(status.calls.map(({ id, status }: Json) => [id, status]), [["call_1", "pending"], [
      "call_2",
      "pending",
    ]]);
    const [explained] = (await editor.execute("flemma.explain", { uri, id: "call_1" })).result;
    assert.equal(explained.decision, "require_approval");
    assert.ok(editor.shown.at(-1)!.includes("make test"));
    const at = { uri, line: line("**Tool Result:** `call_2`") + 1 };
    assert.equal((await editor.execute("flemma.explain", at)).result[0].id, "call_2");
    const allowed = await editor.execute("flemma.allowForSession", { uri, id: "call_2" });
    assert.equal(allowed.result?.allowed, true, JSON.stringify(allowed));
    assert.match(allowed.result.rule, /write.*notes\.md/);
    assert.match(editor.shown.at(-1)!, /flemma session reset/);
    const now = (await editor.execute("flemma.status", { uri })).result.calls;
    assert.deepEqual(now.map(({ decision }: Json) => decision), ["require_approval", "approve"]);
    const unknown = await editor.execute("flemma.approve", { uri, id: "call_9" });
    assert.equal(unknown.error.data.code, "unknown-call");
    assert.equal((await editor.execute("flemma.fly", { uri })).error.code, -32602);
    assert.equal(
      (await editor.execute("flemma.advance", { uri: "file:///nowhere.chat" })).error.code,
      -32602,
    );
  }));

Deno.test("a code action makes the text in a waiting block the result of its call", () =>
  withEditor(
    DOCUMENT.replace(
      "status=pending\n```\n\n**Tool Result:** `call_2`",
      "status=pending\nmine\n```\n\n**Tool Result:** `call_2`",
    ),
    async (editor, uri) => {
      const actions = await editor.codeActions(uri, "**Tool Result:** `call_1`", ["refactor.rewrite"]);
      assert.deepEqual(actions.map(({ title }) => title), ["Use the text as the result of call_1"]);
      await editor.take(actions[0]);
      assert.match(editor.textOf(uri), /```\nmine\n```/);
    },
  ));

Deno.test("questions of a server are findings, lenses and actions of their own, and a reason takes their place", () => {
  const block = "```flemma:tool status=pending\n```\n\n**Tool Result:** `call_2`";
  const asked =
    "````flemma:tool status=pending\n```yaml flemma:questions\nname: x\n```\n````\n\n**Tool Result:** `call_2`";
  return withEditor(DOCUMENT.replace(block, asked), async (editor, uri) => {
    const messages = (await editor.findings(uri)).map(({ message }) => message);
    assert.ok(
      messages.some((message) => /^waits for your answers: bash: \$ make test/.test(message)),
      messages.join(),
    );
    const lenses: Json[] = await editor.request("textDocument/codeLens", { textDocument: { uri } });
    assert.deepEqual(lenses.slice(0, 3).map(({ command }) => command.title), [
      "Send answers",
      "Decline",
      "Run",
    ]);
    const actions = await editor.codeActions(uri, "name: x", ["quickfix"]);
    assert.deepEqual(actions.slice(0, 3).map(({ title }) => title), [
      "Send the answers of bash (call_1)",
      "Decline to answer bash (call_1)",
      "Reject bash (call_1) with a reason…",
    ]);
    await editor.take(actions[2]);
    assert.match(editor.textOf(uri), /````flemma:tool status=rejected\n\n````\n/);
  });
});

/** What a terminal acts on, what turns the reading order round, and what cannot be seen. */
const HIDING = "\u001b[31m\u009b2J\u202e\u200b";

Deno.test("editors show names and texts that a model wrote as plain text, and fetch no image in them", async () => {
  const picture = "![x](https://tracker.example/a.png)";
  const document = [
    "@You:",
    "Build.",
    "",
    "@Assistant:",
    `**Tool Use:** \`${picture}\` (\`c1${HIDING}**\`)`,
    "",
    "```json",
    JSON.stringify({ [picture]: `\`${picture}\``, list: [`\`${picture}`], [`*b*${HIDING}`]: 1 }),
    "```",
    "",
    "**Tool Use:** `write` (`c2`)",
    "",
    "```json",
    JSON.stringify({ path: `${picture}<b>${HIDING}`, content: "new", label: `_x_ ${picture}` }),
    "```",
    "",
    "@You:",
    "",
    `**Tool Result:** \`c1${HIDING}**\``,
    "",
    "```flemma:tool status=pending",
    "```",
    "",
    "**Tool Result:** `c2`",
    "",
    "```flemma:tool status=pending",
    "```",
    "",
  ].join("\n");
  await withEditor(document, async (editor, uri) => {
    const lineOf = (start: string) => document.split("\n").findIndex((text) => text.startsWith(start));
    const ask = (kind: string, line: number, more: Json = {}) =>
      editor.request(`textDocument/${kind}`, {
        textDocument: { uri },
        position: { line, character: 0 },
        range: { start: { line, character: 0 }, end: { line, character: 1 } },
        ...more,
      });
    const starts = ["**Tool Use:** `!", "**Tool Use:** `write"].map(lineOf);
    for (const line of starts) {
      const { contents } = await ask("hover", line);
      const outside = (contents.value as string)
        .replace(/^(`{3,})[^\n]*\n[\s\S]*?\n\1$/gm, "")
        .replace(/(?<!`)(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, "");
      assert.doesNotMatch(outside, /(?<!\\)[[<]|(?<!\\)_x_/, contents.value);
      assert.match(contents.value, /tracker\.example/);
    }
    const answers = [
      await ask("hover", starts[0]!),
      await ask("codeAction", lineOf("**Tool Result:** `c1"), { context: { diagnostics: [] } }),
      await editor.request("textDocument/documentSymbol", { textDocument: { uri } }),
      await editor.request("textDocument/codeLens", { textDocument: { uri } }),
      await editor.request("textDocument/diagnostic", { textDocument: { uri } }),
      await ask("inlayHint", 0, {
        range: { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } },
      }),
    ];
    const shown: string[] = [];
    const visit = (value: Json, key: string) => {
      if (typeof value === "string" && /^(?:title|message|name|detail|label|value)$/.test(key)) {
        shown.push(value);
      } else if (typeof value === "object" && value !== null) {
        for (const [inner, each] of Object.entries(value)) visit(each, inner);
      }
    };
    visit(answers, "");
    assert.ok(shown.some((text) => text.includes("c1")), "the names are reported");
    // deno-lint-ignore no-control-regex
    for (const text of shown) assert.doesNotMatch(text, /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202e]/, text);
  });
});

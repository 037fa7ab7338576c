// Replies in the editor's buffer: one edit with the blocks of their calls, nothing lost, few notifications.

import assert from "node:assert/strict";
import { callReply, textReply, withServer } from "../../cli/replies.ts";
import { callsDocument, type Scene, withScene } from "../../cli/harness.ts";
import { type Part, WAIT, withPacedServer } from "../paced_server.ts";
import { savedFiles, savedText } from "../saved_text.ts";
import { type EditorOptions, type Json, LspEditor } from "./client.ts";

const KEY = { ANTHROPIC_API_KEY: "test-key" };
const QUESTION = "@You:\nHow are you?\n";
const ASK = "tools: { auto_approve: [], auto_approve_sandboxed: false }\n";
const CALL = { id: "call_1", name: "bash", input: { command: "true", timeout: null } } as const;
const TWO = callsDocument([
  { id: "call_1", command: "echo one", status: "pending" },
  { id: "call_2", command: "echo two", status: "pending" },
]);

async function withEditor(
  text: string,
  body: (editor: LspEditor, uri: string, place: Scene) => Promise<void>,
  options: EditorOptions & { readonly settings?: string } = {},
): Promise<void> {
  await withScene(async (place) => {
    place.settings(options.settings ?? ASK);
    place.write("f.chat", text);
    const uri = `file://${place.path("f.chat")}`;
    await using editor = await LspEditor.start(place, { ...options, env: { ...KEY, ...options.env } });
    editor.open(uri, text);
    await body(editor, uri, place);
  });
}

const edits = (editor: LspEditor) =>
  editor.reported.filter(({ method }) => method === "workspace/applyEdit").length;

for (const style of ["fence", "header"]) {
  Deno.test(`a reply and the blocks of its calls are one edit, with statuses in the ${style}`, () =>
    withServer([callReply("call_1", "true")], ({ env }) =>
      withEditor(QUESTION, async (editor, uri) => {
        await editor.execute("flemma.advance", { uri, version: 1 });
        await editor.runEnds();
        assert.match(editor.textOf(uri), /I will\.[^]*`call_1`[^]*`call_1`[^]*pending/);
        assert.equal(edits(editor), 1);
        assert.equal(await editor.shutdown(), 0);
      }, {
        env,
        settings: `tools: { auto_approve: [], auto_approve_sandboxed: false, status_style: ${style} }\n`,
      })));
}

Deno.test("results of calls that run after a reply are an edit of their own, so one undo restores the blocks", () =>
  withServer([callReply("call_1", "echo ran"), textReply("Done.")], ({ env }) => {
    const texts: string[] = [];
    const beforeEdit = (editor: LspEditor, uri: string) => void texts.push(editor.textOf(uri));
    return withEditor(QUESTION, async (editor, uri) => {
      await editor.execute("flemma.advance", { uri, version: 1 });
      await editor.runEnds();
      assert.equal(texts[0], QUESTION);
      assert.match(texts[1]!, /I will\.[^]*status=approved/);
      assert.ok(!texts[1]!.includes("\nran\n"), texts[1]);
      assert.match(editor.textOf(uri), /\nran\n[^]*Done\./);
      assert.equal(await editor.shutdown(), 0);
    }, { env, beforeEdit, settings: "tools: { auto_approve: [bash] }\n" });
  }));

Deno.test("after the command send, a reply with calls is in the buffer without blocks", () =>
  withServer([callReply("call_1", "true")], ({ env }) =>
    withEditor(QUESTION, async (editor, uri) => {
      await editor.execute("flemma.send", { uri, version: 1 });
      await editor.runEnds();
      assert.match(editor.textOf(uri), /I will\.[^]*`call_1`/);
      assert.ok(!editor.textOf(uri).includes("Tool Result"));
      assert.equal(edits(editor), 1);
      assert.equal(await editor.shutdown(), 0);
    }, { env })));

Deno.test("text typed during a reply with calls stays, above and below the reply", () =>
  withPacedServer(
    [["I ", WAIT, "will.", CALL]],
    ({ env, goOn }) =>
      withEditor(QUESTION, async (editor, uri) => {
        await editor.execute("flemma.advance", { uri, version: 1 });
        await editor.until(() => streamed(editor).includes("I "), "it streams");
        const end = { line: 2, character: 0 };
        editor.change(uri, { range: { start: end, end }, newText: "\n@You:\nAnd you?\n" });
        editor.replace(uri, "How", "Hello. How");
        await editor.findings(uri);
        goOn();
        await editor.runEnds();
        const text = editor.textOf(uri);
        assert.match(text, /^@You:\nHello\. How are you\?\n\n@Assistant:\nI will\.\n\n\*\*Tool Use:\*\*/);
        assert.match(text, /\n@You:\n[^]*status=pending\n```\n\nAnd you\?\n$/);
        assert.equal(await editor.shutdown(), 0);
      }, { env, options: STREAM }),
  ));

for (
  const [name, parts] of [
    ["text", ["One ", "line.\nHalf a", WAIT, " line."]],
    ["a call", ["One line.\n\nHalf a", CALL, WAIT, "Behind."]],
  ] satisfies [string, Part[]][]
) {
  Deno.test(`if the server is killed while a reply with ${name} streams, the part that came can be recovered`, () =>
    withPacedServer([parts], ({ env }) =>
      withEditor(QUESTION, async (editor, uri, place) => {
        await editor.execute("flemma.advance", { uri, version: 1 });
        await savedText(place, name === "text" ? "Half a" : "call_1");
        editor.kill("SIGKILL");
        await editor.ends();
        assert.equal(editor.textOf(uri), QUESTION);
        const text = (await place.run(["recover"])).stdout;
        assert.ok(text.startsWith(`${QUESTION}\n@Assistant:\nOne line.\n`), text);
        assert.match(text, /Half a[^]*<!-- flemma:aborted: The program ended/);
      }, { env })));
}

Deno.test("after a run, no saved text is left", () =>
  withPacedServer(
    [["One ", WAIT, "line."]],
    ({ env, goOn }) =>
      withEditor(QUESTION, async (editor, uri, place) => {
        await editor.execute("flemma.advance", { uri, version: 1 });
        await savedText(place, "One");
        goOn();
        await editor.runEnds();
        assert.deepEqual(savedFiles(place), []);
        assert.equal(await editor.shutdown(), 0);
      }, { env }),
  ));

Deno.test("pieces of a reply that arrive together are one notification", () => {
  const words = Array.from({ length: 200 }, (_, at) => `word ${at} `);
  return withPacedServer([words], ({ env }) =>
    withEditor(QUESTION, async (editor, uri) => {
      await editor.execute("flemma.advance", { uri, version: 1 });
      await editor.runEnds();
      const texts = events(editor).filter(({ event }) => event === "text");
      assert.equal(texts.map(({ text }) => text).join("").trim(), words.join("").trim());
      assert.ok(texts.length <= words.length / 4, `${texts.length} notifications`);
      const order = events(editor).map(({ event }) => event);
      assert.ok(order.indexOf("request:sending") < order.indexOf("text"));
      assert.ok(order.lastIndexOf("text") < order.indexOf("request:finished"));
      assert.equal(await editor.shutdown(), 0);
    }, { env, options: STREAM }));
});

Deno.test("a decision at a line that is in no block decides about no call, and names the nearest ones", () =>
  withEditor(TWO, async (editor, uri) => {
    const beside = lineOf(TWO, "I will.");
    for (const command of ["flemma.approve", "flemma.reject", "flemma.allowForSession"]) {
      for (const line of [beside, 1, 9999]) {
        const { error } = await editor.execute(command, { uri, version: 1, line });
        assert.match(error.message, /^No call is on line \d+\./, command);
      }
    }
    assert.equal(editor.textOf(uri), TWO);
    // What only shows a call takes the nearest one.
    const shown = await editor.execute("flemma.explain", { uri, version: 1, line: beside });
    assert.equal(shown.error, undefined);
    assert.equal(await editor.shutdown(), 0);
  }));

Deno.test("decisions and a run that a person types faster than the server answers all take effect", () =>
  withServer([textReply("Fine.")], ({ env }) =>
    withEditor(TWO, async (editor, uri) => {
      // All three name the text that the person saw; the server has changed it by the time the next one arrives.
      const keys = [
        ["flemma.approve", { line: lineOf(TWO, "Result:** `call_1`") }, "status=approved"],
        ["flemma.reject", { line: lineOf(TWO, "Result:** `call_2`"), message: "Not\nthis." }, "Not\nthis."],
        ["flemma.advance", {}, ""],
      ] as const;
      for (const [command, more, shown] of keys) {
        const answer = await editor.execute(command, { uri, version: 1, ...more });
        assert.deepEqual(answer.result, { started: true }, `${command}: ${JSON.stringify(answer)}`);
        await editor.until(() => editor.textOf(uri).includes(shown), "the decision is in the text");
      }
      await editor.runEnds();
      assert.match(editor.textOf(uri), /\none\n```[^]*Not\nthis\.[^]*Fine\./);
      assert.equal(await editor.shutdown(), 0);
    }, { env })));

Deno.test("a decision for an earlier text acts on the call that the person saw, and on no other", () =>
  withEditor(TWO, async (editor, uri) => {
    const line = lineOf(TWO, "Result:** `call_2`");
    // The person writes above it: the line is another one now, the call is the same.
    editor.replace(uri, "Please.", "Please.\n\nMore\nand\nmore.");
    assert.deepEqual((await editor.execute("flemma.approve", { uri, version: 1, line })).result, {
      started: true,
    });
    await editor.until(() => editor.textOf(uri).includes("status=approved"), "it is approved");
    assert.match(
      editor.textOf(uri),
      /`call_1`\n\n```flemma:tool status=pending[^]*`call_2`\n\n```flemma:tool status=approved/,
    );
    // The call is another one now.
    const version = editor.versionOf(uri);
    const at = lineOf(editor.textOf(uri), "Result:** `call_1`");
    editor.replace(uri, "echo one", "echo other");
    const refused = await editor.execute("flemma.approve", { uri, version, line: at });
    assert.equal(refused.error.code, -32801);
    // What the person wrote since is not sent by a key from before.
    const advance = await editor.execute("flemma.advance", { uri, version });
    assert.equal(advance.error.code, -32801);
    // Commands that concern more than one call, and versions that nobody knows.
    for (const [command, at] of [["flemma.approveAll", version], ["flemma.approve", 99]] as const) {
      assert.equal((await editor.execute(command, { uri, version: at, id: "call_1" })).error.code, -32801);
    }
    assert.equal(await editor.shutdown(), 0);
  }));

Deno.test("two calls that a person approves by actions one right after the other both count as approved by the person", () =>
  withEditor(TWO, async (editor, uri) => {
    const confirmed: Promise<Json>[] = [];
    for (const id of ["call_1", "call_2"]) {
      const actions = await editor.codeActions(uri, `Result:** \`${id}\``);
      const approve = actions.find(({ title }: Json) => title === `Approve bash (${id})`);
      editor.apply(approve.edit);
      confirmed.push(editor.request("workspace/executeCommand", approve.command));
    }
    assert.deepEqual(await Promise.all(confirmed), [{ confirmed: true }, { confirmed: true }]);
    assert.equal(await editor.shutdown(), 0);
  }));

const STREAM = { flemma: { stream: true } };

const events = (editor: LspEditor): Json[] =>
  editor.reported.filter(({ method }) => method === "flemma/event").map(({ params }) => params.event);

const streamed = (editor: LspEditor) => events(editor).map(({ text = "" }) => text).join("");

const lineOf = (text: string, part: string) => text.slice(0, text.indexOf(part)).split("\n").length;

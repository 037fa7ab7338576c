// Invalid messages to the language server, and an end at a bad moment.

import assert from "node:assert/strict";
import { callsDocument, testWithScene as test } from "../../cli/harness.ts";
import { Random } from "../../parser/hostile.ts";
import { type Json, LspEditor } from "./client.ts";
import { offsetOf, positionOf, type Unit } from "./counting.ts";
import { changes, freshText } from "./typing.ts";

const KEY = { ANTHROPIC_API_KEY: "test-key" };
const SLEEPING = callsDocument([{
  id: "call_1",
  command: "echo out; touch began; sleep 60",
  status: "approved",
}]);

test("the server answers any invalid message with an error and continues", async (place) => {
  await using editor = LspEditor.unready(place);
  const errors = () =>
    editor.reported.filter(({ method }) => method === "error").map(({ params }) => params.code);
  assert.equal((await editor.answer("textDocument/hover", {})).error.code, -32002);
  editor.notify("textDocument/didOpen", { textDocument: { uri: "file:///a", text: "x" } });
  await editor.raw("Content-Length: 3\r\n\r\n{a}");
  await editor.raw("Content-Type: text\r\n\r\n");
  await editor.raw("Content-Length: 2\r\n\r\n[]Content-Length: 4\r\n\r\nnull");
  await editor.raw('content-length:   15\r\nX-More: yes\r\n\r\n{"jsonrpc":"2"}');
  await editor.raw(`Content-Length: 300000000\r\n\r\n`);
  const block = new Uint8Array(1_000_000);
  for (let sent = 0; sent < 300; sent++) await editor.raw(block);
  await editor.request("initialize", { capabilities: null });
  assert.deepEqual(errors(), [-32700, -32700, -32600, -32600, -32600, -32700]);
  assert.equal((await editor.answer("initialize", {})).error.code, -32600);
  assert.equal((await editor.answer("textDocument/rename", {})).error.code, -32601);
  assert.equal((await editor.answer("toString", {})).error.code, -32601);
  for (
    const params of [undefined, null, 7, [], { textDocument: 7 }, { textDocument: { uri: "file:///none" } }]
  ) {
    for (
      const method of ["textDocument/foldingRange", "textDocument/codeAction", "textDocument/diagnostic"]
    ) {
      assert.equal(
        (await editor.answer(method, params)).error,
        undefined,
        `${method} ${JSON.stringify(params)}`,
      );
    }
    for (const method of ["didOpen", "didChange", "didClose"]) {
      editor.notify(`textDocument/${method}`, params);
    }
  }
  assert.equal(
    (await editor.answer("textDocument/hover", { position: { line: -1, character: 0 } })).error.code,
    -32602,
  );
  assert.equal(await editor.shutdown(), 0);
});

test("after shutdown the server answers no message, and exit without shutdown counts as a failure", async (place) => {
  const editor = await LspEditor.start(place);
  await editor.request("shutdown", undefined);
  assert.equal((await editor.answer("textDocument/hover", {})).error.code, -32600);
  editor.notify("exit", undefined);
  assert.equal(await editor.ends(), 0);
  await editor[Symbol.asyncDispose]();
  const rude = await LspEditor.start(place);
  rude.notify("exit", undefined);
  assert.equal(await rude.ends(), 1);
  await rude[Symbol.asyncDispose]();
});

test("positions beyond lines and documents, and inside characters, are moved to the nearest valid position", async (place) => {
  await using editor = await LspEditor.start(place, {
    capabilities: { general: { positionEncodings: ["utf-8"] } },
  });
  const uri = `file://${place.path("a.chat")}`;
  editor.open(uri, "@You:\n🙂\n");
  const change = (line: number, character: number, text: string, version: number) =>
    editor.notify("textDocument/didChange", {
      textDocument: { uri, version },
      contentChanges: [{ range: { start: { line, character }, end: { line, character } }, text }],
    });
  change(1, 2, "x", 2);
  change(1, 900, "y", 3);
  change(900, 0, "z\n", 4);
  const symbols = await editor.request("textDocument/documentSymbol", { textDocument: { uri } });
  assert.equal(symbols[0].name, "@You: x🙂y");
  const [, block] = await editor.request("textDocument/foldingRange", { textDocument: { uri } });
  assert.equal(block, undefined);
  assert.equal(symbols[0].location.range.end.line, 3);
  assert.equal(await editor.shutdown(), 0);
});

for (const how of ["closes the document", "hangs up", "ends it by a signal"] as const) {
  test(`when the editor ${how}, the run's results are saved, and no command keeps running`, async (place) => {
    await using editor = await LspEditor.start(place, { env: KEY });
    const uri = `file://${place.path("f.chat")}`;
    place.write("f.chat", SLEEPING);
    editor.open(uri, SLEEPING);
    await editor.execute("flemma.advance", { uri, version: 1 });
    while (!place.exists("began")) await new Promise((done) => setTimeout(done, 5));
    if (how === "closes the document") {
      editor.notify("textDocument/didClose", { textDocument: { uri } });
      await editor.runEnds();
      assert.equal(await editor.shutdown(), 0);
    } else {
      if (how === "hangs up") await editor.hangUp();
      else editor.kill("SIGTERM");
      assert.equal(await editor.ends(), 1);
    }
    const kept = await place.run(["recover"]);
    assert.match(kept.stdout, /\(error\)\n\n```\nout\n/);
    const again = await place.run(["status", "f.chat"]);
    assert.doesNotMatch(again.stdout, /in use/);
  });
}

test("the text that a killed server was about to write is saved", async (place) => {
  const text = callsDocument([{ id: "call_1", command: "echo out", status: "approved" }]);
  const uri = `file://${place.path("f.chat")}`;
  place.write("f.chat", text);
  let asked = false;
  await using editor = await LspEditor.start(place, {
    env: KEY,
    liar: true,
    beforeEdit: (editor) => {
      if (!asked) editor.kill("SIGKILL");
      asked = true;
    },
  });
  editor.open(uri, text);
  void editor.execute("flemma.advance", { uri, version: 1 });
  await editor.ends();
  assert.ok(asked);
  assert.match((await place.run(["recover"])).stdout, /```\nout\n```/);
  // The next run asks, instead of running a command with effects twice.
  assert.match((await place.run(["advance", "f.chat"], { env: KEY })).stderr, /waits? for you|out/);
});

/** The findings as `flemma check` prints them, without the words that only an editor is told. */
const asChecked = (findings: readonly Json[]) =>
  findings.map(({ code, range, message }) =>
    code === "tool_use_unresolved" ? [code] : [code, range.start.line + 1, range.start.character + 1, message]
  );

for (const unit of ["utf-8", "utf-16"] as const) {
  test(`after each of many edits, counted in ${unit}, the diagnostics equal those of flemma check`, async (place) => {
    const edits = Number(Deno.env.get("FLEMMA_LSP_EDITS") ?? 80);
    const random = new Random(Number(Deno.env.get("FLEMMA_LSP_SEED") ?? 15));
    await using editor = await LspEditor.start(place, {
      env: KEY,
      capabilities: { general: { positionEncodings: [unit] } },
    });
    assert.equal(editor.unit, unit);
    const uri = `file://${place.path("f.chat")}`;
    const texts: string[] = [];
    const reported: Json[] = [];
    for (let count = 0; count < edits; count++) {
      if (count % 25 === 0) editor.open(uri, freshText(random));
      else editor.change(uri, ...changes(random, editor.textOf(uri), unit));
      reported.push(asChecked(await editor.findings(uri)));
      texts.push(editor.textOf(uri));
    }
    for (const [index, each] of texts.entries()) place.write(`${index}.chat`, each);
    const { stdout } = await place.run(["check", "--json", ...texts.map((_, index) => `${index}.chat`)], {
      env: KEY,
    });
    const reports: Json[] = JSON.parse(stdout);
    assert.equal(reports.length, edits);
    for (const [index, { diagnostics }] of reports.entries()) {
      const text = texts[index]!;
      const expected = diagnostics.map(({ code, start, start_col, line = start ?? 1, message }: Json) =>
        code === "tool_use_unresolved"
          ? [code]
          : [code, line, column(text, { line, start_col }, unit), message]
      );
      assert.deepEqual(reported[index], expected, JSON.stringify(text));
    }
    assert.equal(await editor.shutdown(), 0);
  });
}

/** The column of a finding as the editor counts it, which takes a byte order mark for a character. */
function column(text: string, { line, start_col: bytes = 1 }: Json, unit: Unit): number {
  const mark = line === 1 && text.startsWith("\ufeff") ? 1 : 0;
  const start = offsetOf(text, { line: line - 1, character: 0 }) + mark;
  const before = offsetOf(text.slice(start), { line: 0, character: bytes - 1 }, "utf-8");
  return positionOf(text, start + before, unit).character + 1;
}

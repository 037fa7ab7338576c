// What surrounds an open document: changed settings, other clients, file names, the end of a run.

import assert from "node:assert/strict";
import { fileUri } from "../../../base/paths.ts";
import { callsDocument, type Scene, testWithScene as test, withScene } from "../../cli/harness.ts";
import { textReply, withServer } from "../../cli/replies.ts";
import { CAPABILITIES, type Json, LspEditor } from "./client.ts";

const KEY = { ANTHROPIC_API_KEY: "test-key" };
const PENDING = callsDocument([{ id: "call_1", command: "echo hello", status: "pending" }]);
const QUESTION = "@You:\nHow are you?\n";

/** An editor that shows the file of this name. */
async function shows(place: Scene, name: string, text: string, env: Readonly<Record<string, string>> = {}) {
  place.write(name, text);
  const editor = await LspEditor.start(place, { env: { ...KEY, ...env } });
  const uri = fileUri(place.path(name));
  editor.open(uri, text);
  return { editor, uri };
}

const decisionOf = async (editor: LspEditor, uri: string) =>
  (await editor.execute("flemma.status", { uri })).result.calls[0].decision as string;

for (
  const [what, tell] of Object.entries({
    "files that are watched": (editor: LspEditor) =>
      editor.notify("workspace/didChangeWatchedFiles", { changes: [] }),
    "its configuration": (editor: LspEditor) =>
      editor.notify("workspace/didChangeConfiguration", { settings: null }),
    "a saved document": (editor: LspEditor) => editor.notify("textDocument/didSave", {}),
  })
) {
  test(`after the editor's notice about ${what}, changed settings take effect and diagnostics are sent again`, async (place) => {
    const { editor, uri } = await shows(place, "f.chat", PENDING);
    await using _ = editor;
    await editor.findings(uri);
    assert.equal(await decisionOf(editor, uri), "approve");
    place.settings("tools:\n  rules:\n    - { ask: bash }\n");
    const before = editor.reported.length;
    tell(editor);
    assert.equal(await decisionOf(editor, uri), "require_approval");
    await editor.until(
      () => editor.reported.slice(before).some(({ method }) => method === "textDocument/publishDiagnostics"),
      "the findings are told anew",
    );
    place.settings("tools: 7\n");
    tell(editor);
    const wrong = await editor.until(
      () =>
        editor.reported.findLast(({ method }) => method === "textDocument/publishDiagnostics")?.params
          .diagnostics
          .find((each: Json) => each.severity === 1),
      "the settings are told to be wrong",
    );
    assert.match(wrong.message, /tools/);
    assert.equal(await editor.shutdown(), 0);
  });
}

test("the server asks the editor to watch settings files next to documents and the person's own", async (place) => {
  await using editor = await LspEditor.start(place);
  const asked = await editor.until(
    () => editor.reported.find(({ method }) => method === "client/registerCapability"),
    "files are asked to be watched",
  );
  const patterns = asked.params.registrations[0].registerOptions.watchers.map(({ globPattern }: Json) =>
    globPattern
  );
  assert.deepEqual(patterns, ["**/.flemma/**", "**/*.chat", `${place.folder}/config/flemma/**`]);
});

test("a request can be viewed without being sent, and is refused while the frontmatter has an error", async (place) => {
  const { editor, uri } = await shows(place, "f.chat", QUESTION);
  await using _ = editor;
  const { result } = await editor.execute("flemma.showRequest", { uri, version: 1 });
  assert.match(result.url, /^https:\/\//);
  assert.match(JSON.stringify(result.body), /How are you\?/);
  editor.replace(uri, "@You:\n", "```json\n{\n```\n\n@You:\n");
  const blocked = await editor.execute("flemma.showRequest", { uri });
  assert.equal(blocked.error.code, -32803);
  assert.match(blocked.error.message, /JSON/);
});

Deno.test("the command send sends a request and runs no call, and reports a call without a result", () =>
  withServer([textReply("Fine.")], ({ env, requests }) =>
    withScene(async (place) => {
      const { editor, uri } = await shows(place, "f.chat", PENDING, env);
      await using _ = editor;
      await editor.execute("flemma.send", { uri, version: 1 });
      const refused = await editor.runEnds();
      assert.match(refused, /call_1/);
      assert.equal(requests.length, 0);
      editor.open(uri, QUESTION);
      await editor.execute("flemma.send", { uri, version: 1 });
      await editor.runEnds(2);
      assert.equal(editor.textOf(uri), `${QUESTION}\n@Assistant:\nFine.\n\n@You:\n\n`);
      assert.equal(await editor.shutdown(), 0);
    })));

test("a document that loosens the person's settings waits until they trust it in the editor", async (place) => {
  const text =
    `\`\`\`yaml\nflemma:\n  sandbox: false\n  tools:\n    auto_approve: [bash]\n\`\`\`\n\n${PENDING}`;
  const { editor, uri } = await shows(place, "f.chat", text);
  await using _ = editor;
  assert.equal(await decisionOf(editor, uri), "require_approval");
  const trusted = await editor.execute("flemma.trust", { uri, version: 1 });
  assert.deepEqual(trusted.result, { started: true });
  await editor.until(() => true, "it is open");
  assert.equal(await decisionOf(editor, uri), "approve");
  assert.equal(editor.textOf(uri), text);
  const stale = await editor.execute("flemma.trust", { uri, version: 0 });
  assert.equal(stale.error.code, -32801);
});

/** A model that never answers. */
async function withSilence(
  body: (env: Readonly<Record<string, string>>, asked: Promise<void>) => Promise<void>,
): Promise<void> {
  const asked = Promise.withResolvers<void>();
  const end = Promise.withResolvers<Response>();
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, () => {
    asked.resolve();
    return end.promise;
  });
  try {
    await body({ FLEMMA_ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.addr.port}` }, asked.promise);
  } finally {
    end.resolve(new Response(null, { status: 500 }));
  }
}

Deno.test("a run that waits for a model can be cancelled, also by cancelling the command that started the run; the text stays unchanged", () =>
  withSilence((env, asked) =>
    withScene(async (place) => {
      const { editor, uri } = await shows(place, "f.chat", QUESTION, env);
      await using _ = editor;
      assert.deepEqual((await editor.execute("flemma.cancel", { uri })).result, { cancelled: false });
      await editor.execute("flemma.advance", { uri, version: 1 });
      await asked;
      assert.deepEqual((await editor.execute("flemma.cancel", { uri })).result, { cancelled: true });
      assert.match(await editor.runEnds(), /Stopped/);
      assert.equal(editor.textOf(uri), QUESTION);
      // Taken back in the same moment: it had not begun.
      const begun = editor.execute("flemma.advance", { uri, version: 1 });
      editor.notify("$/cancelRequest", { id: editor.lastId });
      assert.deepEqual((await begun).result, { started: true });
      assert.match(await editor.runEnds(2), /Stopped/);
      // So is one that is cancelled by the command for it.
      void editor.execute("flemma.advance", { uri, version: 1 });
      assert.deepEqual((await editor.execute("flemma.cancel", { uri })).result, { cancelled: true });
      assert.match(await editor.runEnds(3), /Stopped/);
      assert.equal(editor.textOf(uri), QUESTION);
      assert.equal(await editor.shutdown(), 0);
    })
  ));

test("if a document is closed at the moment a run starts, nothing runs", async (place) => {
  const text = callsDocument([{ id: "call_1", command: "echo ran >> ran", status: "approved" }]);
  const { editor, uri } = await shows(place, "f.chat", text);
  await using _ = editor;
  void editor.execute("flemma.advance", { uri, version: 1 });
  editor.notify("textDocument/didClose", { textDocument: { uri } });
  assert.equal(await editor.shutdown(), 0);
  assert.equal(place.exists("ran"), false);
  assert.doesNotMatch((await place.run(["status", "f.chat"])).stdout, /in use/);
});

Deno.test("if two editors have the same document open, one of them runs it, the other is notified, and both get the same text", () =>
  withSilence((env, asked) =>
    withScene(async (place) => {
      const first = await shows(place, "f.chat", QUESTION, env);
      await using one = first.editor;
      await Deno.symlink(place.path("f.chat"), place.path("link.chat"));
      const { editor: two } = await shows(place, "other.chat", QUESTION, env);
      await using _ = two;
      const { uri } = first;
      await one.execute("flemma.advance", { uri, version: 1 });
      await asked;
      for (const each of [uri, fileUri(place.path("link.chat"))]) {
        two.open(each, PENDING);
        const refused = await two.execute("flemma.advance", { uri: each, version: 1 });
        assert.equal(refused.error.data.code, "document-locked");
        // A word in the text is the person's: it needs no lock.
        const approve = (await two.codeActions(each, "flemma:tool")).find(({ title }) =>
          /^Approve/.test(title)
        );
        const locked = () =>
          two.reported.filter(({ method, params }) =>
            method === "window/logMessage" && /in use/.test(params.message)
          ).length;
        const before = locked();
        await two.take(approve);
        assert.equal(two.textOf(each), PENDING.replace("pending", "approved"));
        // That the person approved it cannot be noted meanwhile. The try ends before the lock is free.
        await two.until(() => locked() > before, "it is told that the document is in use");
      }
      // The same file under another name in the same editor.
      one.open(fileUri(place.path("link.chat")), QUESTION);
      const again = await one.execute("flemma.advance", {
        uri: fileUri(place.path("link.chat")),
        version: 1,
      });
      assert.equal(again.error.data.code, "document-locked");
      one.kill("SIGKILL");
      await one.ends();
      // Its lock is gone with it.
      const free = await two.execute("flemma.status", { uri });
      assert.equal(free.error, undefined);
      const marked = await two.execute("flemma.reject", { uri, id: "call_1", message: "No." });
      assert.deepEqual(marked.result, { started: true }, JSON.stringify(marked));
      assert.equal(await two.shutdown(), 0);
    })
  ));

test("a document's file is the one its URI names, whatever characters the name has", async (place) => {
  await using editor = await LspEditor.start(place, { env: KEY });
  place.write("beside.md", "FROM BESIDE\n");
  const names = ["a b.chat", "100%.chat", "größe 🙂.chat", "c#d?e.chat", "f%41.chat", "g\\h|.chat"];
  for (const name of names) {
    place.write(name, "");
    const text = "@You:\nSee @./beside.md\n";
    // Some clients encode nothing at all; a percent sign with two digits behind it they cannot mean.
    const spellings = [
      fileUri(place.path(name)),
      ...(name === "f%41.chat" ? [] : [`file://${place.path(name)}`]),
    ];
    for (const uri of spellings) {
      editor.open(uri, text);
      const status = await editor.execute("flemma.status", { uri });
      assert.equal(status.error, undefined, uri);
      const { result } = await editor.execute("flemma.showRequest", { uri });
      assert.match(JSON.stringify(result.body), /FROM BESIDE/, uri);
    }
  }
  assert.equal(await editor.shutdown(), 0);
});

Deno.test("if an open file is renamed, its conversation continues under the new name", () =>
  withServer([textReply("Fine."), textReply("Better.")], ({ env }) =>
    withScene(async (place) => {
      const { editor, uri } = await shows(place, "old.chat", QUESTION, env);
      await using _ = editor;
      await editor.execute("flemma.advance", { uri, version: 1 });
      await editor.runEnds();
      const text = editor.textOf(uri);
      await Deno.rename(place.path("old.chat"), place.path("new.chat"));
      editor.notify("textDocument/didClose", { textDocument: { uri } });
      const now = fileUri(place.path("new.chat"));
      editor.open(now, text.replace(/\n\n$/, "\nAnd now?\n"));
      await editor.execute("flemma.advance", { uri: now, version: 1 });
      await editor.runEnds(2);
      assert.match(editor.textOf(now), /And now\?\n\n@Assistant:\nBetter\./);
      const closed = await editor.execute("flemma.advance", { uri, version: 1 });
      assert.equal(closed.error.code, -32602);
      assert.equal(await editor.shutdown(), 0);
    })));

test("an editor that names no folder works with the folder of the document", async (place) => {
  await Deno.mkdir(place.path("deep/.flemma"), { recursive: true });
  place.write("deep/beside.md", "FROM BESIDE\n");
  const { editor, uri } = await shows(place, "deep/f.chat", "@You:\nSee @./beside.md\n");
  await using _ = editor;
  const { result } = await editor.execute("flemma.showRequest", { uri });
  assert.match(JSON.stringify(result.body), /FROM BESIDE/);
  const links = await editor.request("textDocument/documentLink", { textDocument: { uri } });
  assert.deepEqual(links.map(({ target }: Json) => target), [fileUri(place.path("deep/beside.md"))]);
});

test("messages out of order, without a version or without content change no text", async (place) => {
  await using editor = await LspEditor.start(place, { env: KEY, capabilities: CAPABILITIES });
  const uri = "untitled:a";
  editor.notify("initialized", {});
  editor.notify("$/setTrace", { value: "verbose" });
  editor.notify("textDocument/didChange", {
    textDocument: { uri, version: 3 },
    contentChanges: [{ text: "x" }],
  });
  editor.notify("textDocument/didClose", { textDocument: { uri } });
  editor.open(uri, PENDING);
  editor.notify("textDocument/didChange", {
    textDocument: { uri, version: 1 },
    contentChanges: [7, null, {}],
  });
  editor.notify("textDocument/didChange", { textDocument: { uri, version: 1 }, contentChanges: "no" });
  assert.equal((await editor.findings(uri)).length, 1);
  assert.equal((await editor.answer("$/unknown", {})).error.code, -32601);
  assert.equal((await editor.answer("workspace/executeCommand", {})).error.code, -32602);
  assert.equal(await editor.shutdown(), 0);
});

Deno.test("a change that cannot be read is an error, and the server makes no edits until the editor sends its text again", () =>
  withServer(
    [textReply("I am well."), textReply("Still well.")],
    ({ env, requests }) =>
      withScene(async (place) => {
        await using editor = await LspEditor.start(place, {
          env: { ...KEY, ...env },
          capabilities: CAPABILITIES,
        });
        const uri = "untitled:a";
        const whole = () =>
          editor.request("workspace/executeCommand", { command: "flemma.showRequest", arguments: [{ uri }] });
        const start = { line: 1, character: 0 };
        const range = { start, end: start };
        const unreadable: readonly Json[] = [
          { range: [start, start], text: "x" },
          { range: null, text: "x" },
          { range: {}, text: "x" },
          { range: { start }, text: "x" },
          { range: { start, end: { line: 1 } }, text: "x" },
          { range: { start, end: { line: 1, character: -1 } }, text: "x" },
          { range: "0:0", text: "x" },
          { range },
          { range, text: null },
          { text: 7 },
          {},
          null,
        ];
        for (const [index, change] of unreadable.entries()) {
          const what = JSON.stringify(change);
          editor.open(uri, PENDING);
          for (const changes of [[change], [{ range, text: "y" }, change, { range, text: "z" }]]) {
            editor.notify("textDocument/didChange", {
              textDocument: { uri, version: 1 },
              contentChanges: changes,
            });
          }
          // What can be read afterwards changes a text that nobody knows.
          editor.notify("textDocument/didChange", {
            textDocument: { uri, version: 1 },
            contentChanges: [{ range, text: "y" }],
          });
          for (const command of ["flemma.approve", "flemma.advance", "flemma.trust"]) {
            const { error } = await editor.execute(command, { uri, version: 1 });
            assert.match(error?.message ?? "", /reported an invalid change/, `${command} after ${what}`);
          }
          assert.equal(await editor.codeActions(uri, "flemma:tool"), null, what);
          const errors = editor.reported.filter(({ method, params }) =>
            method === "window/showMessage" && params.type === 1 &&
            /invalid change.*reopen the document/.test(params.message)
          );
          // One for the change, one for each refused command.
          assert.equal(errors.length, 4 * (index + 1), what);
        }
        assert.equal(requests.length, 0);
        editor.notify("textDocument/didChange", {
          textDocument: { uri, version: 2 },
          contentChanges: [{ text: "@You:\nHow are you?\n" }],
        });
        assert.match(JSON.stringify(await whole()), /How are you\?/);
        editor.open(uri, "@You:\nAnd now?\n");
        await editor.execute("flemma.advance", { uri, version: 1 });
        await editor.runEnds();
        assert.equal(editor.textOf(uri), "@You:\nAnd now?\n\n@Assistant:\nI am well.\n\n@You:\n\n");
        assert.equal(await editor.shutdown(), 0);
      }),
  ));

Deno.test("if an unreadable change arrives, the run ends, flemma saves its reply, and sends no request again", () =>
  withServer([textReply("I am well.")], ({ env, requests }) =>
    withScene(async (place) => {
      const uri = `file://${place.path("f.chat")}`;
      const text = "@You:\nHow are you?\n";
      place.write("f.chat", text);
      await using editor = await LspEditor.start(place, {
        env: { ...KEY, ...env },
        capabilities: CAPABILITIES,
        beforeEdit: (editor) => {
          const start = { line: 1, character: 0 };
          editor.notify("textDocument/didChange", {
            textDocument: { uri, version: 2 },
            contentChanges: [{ range: [start, start], text: "Well, " }],
          });
          editor.texts.get(uri)!.version++;
        },
      });
      editor.open(uri, text);
      await editor.execute("flemma.advance", { uri, version: 1 });
      const message = await editor.runEnds();
      const id = /flemma recover (\S+)/.exec(message)?.[1];
      assert.ok(id, message);
      assert.match((await place.run(["recover", id])).stdout, /I am well\./);
      assert.equal(editor.textOf(uri), text);
      assert.equal(requests.length, 1);
      assert.equal(await editor.shutdown(), 0);
    })));

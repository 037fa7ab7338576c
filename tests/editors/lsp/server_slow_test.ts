// The language server as an editor sees it: a real process, a client that holds the text, a server on loopback as the
// model.

import assert from "node:assert/strict";
import { withCrowd } from "../../cli/crowd.ts";
import { callsDocument, type Scene, testWithScene as test, withScene } from "../../cli/harness.ts";
import { callReply, textReply, withServer } from "../../cli/replies.ts";
import { CAPABILITIES, type EditorOptions, type Json, LspEditor } from "./client.ts";

const KEY = { ANTHROPIC_API_KEY: "test-key" };
const QUESTION = "@You:\nHow are you?\n";
const PENDING = callsDocument([{ id: "call_1", command: "echo ran >> runs; echo hello", status: "pending" }]);
const TWO = callsDocument([
  { id: "call_1", command: "echo one", status: "pending" },
  { id: "call_2", command: "echo two", status: "pending" },
]);

/** A document in a place, open in an editor. */
async function withEditor(
  text: string,
  body: (editor: LspEditor, uri: string, place: Scene) => Promise<void>,
  options: EditorOptions & { readonly settings?: string } = {},
): Promise<void> {
  await withScene(async (place) => {
    if (options.settings !== undefined) place.settings(options.settings);
    place.write("f.chat", text);
    const uri = `file://${place.path("f.chat")}`;
    await using editor = await LspEditor.start(place, { ...options, env: { ...KEY, ...options.env } });
    editor.open(uri, text);
    await body(editor, uri, place);
    assert.equal(await editor.shutdown(), 0);
  });
}

/** A model that answers when it is told to. */
async function withModel(
  text: string,
  body: (model: {
    readonly env: Readonly<Record<string, string>>;
    readonly asked: Promise<void>;
    answer(): void;
  }) => Promise<void>,
): Promise<void> {
  const asked = Promise.withResolvers<void>();
  const reported = Promise.withResolvers<void>();
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async () => {
    asked.resolve();
    await reported.promise;
    const events = textReply(text).events!.map((event) =>
      `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
    );
    return new Response(events.join(""), { headers: { "content-type": "text/event-stream" } });
  });
  const env = { FLEMMA_ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.addr.port}` };
  await body({ env, asked: asked.promise, answer: reported.resolve });
}

const titles = (actions: readonly Json[]) => actions.map(({ title }) => title);
const byTitle = (actions: readonly Json[], title: string) => {
  const found = actions.find((action) => action.title === title);
  assert.ok(found, `${title} is among ${titles(actions).join("; ")}`);
  return found;
};

Deno.test("for a waiting call there is a diagnostic that says what the call would do", () =>
  withEditor(PENDING, async (editor, uri) => {
    const findings = await editor.findings(uri);
    assert.deepEqual(
      findings.map(({ code, severity, message, source }) => ({ code, severity, message, source })),
      [{
        code: "tool_use_unresolved",
        severity: 3,
        message: "waits for you: bash: $ echo ran >> runs; echo hello",
        source: "flemma",
      }],
    );
    const line = PENDING.split("\n").indexOf("**Tool Result:** `call_1`");
    assert.equal(findings[0].range.start.line, line);
    assert.match(findings[0].relatedInformation[0].message, /the block of call_1/);
  }));

Deno.test("a document that waits for a batch has a diagnostic at its placeholder, and advance only says why", () => {
  const fence = `\`\`\`flemma:reply status=batched item=${"a".repeat(32)}\n\`\`\`\n`;
  const text = `@You:\nHello\n\n**Reply:** \`batch b1\`\n\n${fence}`;
  return withEditor(text, async (editor, uri) => {
    const [finding, ...others] = await editor.findings(uri);
    assert.deepEqual([finding.code, finding.severity, finding.range.start.line, others], [
      "batched",
      3,
      3,
      [],
    ]);
    await editor.execute("flemma.advance", { uri, version: editor.versionOf(uri) });
    await editor.runEnds();
    assert.equal(editor.textOf(uri), text);
    const shown = editor.reported.flatMap(({ method, params }) =>
      method === "$/progress" ? [params.value.message ?? ""] : []
    );
    assert.match(shown.join("\n"), /The request is in the batch b1/);
  });
});

Deno.test("approving a call changes one word; after that, advance runs the call and inserts the reply in one edit", () =>
  withServer([textReply("Done.")], ({ env }) =>
    withEditor(PENDING, async (editor, uri, place) => {
      const actions = await editor.codeActions(uri, "flemma:tool");
      const approve = byTitle(actions, "Approve bash (call_1)");
      assert.equal(approve.isPreferred, true);
      assert.equal(approve.command.command, "flemma.confirm");
      await editor.take(approve);
      assert.equal(editor.textOf(uri), PENDING.replace("status=pending", "status=approved"));
      const answer = await editor.execute("flemma.advance", { uri, version: editor.versionOf(uri) });
      assert.deepEqual(answer.result, { started: true });
      await editor.runEnds();
      assert.equal(place.read("runs"), "ran\n");
      assert.equal(
        editor.textOf(uri),
        PENDING.replace("```flemma:tool status=pending\n```", "```\nhello\n```") +
          "\n@Assistant:\nDone.\n\n@You:\n\n",
      );
      // The file is the editor's to save.
      assert.equal(place.read("f.chat"), PENDING);
      const edits = editor.reported.filter(({ method }) => method === "workspace/applyEdit");
      assert.equal(edits.length, 2, "one for the result, one for the reply");
    }, { env })));

Deno.test("rejecting a call changes one word; rejecting with a reason also adds an empty line, to which the editor moves the cursor", () =>
  withEditor(PENDING, async (editor, uri) => {
    const actions = await editor.codeActions(uri, "flemma:tool");
    assert.equal(byTitle(actions, "Reject bash (call_1)").command, undefined);
    await editor.take(byTitle(actions, "Reject bash (call_1) with a reason…"));
    assert.equal(editor.textOf(uri), PENDING.replace("status=pending\n", "status=rejected\n\n"));
    const shown = await editor.until(
      () => editor.reported.find(({ method }) => method === "window/showDocument"),
      "the place is shown",
    );
    assert.equal(editor.textOf(uri).split("\n")[shown.params.selection.start.line], "");
  }));

Deno.test("the reject command accepts a reason", () =>
  withEditor(PENDING, async (editor, uri) => {
    const answer = await editor.execute("flemma.reject", {
      uri,
      id: "call_1",
      message: "Use the staging host.",
    });
    assert.deepEqual(answer.result, { started: true });
    await editor.until(() => editor.textOf(uri).includes("Use the staging host."), "the reason is there");
    assert.match(editor.textOf(uri), /status=rejected\nUse the staging host\.\n```/);
  }));

Deno.test("a command for an outdated version of the text is refused and reported", () =>
  withEditor(PENDING, async (editor, uri) => {
    editor.replace(uri, "Please.", "Please!");
    const answer = await editor.execute("flemma.advance", { uri, version: 1 });
    assert.equal(answer.error.code, -32801);
    assert.ok(editor.shown.some((text) => text.includes("has changed since")));
    assert.equal(editor.textOf(uri), PENDING.replace("Please.", "Please!"));
  }));

Deno.test("all calls are approved together, or none if one of them is not shown completely", async () => {
  await withEditor(TWO, async (editor, uri) => {
    byTitle(await editor.codeActions(uri, "flemma:tool"), "Approve all calls");
    await editor.execute("flemma.approveAll", { uri, version: 1 });
    await editor.until(() => !editor.textOf(uri).includes("pending"), "both are approved");
    assert.equal(editor.textOf(uri), TWO.replaceAll("pending", "approved"));
  });
  const long = TWO.replace("echo two", `echo ${"long ".repeat(40)}`);
  await withEditor(long, async (editor, uri) => {
    const answer = await editor.execute("flemma.approveAll", { uri, version: 1 });
    assert.equal(answer.error.data.code, "preview-cut");
    assert.equal(editor.textOf(uri), long);
  });
});

Deno.test("text typed below a streaming reply stays below it and becomes the next question", () =>
  withModel("I am well.", ({ env, asked, answer }) =>
    withEditor(QUESTION, async (editor, uri) => {
      await editor.execute("flemma.advance", { uri, version: 1 });
      await asked;
      const end = { line: 2, character: 0 };
      editor.change(uri, { range: { start: end, end }, newText: "\n@You:\nAnd you?\n" });
      editor.replace(uri, "How", "Hello. How");
      await editor.findings(uri);
      answer();
      await editor.runEnds();
      assert.equal(
        editor.textOf(uri),
        "@You:\nHello. How are you?\n\n@Assistant:\nI am well.\n\n\n@You:\nAnd you?\n",
      );
    }, { env })));

for (const eol of ["\n", "\r\n"]) {
  Deno.test(`a line opened at the end of the last line stays below a reply, with ${JSON.stringify(eol)}`, () =>
    withModel(
      "I am well.",
      ({ env, asked, answer }) =>
        withEditor(QUESTION.replaceAll("\n", eol), async (editor, uri) => {
          await editor.execute("flemma.advance", { uri, version: 1 });
          await asked;
          const typeAt = (line: number, character: number, newText: string) =>
            editor.change(uri, {
              range: { start: { line, character }, end: { line, character } },
              newText,
            });
          typeAt(1, 12, eol);
          for (const [at, each] of [..."@You:"].entries()) typeAt(2, at, each);
          typeAt(2, 5, `${eol}And you?`);
          await editor.findings(uri);
          answer();
          await editor.runEnds();
          assert.equal(
            editor.textOf(uri).replaceAll("\r\n", "\n"),
            "@You:\nHow are you?\n\n@Assistant:\nI am well.\n\n@You:\nAnd you?\n",
          );
        }, { env }),
    ));
}

Deno.test("an edit that the editor refuses as outdated is sent again for the current text", () =>
  withServer([textReply("I am well.")], ({ env }) =>
    withEditor(QUESTION, async (editor, uri) => {
      await editor.execute("flemma.advance", { uri, version: 1 });
      await editor.runEnds();
      assert.equal(editor.textOf(uri), "@You:\nHello. How are you?\n\n@Assistant:\nI am well.\n\n@You:\n\n");
      const edits = editor.reported.filter(({ method }) => method === "workspace/applyEdit");
      assert.equal(edits.length, 2);
    }, {
      env,
      beforeEdit: (editor, uri) => {
        if (editor.versionOf(uri) === 1) editor.replace(uri, "How", "Hello. How");
      },
    })));

Deno.test("a question typed in the moment in which a reply completes leaves no empty prompt above it", () =>
  withServer([textReply("I am well.")], ({ env }) =>
    withEditor(QUESTION, async (editor, uri) => {
      await editor.execute("flemma.advance", { uri, version: 1 });
      await editor.runEnds();
      assert.equal(
        editor.textOf(uri),
        "@You:\nHow are you?\n\n@Assistant:\nI am well.\n\n@You:\nAnd you?\n",
      );
    }, {
      env,
      beforeEdit: (editor, uri) => {
        if (editor.versionOf(uri) > 1) return;
        const end = { line: 2, character: 0 };
        editor.change(uri, { range: { start: end, end }, newText: "\n@You:\nAnd you?\n" });
      },
    })));

Deno.test("a reply is saved and its location reported if the editor accepts the edit but does not apply it", () =>
  withServer([textReply("I am well.")], ({ env }) =>
    withEditor(QUESTION, async (editor, uri, place) => {
      await editor.execute("flemma.advance", { uri, version: 1 });
      const message = await editor.runEnds();
      const id = /flemma recover (\S+)/.exec(message)?.[1];
      assert.ok(id, message);
      assert.equal(editor.textOf(uri), QUESTION);
      assert.match((await place.run(["recover", id])).stdout, /I am well\./);
    }, { env, liar: true })));

test("a run can be cancelled by its progress and by a command, and the text says so", async (place) => {
  const text = callsDocument([{ id: "call_1", command: "touch began; sleep 60", status: "approved" }]);
  const uri = `file://${place.path("f.chat")}`;
  for (const how of ["progress", "command"]) {
    place.write("f.chat", text);
    await using editor = await LspEditor.start(place, { env: KEY });
    editor.open(uri, text);
    await editor.execute("flemma.advance", { uri, version: 1 }, { workDoneToken: "mine" });
    await editor.until(
      () => editor.reported.some(({ params }) => params?.value?.message?.includes("sleep 60")),
      "it runs",
    );
    while (!place.exists("began")) await new Promise((done) => setTimeout(done, 5));
    const busy = await editor.execute("flemma.advance", { uri });
    assert.equal(busy.error.data.code, "busy");
    assert.deepEqual(titles(await editor.codeActions(uri, "@You", ["source"])), ["Cancel the run"]);
    if (how === "progress") editor.notify("window/workDoneProgress/cancel", { token: "mine" });
    else assert.deepEqual((await editor.execute("flemma.cancel", { uri })).result, { cancelled: true });
    await editor.runEnds();
    assert.match(editor.textOf(uri), /\(error\)/);
    await Deno.remove(place.path("began"));
    assert.equal(await editor.shutdown(), 0);
  }
});

test("if another program runs a document, this is reported", async (place) => {
  const text = callsDocument([{ id: "call_1", command: "touch began; sleep 60", status: "approved" }]);
  place.write("f.chat", text);
  const other = place.start(["advance", "f.chat"]);
  await place.appears("began", other);
  const uri = `file://${place.path("f.chat")}`;
  await using editor = await LspEditor.start(place, { env: KEY });
  editor.open(uri, text);
  const answer = await editor.execute("flemma.advance", { uri, version: 1 });
  assert.equal(answer.error.data.code, "document-locked");
  other.kill("SIGINT");
  await other.finished;
  assert.equal(await editor.shutdown(), 0);
});

test("after a run was killed, a window shows that the call may have run, until the file shows the question", async (place) => {
  const text = callsDocument([{ id: "call_1", command: "touch began; sleep 600", status: "approved" }]);
  place.write("f.chat", text);
  const killed = place.start(["advance", "f.chat"]);
  await place.appears("began", killed);
  killed.kill("SIGKILL");
  await killed.finished;
  const uri = `file://${place.path("f.chat")}`;
  await using editor = await LspEditor.start(place, { env: KEY });
  editor.open(uri, text);
  await editor.execute("flemma.advance", { uri, version: 1 });
  await editor.runEnds();
  const shown = editor.reported.filter(({ method, params }) =>
    method === "window/showMessage" && params.type === 2 &&
    /was running when flemma ended/.test(params.message)
  );
  assert.equal(shown.length, 1);
  assert.match(editor.textOf(uri), /status=pending/);
  const status = await place.run(["status", "f.chat"]);
  assert.match(status.stdout, /asks you again about call_1/, "the file still has the approval");
  assert.equal(await editor.shutdown(), 0);
});

Deno.test("a call that policy approves runs automatically, and autopilot continues until the person is needed", () =>
  withServer(
    [callReply("toolu_1", "echo first"), callReply("toolu_2", "rm -rf x")],
    ({ env }) =>
      withEditor(QUESTION, async (editor, uri) => {
        await editor.execute("flemma.advance", { uri, version: 1 });
        const message = await editor.runEnds();
        assert.match(message, /1 call \(toolu_2\) waits for you/);
        assert.match(editor.textOf(uri), /```\nfirst\n```/);
        const findings = await editor.findings(uri);
        assert.ok(findings.some((each) => each.message === "waits for you: bash: $ rm -rf x"));
      }, { env, settings: 'tools:\n  rules:\n    - { ask: bash, command: ["rm **"] }\n' }),
  ));

Deno.test("the unsaved text of a document is used, and a document without a file can be advanced too", () =>
  withServer([textReply("Fine."), textReply("Fine.")], ({ env }) =>
    withScene(async (place) => {
      await using editor = await LspEditor.start(place, { env: { ...KEY, ...env } });
      for (const uri of ["untitled:Untitled-1", `file://${place.path("new%20one.chat")}`]) {
        editor.open(uri, QUESTION);
        const before = editor.reported.length;
        await editor.execute("flemma.advance", { uri, version: 1 });
        await editor.until(() => editor.textOf(uri).includes("Fine."), "the reply is there");
        await editor.until(
          () => editor.reported.slice(before).some(({ params }) => params?.value?.kind === "end"),
          "the run ends",
        );
        assert.equal(editor.textOf(uri), `${QUESTION}\n@Assistant:\nFine.\n\n@You:\n\n`);
      }
      assert.deepEqual([...Deno.readDirSync(place.path(""))].map(({ name }) => name), []);
      assert.equal(await editor.shutdown(), 0);
    })));

Deno.test("an editor that can request diagnostics receives them only as responses to its requests", () =>
  withEditor(PENDING, async (editor, uri) => {
    const pulled = await editor.request("textDocument/diagnostic", { textDocument: { uri } });
    assert.equal(pulled.kind, "full");
    assert.deepEqual(pulled.items.map(({ message }: Json) => message), [
      "waits for you: bash: $ echo ran >> runs; echo hello",
    ]);
    assert.ok(!editor.reported.some(({ method }) => method === "textDocument/publishDiagnostics"));
  }, { capabilities: { ...CAPABILITIES, textDocument: { diagnostic: {} } } }));

Deno.test("an editor that requested diagnostics before an approval was recorded is asked to request them again", () =>
  withEditor(PENDING, async (editor, uri) => {
    const codes = async () => {
      const pulled = await editor.request("textDocument/diagnostic", { textDocument: { uri } });
      return pulled.items.map(({ code }: Json) => code);
    };
    const approve = byTitle(await editor.codeActions(uri, "flemma:tool"), "Approve bash (call_1)");
    editor.apply(approve.edit);
    assert.ok((await codes()).includes("waits_for_you"));
    await editor.request("workspace/executeCommand", approve.command);
    await editor.until(
      () => editor.reported.find(({ method }) => method === "workspace/diagnostic/refresh"),
      "diagnostics are to be requested again",
    );
    assert.deepEqual(await codes(), ["tool_use_unresolved"]);
  }, {
    capabilities: {
      ...CAPABILITIES,
      workspace: { ...CAPABILITIES.workspace, diagnostics: { refreshSupport: true } },
      textDocument: { diagnostic: {} },
    },
  }));

Deno.test("an editor without versioned edits gets changes by URI, and symbols as a list", () =>
  withEditor(PENDING, async (editor, uri) => {
    const approve = byTitle(await editor.codeActions(uri, "flemma:tool"), "Approve bash (call_1)");
    assert.deepEqual(Object.keys(approve.edit), ["changes"]);
    await editor.take(approve);
    assert.equal(editor.textOf(uri), PENDING.replace("pending", "approved"));
    const symbols = await editor.request("textDocument/documentSymbol", { textDocument: { uri } });
    assert.ok(symbols.every((each: Json) => each.location.uri === uri));
    assert.equal(editor.reported.filter(({ method }) => method === "client/registerCapability").length, 0);
  }, { capabilities: {} }));

Deno.test("positions count bytes if the editor offers this, and UTF-16 code units otherwise", async () => {
  const text = `@You:\n🙂 größe @./no.txt\n`;
  const at = async (capabilities: Json) => {
    let range: Json;
    await withEditor(text, async (editor, uri) => {
      const [link] = await editor.request("textDocument/documentLink", { textDocument: { uri } });
      range = [
        editor.initialized.capabilities.positionEncoding,
        link.range.start.character,
        link.range.end.character,
      ];
    }, { capabilities });
    return range;
  };
  assert.deepEqual(await at({ general: { positionEncodings: ["utf-16", "utf-8"] } }), ["utf-8", 13, 22]);
  assert.deepEqual(await at({}), ["utf-16", 9, 18]);
});

Deno.test("open documents share the provider's limit of parallel requests", () =>
  withCrowd(
    { limit: 2, hold: ({ running, answered }) => running < 2 && running + answered < 5 },
    (crowd) =>
      withEditor(QUESTION, async (editor, uri) => {
        const uris = [uri, ...["a", "b", "c", "d"].map((name) => uri.replace("f.chat", `${name}.chat`))];
        for (const other of uris.slice(1)) editor.open(other, QUESTION);
        await Promise.all(uris.map((uri) => editor.execute("flemma.advance", { uri, version: 1 })));
        await editor.runEnds(uris.length);
        assert.deepEqual([crowd.answered.length, crowd.most, crowd.refused], [5, 2, 0]);
      }, { env: crowd.env, settings: "providers: { anthropic: { max_requests: 2 } }\n" }),
  ));

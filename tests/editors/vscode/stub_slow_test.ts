// The extension for VS Code with the real server and a stub of the editor; no real VS Code runs here.

import assert from "node:assert/strict";
import { callsDocument, type Scene, withScene } from "../../cli/harness.ts";
import { callReply, textReply, withServer } from "../../cli/replies.ts";
import { installProgram } from "../terminal.ts";
import { Position, Selection, StubEditor } from "./stub.ts";
import { writeProgram } from "../../folder.ts";

/** The editor with the program in its settings, on a document. The environment of the server is that of the scene. */
async function withEditor(
  text: string,
  env: Readonly<Record<string, string>>,
  body: (editor: StubEditor, document: ReturnType<StubEditor["open"]>, place: Scene) => Promise<void>,
): Promise<void> {
  await withScene(async (place) => {
    const { PATH } = installProgram(place);
    const words = Object.entries({ ...place.env, ...env, PATH }).map(([name, value]) => `${name}='${value}'`);
    writeProgram(place.path("program"), `#!/bin/sh\nexec env -i ${words.join(" ")} flemma "$@"\n`);
    place.write("a.chat", text);
    const editor = new StubEditor({ "flemma.program": place.path("program") });
    const document = editor.open(place.path("a.chat"), text);
    try {
      await editor.start();
      await body(editor, document, place);
    } finally {
      editor.stop();
    }
  });
}

const QUESTION = "@You:\nHow are you?\n";
const PENDING = callsDocument([{ id: "call_1", command: "echo hello", status: "pending" }]);

Deno.test("with a stub of VS Code, a command sends a question and the reply appears in the buffer, while the file stays unchanged", () =>
  withServer(
    [textReply("I am well.")],
    ({ env }) =>
      withEditor(
        "@You:\nHow are you?\n",
        { ...env, ANTHROPIC_API_KEY: "k" },
        async (editor, document, place) => {
          await editor.commands.get("flemma.advance")!();
          await editor.until(() => document.text.includes("I am well.") && editor.status === "");
          assert.equal(document.text, "@You:\nHow are you?\n\n@Assistant:\nI am well.\n\n@You:\n\n");
          assert.equal(place.read("a.chat"), "@You:\nHow are you?\n");
          assert.deepEqual(editor.stated.filter((each) => each.startsWith("error")), []);
        },
      ),
  ));

Deno.test("with a stub of VS Code, a waiting call has a diagnostic, and an action approves the call with one edit", () =>
  withEditor(PENDING, {}, async (editor, document) => {
    const found = () => editor.found.get(document.uri.text) ?? [];
    await editor.until(() =>
      found().some(({ message }) => message.startsWith("waits for you: bash: $ echo hello"))
    );
    const [{ range } = { range: undefined }] = found();
    const actions = await editor.providers.get("actions").provideCodeActions(document, range);
    const titles = actions.map(({ title }: { title: string }) => title);
    assert.ok(titles.some((title: string) => title.startsWith("Approve")), titles.join());
    const approve = actions.find(({ title }: { title: string }) => title.startsWith("Approve"));
    const before = document.version;
    editor.apply(approve.edit);
    assert.equal(document.version, before + 1);
    assert.equal(document.text, PENDING.replace("status=pending", "status=approved"));
    await editor.until(() => !found().some(({ message }) => message.startsWith("waits for you")));
    // What is no edit is a command of the extension, with what the server wants to hear.
    const run = actions.find(({ command }: { command?: { command: string } }) => command !== undefined);
    assert.equal(run.command.command, "flemma.execute");
    assert.match(run.command.arguments[0], /^flemma\./);
  }));

Deno.test("with a stub of VS Code, a call is rejected with the typed reason, and without a reason nothing happens", () =>
  withEditor(PENDING, {}, async (editor, document) => {
    editor.line = PENDING.split("\n").findIndex((line) => line.startsWith("**Tool Result"));
    await editor.commands.get("flemma.reject")!();
    assert.equal(document.text, PENDING);
    editor.answer = "Not today.";
    await editor.commands.get("flemma.reject")!();
    await editor.until(() => document.text.includes("Not today."));
    assert.match(document.text, /status=rejected\nNot today\.\n/);
  }));

Deno.test("with a stub of VS Code, a hover shows the whole call, and the extension passes on folding ranges and typed text", () =>
  withEditor(PENDING, {}, async (editor, document) => {
    const line = PENDING.split("\n").findIndex((each) => each.startsWith("**Tool Use"));
    const hover = await editor.providers.get("hover").provideHover(document, new Position(line, 3));
    assert.match(hover.contents, /echo hello/);
    assert.equal(await editor.providers.get("hover").provideHover(document, new Position(1, 0)), null);
    assert.ok((await editor.providers.get("folds").provideFoldingRanges(document)).length >= 3);
    const end = { start: new Position(1, 0), end: new Position(1, 7) };
    editor.edit(document, [{ range: { ...end }, text: "Täglich 👩‍👩‍👧." }]);
    await editor.until(() => (editor.found.get(document.uri.text) ?? []).length > 0);
    editor.line = PENDING.split("\n").findIndex((each) => each.startsWith("**Tool Result"));
    await editor.commands.get("flemma.approve")!();
    await editor.until(() => document.text.includes("status=approved"));
    assert.ok(document.text.startsWith("@You:\nTäglich 👩‍👩‍👧.\n"));
  }));

Deno.test("with a stub of VS Code, text that a person types and a reply with calls arrive completely in the document", () =>
  withServer([callReply("call_1", "true")], ({ env }) => {
    const key = { ...env, ANTHROPIC_API_KEY: "k" };
    return withEditor("@You:\nHow are you?\n", key, async (editor, document, place) => {
      place.settings("tools: { auto_approve_sandboxed: false }\n");
      const at = new Position(1, 12);
      editor.edit(document, [{ range: { start: at, end: at }, text: " Well?" }]);
      await editor.commands.get("flemma.advance")!();
      await editor.until(() => document.text.includes("status=") && editor.status === "");
      assert.equal(
        document.text,
        callsDocument([{ id: "call_1", command: "true", status: "pending" }])
          .replace("Please.", "How are you? Well?") + "\n",
      );
    });
  }));

Deno.test("with a stub of VS Code, lenses name calls that are in the text, so that they act on a reply that was undone and redone", () =>
  withServer([callReply("call_1", "true")], ({ env }) => {
    const key = { ...env, ANTHROPIC_API_KEY: "k" };
    return withEditor(QUESTION, key, async (editor, document, place) => {
      place.settings("tools: { auto_approve_sandboxed: false }\n");
      const lenses = () => editor.providers.get("lenses").provideCodeLenses(document);
      // The editor asks for lenses at any time, and shows them until it has asked again.
      const early: unknown[] = [];
      editor.beforeEdit = async () => void early.push(...await lenses());
      await editor.commands.get("flemma.advance")!();
      await editor.until(() => document.text.includes("status=") && editor.status === "");
      editor.beforeEdit = undefined;
      assert.deepEqual(early, []);
      const [approve] = await lenses();
      const reply = document.text;
      const end = { start: new Position(2, 0), end: new Position(reply.split("\n").length, 0) };
      editor.edit(document, [{ range: end, text: "" }]);
      assert.deepEqual(await lenses(), []);
      editor.edit(document, [{ range: { ...end, end: end.start }, text: reply.slice(QUESTION.length) }]);
      await editor.commands.get(approve.command.command)!(...approve.command.arguments);
      await editor.until(() => document.text.includes("status=approved"));
      assert.equal(document.text, reply.replace("status=pending", "status=approved"));
    });
  }));

Deno.test("with a stub of VS Code, a refused command shows the reason, and documents in other languages are ignored", () =>
  withEditor("@You:\nHello.\n", {}, async (editor, document) => {
    editor.open("/tmp/other.md", "# Hi", "markdown");
    await editor.commands.get("flemma.approve")!();
    await editor.until(() => editor.stated.length > 0);
    assert.deepEqual(editor.stated, ["error: No call is on line 1. The document has no calls."]);
    editor.close(document);
    assert.equal(await editor.commands.get("flemma.approve")!(), undefined);
  }));

Deno.test("with a stub of VS Code, untrusted text becomes neither a link that runs a command nor an image", () => {
  const message = "To go on [sign in](command:workbench.action.terminal.new) again";
  const error = JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } });
  return withServer([{ status: 400, body: error }], ({ env }) =>
    withEditor(
      callsDocument([{ id: "call_1", command: "echo $(whoami) && cat wait" }]),
      { ...env, ANTHROPIC_API_KEY: "k" },
      async (editor, _document, place) => {
        await place.spawn(["mkfifo", place.path("wait")], {}).finished;
        const running = editor.commands.get("flemma.advance")!();
        await editor.until(() => editor.status.includes("whoami"));
        assert.match(editor.status, /^\$\(sync~spin\) flemma .*echo \\\$\(whoami\)/);
        // Opening the pipe waits for the command, which starts only after the editor has answered the server.
        await Deno.writeTextFile(place.path("wait"), "on\n");
        await running;
        await editor.until(() => editor.stated.some((each) => each.includes("command:workbench")));
        assert.ok(editor.stated.every((each) => !each.includes("](")), editor.stated.join("\n"));
      },
    ));
});

const WRITE = `@You:
Please.

@Assistant:
**Tool Use:** \`write\` (\`call_1\`)

\`\`\`json
{"path":"code.py","content":"one\\nTWO\\n"}
\`\`\`

@You:
**Tool Result:** \`call_1\`

\`\`\`flemma:tool status=pending
\`\`\`
`;

Deno.test("with a stub of VS Code, lenses approve a call, reject it with a reason, and show its change as a diff", () =>
  withEditor(WRITE, {}, async (editor, document, place) => {
    place.write("code.py", "one\ntwo\n");
    const lenses = async () => {
      const shown = await editor.providers.get("lenses").provideCodeLenses(document);
      // deno-lint-ignore no-explicit-any
      return new Map<string, any>(shown.map(({ command }: any) => [command.title, command]));
    };
    const press = async (title: string) => {
      const { command, arguments: given } = (await lenses()).get(title);
      await editor.commands.get(command)!(...given);
    };
    assert.deepEqual([...(await lenses()).keys()], ["Approve", "Reject", "Run", "Show change"]);
    await press("Show change");
    assert.deepEqual(editor.change, ["one\ntwo\n", "one\nTWO\n", "code.py (proposed change)"]);
    await press("Reject");
    assert.equal(document.text, WRITE, "without a reason nothing happens");
    await press("Approve");
    await editor.until(() => document.text.includes("status=approved"));
    assert.equal(document.text, WRITE.replace("status=pending", "status=approved"));
    assert.deepEqual([...(await lenses()).keys()], []);
  }));

Deno.test("with a stub of VS Code, a lens rejects with the typed reason, and a call without a file has no change to show", () =>
  withEditor(PENDING, {}, async (editor, document) => {
    const shown = await editor.providers.get("lenses").provideCodeLenses(document);
    const titles = shown.map(({ command }: { command: { title: string } }) => command.title);
    assert.deepEqual(titles, ["Approve", "Reject", "Run"]);
    editor.line = PENDING.split("\n").findIndex((line) => line.startsWith("**Tool Result"));
    await editor.commands.get("flemma.diff")!();
    assert.deepEqual(editor.stated, ["flemma: This call changes no file."]);
    editor.answer = "Not today.";
    await editor.commands.get("flemma.lens")!(...shown[1].command.arguments);
    await editor.until(() => document.text.includes("status=rejected\nNot today.\n"));
  }));

Deno.test("with a stub of VS Code, a question about selected lines is appended with a reference, and the keys go back and forth", () =>
  withEditor("@You:\n", {}, async (editor, chat, place) => {
    const code = editor.open(place.path("src/a b.py"), "1\n2\n3\n", "python");
    editor.show(code);
    editor.pick = "a.chat";
    const rows = [
      [new Selection(new Position(0, 0), new Position(2, 0)), "@./src/a%20b.py#L1-2 "],
      [new Selection(new Position(1, 0), new Position(1, 1)), "@./src/a%20b.py#L2 "],
      [new Selection(new Position(1, 1), new Position(1, 1)), "@./src/a%20b.py "],
    ] as const;
    let text = "@You:\n";
    for (const [selected, reference] of rows) {
      editor.show(code);
      editor.selected = selected;
      // A fast person types as soon as the conversation is shown.
      editor.typed = "Why?";
      await editor.commands.get("flemma.ask")!();
      text += `${text === "@You:\n" ? "" : "\n\n"}${reference}Why?`;
      assert.equal(chat.text, text);
      assert.equal(editor.shown, chat);
    }
    editor.typed = "";
    assert.deepEqual(editor.offered, ["a.chat", "New conversation…"]);
    await editor.commands.get("flemma.toggle")!();
    assert.equal(editor.shown, code);
    await editor.commands.get("flemma.toggle")!();
    assert.equal(editor.shown, chat);
  }));

Deno.test("with a stub of VS Code, the nearest code block is copied, and a model is chosen for the session", () =>
  withEditor(
    "@Assistant:\n```sh\nfirst\n```\n\nText\n\n````md\n```\nsecond\n```\n````\nEnd\n",
    {},
    async (editor, _document, place) => {
      const copied = async (line: number) => {
        editor.line = line;
        await editor.commands.get("flemma.yank")!();
        return editor.clipboard;
      };
      assert.equal(await copied(0), "first");
      assert.equal(await copied(2), "first");
      assert.equal(await copied(6), "first");
      assert.equal(await copied(9), "```\nsecond\n```");
      assert.equal(await copied(12), "```\nsecond\n```");
      editor.pick = "$best";
      await editor.commands.get("flemma.model")!();
      assert.ok(editor.offered.includes("$best"), editor.offered.join());
      assert.match((await place.run(["session", "show", "a.chat"])).stdout, /model.*\$best/);
      assert.deepEqual(editor.stated, []);
    },
  ));

Deno.test("with a stub of VS Code, a missing program is reported by its name", async () => {
  const editor = new StubEditor({ "flemma.program": "/no/such/flemma" });
  await assert.rejects(editor.start(), /The program \/no\/such\/flemma was not found/);
  assert.match(
    editor.stated[0] ?? "",
    /^error: flemma: .*Install flemma, or set flemma\.program .* Reload Window\.$/,
  );
  editor.stop();
});

Deno.test("with a stub of VS Code, a command after the end of the server says so, and how to start it again", () =>
  withScene(async (place) => {
    writeProgram(place.path("program"), "#!/bin/sh\nexit 7\n");
    const editor = new StubEditor({ "flemma.program": place.path("program") });
    editor.open(place.path("a.chat"), QUESTION);
    await assert.rejects(editor.start(), /exited with code 7/);
    editor.stated.length = 0;
    await editor.commands.get("flemma.advance")!();
    assert.match(editor.stated[0] ?? "", /exited with code 7\. .*Reload Window$/);
    editor.stop();
  }));

Deno.test("with a stub of VS Code, notices of a run are in the output channel", () =>
  withServer([textReply("I am well.")], ({ env }) =>
    withEditor(
      `\`\`\`yaml\nflemma:\n  tools: { $append: [ask_document] }\n\`\`\`\n\n${QUESTION}`,
      { ...env, ANTHROPIC_API_KEY: "k" },
      async (editor, document) => {
        await editor.commands.get("flemma.advance")!();
        await editor.until(() => document.text.includes("I am well.") && editor.status === "");
        await editor.until(() => editor.log.some((line) => /does not get the tool ask_document/.test(line)));
      },
    )));

Deno.test("with a stub of VS Code, a key to cancel says that nothing runs, and a key to reject asks for a reason only on a call", () =>
  withEditor(PENDING, {}, async (editor, document) => {
    await editor.commands.get("flemma.cancel")!();
    await editor.until(() => editor.stated.length > 0);
    assert.deepEqual(editor.stated, ["No run is in progress."]);
    editor.stated.length = 0;
    editor.answer = "No.";
    editor.line = 0;
    await editor.commands.get("flemma.reject")!();
    assert.match(editor.stated.join(), /flemma: No call is on line 1\.$/);
    assert.equal(document.text, PENDING);
  }));

Deno.test("the VS Code extension declares each command that it has, and does not run in an untrusted folder", async () => {
  const declared = JSON.parse(
    await Deno.readTextFile(new URL("../../../editors/vscode/package.json", import.meta.url)),
  );
  const folder = new URL("../../../editors/vscode/", import.meta.url);
  const source = [...Deno.readDirSync(folder)].filter(({ name }) => name.endsWith(".cjs"))
    .map(({ name }) => Deno.readTextFileSync(new URL(name, folder))).join("");
  const registered = [...source.matchAll(/registerCommand\(\s*"([\w.]+)"/g)].map(([, name]) => name!);
  const shown = declared.contributes.commands.map(({ command }: { command: string }) => command);
  // The one that actions call takes what the server gave them, which nobody can type.
  assert.deepEqual(
    registered.filter((name) => !["flemma.execute", "flemma.lens"].includes(name)).sort(),
    shown.sort(),
  );
  assert.equal(declared.capabilities.untrustedWorkspaces.supported, false);
});

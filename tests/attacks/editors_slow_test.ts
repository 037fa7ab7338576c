// Attacks between a question and its answer in an editor: what the person did not see or choose does not count.

import assert from "node:assert/strict";
import { callsDocument, type Scene, testWithScene as test } from "../cli/harness.ts";
import { LspEditor } from "../editors/lsp/client.ts";

const ONLY_COMMANDS = "tools: { auto_approve_sandboxed: false }\ntrust: { approvals: commands }\n";
const PENDING = callsDocument([{ id: "c1", command: "echo ran >> log", status: "pending" }]);
const APPROVED = PENDING.replace("status=pending", "status=approved");
const OTHER = PENDING.replace("echo ran", "echo other");

interface Attack {
  readonly name: string;
  /** What happens after the editor has asked for the actions at the waiting call. */
  readonly act: (editor: LspEditor, uri: string, place: Scene) => Promise<unknown>;
  /** @default "" */
  readonly log?: string;
}

const approve = async (editor: LspEditor, uri: string) => {
  const actions = await editor.codeActions(uri, "flemma:tool");
  // deno-lint-ignore no-explicit-any
  const found = actions.find(({ title }: any) => title === "Approve bash (c1)");
  assert.ok(found);
  return found;
};

const reload = (editor: LspEditor, uri: string, text: string) =>
  editor.replace(uri, editor.textOf(uri), text);

const ATTACKS: readonly Attack[] = [
  {
    name: "the chosen action approves",
    act: async (editor, uri) => editor.take(await approve(editor, uri)),
    log: "ran\n",
  },
  {
    name: "a file that is read again with the offered change counts as a choice",
    act: async (editor, uri) => {
      await approve(editor, uri);
      reload(editor, uri, APPROVED);
    },
  },
  {
    name: "a change of one word like the offered one counts as a choice",
    act: async (editor, uri) => {
      const { edit } = await approve(editor, uri);
      editor.apply(edit);
    },
  },
  {
    name: "a confirmation without a change counts",
    act: async (editor, uri) => {
      await approve(editor, uri);
      await editor.execute("flemma.confirm", { uri, id: "c1" });
    },
  },
  {
    name: "a confirmation counts for a text that was changed after the offered edit",
    act: async (editor, uri) => {
      const { edit, command } = await approve(editor, uri);
      editor.apply(edit);
      reload(editor, uri, OTHER.replace("status=pending", "status=approved"));
      await editor.request("workspace/executeCommand", command);
    },
  },
  {
    name: "an outdated action approves another call",
    act: async (editor, uri) => {
      const action = await approve(editor, uri);
      reload(editor, uri, OTHER);
      assert.equal(editor.apply(action.edit), false);
      await editor.request("workspace/executeCommand", action.command);
    },
  },
  {
    name: "a command for an outdated version approves",
    act: async (editor, uri) => {
      const version = editor.versionOf(uri);
      reload(editor, uri, OTHER);
      const { error } = await editor.execute("flemma.approve", { uri, version, id: "c1" });
      assert.equal(error.code, -32801);
    },
  },
  {
    name: "a command for a document that is not open approves",
    act: async (editor, uri, place) => {
      place.arrive("g.chat", APPROVED);
      for (const name of ["flemma.advance", "flemma.approve", "flemma.execute", "flemma.trust"]) {
        const { error } = await editor.execute(name, { uri: uri.replace("f.chat", "g.chat"), id: "c1" });
        assert.match(error.message, /is not open/);
      }
    },
  },
];

for (const { name, act, log = "" } of ATTACKS) {
  test(`${log === "" ? "held" : "works"}: ${name} (language server)`, async (place) => {
    place.settings(ONLY_COMMANDS);
    place.arrive("f.chat", PENDING);
    const uri = `file://${place.path("f.chat")}`;
    await using editor = await LspEditor.start(place);
    editor.open(uri, PENDING);
    await act(editor, uri, place);
    const { result } = await editor.execute("flemma.advance", { uri });
    if (result?.started === true) await editor.runEnds();
    assert.equal(await editor.shutdown(), 0);
    assert.equal(place.exists("log") ? place.read("log") : "", log);
  });
}

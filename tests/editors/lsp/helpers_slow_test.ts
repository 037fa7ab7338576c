// A document with a helper in the language server: where it waits, and that it goes on in the editor's buffer.

import assert from "node:assert/strict";
import { withScene } from "../../cli/harness.ts";
import { callReply, textReply, withServer } from "../../cli/replies.ts";
import { toolReply } from "../acp/replies.ts";
import { LspEditor } from "./client.ts";

const SETTINGS =
  "tools:\n  $append: [ask_document]\n  auto_approve: [ask_document]\n  rules: [{ ask: bash }]\n";
const QUESTION = { question: "Run it.", document: null, name: "runner", preset: null, files: null };
const TEXT = "@You:\nGo.\n";

Deno.test("a call of a helper is shown at the call that asked, and after its approval the reply is in the buffer", () =>
  withServer([
    toolReply("ask_1", "ask_document", QUESTION),
    callReply("toolu_1", "echo hi"),
    textReply("It ran."),
    textReply("Done."),
  ], ({ env }) =>
    withScene(async (place) => {
      place.settings(SETTINGS);
      place.write("f.chat", TEXT);
      const uri = `file://${place.path("f.chat")}`;
      await using editor = await LspEditor.start(place, { env: { ANTHROPIC_API_KEY: "test-key", ...env } });
      editor.open(uri, TEXT);
      await editor.execute("flemma.advance", { uri, version: 1 });
      await editor.runEnds();
      const helper = place.path("f.chat.d/runner.chat");
      await editor.until(
        () =>
          editor.reported.some((each) =>
            JSON.stringify(each).includes(`waits in ${helper}: bash: $ echo hi`)
          ),
        "the call that asked names the call of its helper",
      );
      const approved = await place.run(["approve", "f.chat", "runner/toolu_1"], { env });
      assert.equal(approved.code, 0, approved.stderr);
      await editor.execute("flemma.advance", { uri, version: editor.versionOf(uri) });
      await editor.runEnds(2);
      const text = editor.textOf(uri);
      assert.ok(text.includes("It ran.\n\nHelper: runner (f.chat.d/runner.chat)"), text);
      assert.ok(text.includes("@Assistant:\nDone."), text);
      assert.equal(await editor.shutdown(), 0);
    })));

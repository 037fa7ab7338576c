// Helpers of an ACP conversation: the client is asked about their calls, as about those of the conversation.

import assert from "node:assert/strict";
import { withScene } from "../../cli/harness.ts";
import { callReply, textReply, withServer } from "../../cli/replies.ts";
import { begin, choose, say, withAgent } from "./client.ts";
import { toolReply } from "./replies.ts";

const SETTINGS =
  "tools:\n  $append: [ask_document]\n  auto_approve: [ask_document]\n  rules: [{ ask: bash }]\n";
const QUESTION = { question: "Run it.", document: null, name: "runner", preset: null, files: null };

for (const [choice, result] of [["allow_once", "It ran."], ["reject_once", "It did not run."]] as const) {
  Deno.test(`ACP asks about the call of a helper, and goes on after ${choice}`, () =>
    withServer([
      toolReply("ask_1", "ask_document", QUESTION),
      callReply("toolu_1", "echo hi"),
      textReply(result),
      textReply("Done."),
    ], ({ env }) =>
      withScene(async (place) => {
        place.settings(SETTINGS);
        await withAgent(place, env, choose(choice), async (client) => {
          const { sessionId } = await begin(client);
          assert.equal((await say(client, sessionId, "Go.")).stopReason, "end_turn");
          const [asked, ...more] = client.asked;
          assert.equal(more.length, 0);
          assert.equal(asked.toolCall.toolCallId, "runner/toolu_1");
          assert.equal(client.text(), "I will.Done.");
          const folder = place.path(".flemma/chats");
          const [document] = [...Deno.readDirSync(folder)].filter(({ isFile }) => isFile);
          const text = place.read(`.flemma/chats/${document!.name}`);
          assert.ok(text.includes(`${result}\n\nHelper: runner (${document!.name}.d/runner.chat)`), text);
        });
      })));
}

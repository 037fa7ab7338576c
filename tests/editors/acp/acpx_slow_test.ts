// An independent client: acpx holds a conversation, is asked for permission once, sees a diff, and loads the
// conversation again.

import assert from "node:assert/strict";
import { type Scene, withScene } from "../../cli/harness.ts";
import { textReply, withServer } from "../../cli/replies.ts";
import { ACPX, isInstallable } from "./acpx.ts";
import { writeReply } from "./replies.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

/** Runs acpx on the agent in a place; answers with the messages that went both ways. */
async function acpx(place: Scene, env: Readonly<Record<string, string>>, ...words: readonly string[]) {
  const agent = [...place.program, "acp"].join(" ");
  // Its helper outlives a command; closing the conversation ends it, and at the latest this time.
  const options = ["--agent", agent, "--approve-all", "--format", "json", "--json-strict", "--ttl", "60"];
  const { code, stdout, stderr } = await place.spawn([...await ACPX(), ...options, ...words], {
    env: { ANTHROPIC_API_KEY: "k", ...env },
  }).finished;
  assert.equal(code, 0, stdout + stderr);
  return stdout.trim().split("\n").map((line): Json => JSON.parse(line));
}

Deno.test({
  name:
    "acpx asks for permission once, shows the diff before it approves, and continues the conversation in another process",
  ignore: !isInstallable,
  fn: () =>
    withServer(
      [writeReply("toolu_1"), textReply("Written."), textReply("Still here.")],
      ({ env, requests }) =>
        withScene(async (place) => {
          place.settings("tools:\n  rules:\n    - { ask: [write, edit] }\n");
          place.write("notes.md", "old\n");
          const [begun] = await acpx(place, env, "sessions", "new");
          const messages = await acpx(place, env, "prompt", "Write the notes.");
          const asked = messages.filter(({ method }) => method === "session/request_permission");
          assert.deepEqual(asked.map(({ params }) => params.toolCall.content), [[
            { type: "diff", path: place.path("notes.md"), oldText: "old\n", newText: "new\n" },
          ]]);
          assert.equal(messages.at(-1).result.stopReason, "end_turn");
          assert.equal(place.read("notes.md"), "new\n");
          // All of its processes are gone: another one loads the conversation by its name.
          await acpx(place, env, "sessions", "close");
          const [loaded] = await acpx(place, env, "sessions", "new", "--resume-session", begun.acpxSessionId);
          assert.equal(loaded.acpxSessionId, begun.acpxSessionId);
          const again = await acpx(place, env, "prompt", "And?");
          assert.ok(
            again.some(({ method }) => /^session\/(?:load|resume)$/.test(method)),
            "it is loaded again",
          );
          assert.equal(again.at(-1).result.stopReason, "end_turn");
          assert.equal(requests.length, 3);
          for (const words of ["Write the notes.", "Written.", "And?"]) {
            assert.ok(JSON.stringify(requests[2]!.messages).includes(words), words);
          }
          await acpx(place, env, "sessions", "close");
        }),
    ),
});

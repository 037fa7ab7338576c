// Version 1 of the protocol: notices, plans, modes, refused folders, and what a cancel ends.

import assert from "node:assert/strict";
import * as acp from "@agentclientprotocol/sdk";
import { withScene } from "../../cli/harness.ts";
import { type Reply, textReply, withServer } from "../../cli/replies.ts";
import { begin, choose, type Json, say, withAgent } from "./client.ts";
import { toolReply } from "./replies.ts";

const ASK = "tools:\n  rules:\n    - { ask: bash }\n";
const NOTICES = { session: { notices: {} } };

/** A reply that calls bash several times. */
export function callsReply(...calls: readonly (readonly [id: string, command: string])[]): Reply {
  const replies = calls.map(([id, command]) => toolReply(id, "bash", { command, timeout: null }).events!);
  const [first] = replies as [Json[]];
  const blocks = replies.flatMap((events, at) =>
    events.filter((event: Json) => event.index === 1).map((event: Json) => ({ ...event, index: at + 1 }))
  );
  const last = first.findLastIndex((event: Json) => event.index === 1);
  return {
    events: [
      ...first.filter((event, at) => at < last && event.index !== 1),
      ...blocks,
      ...first.slice(last + 1),
    ],
  };
}

const kinds = (updates: readonly Json[], kind: string) =>
  updates.filter(({ sessionUpdate }) => sessionUpdate === kind);

Deno.test("a conversation in a folder that does not exist is refused, and nothing is created", () =>
  withScene((place) =>
    withAgent(place, {}, choose("allow_once"), async (client) => {
      for (
        const [cwd, words] of [
          [`${client.cwd}/absent/deeper`, /There is no folder .*absent\/deeper/],
          [`${client.cwd}/file`, /There is no folder/],
          ["relative", /absolute/],
        ] as const
      ) {
        place.write("file", "");
        await assert.rejects(
          client.ctx.request(acp.methods.agent.session.new, { cwd, mcpServers: [] }),
          (error: Json) => error.code === -32602 && words.test(error.message),
          cwd,
        );
      }
      assert.equal(place.exists("absent"), false);
    })
  ));

Deno.test("cancel ends a turn although the client never answers the permission request, and the call still waits", () =>
  withServer(
    [toolReply("toolu_1", "bash", { command: "echo one", timeout: null }), textReply("Done.")],
    ({ env }) =>
      withScene(async (place) => {
        place.settings(ASK);
        let answers = 0;
        const asked = Promise.withResolvers<void>();
        await withAgent(place, env, (params) => {
          asked.resolve();
          return answers++ === 0 ? new Promise(() => {}) : choose("allow_once")(params);
        }, async (client) => {
          const { sessionId } = await begin(client);
          const turn = say(client, sessionId, "Go.");
          await asked.promise;
          await client.ctx.notify(acp.methods.agent.session.cancel, { sessionId });
          assert.equal((await turn).stopReason, "cancelled");
          // The next turn asks again.
          assert.equal((await say(client, sessionId, "Again.")).stopReason, "end_turn");
          assert.equal(answers, 2);
        });
      }),
  ));

Deno.test("one running call can be canceled: the others go on, and the model gets all results", () =>
  withServer([
    callsReply(["one", "touch begun; sleep 1000"], [
      "two",
      "until [ -e go ]; do sleep 0.02; done; echo ready",
    ]),
    textReply("Done."),
  ], ({ env, requests }) =>
    withScene(async (place) => {
      await withAgent(place, env, choose("allow_once"), async (client) => {
        const { sessionId } = await begin(client);
        const turn = say(client, sessionId, "Go.");
        while (!place.exists("begun")) await new Promise((done) => setTimeout(done, 5));
        const cancel = (toolCallId: string) =>
          client.ctx.request("tool_call/cancel" as Json, { sessionId, toolCallId } as Json);
        await assert.rejects(cancel("three"), /three is not running/);
        await cancel("one");
        place.write("go", "");
        assert.equal((await turn).stopReason, "end_turn");
        const results = JSON.stringify((requests[1] as Json).messages.at(-1).content);
        assert.match(results, /"tool_use_id":"one"/);
        assert.match(results, /ready/);
        const last = (id: string) => client.updates.findLast(({ toolCallId }) => toolCallId === id).status;
        assert.deepEqual([last("one"), last("two")], ["failed", "completed"]);
      });
    })));

Deno.test("several calls of a reply are a plan, which follows what they do", () =>
  withServer(
    [callsReply(["one", "echo 1"], ["two", "echo 2"]), textReply("Done.")],
    ({ env }) =>
      withScene(async (place) => {
        await withAgent(place, env, choose("allow_once"), async (client) => {
          const { sessionId } = await begin(client);
          await say(client, sessionId, "Go.");
          const plans = kinds(client.updates, "plan").map(({ entries }) => entries);
          assert.deepEqual(plans[0].map(({ status }: Json) => status), ["pending", "pending"]);
          assert.ok(plans.some((entries) => entries.some(({ status }: Json) => status === "in_progress")));
          assert.deepEqual(plans.at(-1).map(({ status }: Json) => status), ["completed", "completed"]);
          assert.match(plans[0][0].content, /echo 1/);
        });
      }),
  ));

Deno.test("one call is not a plan", () =>
  withServer([callsReply(["one", "echo 1"]), textReply("Done.")], ({ env }) =>
    withScene(async (place) => {
      await withAgent(place, env, choose("allow_once"), async (client) => {
        const { sessionId } = await begin(client);
        await say(client, sessionId, "Go.");
        assert.deepEqual(kinds(client.updates, "plan"), []);
      });
    })));

const LIMITED: Reply = {
  status: 429,
  headers: { "retry-after-ms": "1" },
  body: JSON.stringify({ type: "error", error: { type: "rate_limit_error", message: "Too many" } }),
};

for (const isAble of [true, false]) {
  Deno.test(`a client ${isAble ? "that shows notices gets them" : "without notices gets a thought, and no notice"}`, () =>
    withServer([LIMITED, textReply("Done.")], ({ env }) =>
      withScene(async (place) => {
        await withAgent(place, env, choose("allow_once"), async (client) => {
          const { sessionId } = await begin(client);
          await say(client, sessionId, "Go.");
          const notices = kinds(client.updates, "notice");
          const thoughts = client.text("agent_thought_chunk");
          assert.equal(/Retrying in 0 s/.test(thoughts), !isAble);
          assert.equal(notices.some(({ title }) => /Retrying in 0 s/.test(title)), isAble);
          for (const { severity } of notices) assert.equal(severity, "warning");
        }, isAble ? NOTICES : {});
      })));
}

Deno.test("a changed mode is reported as an option and as a mode", () =>
  withScene(async (place) => {
    await withAgent(place, {}, choose("allow_once"), async (client) => {
      const { sessionId } = await begin(client);
      await client.ctx.request(acp.methods.agent.session.setConfigOption, {
        sessionId,
        configId: "mode",
        value: "step",
      });
      await client.ctx.request(acp.methods.agent.session.setMode, { sessionId, modeId: "autopilot" });
      assert.deepEqual(
        kinds(client.updates, "current_mode_update").map(({ currentModeId }) => currentModeId),
        ["step", "autopilot"],
      );
      assert.equal(kinds(client.updates, "config_option_update").length, 2);
    });
  }));

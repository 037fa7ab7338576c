// Version 2 of the protocol as a client sees it, with the official library as client, which checks every message
// against the schema.

import assert from "node:assert/strict";
import * as acp from "@agentclientprotocol/sdk/experimental/v2";
import { type Scene, withScene } from "../../cli/harness.ts";
import { callReply, type Reply, textReply, withServer } from "../../cli/replies.ts";
import { type Json, startAgent } from "./client.ts";
import { toolReply, writeReply } from "./replies.ts";

const ASK = "tools:\n  rules:\n    - { ask: bash }\n    - { ask: [write, edit] }\n";
const { agent, client: toClient } = acp.methods;

interface Client {
  readonly ctx: acp.ClientContext;
  readonly updates: Json[];
  readonly asked: Json[];
  readonly cwd: string;
  readonly initialized: Json;
  /** All messages of the agent, in the order in which they came; the library may report them in another one. */
  messages(): Json[];
  /** Settles with the next idle state. */
  idle(): Promise<Json>;
  begin(): Promise<string>;
  say(sessionId: string, text: string): Promise<Json>;
}

type Permission = (params: Json) => Json | Promise<Json>;

const choose = (kind: string): Permission => ({ options }) => ({
  outcome: { outcome: "selected", optionId: options.find((each: Json) => each.kind === kind).optionId },
});

async function withAgent(
  place: Scene,
  env: Readonly<Record<string, string>>,
  permission: Permission,
  body: (client: Client) => Promise<void>,
  protocolVersion = 2,
): Promise<void> {
  const child = startAgent(place, env);
  const decoder = new TextDecoder();
  let received = "";
  const tap = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      received += decoder.decode(chunk, { stream: true });
      controller.enqueue(chunk);
    },
  });
  const updates: Json[] = [];
  const asked: Json[] = [];
  const waiting = new Set<() => void>();
  let idles = 0;
  const app = acp.client({ name: "test" })
    .onNotification(toClient.session.update, ({ params }: Json) => {
      updates.push(params.update);
      for (const look of waiting) look();
    })
    .onRequest(toClient.session.requestPermission, ({ params }: Json) => {
      asked.push(params);
      return permission(params);
    });
  try {
    await app.connectWith(acp.ndJsonStream(child.stdin, child.stdout.pipeThrough(tap)), async (ctx) => {
      const initialized: Json = await ctx.request(agent.initialize, {
        protocolVersion,
        info: { name: "test", version: "1" },
        capabilities: {},
      });
      const cwd = place.path("").replace(/\/$/, "");
      await body({
        ctx,
        updates,
        asked,
        cwd,
        initialized,
        messages: () => received.trim().split("\n").map((line) => JSON.parse(line)),
        idle: () =>
          new Promise((done) => {
            const look = () => {
              const found = updates.filter(({ state }) => state === "idle");
              if (found.length <= idles) return;
              idles = found.length;
              waiting.delete(look);
              done(found.at(-1));
            };
            waiting.add(look);
            look();
          }),
        begin: async () => (await ctx.request(agent.session.new, { cwd })).sessionId,
        say: (sessionId, text) =>
          ctx.request(agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] }),
      });
    });
  } finally {
    child.kill("SIGTERM");
    await child.status;
  }
}

/** Runs a client with a model that gives these replies. */
function scene(
  replies: readonly Reply[],
  permission: Permission,
  body: (client: Client, place: Scene, requests: readonly Json[]) => Promise<void>,
  settings = ASK,
): Promise<void> {
  return withServer(replies, ({ env, requests }) =>
    withScene(async (place) => {
      place.settings(settings);
      await withAgent(place, env, permission, (client) => body(client, place, requests));
    }));
}

const refusedWith = (code: number) => (error: Json) => error.code === code;

Deno.test("a client that asks for version 2 or later gets version 2, and what the agent can do", () =>
  withScene((place) =>
    withAgent(place, {}, choose("allow_once"), ({ initialized }) => {
      assert.deepEqual([initialized.protocolVersion, initialized.info.name], [2, "flemma"]);
      assert.deepEqual(Object.keys(initialized.capabilities.session).toSorted(), ["delete", "mcp", "prompt"]);
      return Promise.resolve();
    })
  ));

Deno.test("a prompt is answered when it is in the document, and the states say what the agent does", () =>
  scene([writeReply("toolu_1"), textReply("Written.")], choose("allow_once"), async (client, place) => {
    place.write("notes.md", "old\n");
    const created = await client.ctx.request(agent.session.new, { cwd: client.cwd }) as Json;
    assert.ok(
      created.configOptions.some(({ configId, category }: Json) =>
        configId === "model" && category === "model"
      ),
    );
    assert.ok(created.availableCommands.every(({ type }: Json) => type === "command"));
    const { sessionId } = created;
    const { messageId } = await client.say(sessionId, "Write the notes.");
    assert.equal((await client.idle()).stopReason, "end_turn");
    const states = client.updates.filter(({ sessionUpdate }) => sessionUpdate === "state_update");
    assert.deepEqual(states.map(({ state }) => state), ["running", "requires_action", "running", "idle"]);
    const echo = client.updates.find(({ sessionUpdate }) => sessionUpdate === "user_message");
    assert.deepEqual([echo.messageId, echo.content[0].text], [messageId, "Write the notes."]);
    const [asked] = client.asked;
    assert.equal(asked.subject.type, "tool_call");
    const [diff] = asked.subject.toolCall.content;
    assert.deepEqual(diff.changes, [{ operation: "modify", path: place.path("notes.md") }]);
    assert.match(
      diff.patch.text,
      /^diff --git .*\n--- .*notes\.md\n\+\+\+ .*notes\.md\n@@.*@@\n-old\n\+new\n$/,
    );
    assert.ok(asked.title.length > 0);
    assert.equal(place.read("notes.md"), "new\n");
    const calls = client.updates.filter(({ toolCallId }) => toolCallId === "toolu_1");
    assert.deepEqual(calls.map(({ status }) => status), ["pending", "in_progress", "completed"]);
    assert.deepEqual(calls.map(({ capabilities }) => capabilities), [undefined, { cancel: {} }, null]);
    const texts = client.updates.filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk");
    assert.equal(texts.map(({ content }) => content.text).join(""), "I will.Written.");
    assert.equal(new Set(texts.map(({ messageId }) => messageId)).size, 2, "two replies");
  }));

Deno.test("a resumed conversation is replayed with the same ids if the client asks for it, and reports its state", () =>
  scene([textReply("One."), textReply("Two.")], choose("allow_once"), async (client) => {
    const sessionId = await client.begin();
    const first: Json = await client.say(sessionId, "First?");
    await client.idle();
    await client.say(sessionId, "Second?");
    await client.idle();
    const ids = (kind: string) => [
      ...new Set(
        client.updates.filter(({ sessionUpdate }) => sessionUpdate.startsWith(kind)).map((each) =>
          each.messageId
        ),
      ),
    ];
    const live = [ids("user_message"), ids("agent_message")];
    assert.equal(live[0]![0], first.messageId);
    await client.ctx.request(agent.session.close, { sessionId });
    for (const replays of [false, true]) {
      client.updates.length = 0;
      await client.ctx.request(agent.session.resume, {
        sessionId,
        cwd: client.cwd,
        ...(replays ? { replayFrom: { type: "start" } } : {}),
      });
      const [state, answer] = client.messages().slice(-2);
      assert.equal(state.params.update.state, "idle", "the state comes before the answer");
      assert.ok(answer.result !== undefined);
      while (client.updates.at(-1)?.state !== "idle") await new Promise((done) => setTimeout(done, 5));
      assert.deepEqual([ids("user_message"), ids("agent_message")], replays ? live : [[], []]);
    }
    await assert.rejects(
      client.ctx.request(agent.session.resume, {
        sessionId,
        cwd: client.cwd,
        replayFrom: { type: "_other" } as Json,
      }),
      refusedWith(-32602),
    );
  }));

Deno.test("session/cancel ends the turn, also during a permission request, and the states say so", () =>
  scene([callReply("toolu_1", "echo one")], () => new Promise(() => {}), async (client) => {
    const sessionId = await client.begin();
    await client.say(sessionId, "Go.");
    while (client.asked.length === 0) await new Promise((done) => setTimeout(done, 5));
    await client.ctx.notify(agent.session.cancel, { sessionId });
    assert.equal((await client.idle()).stopReason, "cancelled");
  }));

Deno.test("one call can be canceled, and ends as canceled; the turn goes on", () =>
  scene(
    [callReply("toolu_1", "touch begun; sleep 1000"), textReply("Done.")],
    choose("allow_once"),
    async (client, place, requests) => {
      const sessionId = await client.begin();
      await client.say(sessionId, "Go.");
      while (!place.exists("begun")) await new Promise((done) => setTimeout(done, 5));
      await client.ctx.request(agent.toolCall.cancel, { sessionId, toolCallId: "toolu_1" });
      assert.equal((await client.idle()).stopReason, "end_turn");
      assert.equal(client.updates.findLast(({ toolCallId }) => toolCallId === "toolu_1").status, "cancelled");
      assert.equal(requests.length, 2);
      await assert.rejects(
        client.ctx.request(agent.toolCall.cancel, { sessionId, toolCallId: "toolu_1" }),
        refusedWith(-32602),
      );
    },
    "",
  ));

Deno.test("close ends a running turn: the final updates and the state come before its answer", () =>
  scene([callReply("toolu_1", "touch begun; sleep 1000")], choose("allow_once"), async (client, place) => {
    const sessionId = await client.begin();
    await client.say(sessionId, "Go.");
    while (!place.exists("begun")) await new Promise((done) => setTimeout(done, 5));
    await client.ctx.request(agent.session.close, { sessionId });
    const messages = client.messages();
    const closed = messages.findLastIndex(({ result }) => result !== undefined);
    const before = messages.slice(0, closed).flatMap(({ params }) => params?.update ?? []);
    assert.equal(before.findLast(({ toolCallId }) => toolCallId === "toolu_1").status, "cancelled");
    assert.deepEqual([before.at(-1).state, before.at(-1).stopReason], ["idle", "cancelled"]);
    await assert.rejects(client.say(sessionId, "Again."), refusedWith(-32002));
  }, ""));

Deno.test("a provider's error ends the turn as an error, and waits are notices", () =>
  scene(
    [
      {
        status: 429,
        headers: { "retry-after-ms": "1" },
        body: '{"error":{"type":"rate_limit_error","message":"No"}}',
      },
      { status: 401, body: '{"error":{"type":"authentication_error","message":"Wrong key"}}' },
      textReply("Fine."),
    ],
    choose("allow_once"),
    async (client) => {
      const sessionId = await client.begin();
      await client.say(sessionId, "Go.");
      const { stopReason, error } = await client.idle();
      assert.equal(stopReason, "error");
      assert.match(error.message, /Wrong key/);
      assert.ok(
        client.updates.some(({ sessionUpdate, title }) =>
          sessionUpdate === "notice" && /Retrying in 0 s/.test(title)
        ),
      );
      await client.say(sessionId, "Again.");
      assert.equal((await client.idle()).stopReason, "end_turn");
    },
  ));

Deno.test("a slash command has the same states as a prompt", () =>
  scene([], choose("allow_once"), async (client) => {
    const sessionId = await client.begin();
    const { messageId } = await client.say(sessionId, "/status");
    assert.equal((await client.idle()).stopReason, "end_turn");
    assert.deepEqual(
      client.updates.filter(({ sessionUpdate }) => sessionUpdate !== "session_info_update")
        .map(({ sessionUpdate, state }) => state ?? sessionUpdate),
      ["running", "user_message", "agent_message_chunk", "idle"],
    );
    assert.equal(client.updates[1].messageId, messageId);
  }));

Deno.test("an option is set by its id, and a value that does not exist is refused", () =>
  scene([], choose("allow_once"), async (client) => {
    const sessionId = await client.begin();
    const set = (configId: string, value: string) =>
      client.ctx.request(agent.session.setConfigOption, { sessionId, configId, type: "id", value });
    const { configOptions } = await set("mode", "step") as Json;
    assert.equal(configOptions.find(({ configId }: Json) => configId === "mode").currentValue, "step");
    assert.ok(client.updates.every(({ sessionUpdate }) => sessionUpdate !== "current_mode_update"));
    await assert.rejects(set("mode", "other"), refusedWith(-32602));
  }));

Deno.test("what version 2 does not have, or what the agent did not offer, is refused", () =>
  scene([], choose("allow_once"), async (client) => {
    const { cwd, ctx } = client;
    const call = (method: string, params: object) => ctx.request(method as Json, params as Json);
    const sessionId = await client.begin();
    await assert.rejects(call("session/load", { sessionId, cwd, mcpServers: [] }), refusedWith(-32601));
    await assert.rejects(call("session/set_mode", { sessionId, modeId: "step" }), refusedWith(-32601));
    const stdio = { type: "stdio", name: "a", command: "/bin/true" };
    for (
      const params of [
        { cwd: `${cwd}/absent` },
        { cwd, additionalDirectories: ["/tmp"] },
        { cwd, mcpServers: [{ type: "sse", name: "a", url: "http://127.0.0.1:1" }] },
        { cwd, mcpServers: [stdio, stdio] },
      ]
    ) await assert.rejects(call("session/new", params), refusedWith(-32602), JSON.stringify(params));
  }));

Deno.test("the version is the highest one that client and agent have, and cannot become lower", () =>
  withScene(async (place) => {
    for (const [asked, expected] of [[1, 1], [2, 2], [7, 2], ["2", 1], [undefined, 1], [0, 1]] as const) {
      const child = startAgent(place, {});
      const writer = child.stdin.getWriter();
      const ask = (id: number, protocolVersion: unknown) =>
        writer.write(
          new TextEncoder().encode(
            `${JSON.stringify({ jsonrpc: "2.0", id, method: "initialize", params: { protocolVersion } })}\n`,
          ),
        );
      await ask(1, asked);
      await ask(2, 1);
      await writer.close();
      const lines = new TextDecoder().decode((await child.output()).stdout).trim().split("\n");
      const [first, second] = lines.map((line) => JSON.parse(line));
      assert.equal(first.result.protocolVersion, expected, String(asked));
      if (expected === 2) assert.equal(second.error.code, -32600);
      else assert.equal(second.result.protocolVersion, 1);
    }
  }));

Deno.test("several calls are a plan with an id", () =>
  scene(
    [
      {
        events: [
          ...toolReply("one", "bash", { command: "echo 1", timeout: null }).events!.slice(0, -2),
          ...toolReply("two", "bash", { command: "echo 2", timeout: null }).events!
            .filter(({ index }) => index === 1).map((event) => ({ ...event, index: 2 })),
          ...toolReply("one", "bash", {}).events!.slice(-2),
        ],
      },
      textReply("Done."),
    ],
    choose("allow_once"),
    async (client) => {
      const sessionId = await client.begin();
      await client.say(sessionId, "Go.");
      await client.idle();
      const plans = client.updates.filter(({ sessionUpdate }) => sessionUpdate === "plan_update");
      assert.deepEqual([plans[0].plan.type, plans[0].plan.entries.length], ["items", 2]);
    },
    "",
  ));

// What the language server and the ACP agent show while the provider cannot answer, and what can be done meanwhile.

import assert from "node:assert/strict";
import * as acp from "@agentclientprotocol/sdk";
import { holderOf } from "../../cycle/storage/lock.ts";
import { type Scene, withScene } from "../cli/harness.ts";
import { type Reply, textReply, withServer } from "../cli/replies.ts";
import { type Json, LspEditor } from "./lsp/client.ts";

type Env = Readonly<Record<string, string>>;

const KEY = { ANTHROPIC_API_KEY: "test-key" };
const QUESTION = "@You:\nHow are you?\n";
const [FIRST, SECOND] = ["claude-sonnet-5-5", "claude-opus-5-5"];
const SETTINGS = `run: { wait_for_limit: 10000 }\nfallback: { models: [${SECOND}] }\n`;

function refuse(status: number, type: string, headers: Record<string, string> = {}): Reply {
  return { status, headers, body: JSON.stringify({ type: "error", error: { type, message: "Too many" } }) };
}
const LIMITED = refuse(429, "rate_limit_error", { "retry-after": "3600" });
const OVERLOADED = refuse(529, "overloaded_error", { "retry-after-ms": "1" });

const WAITS = /^rate_limit_error — Too many\. Retrying in 1 h, at \d\d:\d\d:\d\d \(attempt 2\)\./;
const ASKS =
  `anthropic/${FIRST} cannot answer: overloaded_error — Too many. Asking anthropic/${SECOND} for this reply.`;

/** A language server with `f.chat`, whose model gives these replies. */
async function withEditor(
  replies: readonly Reply[],
  body: (
    editor: LspEditor,
    scene: {
      readonly uri: string;
      readonly place: Scene;
      readonly env: Env;
      readonly requests: readonly Json[];
    },
  ) => Promise<void>,
): Promise<void> {
  await withServer(replies, ({ env, requests }) =>
    withScene(async (place) => {
      place.settings(SETTINGS);
      place.write("f.chat", QUESTION);
      const uri = `file://${place.path("f.chat")}`;
      await using editor = await LspEditor.start(place, { env: { ...KEY, ...env } });
      editor.open(uri, QUESTION);
      await editor.execute("flemma.advance", { uri, version: editor.versionOf(uri) });
      await body(editor, { uri, place, env: { ...KEY, ...env }, requests });
      assert.equal(await editor.shutdown(), 0);
    }));
}

const progress = ({ reported }: LspEditor): string[] =>
  reported.filter(({ method }) => method === "$/progress").map(({ params }) => params.value.message ?? "");

const isFree = async (place: Scene) =>
  await holderOf(place.path("f.chat"), { cwd: "/", home: place.env.HOME!, variables: place.env }) === null;

Deno.test("the language server shows in its progress until when it waits, and another program can use the document", () =>
  withEditor([LIMITED, textReply("Fine.")], async (editor, { uri, place, env, requests }) => {
    await editor.until(() => progress(editor).some((text) => WAITS.test(text)), "the wait is shown");
    while (!await isFree(place)) await new Promise((done) => setTimeout(done, 5));
    await place.exits(0, ["advance", "f.chat"], { env });
    assert.match(place.read("f.chat"), /Fine\./);
    await editor.execute("flemma.cancel", { uri });
    await editor.runEnds();
    assert.equal(editor.textOf(uri), QUESTION, "the editor has not read the file again");
    assert.equal(requests.length, 2);
  }));

Deno.test("the language server shows which model it asks instead, in its progress and in the log", () =>
  withEditor([OVERLOADED, OVERLOADED, OVERLOADED, textReply("Fine.")], async (editor, { uri, requests }) => {
    await editor.runEnds();
    assert.ok(progress(editor).includes(ASKS), progress(editor).join("\n"));
    const logged = editor.reported.filter(({ method }) => method === "window/logMessage")
      .map(({ params }) => params.message);
    assert.ok(logged.some((text) => text.includes(ASKS)), logged.join("\n"));
    assert.ok(
      logged.some((text) => text.includes(`This reply is by anthropic/${SECOND}`)),
      logged.join("\n"),
    );
    assert.match(editor.textOf(uri), /@Assistant:\nFine\./);
    assert.deepEqual(requests.map(({ model }) => model), [FIRST, FIRST, FIRST, SECOND]);
  }));

/** An ACP agent whose model gives these replies. */
async function withAgent(
  replies: readonly Reply[],
  body: (client: {
    readonly updates: readonly Json[];
    readonly ctx: acp.ClientContext;
    readonly sessionId: string;
    ask(): Promise<Json>;
  }) => Promise<void>,
): Promise<void> {
  await withServer(replies, ({ env }) =>
    withScene(async (place) => {
      place.settings(SETTINGS);
      const [program = "", ...args] = [...place.program, "acp"];
      const child = new Deno.Command(program, {
        args,
        cwd: place.path(""),
        clearEnv: true,
        env: { ...place.env, ...KEY, ...env },
        stdin: "piped",
        stdout: "piped",
        stderr: "null",
      }).spawn();
      const updates: Json[] = [];
      const app = acp.client({ name: "test" })
        .onNotification(acp.methods.client.session.update, ({ params }: Json) => {
          updates.push(params.update);
        });
      try {
        await app.connectWith(acp.ndJsonStream(child.stdin, child.stdout), async (ctx) => {
          const { initialize, session } = acp.methods.agent;
          await ctx.request(initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} });
          const cwd = place.path("").replace(/\/$/, "");
          const { sessionId } = await ctx.request(session.new, { cwd, mcpServers: [] });
          const prompt = [{ type: "text" as const, text: "Hi" }];
          await body({
            updates,
            ctx,
            sessionId,
            ask: () => ctx.request(session.prompt, { sessionId, prompt }),
          });
        });
      } finally {
        child.kill("SIGTERM");
        await child.status;
      }
    }));
}

const thoughts = (updates: readonly Json[]) =>
  updates.filter(({ sessionUpdate }) => sessionUpdate === "agent_thought_chunk")
    .map(({ content }) => content.text);

Deno.test("an ACP client sees until when the agent waits, and can cancel the wait", () =>
  withAgent([LIMITED], async ({ updates, ctx, sessionId, ask }) => {
    const asked = ask();
    while (!thoughts(updates).some((text) => WAITS.test(text))) {
      await new Promise((done) => setTimeout(done, 5));
    }
    await ctx.notify(acp.methods.agent.session.cancel, { sessionId });
    assert.equal((await asked).stopReason, "cancelled");
  }));

Deno.test("an ACP client sees which model is asked instead", () =>
  withAgent([OVERLOADED, OVERLOADED, OVERLOADED, textReply("Fine.")], async ({ updates, ask }) => {
    assert.equal((await ask()).stopReason, "end_turn");
    assert.ok(thoughts(updates).includes(`${ASKS}\n`), thoughts(updates).join(""));
  }));

// The program as an ACP agent, with the official library as its client.

import assert from "node:assert/strict";
import * as acp from "@agentclientprotocol/sdk";
import type { Scene } from "../../cli/harness.ts";

// deno-lint-ignore no-explicit-any
export type Json = any;

/** What the client is asked, and how it answers. */
export type Permission = (params: Json) => Json | Promise<Json>;

export interface Client {
  readonly ctx: acp.ClientContext;
  readonly updates: Json[];
  readonly asked: Json[];
  readonly cwd: string;
  text(kind?: string): string;
}

export const choose = (kind: string): Permission => ({ options }) => ({
  outcome: { outcome: "selected", optionId: options.find((each: Json) => each.kind === kind).optionId },
});

/** Starts the program as an agent, whose client this test is. */
export function startAgent(place: Scene, env: Readonly<Record<string, string>>): Deno.ChildProcess {
  const [program = "", ...args] = [...place.program, "acp"];
  return new Deno.Command(program, {
    args,
    cwd: place.path(""),
    clearEnv: true,
    env: { ...place.env, ANTHROPIC_API_KEY: "k", ...env },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
}

export async function withAgent(
  place: Scene,
  env: Readonly<Record<string, string>>,
  permission: Permission,
  body: (client: Client) => Promise<void>,
  capabilities: Json = {},
  form: Permission = () => ({ action: "accept", content: { reason: "Use make." } }),
): Promise<void> {
  const child = startAgent(place, env);
  const updates: Json[] = [];
  const asked: Json[] = [];
  const text = (kind = "agent_message_chunk") =>
    updates.filter(({ sessionUpdate }) => sessionUpdate === kind).map(({ content }) => content.text).join("");
  const app = acp.client({ name: "test" })
    .onNotification(acp.methods.client.session.update, ({ params }: Json) => {
      updates.push(params.update);
    })
    .onRequest(acp.methods.client.session.requestPermission, ({ params }: Json) => {
      asked.push(params);
      return permission(params);
    })
    .onRequest(acp.methods.client.elicitation.create, ({ params }: Json) => form(params));
  try {
    await app.connectWith(acp.ndJsonStream(child.stdin, child.stdout), async (ctx) => {
      const initialized: Json = await ctx.request(acp.methods.agent.initialize, {
        protocolVersion: acp.PROTOCOL_VERSION,
        clientCapabilities: capabilities,
      });
      assert.equal(initialized.protocolVersion, 1);
      await body({ ctx, updates, asked, cwd: place.path("").replace(/\/$/, ""), text });
    });
  } finally {
    // The library keeps the stream open; a client that goes away ends the program it started.
    child.kill("SIGTERM");
    await child.status;
  }
  assert.equal((await child.status).code, 0);
}

export const begin = (client: Client) =>
  client.ctx.request(acp.methods.agent.session.new, { cwd: client.cwd, mcpServers: [] });
export const say = (client: Client, sessionId: string, text: string) =>
  client.ctx.request(acp.methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });

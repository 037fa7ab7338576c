// Questions of MCP servers in a client of the Agent Client Protocol: as a form if it shows forms, else as a permission.

import assert from "node:assert/strict";
import { type Scene, withScene } from "../../cli/harness.ts";
import { textReply, withServer } from "../../cli/replies.ts";
import { serveAsking } from "../../tools/mcp/asking_server.ts";
import { begin, choose, type Client, type Json, type Permission, say, withAgent } from "./client.ts";
import { toolReply } from "./replies.ts";

const FORMS = { elicitation: { form: {} } };
const answer = (content: Json): Permission => () => ({ action: "accept", content });

/** What the client did, and the result of the call. */
interface Asked {
  readonly client: Client;
  readonly forms: readonly Json[];
  readonly stopReason: string;
  /** The block of the call. */
  readonly block: string;
}

/** Lets the model call a tool of the server, which asks. */
async function ask(
  tool: string,
  { permission = choose("allow_once"), form = answer({}), capabilities = FORMS }: {
    readonly permission?: Permission;
    readonly form?: Permission;
    readonly capabilities?: Json;
  },
): Promise<Asked> {
  const server = serveAsking();
  const forms: Json[] = [];
  let asked: Asked | null = null;
  try {
    await withServer(
      [toolReply("toolu_1", `web__${tool}`, {}), textReply("Done.")],
      ({ env }) =>
        withScene(async (place) => {
          const tools = { auto_approve: [`web:${tool}`] };
          place.settings(JSON.stringify({ mcp: { servers: { web: { url: server.url } } }, tools }));
          await withAgent(
            place,
            env,
            permission,
            async (client) => {
              const { sessionId } = await begin(client);
              const { stopReason } = await say(client, sessionId, "Go.");
              asked = { client, forms, stopReason, block: blockIn(place) };
            },
            capabilities,
            (params) => {
              forms.push(params);
              return form(params);
            },
          );
        }),
    );
  } finally {
    await server.close();
  }
  assert.ok(asked !== null);
  return asked;
}

function blockIn(place: Scene): string {
  const [entry] = [...Deno.readDirSync(place.path(".flemma/chats"))].filter(({ name }) =>
    name.endsWith(".chat")
  );
  const text = place.read(`.flemma/chats/${entry!.name}`);
  return text.slice(text.indexOf("**Tool Result:**"));
}

Deno.test("a client that shows forms gets the form of a server, and its answers go to the server", async () => {
  const { client, forms, block, stopReason } = await ask("ask", {
    form: answer({ email: "a@b", count: 4, tags: ["b"], loud: true }),
  });
  assert.equal(stopReason, "end_turn");
  assert.equal(client.asked.length, 0);
  assert.equal(forms.length, 1);
  assert.match(forms[0].message, /Where should the report go\?$/);
  assert.deepEqual(forms[0].requestedSchema.required, ["email"]);
  assert.match(
    block,
    /"action":"accept","content":\{"email":"a@b","count":4,"tags":\["b"\],"loud":true\}\}\},"state":"kept"/,
  );
});

Deno.test("the forms of several questions are shown one after the other", async () => {
  const { forms, block } = await ask("two", {
    form: ({ message }) => ({
      action: "accept",
      content: /Sure/.test(message) ? { sure: false } : { email: "a@b" },
    }),
  });
  assert.equal(forms.length, 2);
  assert.match(
    block,
    /"a":\{"action":"accept","content":\{"email":"a@b"\}\},"b c":\{"action":"accept","content":\{"sure":false\}\}/,
  );
});

Deno.test("a form that is declined declines at the server", async () => {
  const { block } = await ask("ask", { form: () => ({ action: "decline" }) });
  assert.match(block, /"action":"decline"/);
});

for (
  const [title, form] of [["that is closed", () => ({ action: "cancel" })], [
    "with answers that do not fit",
    answer({ email: "x" }),
  ]] as const
) {
  Deno.test(`after a form ${title}, the call waits, and the person is not asked again in this turn`, async () => {
    const { forms, block, stopReason } = await ask("ask", { form });
    assert.equal(forms.length, 1);
    assert.equal(stopReason, "end_turn");
    assert.match(block, /status=pending\n```yaml flemma:questions\n/);
  });
}

Deno.test("a client without forms gets the questions as text, and its permission sends the defaults", async () => {
  const { client, forms, block } = await ask("twice", { capabilities: {} });
  assert.equal(forms.length, 0);
  assert.equal(client.asked.length, 2);
  assert.match(client.asked[0].toolCall.content[0].content.text, /First\?[^]*\nword:\n/);
  assert.deepEqual(client.asked[0].options.map(({ name }: Json) => name), ["Send the answers", "Decline"]);
  assert.match(block, /"action":"accept","content":\{\}/);
});

Deno.test("a page is asked about as a permission, with its host", async () => {
  const { client, forms, block } = await ask("page", {});
  assert.equal(forms.length, 0);
  assert.match(client.asked[0].toolCall.content[0].content.text, /a page of the host example\.com:/);
  assert.match(block, /"action":"accept"\}\},"state":"page"/);
});

Deno.test("a form that the client cannot show becomes a permission", async () => {
  const { client, forms, block } = await ask("odd", {});
  assert.equal(forms.length, 0);
  assert.equal(client.asked.length, 1);
  assert.match(block, /"action":"accept","content":\{"tags":\["x"\]\}/);
});

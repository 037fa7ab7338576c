// A call of an MCP server from start to result: one process, progress, stopping, refusals, questions, a changing
// list.

import assert from "node:assert/strict";
import { recordTrust } from "../../../config/sources/trust.ts";
import { faultsIn, type Place, scripted, withPlace } from "./scene.ts";
import type { McpServer } from "../../../config/settings.generated.ts";
import { testsWith } from "../../tests_with.ts";

const bare = { ...scripted(), sandbox: false };

function heard(place: Place): { method?: string; id?: number; params?: Record<string, unknown> }[] {
  return Deno.readTextFileSync(`${place.folder}/heard.jsonl`).trimEnd().split("\n")
    .map((line) => JSON.parse(line));
}

const test = testsWith(withPlace);

test("parallel calls of one MCP server share one process, which ends when the document is closed", async (place) => {
  const calls = Array.from({ length: 5 }, () => ({ name: "one:stay" }));
  const { result } = await place.run({ one: bare }, calls);
  const pids = calls.map((_, at) => /\d+/.exec(result(at))![0]);
  assert.equal(new Set(pids).size, 1, pids.join(" "));
  assert.equal(heard(place).filter(({ method }) => method === "initialize").length, 1);
  assert.throws(() => Deno.statSync(`/proc/${pids[0]}`), Deno.errors.NotFound);
  // Known now: the next document starts it again only for the call.
  await place.with({ one: bare }, [{ name: "one:stay", status: "pending" }], (chat) => chat.advance());
  assert.equal(heard(place).filter(({ method }) => method === "initialize").length, 1);
});

test("progress of an MCP server is shown and restarts the timeout of the call", async (place) => {
  const { result, events } = await place.run({ one: { ...bare, timeout: 2 } }, [{ name: "one:slow" }]);
  assert.match(result(0), /at last/);
  const shown = events.flatMap((event) => event.event === "tool:output" ? [event.text] : []).join("");
  for (const at of [1, 4, 7]) assert.match(shown, new RegExp(`step ${at}/12\n`));
});

test("if a call is stopped, flemma cancels only this call at the MCP server", async (place) => {
  const calls = [{ name: "one:wait" }, { name: "one:slow" }];
  const { result } = await place.with({ one: bare }, calls, async (chat, events) => {
    const advancing = chat.advance();
    // The other call tells progress only once both are under way.
    while (!events.some(({ event }) => event === "tool:output")) {
      await new Promise((resume) => setTimeout(resume, 10));
    }
    assert.ok(chat.cancelCall("call_0"));
    await advancing;
  });
  assert.match(result(0), /stopped/);
  assert.match(result(1), /at last/);
  const waits = heard(place).find(({ params }) => params?.name === "wait");
  const cancelled = heard(place).filter(({ method }) => method === "notifications/cancelled");
  assert.deepEqual(cancelled.map(({ params }) => params?.requestId), [waits!.id]);
});

test("an MCP server's error is reported in its words and does not end the server; a silent server gets a ping", async (place) => {
  const calls = ["stay", "refuse", "wait"].map((name) => ({ name: `one:${name}` }));
  const { result } = await place.with({ one: { ...bare, timeout: 3 } }, calls, async (chat) => {
    await chat.advance();
  });
  assert.match(result(1), /\(error\)[^]*one refused the call: .*the input does not please me/);
  assert.match(
    result(2),
    /\(error\)[^]*one did not answer: it sent nothing for 3 s\. To wait longer, raise mcp\.servers\.one\.timeout\./,
  );
  const methods = heard(place).map(({ method }) => method);
  assert.equal(methods.filter((method) => method === "initialize").length, 1);
  assert.equal(methods.filter((method) => method === "ping").length, 1);
});

test("requests by an MCP server for unsupported features are refused; its ping gets a response; roots only without a folder argument", async (place) => {
  // A server with a folder as its argument already knows what it may use.
  const { sandbox: _, ...inside } = bare;
  const free = { ...inside, args: inside.args!.slice(0, -1) };
  const ask = async (server: McpServer) =>
    (await place.run({ one: server }, [{ name: "one:ask" }])).result(0);
  assert.match(await ask(bare), /-32601 -32602 answered -32601/);
  assert.match(await ask(free), /-32601 -32602 answered answered/);
});

test("a long text of an MCP server is shortened, also if it is an error", async (place) => {
  const { result } = await place.run({ one: bare }, [{ name: "one:long" }]);
  assert.match(result(0), /\(error\)/);
  assert.ok(result(0).length < 200_000, String(result(0).length));
});

Deno.test("tools that an MCP server adds during a run are offered with the next request, and cached", () =>
  withPlace(async (place) => {
    const offered: string[][] = [];
    const answer = async (_: unknown, init?: RequestInit) => {
      const body = await new Response(init?.body).json();
      offered.push(
        body.tools.map(({ name }: { name: string }) => name).filter((name: string) => /^one_/.test(name)),
      );
      return Response.json({ type: "error", error: { type: "invalid_request_error", message: "no" } }, {
        status: 400,
      });
    };
    const ran = await place.with({ one: bare }, [{ name: "one:grow" }], (chat) => chat.advance(), {
      fetch: answer,
      settings: { tools: { max_concurrent: 0 }, provider: "anthropic" },
    });
    assert.match(ran.result(0), /grown/, ran.text);
    assert.deepEqual(offered, [["one__echo", "one__grown"]]);
    assert.match(ran.notices.join("\n"), /mcp-tools-changed: The tools of the server one changed/);
    const next = await place.run({ one: bare }, [{ name: "one:grown" }]);
    assert.match(next.result(0), /grown/);
    assert.deepEqual(faultsIn(next), []);
  }, { ANTHROPIC_API_KEY: "sk-of-a-test-000000000000" }));

test("if two MCP servers have tools of the same name, each tool is called on its own server", async (place) => {
  const { result } = await place.run({ one: bare, two: bare }, [
    { name: "one:shell", input: { command: "pwd" } },
    { name: "two:shell", input: { command: "pwd" } },
  ]);
  assert.match(result(0), /\/outside\/work\/mcp%20one$/m);
  assert.match(result(1), /\/outside\/work\/mcp%20two$/m);
});

Deno.test("server settings can use the variables that commands may see; missing variables are reported, and provider keys are never used", () =>
  withPlace(async (place) => {
    const server = {
      ...bare,
      env: { ...bare.env, TOKEN: "${TOKEN}", OTHER: "${NOT_SET:-default}", KEY: "${ANTHROPIC_API_KEY}" },
    };
    const ran = await place.run({ one: server }, [
      { name: "one:shell", input: { command: "echo $TOKEN-$OTHER-$KEY-" } },
    ]);
    assert.match(ran.result(0), /0 tkn-default--$/m);
    assert.deepEqual(faultsIn(ran), [
      "mcp-variable-missing: The MCP server one starts without ANTHROPIC_API_KEY: not set, or not passed to programs that tools start. Set it, or add it to tools.env.pass.",
    ]);
  }, { TOKEN: "tkn", ANTHROPIC_API_KEY: "sk-secret-value-of-a-provider" }));

Deno.test("the token that the person's own server gets is not in the environment of a project's server, nor of commands", () =>
  withPlace(async (place) => {
    const asks = { ...bare.env, GIVEN: "${WORK_TOKEN}", ADDRESS: "${DATABASE_URL}" };
    const text = JSON.stringify({ mcpServers: { theirs: { ...scripted(), env: asks } } });
    Deno.mkdirSync(`${place.folder}/.git`);
    Deno.writeTextFileSync(`${place.folder}/.mcp.json`, text);
    const trusted = await recordTrust(place.environment, `${place.folder}/.mcp.json`, text, {}, new Date());
    assert.ok(trusted.ok);
    const input = { command: "echo $GIVEN-$ADDRESS-$WORK_TOKEN-" };
    const ran = await place.run({ own: { ...bare, env: asks } }, [
      { name: "own:shell", input },
      { name: "theirs:shell", input },
      { name: "bash", input: { ...input, label: "" } },
    ]);
    assert.match(ran.result(0), /0 tkn-\[DATABASE_URL\]--$/m, ran.text);
    assert.match(ran.result(1), /0 ---$/m, ran.text);
    assert.match(ran.result(2), /^---$/m, ran.text);
    assert.match(faultsIn(ran).join("\n"), /^mcp-variable-missing: .* theirs .* DATABASE_URL, WORK_TOKEN: /m);
  }, { WORK_TOKEN: "tkn", DATABASE_URL: "https://me:pw@db.test" }));

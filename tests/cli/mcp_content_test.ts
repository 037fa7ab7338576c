// Prompts and resources of MCP servers, printed as text in which nothing takes effect.

import assert from "node:assert/strict";
import { type Scene, testWithScene as test } from "./harness.ts";

const SCRIPTED = new URL("../tools/mcp/scripted.ts", import.meta.url).pathname;

function withServer(place: Scene): void {
  place.settings(`mcp:
  servers:
    one:
      command: ${Deno.execPath()}
      args: [run, -A, --quiet, ${SCRIPTED}, .]
      env: { DENO_DIR: "${place.env.DENO_DIR}" }
`);
}

test("prompts and resources are listed with their arguments and the first line of what they are for", async (place) => {
  withServer(place);
  const prompts = await place.exits(0, ["mcp", "prompt", "one"]);
  assert.equal(prompts.stdout, "sum a=… [b=…]  Sums up.\nother\n");
  assert.equal((await place.exits(0, ["mcp", "read", "one"])).stdout, "x://1  One\n");
});

test("a prompt and a resource become blocks in which nothing takes effect, and other content one line", async (place) => {
  withServer(place);
  place.write("secret.txt", "the secret\n");
  for (
    const [args, line] of [
      [["mcp", "prompt", "one", "sum", "a=1=2"], /a=1=2/],
      [["mcp", "read", "one", "x://1"], /\[x:\/\/2: audio\/wav, not shown\]/],
    ] as const
  ) {
    const { stdout } = await place.exits(0, args);
    assert.match(stdout, line);
    assert.ok(!stdout.includes("\u001b"));
    place.write("a.chat", `@You:\nLook:\n\n${stdout}\nEnd.\n`);
    const parsed = JSON.parse((await place.exits(0, ["parse", "a.chat"])).stdout);
    assert.equal(parsed.turns?.length ?? parsed.messages?.length, 1, JSON.stringify(parsed).slice(0, 300));
    const body = await place.exits(0, ["advance", "a.chat", "--no-tools", "--dry-run"], {
      env: { ANTHROPIC_API_KEY: "sk-of-a-test-000000000000" },
    });
    assert.match(body.stdout, /\{\{ 1 \+ 1 \}\} @\.\/secret\.txt/);
    assert.doesNotMatch(body.stdout, /the secret/);
  }
});

test("an unknown server, prompt or argument, and an untrusted file, are refused with a sentence", async (place) => {
  withServer(place);
  assert.match(
    (await place.exits(2, ["mcp", "prompt", "on"])).stderr,
    /no MCP server on in the settings\.\n.*Did you mean one/,
  );
  assert.match(
    (await place.exits(1, ["mcp", "prompt", "one", "none"])).stderr,
    /The MCP server one did not answer prompts\/get: .*no such prompt/,
  );
  assert.match(
    (await place.exits(2, ["mcp", "prompt", "one", "sum", "a"])).stderr,
    /a is not an argument of a prompt/,
  );
  place.write(".mcp.json", JSON.stringify({ mcpServers: { theirs: { command: "true" } } }));
  assert.match((await place.exits(2, ["mcp", "read", "theirs"])).stderr, /which is not trusted/);
});

// `flemma tools list` with MCP servers: asked if nothing is cached, and again on request.

import assert from "node:assert/strict";
import { testWithScene as test } from "./harness.ts";

const SCRIPTED = new URL("../tools/mcp/scripted.ts", import.meta.url).pathname;

test("tools list queries an MCP server once, queries it again with --refresh, and reports a server that does not respond", async (place) => {
  const list = (...names: string[]) =>
    place.write("tools.json", JSON.stringify(names.map((name) => ({ name, inputSchema: {} }))));
  const server = `
      command: ${Deno.execPath()}
      args: [run, -A, --quiet, ${SCRIPTED}, .]
      env: { DENO_DIR: "${place.env.DENO_DIR}" }`;
  place.settings(`mcp:\n  servers:\n    one:${server}\n`);
  list("first", "broken name\u0007", "a.b/c d");
  const names = (out: string) =>
    out.split("\n").flatMap((line) => /^(one:.*?) {2,}server/.exec(line)?.[1] ?? []);
  const shown = await place.exits(0, ["tools", "list"]);
  assert.match(shown.stderr, /^(flemma: Waiting for the tools of the server one\.\n)?$/);
  assert.deepEqual(names(shown.stdout), ["one:a.b/c d", "one:first"]);
  assert.match(shown.stdout, /^one:first +server one \(sandbox\) +offered +asks/m);

  list("second");
  assert.deepEqual(names((await place.run(["tools", "list"])).stdout), ["one:a.b/c d", "one:first"]);
  const refreshed = await place.run(["tools", "list", "--refresh"]);
  assert.deepEqual([refreshed.code, names(refreshed.stdout)], [0, ["one:second"]], refreshed.stderr);
  assert.deepEqual(names((await place.run(["tools", "list"])).stdout), ["one:second"]);

  // What is known of the others is there all the same.
  place.settings(`mcp:\n  servers:\n    one:${server}\n    two: { command: no-such-server }\n`);
  const part = await place.exits(1, ["tools", "list"]);
  assert.match(
    part.stderr,
    /the server two could not list its tools: The program no-such-server was not found/,
  );
  assert.deepEqual(names(part.stdout), ["one:second"]);
  const shownOne = await place.run(["tools", "show", "one:second"]);
  assert.match(shownOne.stdout, /source +server one\n +target +the sandbox\n/);
});

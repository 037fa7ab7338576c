// Which MCP servers are the person's own: only these may insert tokens.

import assert from "node:assert/strict";
import { LayerLog } from "../../config/layers/log.ts";
import { personalServers } from "../../config/layers/servers.ts";
import type { Layer } from "../../config/types.ts";

const rows: readonly (readonly [string, readonly (readonly [Layer, string])[], boolean])[] = [
  ["a server of the person's file", [["G", "url"]], true],
  ["a server of the command line", [["C", "command"]], true],
  ["a server of the session", [["R", "url"]], true],
  ["a server of a project", [["P", "url"]], false],
  ["a server of a document", [["M", "url"]], false],
  ["the person's server, from whose tools a project takes some away", [["G", "url"], ["P", "exclude"]], true],
  ["a project's server that the person switched on", [["P", "url"], ["C", "enabled"]], false],
  ...["command", "args", "env", "cwd", "url", "headers", "sandbox"].map((member) =>
    [`the person's server with ${member} of a project`, [["G", "url"], ["P", member]], false] as const
  ),
  ["a server that nobody defines", [["G", "timeout"]], false],
];

for (const [title, writes, isPersonal] of rows) {
  Deno.test(`${title} ${isPersonal ? "is" : "is not"} the person's own`, () => {
    const logs = writes.map(([layer, member]) =>
      new LayerLog(layer, [{ op: "set", path: ["mcp", "servers", "web", member], value: "x" }])
    );
    assert.deepEqual(personalServers(logs), isPersonal ? ["web"] : []);
  });
}

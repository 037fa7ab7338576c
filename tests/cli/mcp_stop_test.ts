// Ctrl-C while an MCP server works on a call: the call is marked as stopped, the server is notified, and everything
// ends.

import assert from "node:assert/strict";
import { scripted } from "../tools/mcp/scene.ts";
import { testWithScene as test } from "./harness.ts";

for (const sandbox of [true, false]) {
  const where = sandbox ? "in" : "outside of";
  test(`Ctrl-C stops a call of an MCP server ${where} the sandbox, notifies the server, and leaves no process running`, async (place) => {
    const seconds = `3600.${Math.floor(Math.random() * 1e9)}`;
    const input = { command: `setsid sleep ${seconds} & touch ${place.path("started")}; wait` };
    place.settings(JSON.stringify({ mcp: { servers: { one: { ...scripted(place.path(".")), sandbox } } } }));
    place.write(
      "a.chat",
      "@You:\nGo.\n\n@Assistant:\n**Tool Use:** `one:shell` (`c1`)\n\n```json\n" +
        `${JSON.stringify(input)}\n` +
        "```\n\n@You:\n\n**Tool Result:** `c1`\n\n```flemma:tool status=approved\n```\n",
    );
    const started = place.start(["advance", "a.chat"]);
    await place.appears("started", started);
    started.kill("SIGINT");
    const { code, stderr } = await started.finished;
    assert.equal(code, 130, stderr);
    assert.match(
      place.read("a.chat"),
      /server one was stopped\.\n\nThe user stopped this tool before it finished\./,
    );
    assert.match(place.read("heard.jsonl"), /"notifications\/cancelled"/);
    const left = await new Deno.Command("pgrep", { args: ["-f", `^sleep ${seconds}$`] }).output();
    assert.equal(left.code, 1, "nothing that it started is left");
  });
}

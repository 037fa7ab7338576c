// The conformance suite of the protocol, as far as it concerns clients like ours (docs/reference/mcp.md has the
// table).

import assert from "node:assert/strict";

const SUITE = "npm:@modelcontextprotocol/conformance@0.1.16";
const CLIENT = new URL("conformance_client.ts", import.meta.url).pathname;
const CONFIG = new URL("../../../deno.json", import.meta.url).pathname;

/** Scenarios, with the checks that must be passed; how late a reconnection is on a loaded machine is none of them. */
const SCENARIOS: readonly (readonly [string, readonly string[]])[] = [
  ["initialize", ["mcp-client-initialization"]],
  ["tools_call", ["tool-add-numbers"]],
  ["sse-retry", ["client-sse-graceful-reconnect", "client-sse-last-event-id"]],
];

for (const [scenario, checks] of SCENARIOS) {
  Deno.test(`MCP conformance, client: ${scenario}`, async () => {
    const results = await Deno.makeTempDir({ prefix: "flemma-conformance-" });
    try {
      const client = ["timeout", "120", Deno.execPath(), "run", "-A", "--quiet", "--config", CONFIG, CLIENT];
      const { stdout } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--quiet", SUITE, "client", "--scenario", scenario].concat(
          ["--command", client.join(" "), "--timeout", "120000", "--output-dir", results],
        ),
        // Not in a folder whose settings of Deno would be taken for the suite's.
        cwd: results,
        stderr: "null",
      }).output();
      const stated = new TextDecoder().decode(stdout);
      assert.doesNotMatch(stated, /CLIENT (?:EXITED|TIMED)/, stated);
      const [folder] = [...Deno.readDirSync(results)].filter(({ name }) => name.startsWith(scenario));
      const passed: { id: string; status: string }[] = JSON.parse(
        await Deno.readTextFile(`${results}/${folder!.name}/checks.json`),
      );
      for (const id of checks) {
        assert.equal(passed.find((check) => check.id === id)?.status, "SUCCESS", `${id}\n${stated}`);
      }
    } finally {
      await Deno.remove(results, { recursive: true });
    }
  });
}

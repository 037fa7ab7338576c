// The client for the conformance suite: a document with a call of the scenario's server.
//
//     conformance_client.ts URL    with the name of the scenario in MCP_CONFORMANCE_SCENARIO

import { withPlace } from "./scene.ts";

/** What is called in a scenario. */
const CALLS: Readonly<Record<string, { readonly name: string; readonly input?: Record<string, unknown> }>> = {
  tools_call: { name: "suite:add_numbers", input: { a: 5, b: 3 } },
  "sse-retry": { name: "suite:test_reconnection" },
  "elicitation-sep1034-client-defaults": { name: "suite:test_client_elicitation_defaults" },
};

const [url = ""] = Deno.args;
const call = CALLS[Deno.env.get("MCP_CONFORMANCE_SCENARIO") ?? ""];
await withPlace(async (place) => {
  // A scenario without a call is asked for its tools.
  const { result } = await place.run({ suite: { url } }, [call ?? { name: "suite:none" }]);
  if (call !== undefined && /\(error\)/.test(result(0))) {
    await Deno.stderr.write(new TextEncoder().encode(result(0)));
    Deno.exit(1);
  }
});

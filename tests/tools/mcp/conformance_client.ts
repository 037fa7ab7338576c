// The client for the conformance suite: a document with a call of the scenario's server, and a sign-in if one is needed.
//
//     conformance_client.ts URL    with the name of the scenario in MCP_CONFORMANCE_SCENARIO

import { writeProgram } from "../../folder.ts";
import { Scene } from "../../cli/harness.ts";
import { withPlace } from "./scene.ts";

/** What is called in a scenario. */
const CALLS: Readonly<Record<string, { readonly name: string; readonly input?: Record<string, unknown> }>> = {
  tools_call: { name: "suite:add_numbers", input: { a: 5, b: 3 } },
  "sse-retry": { name: "suite:test_reconnection" },
  "elicitation-sep1034-client-defaults": { name: "suite:test_client_elicitation_defaults" },
};

/** The address of client metadata that the suite expects where servers read such metadata. */
const METADATA = "https://conformance-test.local/client-metadata.json";

/** Number of sign-ins after which a person would give up. */
const MOST_SIGN_INS = 2;

const [url = ""] = Deno.args;
const scenario = Deno.env.get("MCP_CONFORMANCE_SCENARIO") ?? "";
if (scenario.startsWith("auth/")) await signIn();
else {
  const call = CALLS[scenario];
  await withPlace(async (place) => {
    // A scenario without a call is asked for its tools.
    const calls = [call ?? { name: "suite:none" }];
    const { result } = await place.with({ suite: { url } }, calls, async (chat) => {
      await chat.advance();
      // A server asks: the person accepts its defaults.
      if (chat.chat.results.every(({ questions }) => questions === null)) return;
      await chat.approve({ kind: "only" });
      await chat.advance();
    });
    if (call !== undefined && /\(error\)/.test(result(0))) await fail(result(0));
  });
}

/** Signs in as often as the program asks for it, as a person would do. */
async function signIn(): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "flemma-conformance-client-" });
  try {
    for (const name of ["place", "home", "tmp", "bin"]) await Deno.mkdir(`${folder}/${name}`);
    const place = new Scene(folder);
    writeProgram(
      `${folder}/bin/browser`,
      `#!/bin/sh\nexec ${Deno.execPath()} eval --quiet 'await (await fetch(Deno.args[0])).body?.cancel()' "$1"\n`,
    );
    const { client_id, client_secret } = JSON.parse(Deno.env.get("MCP_CONFORMANCE_CONTEXT") ?? "{}");
    const oauth = client_id !== undefined
      ? { client_id, client_secret }
      : scenario === "auth/basic-cimd"
      ? { client_id: METADATA }
      : {};
    place.settings(JSON.stringify({
      tools: { autopilot: { enabled: false } },
      mcp: { servers: { suite: { url, oauth } } },
    }));
    place.write(
      "a.chat",
      "@You:\nGo.\n\n@Assistant:\nI will.\n\n**Tool Use:** `suite:test-tool` (`c`)\n\n```json\n{}\n```\n\n" +
        "@You:\n\n**Tool Result:** `c`\n\n```flemma:tool status=approved\n```\n",
    );
    const env = { BROWSER: `${folder}/bin/browser` };
    for (let signIns = 0;; signIns++) {
      await place.run(["tools", "list", "--refresh"], { env });
      // A call of a tool that was not known before the sign-in waits for a decision.
      place.write("a.chat", place.read("a.chat").replace("status=pending", "status=approved"));
      const { stderr } = await place.run(["advance", "a.chat"], { env });
      if (!stderr.includes("flemma auth mcp")) break;
      if (signIns === MOST_SIGN_INS) await fail(stderr);
      const signed = await place.run(["auth", "mcp", "suite"], { env });
      if (signed.code !== 0) await fail(signed.stderr);
    }
    if (/\(error\)|status=/.test(place.read("a.chat"))) await fail(place.read("a.chat"));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function fail(why: string): Promise<never> {
  await Deno.stderr.write(new TextEncoder().encode(why));
  Deno.exit(1);
}

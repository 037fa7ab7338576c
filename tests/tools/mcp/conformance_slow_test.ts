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
  // The suite also counts the `cancel` before the person answers, as its server cannot wait.
  [
    "elicitation-sep1034-client-defaults",
    ["string", "integer", "number", "enum", "boolean"].map((type) =>
      `client-elicitation-sep1034-${type}-default`
    ),
  ],
  ["sse-retry", ["client-sse-graceful-reconnect", "client-sse-last-event-id"]],
];

/**
 * Scenarios of signing in, of which no check may fail. Left out are those of the protocol of 2025-03-26, whose servers do
 * not say that they offer PKCE, and those in which no person signs in.
 */
const SIGN_INS: readonly string[] = [
  "basic-cimd",
  "pre-registration",
  "scope-from-www-authenticate",
  "scope-from-scopes-supported",
  "scope-omitted-when-undefined",
  "scope-step-up",
  "scope-retry-limit",
  "token-endpoint-auth-basic",
  "token-endpoint-auth-post",
  "token-endpoint-auth-none",
  "resource-mismatch",
  "offline-access-scope",
  "offline-access-not-supported",
];

/** Scenarios in which the client must give up. */
const GIVES_UP: ReadonlySet<string> = new Set(["auth/scope-retry-limit", "auth/resource-mismatch"]);

const ALL = [...SCENARIOS, ...SIGN_INS.map((name) => [`auth/${name}`, null] as const)];

for (const [scenario, checks] of ALL) {
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
      const fault = GIVES_UP.has(scenario) ? /CLIENT TIMED/ : /CLIENT (?:EXITED|TIMED)/;
      assert.doesNotMatch(stated, fault, stated);
      const passed: { id: string; status: string }[] = JSON.parse(
        await Deno.readTextFile(checksBelow(results)),
      );
      if (checks === null) {
        assert.deepEqual(passed.filter(({ status }) => status === "FAILURE"), [], stated);
        assert.ok(passed.some(({ status }) => status === "SUCCESS"), stated);
      }
      for (const id of checks ?? []) {
        assert.equal(passed.find((check) => check.id === id)?.status, "SUCCESS", `${id}\n${stated}`);
      }
    } finally {
      await Deno.remove(results, { recursive: true });
    }
  });
}

/** The file with the results; its folder has the name of the scenario, which may contain a slash. */
function checksBelow(folder: string): string {
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    if (name === "checks.json") return `${folder}/${name}`;
    if (isDirectory) return checksBelow(`${folder}/${name}`);
  }
  throw new Error(`${folder} has no results`);
}

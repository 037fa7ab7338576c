// Which variables reach a tool (S7).

import assert from "node:assert/strict";
import { OTHER_CREDENTIALS, PROVIDER_CREDENTIALS } from "../../../sandbox/policy/credentials.ts";
import { toolEnvironment } from "../../../sandbox/mod.ts";

const NOTHING = { block: [], pass: [] };

Deno.test("credentials of model providers never reach a tool, whether confined or not", () => {
  const secrets = [...Object.values(PROVIDER_CREDENTIALS).flat(), ...OTHER_CREDENTIALS];
  assert.deepEqual(Object.keys(PROVIDER_CREDENTIALS).sort(), ["anthropic", "moonshot", "openai", "vertex"]);
  const variables = Object.fromEntries([...secrets, "PATH", "HOME", "CI"].map((name) => [name, "secret"]));
  for (const sandboxed of [true, false]) {
    const kept = toolEnvironment(variables, NOTHING, { sandboxed });
    assert.deepEqual(secrets.filter((name) => name in kept), []);
    assert.equal(kept.PATH, "secret");
    assert.equal(kept.CI, "secret");
  }
});

Deno.test("no name stands twice in the list of credentials", () => {
  const all = [...Object.values(PROVIDER_CREDENTIALS).flat(), ...OTHER_CREDENTIALS];
  assert.equal(new Set(all).size, all.length);
});

Deno.test("addresses of agents are withheld inside the sandbox only", () => {
  const agents = { SSH_AUTH_SOCK: "s", GPG_AGENT_INFO: "g", DBUS_SESSION_BUS_ADDRESS: "d" };
  const names = (sandboxed: boolean) => Object.keys(toolEnvironment(agents, NOTHING, { sandboxed }));
  for (const name of Object.keys(agents)) {
    assert.ok(!names(true).includes(name));
    assert.ok(names(false).includes(name));
  }
});

Deno.test("a person blocks and passes by name and by pattern, and blocking is stronger", () => {
  const variables = { OPENAI_API_KEY: "o", GITHUB_TOKEN: "g", AWS_SECRET: "a", "A.B": "dot", AXB: "x" };
  const kept = (block: string[], pass: string[]) => {
    const result = toolEnvironment(variables, { block, pass }, { sandboxed: true });
    return Object.keys(variables).filter((name) => name in result);
  };
  assert.deepEqual(kept([], []), ["GITHUB_TOKEN", "AWS_SECRET", "A.B", "AXB"]);
  assert.deepEqual(kept(["*_TOKEN", "AWS_*"], []), ["A.B", "AXB"]);
  assert.deepEqual(kept(["A.B"], ["OPENAI_*"]), ["OPENAI_API_KEY", "GITHUB_TOKEN", "AWS_SECRET", "AXB"]);
  assert.deepEqual(kept(["*"], ["*"]), []);
});

Deno.test("programs are kept from paging, asking and colouring, whatever the caller has set", () => {
  const kept = toolEnvironment({ PAGER: "less", GIT_EDITOR: "vim" }, NOTHING, { sandboxed: true });
  assert.deepEqual(kept, {
    PAGER: "cat",
    GIT_PAGER: "cat",
    GIT_TERMINAL_PROMPT: "0",
    GIT_EDITOR: "true",
    NO_COLOR: "1",
  });
});

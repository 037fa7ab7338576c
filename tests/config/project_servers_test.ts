// MCP servers from a project's `.mcp.json`: which of them the settings contain, and what the person is told.

import assert from "node:assert/strict";
import { loadSettingsLayers } from "../../config/load.ts";
import { recordTrust } from "../../config/sources/trust.ts";
import { testInWorld as test, type World } from "./world.ts";

/** Loads the settings of a world with this text in `.mcp.json`. */
async function loaded(world: World, text: string, isTrusted: boolean) {
  const path = `${world.project}/.mcp.json`;
  await world.write(path, text);
  const { cwd, home, variables } = world.environment();
  const environment = { cwd, home, variables: { ...variables, XDG_STATE_HOME: `${world.folder}/state` } };
  if (isTrusted) assert.ok((await recordTrust(environment, path, text, {}, new Date())).ok);
  return await loadSettingsLayers({ environment });
}

type Row = readonly [
  title: string,
  file: string,
  isTrusted: boolean,
  expected: { servers: Record<string, unknown>; untrusted: readonly string[]; notices: readonly string[] },
];

const [A, B] = [{ command: "a" }, { command: "b" }];
const FILE = (servers: Record<string, unknown>) => JSON.stringify({ mcpServers: servers });

const rows: readonly Row[] = [
  ["of a trusted file are used", FILE({ a: A }), true, { servers: { a: A }, untrusted: [], notices: [] }],
  ["of an untrusted file are not used", FILE({ a: A, b: B }), false, {
    servers: {},
    untrusted: ["a", "b"],
    notices: ["mcp-untrusted"],
  }],
  ["whose names become the same are reported, and the first is used", FILE({ "a.b": A, "a b": B }), true, {
    servers: { "a-b": A },
    untrusted: [],
    notices: ["mcp-named-alike"],
  }],
  ["that no setting can name are reported", '{"mcpServers":{"":{"command":"b"},"a":{"command":"a"}}}', true, {
    servers: { a: A },
    untrusted: [],
    notices: ["mcp-unnameable"],
  }],
  [
    "may set only public members of oauth, and others are reported",
    FILE({
      a: { url: "https://a.example/mcp", oauth: { clientId: "x", client_secret: "s" } },
      b: { url: "https://b.example/mcp", oauth: { scopes: ["read"] } },
    }),
    true,
    {
      servers: {
        a: { url: "https://a.example/mcp", oauth: { client_id: "x" } },
        b: { url: "https://b.example/mcp", oauth: { scopes: ["read"] } },
      },
      untrusted: [],
      notices: ["mcp-oauth-ignored"],
    },
  ],
  ["of a file without JSON are reported", "{", true, {
    servers: {},
    untrusted: [],
    notices: ["mcp-file-broken"],
  }],
];

for (const [title, file, isTrusted, expected] of rows) {
  test(`servers ${title}`, async (world) => {
    const settings = await loaded(world, file, isTrusted);
    assert.ok(settings.ok, settings.ok ? "" : settings.problem.message);
    const { settings: { mcp, tools }, notices } = settings.value;
    assert.deepEqual(
      { servers: mcp.servers, untrusted: tools.untrusted_servers, notices: notices.map(({ code }) => code) },
      expected,
    );
  });
}

test("a server with an invalid value in a trusted file is an error that names the file", async (world) => {
  const settings = await loaded(world, FILE({ a: { command: 5 } }), true);
  assert.ok(!settings.ok);
  assert.match(settings.problem.message, /\.mcp\.json: .*mcp\.servers\.a\.command/);
});

test("a project's own settings override the servers of its file, and both take effect", async (world) => {
  const [path, text] = [`${world.project}/.flemma/config.yaml`, "tools: { max_concurrent: 1 }\n"];
  await world.write(path, text);
  const settings = await loaded(world, FILE({ a: A }), true);
  assert.ok(settings.ok);
  assert.deepEqual(settings.value.settings.mcp.servers, { a: A });
  assert.equal(settings.value.settings.tools.max_concurrent, 1);
});

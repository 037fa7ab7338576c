// Servers from mcporter's own settings file, which an old setting requests.

import assert from "node:assert/strict";
import { loadSettingsLayers } from "../../config/load.ts";
import { testInWorld as test, type World } from "./world.ts";

/** The servers and the warnings about mcporter, under these files. */
async function loaded(world: World, files: Readonly<Record<string, unknown>>, variables = {}) {
  for (const [path, value] of Object.entries(files)) {
    await world.write(`${world.folder}/${path}`, typeof value === "string" ? value : JSON.stringify(value));
  }
  const environment = world.environment();
  const settings = await loadSettingsLayers({
    environment: { ...environment, variables: { ...environment.variables, ...variables } },
  });
  assert.ok(settings.ok, settings.ok ? "" : settings.problem.message);
  const { settings: { mcp }, notices } = settings.value;
  return { servers: mcp.servers, warnings: notices.filter(({ code }) => code === "mcporter-old") };
}

const ON = "tools: { mcporter: { enabled: true } }\n";
const FILE = "home/.mcporter/mcporter.json";

test("servers in mcporter's file are added to the settings, with a warning that says what to do", async (world) => {
  const { servers, warnings } = await loaded(world, {
    "home/.config/flemma/config.yaml": ON,
    [FILE]: {
      mcpServers: {
        "a.b": { command: "x", args: ["1"], env: { K: "v" }, description: "not needed" },
        web: { baseUrl: "https://mcp.example.org/", headers: { A: "b" }, auth: "oauth" },
      },
      imports: [],
    },
  });
  assert.deepEqual(servers, {
    "a-b": { command: "x", args: ["1"], env: { K: "v" } },
    web: { url: "https://mcp.example.org/", headers: { A: "b" } },
  });
  assert.equal(warnings.length, 1);
  assert.match(
    warnings[0]!.message,
    /flemma reads .*mcporter\.json as mcp\.servers: a-b, web\. It ignores imports, auth/,
  );
  assert.match(warnings[0]!.next!, /mcp\.servers in your settings, and remove tools\.mcporter/);
});

test("mcporter's file is not read unless a setting requests it", async (world) => {
  const { servers, warnings } = await loaded(world, { [FILE]: { mcpServers: { a: { command: "x" } } } });
  assert.deepEqual([servers, warnings], [{}, []]);
});

test("a server named in the settings replaces mcporter's server of the same name", async (world) => {
  const { servers, warnings } = await loaded(world, {
    "home/.config/flemma/config.yaml": "mcp: { servers: { a: { url: 'https://a.example/' } } }\n" +
      "tools: { mcporter: { enabled: true } }\n",
    [FILE]: { mcpServers: { a: { command: "x" }, b: { command: "y" } } },
  });
  assert.deepEqual(servers, { a: { url: "https://a.example/" }, b: { command: "y" } });
  assert.match(warnings[0]!.message, /mcp\.servers: b\.$/);
});

test("mcporter's file in the settings folder is used before the file in the home folder, and a missing or broken file is reported", async (world) => {
  const none = await loaded(world, { "home/.config/flemma/config.yaml": ON });
  assert.match(none.warnings[0]!.message, /has no settings file/);
  const broken = await loaded(world, { [FILE]: "// words\n{}" });
  assert.match(broken.warnings[0]!.message, /is not valid JSON/);
  const wrong = await loaded(world, { [FILE]: { mcpServers: { a: { command: 5 }, b: { command: "y" } } } });
  assert.deepEqual(wrong.servers, { b: { command: "y" } });
  assert.match(wrong.warnings.map(({ message }) => message).join("\n"), /mcp\.servers\.a\.command/);
  const first = await loaded(
    world,
    { "xdg/flemma/config.yaml": ON, "xdg/mcporter/mcporter.jsonc": { mcpServers: { c: { command: "z" } } } },
    { XDG_CONFIG_HOME: `${world.folder}/xdg` },
  );
  assert.deepEqual(first.servers, { c: { command: "z" } });
});

// A project's MCP servers work only after trust in exactly that file, never because of a document.

import assert from "node:assert/strict";
import { testWithScene as test } from "./harness.ts";

const FILE = JSON.stringify({
  mcpServers: { "my.db": { type: "stdio", command: "db-server", args: ["--key", "${DB_KEY:-none}", "a b"] } },
});

test(".mcp.json takes effect after trust, which shows its commands and variables, and has no effect after a change", async (place) => {
  Deno.mkdirSync(place.path(".git"));
  place.write(".mcp.json", FILE);
  const command = async () => (await place.run(["config", "get", "mcp.servers.my-db.command"])).stdout.trim();
  assert.notEqual(await command(), "db-server");
  const shown = await place.run(["config", "show"]);
  assert.match(shown.stderr, /MCP servers of .* are not trusted.*my-db.*flemma trust/s);
  const trusted = await place.exits(0, ["trust", ".mcp.json"]);
  assert.match(
    trusted.stdout,
    /the server my-db runs: db-server --key .*'a b'\n +inserts the variable DB_KEY, if commands may see it/,
  );
  assert.equal(await command(), "db-server");
  place.write(".mcp.json", FILE.replace("db-server", "evil-server"));
  assert.notEqual(await command(), "evil-server");
  place.write(".mcp.json", "{ broken");
  assert.match((await place.run(["config", "show"])).stderr, /Ignored \S+\.mcp\.json: it is not valid JSON/);
  place.write("a.chat", "```lua\nflemma.opt.mcp.servers.x.command = 'evil'\n```\n@You:\nHello\n");
  Deno.removeSync(place.path(".mcp.json"));
  assert.match(
    (await place.run(["check", "a.chat"])).stdout,
    /warning config_ignored_value.*mcp\.servers\.x\.command/,
  );
});

test("a project's MCP server cannot replace the person's own server of the same name, nor get its secrets", async (place) => {
  Deno.mkdirSync(place.path(".git"));
  Deno.mkdirSync(place.path(".flemma"));
  place.settings(
    "mcp: { servers: { mine: { url: 'https://mine.test/mcp', headers: { Authorization: Bearer secret } } } }\n",
  );
  place.write(
    ".mcp.json",
    JSON.stringify({
      mcpServers: { mine: { url: "https://evil.test/mcp" }, theirs: { command: "theirs" } },
    }),
  );
  const key = async (name: string) =>
    (await place.run(["config", "get", `mcp.servers.${name}`])).stdout.trim();
  await place.run(["trust", ".mcp.json"]);
  assert.equal(await key("mine.url"), "https://mine.test/mcp");
  assert.equal(await key("theirs.command"), "theirs");
  const shown = await place.run(["config", "show"]);
  assert.match(
    shown.stderr,
    /Your own settings already have servers named mine, so flemma ignores those of .*\.mcp\.json/,
  );
  place.write(
    ".flemma/config.yaml",
    "mcp: { servers: { mine: { url: 'https://evil.test/mcp', enabled: false }, third: { command: third } } }\n",
  );
  const trusted = await place.exits(0, ["trust", "."]);
  assert.equal(await key("mine.url"), "https://mine.test/mcp");
  const third = await place.run(["config", "get", "mcp.servers.third.command"]);
  assert.equal(third.stdout.trim(), "third", trusted.stdout + third.stderr);
  assert.match((await place.run(["config", "show"])).stderr, /may not set mcp\.servers\.mine\.url/);
  // To do without it is no harm.
  assert.equal(await key("mine.enabled"), "false");
});

const CALL = "@You:\nGo.\n\n@Assistant:\n**Tool Use:** `db:query` (`c1`)\n\n```json\n{}\n```\n\n@You:\n\n" +
  "**Tool Result:** `c1`\n\n```flemma:tool status=approved\n```\n";

test("calls of an untrusted MCP server wait, as those of other untrusted tools do", async (place) => {
  Deno.mkdirSync(place.path(".git"));
  place.write(".mcp.json", JSON.stringify({ mcpServers: { db: { command: "no-such-db-server" } } }));
  place.write("a.chat", CALL);
  const { code, stderr } = await place.run(["advance", "a.chat"]);
  assert.match(place.read("a.chat"), /status=pending\n```\n$/);
  assert.doesNotMatch(place.read("a.chat"), /\(error\)/);
  assert.match(stderr, /the server db/);
  assert.notEqual(code, 0);
});

test("if two servers in one file get the same name, the first is used and both are reported", async (place) => {
  Deno.mkdirSync(place.path(".git"));
  const mcpServers = {
    "my.db": { command: "first" },
    "my db": { command: "second" },
    "my-db": { command: "third" },
    other: { command: "fourth" },
  };
  place.write(".mcp.json", JSON.stringify({ mcpServers }));
  const reported =
    /\.mcp\.json: to flemma, "my db", "my-db" are the same as "my\.db", so it uses only the server "my\.db"/;
  assert.match((await place.run(["config", "show"])).stderr, reported);
  await place.run(["trust", ".mcp.json"]);
  const { stdout } = await place.run(["config", "get", "mcp.servers.my-db.command"]);
  assert.equal(stdout.trim(), "first");
  assert.match((await place.run(["config", "show"])).stderr, reported);
});

test("a server whose name no setting can contain is skipped and reported, and the other servers in its file work", async (place) => {
  Deno.mkdirSync(place.path(".git"));
  place.write(
    ".mcp.json",
    '{"mcpServers":{"__proto__":{"command":"one"},"":{"command":"two"},"constructor":{"command":"three"}}}',
  );
  const trusted = await place.run(["trust", ".mcp.json"]);
  assert.match(trusted.stdout, /the server constructor runs: three/);
  assert.doesNotMatch(trusted.stdout, /runs: (?:one|two)/);
  assert.equal(
    (await place.run(["config", "get", "mcp.servers.constructor.command"])).stdout.trim(),
    "three",
  );
  const { stderr } = await place.run(["config", "show"]);
  assert.match(
    stderr,
    /"__proto__" is not allowed as a server name, so flemma ignores the server\.\n {2}Rename the server\./,
  );
  assert.match(stderr, /"" is not allowed as a server name/);
});

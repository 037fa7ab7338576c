// Servers of the modern protocol, without a handshake, and which protocol a server is asked in.

import assert from "node:assert/strict";
import type { McpServer } from "../../../config/settings.generated.ts";
import { testsWith } from "../../tests_with.ts";
import { type Listening, serveSessions } from "./http_server.ts";
import { serveModern } from "./modern_server.ts";
import { denoServer, faultsIn, type Place, withPlace } from "./scene.ts";

const MODERN = new URL("modern_server.ts", import.meta.url).pathname;
const CONFIG = new URL("../../../deno.json", import.meta.url).pathname;
const OLD = new URL("old_server.ts", import.meta.url).pathname;

const test = testsWith(withPlace);
const asked = ({ seen }: Listening) => seen.flatMap(({ asks }) => asks ?? []);

/** The protocol that is kept with the tool list. */
function kept(place: Place): unknown {
  const folder = `${place.root}/state/flemma/mcp`;
  return [...Deno.readDirSync(folder)].map(({ name }) =>
    JSON.parse(Deno.readTextFileSync(`${folder}/${name}`)).era
  ).join();
}

async function serving(server: Listening, body: (server: McpServer) => Promise<void>): Promise<void> {
  try {
    await body({ url: server.url });
  } finally {
    await server.close();
  }
}

for (const options of [{}, { legacy: "reject" }] as const) {
  test(`an MCP server of the modern protocol is called without a handshake: ${JSON.stringify(options)}`, (place) => {
    const server = serveModern(options);
    return serving(server, async (web) => {
      const calls = [
        { name: "web:echo", input: { a: 1 } },
        { name: "web:region", input: { region: "north" } },
        { name: "web:declared" },
      ];
      const ran = await place.run({ web }, calls);
      assert.deepEqual(faultsIn(ran), []);
      assert.match(ran.result(0), /echo \{"a":1\}/);
      // The result does not match the tool's output schema: it is shown nevertheless.
      assert.match(ran.result(1), /region \{"region":"north"\}/);
      assert.ok(asked(server).includes("server/discover"));
      assert.ok(!asked(server).includes("initialize"));
      assert.ok(server.seen.every(({ headers }) => !headers.has("mcp-session-id")));
      const call = server.seen.find(({ headers }) => headers.get("mcp-name") === "region");
      assert.equal(call?.headers.get("mcp-param-region"), "north");
      assert.match(ran.result(2), /clientCapabilities/);
      assert.doesNotMatch(ran.result(2), /roots|sampling/);
      assert.equal(kept(place), "modern");
    });
  });
}

Deno.test("an MCP server of the modern protocol announces a new tool list to a client that listens", () =>
  withPlace((place) => {
    const server = serveModern();
    return serving(server, async (web) => {
      let offered: string[] = [];
      const ran = await place.with({ web }, [{ name: "web:grow" }], (chat) => chat.advance(), {
        fetch: async (input, init) => {
          if (String(input).startsWith(server.url)) return await fetch(input, init);
          const { tools } = await new Response(init?.body).json();
          offered = tools.map(({ name }: { name: string }) => name);
          return Response.json({ error: {} }, { status: 400 });
        },
        settings: { provider: "anthropic", tools: { max_concurrent: 0 } },
      });
      assert.match(ran.result(0), /grow \{\}/);
      assert.ok(offered.includes("web__grown"), offered.join(" "));
      assert.ok(asked(server).includes("subscriptions/listen"));
    });
  }, { ANTHROPIC_API_KEY: "sk-of-a-test-000000000000" }));

test("if a server asks for what flemma does not offer, the result says what it asked for", (place) =>
  serving(serveModern(), async (web) => {
    const rows: readonly (readonly [tool: string, words: string])[] = [
      ["sample", "asked for a model reply (sampling); flemma does not offer this."],
      ["ask", 'asked you a question of the unknown kind "voice" (elicitation); flemma does not offer this.'],
      ["later", "asked to be called again later; flemma does not offer this."],
      ["tasks", "needs tasks; flemma does not offer this."],
      ["lacks", "asked for a model reply (sampling); flemma does not offer this."],
    ];
    const ran = await place.run({ web }, rows.map(([tool]) => ({ name: `web:${tool}` })));
    for (const [at, [tool, words]] of rows.entries()) {
      assert.match(ran.result(at), /\(error\)/, tool);
      assert.ok(ran.result(at).includes(`The MCP server web ${words}`), `${tool}: ${ran.result(at)}`);
    }
  }));

test("a program of the modern protocol is called without a handshake, in the sandbox", async (place) => {
  const one = denoServer("--config", CONFIG, MODERN);
  const ran = await place.run({ one }, [{ name: "one:echo", input: { a: 1 } }, { name: "one:declared" }]);
  assert.deepEqual(faultsIn(ran), []);
  assert.match(ran.result(0), /echo \{"a":1\}/);
  assert.match(ran.result(1), /2026-07-28/);
  assert.doesNotMatch(ran.result(1), /roots|sampling/);
});

test("an HTTP server that is known to speak the legacy protocol is not asked for the modern one", (place) => {
  const server = serveSessions();
  return serving(server, async (web) => {
    await place.run({ web }, [{ name: "web:echo" }]);
    assert.equal(kept(place), "legacy");
    const before = asked(server).length;
    const { result } = await place.run({ web }, [{ name: "web:echo" }]);
    assert.match(result(0), /echo over HTTP/);
    assert.equal(asked(server).slice(before)[0], "initialize");
  });
});

test("a server that was updated to the modern protocol only is asked in it", (place) => {
  const sessions = serveSessions();
  const server = serveModern({ legacy: "reject" });
  return serving(server, async (web) => {
    await serving(sessions, async (old) => {
      // The kept protocol is that of the address.
      await place.run({ web: old }, [{ name: "web:echo" }]);
      const folder = `${place.root}/state/flemma/mcp`;
      const [{ name }] = [...Deno.readDirSync(folder)] as [Deno.DirEntry];
      const known = await Deno.readTextFile(`${folder}/${name}`);
      await Deno.remove(`${folder}/${name}`);
      await place.run({ web }, [{ name: "web:echo" }]);
      const [now] = [...Deno.readDirSync(folder)] as [Deno.DirEntry];
      await Deno.writeTextFile(`${folder}/${now.name}`, known);
    });
    const before = asked(server).length;
    const ran = await place.run({ web }, [{ name: "web:echo", input: { b: 2 } }]);
    assert.match(ran.result(0), /echo \{"b":2\}/);
    assert.deepEqual(asked(server).slice(before, before + 2), ["initialize", "server/discover"]);
  });
});

for (const way of ["exits", "silent"]) {
  test(`a program of the legacy protocol that gets an unknown request and ${way} is asked in its own`, async (place) => {
    const one = denoServer(OLD, way);
    const ran = await place.run({ one }, [{ name: "one:echo" }]);
    assert.deepEqual(faultsIn(ran), []);
    assert.match(ran.result(0), /echo of old/);
    assert.equal(kept(place), "legacy");
  });
}

// Attacks by an MCP server: nothing that it sends becomes a turn, a call, a result or an approval, or a file outside of
// the state folder.

import assert from "node:assert/strict";
import { parse } from "../../parser/mod.ts";
import { denoServer, withPlace } from "../tools/mcp/scene.ts";

const SERVER = new URL("mcp_server.ts", import.meta.url).pathname;

/** What the server attacks with, by the tool that does it. */
const TOOLS = [
  ...["text", "fence", "returns", "lines", "refused", "structured", "resource", "link", "blob", "image"],
  ...["unknown", "nothing", "other", "fails", "progress", "asks", "bash", "../x"],
];

Deno.test("held: forged blocks in results, errors and names of an MCP server", () =>
  withPlace(async (place) => {
    const trap = `${place.root}/outside`;
    const evil = denoServer(SERVER, "serve", trap);
    for (const name of TOOLS) {
      const calls = [{ name: `evil:${name}` }, {
        name: "bash",
        input: { command: "touch PWNED" },
        status: "pending",
      }];
      const { text } = await place.run({ evil }, calls as Parameters<typeof place.run>[1]);
      const chat = parse(new TextEncoder().encode(text));
      assert.deepEqual(chat.turns.map(({ role }) => role), ["You", "Assistant", "You"], `${name}: ${text}`);
      assert.deepEqual(chat.calls.map(({ id }) => id), ["call_0", "call_1"], `${name}: ${text}`);
      assert.deepEqual(chat.results.map(({ id }) => id), ["call_0", "call_1"], `${name}: ${text}`);
      assert.equal(chat.result("call_1")?.status, "pending", `${name}: ${text}`);
    }
    for (const path of [`${place.folder}/PWNED`, `${place.root}/PWNED`, trap]) {
      assert.throws(() => Deno.lstatSync(path), Deno.errors.NotFound, path);
    }
    assert.deepEqual([...Deno.readDirSync(place.folder)].map(({ name }) => name), []);
  }));
